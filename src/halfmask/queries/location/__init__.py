"""What is measured of points in many dimensions.

region     public columns, bounds and grid: `Box`, `Region`
standard   points in units of public scales, to the last bit the same wherever a row stands
measured   what measurements of points share; how many there are: `Total`
medians    a median of each coordinate
windows    how many points lie inside windows of each coordinate: `Windows`
gridpoint  one point, chosen in all coordinates at once: `BoxPoint`, `SpatialPoint`
ladders    median distances, chosen from a ladder: `Scales`, `Radii`
signs      sums of bounded directions: `Signs`
whitened   points turned by a public matrix: `Whitened`
outers     sums of outer products of directions: `Outers`, read as a `SignMatrix`
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
from halfmask.queries.location.outers import Outers
from halfmask.queries.location.region import Box, Region
from halfmask.queries.location.sign_matrix import SignMatrix, entries, with_trace
from halfmask.queries.location.signs import FAR, Pull, Signs
from halfmask.queries.location.standard import Frame
from halfmask.queries.location.whitened import Whitened
from halfmask.queries.location.windows import Excess, Windows

__all__ = [
    "FAR",
    "Box",
    "BoxPoint",
    "Depth",
    "DepthChoice",
    "DepthShare",
    "Excess",
    "Frame",
    "Halfspaces",
    "Lengths",
    "Medians",
    "Middle",
    "OfPoints",
    "Outers",
    "Pull",
    "Radii",
    "Region",
    "Scales",
    "SignMatrix",
    "Signs",
    "SpatialPoint",
    "SpatialSums",
    "Total",
    "Whitened",
    "Windows",
    "entries",
    "public_directions",
    "with_trace",
]
