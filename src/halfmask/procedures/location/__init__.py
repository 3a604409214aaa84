"""Centres of points in many dimensions, by several measurements of the same points.

robust      `RobustLocation`: medians, scales, then noisy steps of a spatial sign
stages      what a robust location measures, one after the other
coordinates `CoordinateMedian`, `BoxMedian`: a median of each column, a point deep in all
spatial     `SpatialMedian`: the point nearest to all, chosen at delta 0
depth_median `DepthMedian`: the deepest of public candidates
depth_check `DepthCheck`: whether a released point lies amid the rows
auto        `Location`: the best of these for a price
publics     points and directions that are known without the rows
asked       what every centre has in common
budget      the split of its price
finding     coordinate medians and scales, by choices or by comparisons
halving     medians by noisy comparisons with the middle of what is likely
step        one of Newton's steps, and what is believed of its slope
feasible    whether choices among all cells find the points at all
normal      constants of directions about a normal centre
composite   stages as one measurement, charged in another currency
turned      coordinates in which points of a private shape are round
elliptical  how the eigenvalues of a sign covariance and of the points' shape belong together
"""

from halfmask.procedures.location.asked import Centre, inside_of
from halfmask.procedures.location.auto import Location
from halfmask.procedures.location.budget import CUT, ending
from halfmask.procedures.location.composite import Composite
from halfmask.procedures.location.coordinates import BoxMedian, CoordinateMedian
from halfmask.procedures.location.depth_check import DepthCheck
from halfmask.procedures.location.depth_median import DepthMedian
from halfmask.procedures.location.feasible import finds
from halfmask.procedures.location.normal import middle_radius
from halfmask.procedures.location.robust import RobustLocation
from halfmask.procedures.location.spatial import SpatialMedian
from halfmask.procedures.location.stages import Found, Place, RobustStages, rejected
from halfmask.procedures.location.turned import Turned

__all__ = [
    "CUT",
    "BoxMedian",
    "Centre",
    "Composite",
    "CoordinateMedian",
    "DepthCheck",
    "DepthMedian",
    "Found",
    "Location",
    "Place",
    "RobustLocation",
    "RobustStages",
    "SpatialMedian",
    "Turned",
    "ending",
    "finds",
    "inside_of",
    "middle_radius",
    "rejected",
]
