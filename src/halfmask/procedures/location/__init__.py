"""Centres of points in many dimensions, by several measurements of the same points.

robust      `RobustLocation`: medians, scales, then noisy steps of a spatial sign
coordinates `CoordinateMedian`: a median of each column
budget      the split of its price, and whether it can succeed
normal      constants of directions about a normal centre
composite   stages as one measurement, charged in another currency
"""

from halfmask.procedures.location.composite import Composite
from halfmask.procedures.location.coordinates import CoordinateMedian
from halfmask.procedures.location.robust import Place, RobustLocation

__all__ = ["Composite", "CoordinateMedian", "Place", "RobustLocation"]
