"""Procedures: they ask queries with parts of their price, and meet only answers.

mean       the mean: two-sided sums, then a centred sum where the noisy count is large
centring   when and how that second sum pays
public_count   the mean where the number of units is public
filtered   a question about the rows that pass a filter of its own
together   several queries in one ask: shared bodies, and the split of the rest
unknown_keys   groups by keys that are found in the rows, for a delta
location   centres of points in many dimensions
cluster    centres of clusters
scatter    how they spread: sign covariance, Tyler's shape
procedure  the protocol
"""

from halfmask.procedures.cluster import KMeans
from halfmask.procedures.filtered import Filtered
from halfmask.procedures.location import (
    BoxMedian,
    CoordinateMedian,
    DepthCheck,
    DepthMedian,
    Location,
    RobustLocation,
    SpatialMedian,
)
from halfmask.procedures.mean import Mean
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.procedures.scatter import SignCovariance, TylerScatter
from halfmask.procedures.together import Family, Together
from halfmask.procedures.unknown_keys import Keyed, UnknownKeys

__all__ = [
    "BoxMedian",
    "CoordinateMedian",
    "DepthCheck",
    "DepthMedian",
    "Family",
    "Filtered",
    "KMeans",
    "Keyed",
    "Location",
    "Mean",
    "Measure",
    "Procedure",
    "RobustLocation",
    "SignCovariance",
    "SpatialMedian",
    "Together",
    "TylerScatter",
    "UnknownKeys",
]
