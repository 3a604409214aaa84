"""What is measured of points in many dimensions.

region     public columns, bounds and grid: `Box`, `Region`
standard   points in units of public scales, to the last bit the same wherever a row stands
measured   what measurements of points share; how many there are: `Total`
medians    a median of each coordinate
gridpoint  one point, chosen in all coordinates at once: `BoxPoint`, `SpatialPoint`
ladders    median distances, chosen from a ladder: `Scales`, `Radii`
signs      sums of bounded directions: `Signs`
depths     the depth of public places, and a choice by it: `DepthChoice`
checked    the depth of one place as a share of the rows: `DepthShare`
"""

from halfmask.queries.location.checked import DepthShare
from halfmask.queries.location.depths import (
    Depth,
    DepthChoice,
    Halfspaces,
    SpatialSums,
    public_directions,
)
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
    "Depth",
    "DepthChoice",
    "DepthShare",
    "Frame",
    "Halfspaces",
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
    "SpatialSums",
    "Total",
    "public_directions",
]
