"""Mechanisms: exact integers in, private integers out; each knows its price before either.

DiscreteLaplace    noise for a vector of small L1 sensitivity, pure epsilon
Staircase          the least noise for one integer at a pure epsilon
DiscreteGaussian   noise for a vector of small L2 sensitivity, zCDP rho
RoundedGaussian    the same in GDP mu, exactly; or for an (epsilon, delta)
Exponential        one candidate by its score, pure epsilon (and epsilon²/8 in zCDP)
PermuteAndFlip     one candidate by its score, pure epsilon, never a worse expected score
AboveThreshold     which integers reach a threshold, pure epsilon: the sparse vector technique
ThresholdLaplace   counts of unknown keys, shown above a threshold, (epsilon, delta)
ThresholdGaussian  the same with less noise where a unit may be in many groups
KeySelection       which unknown keys are kept, without counts: the best selection
BoxMedian          a centre of points on a grid by nested boxes, pure epsilon
SpatialMedian      the same by sums of unit vectors, for coordinates that are many or go together
Line               a quantile by its exact rank, on a line of weights

Mechanism          the protocol of all
Additive           the shape of the first four: release, interval, tail, log_mass, variance
Selection          the shape of the choices by score: release, log_mass
"""

from halfmask.mechanisms.above_threshold import AboveThreshold
from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.box_median import BoxMedian
from halfmask.mechanisms.discrete_gaussian import DiscreteGaussian
from halfmask.mechanisms.discrete_laplace import DiscreteLaplace
from halfmask.mechanisms.exponential import Exponential
from halfmask.mechanisms.mechanism import Mechanism
from halfmask.mechanisms.permute_and_flip import PermuteAndFlip
from halfmask.mechanisms.quantile_line import Line
from halfmask.mechanisms.quantile_ranks import Measure
from halfmask.mechanisms.rounded_gaussian import RoundedGaussian
from halfmask.mechanisms.selection import Selection
from halfmask.mechanisms.spatial import SpatialMedian
from halfmask.mechanisms.staircase import Staircase
from halfmask.mechanisms.threshold import Thresholded
from halfmask.mechanisms.threshold_gaussian import ThresholdGaussian
from halfmask.mechanisms.threshold_laplace import ThresholdLaplace
from halfmask.mechanisms.threshold_selection import KeySelection

__all__ = [
    "AboveThreshold",
    "Additive",
    "BoxMedian",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "KeySelection",
    "Line",
    "Measure",
    "Mechanism",
    "PermuteAndFlip",
    "RoundedGaussian",
    "Selection",
    "SpatialMedian",
    "Staircase",
    "ThresholdGaussian",
    "ThresholdLaplace",
    "Thresholded",
]
