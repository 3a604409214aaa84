"""What is measured of points in many dimensions.

region     public columns, bounds and grid: `Box`, `Region`
standard   points in units of public scales, to the last bit the same wherever a row stands
measured   what measurements of points share; how many there are: `Total`
medians    a median of each coordinate
gridpoint  a point deep in all coordinates at once: `GridPoint`
ladders    median distances, chosen from a ladder: `Scales`, `Radii`
signs      sums of bounded directions: `Signs`
whitened   points turned by a public matrix: `Whitened`
outers     sums of outer products of directions: `Outers`, read as a `SignMatrix`
"""

from halfmask.queries.location.gridpoint import GridPoint
from halfmask.queries.location.ladders import Lengths, Radii, Scales
from halfmask.queries.location.measured import OfPoints, Total
from halfmask.queries.location.medians import Medians, Middle
from halfmask.queries.location.outers import Outers
from halfmask.queries.location.region import Box, Region
from halfmask.queries.location.sign_matrix import SignMatrix, entries, with_trace
from halfmask.queries.location.signs import FAR, Pull, Signs
from halfmask.queries.location.standard import Frame
from halfmask.queries.location.whitened import Whitened

__all__ = [
    "FAR",
    "Box",
    "Frame",
    "GridPoint",
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
    "Total",
    "Whitened",
    "entries",
    "with_trace",
]
