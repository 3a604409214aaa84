"""What is measured of points in many dimensions.

region     public columns, bounds and grid: `Box`, `Region`
standard   points in units of public scales, to the last bit the same wherever a row stands
measured   what measurements of points share; how many there are: `Total`
medians    a median of each coordinate
gridpoint  one point, chosen in all coordinates at once: `BoxPoint`, `SpatialPoint`
ladders    median distances, chosen from a ladder: `Scales`, `Radii`
signs      sums of bounded directions: `Signs`
"""

from halfmask.queries.location.gridpoint import BoxPoint, SpatialPoint
from halfmask.queries.location.ladders import Lengths, Radii, Scales
from halfmask.queries.location.measured import OfPoints, Total
from halfmask.queries.location.medians import Medians, Middle
from halfmask.queries.location.region import Box, Region
from halfmask.queries.location.signs import Pull, Signs
from halfmask.queries.location.standard import Frame

__all__ = [
    "Box",
    "BoxPoint",
    "Frame",
    "Lengths",
    "Medians",
    "Middle",
    "OfPoints",
    "Pull",
    "Radii",
    "Region",
    "Scales",
    "Signs",
    "SpatialPoint",
    "Total",
]
