"""Centres of points in many dimensions, by several measurements of the same points.

robust      `RobustLocation`: medians, scales, then noisy steps of a spatial sign
coordinates `CoordinateMedian`, `BoxMedian`: a median of each column, a point deep in all
spatial     `SpatialMedian`: the point nearest to all, chosen at delta 0
auto        `Location`: the best of these for a price
asked       what every centre has in common
budget      the split of its price
feasible    whether choices among all cells find the points at all
normal      constants of directions about a normal centre
composite   stages as one measurement, charged in another currency
"""

from halfmask.procedures.location.auto import Location
from halfmask.procedures.location.composite import Composite
from halfmask.procedures.location.coordinates import BoxMedian, CoordinateMedian
from halfmask.procedures.location.robust import Place, RobustLocation
from halfmask.procedures.location.spatial import SpatialMedian

__all__ = [
    "BoxMedian",
    "Composite",
    "CoordinateMedian",
    "Location",
    "Place",
    "RobustLocation",
    "SpatialMedian",
]
