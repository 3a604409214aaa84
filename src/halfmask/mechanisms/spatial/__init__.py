"""The private spatial (geometric) median: an exact sampler at pure epsilon.

median    `SpatialMedian`: the mechanism, its law, the proof of its privacy and of its exactness
proposals from shells around a centre, and from the whole box far out: for many coordinates
boxes     from boxes, cut in two where it pays: for few coordinates, whatever the rows
envelope  a certified lower bound of the score around a centre, by distance
cell      the volume of a cell of the grid beside that of a shell
matrices  inverses and certified eigenvalue bounds, the same on any number of threads
sums      the length of a sum of unit vectors, enclosed: by floats, then as closely as asked
"""

from halfmask.mechanisms.spatial.median import SpatialMedian

__all__ = ["SpatialMedian"]
