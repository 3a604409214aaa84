"""Depths of points in many-dimensional data, and their medians: plain numerics, without privacy.

A depth says how central a point is. Every depth takes points (m, d) and data (n, d), doubles, and
returns (m,); nothing here draws: directions are arguments. Rows with NaN or infinity are refused
(`InvalidQuery`): what is here sees the rows as they are, and what it returns is not private.
`sensitivity` tells how far one record moves each depth.
"""

from halfmask.depth import sensitivity
from halfmask.depth.geometric import spatial_median
from halfmask.depth.halfspace_median import tukey_median
from halfmask.depth.mahalanobis import mahalanobis_depth
from halfmask.depth.medians import coordinatewise_median, deepest
from halfmask.depth.projected import integrated_dual_depth, projection_depth
from halfmask.depth.simplicial import simplicial_depth
from halfmask.depth.spatial import spatial_depth
from halfmask.depth.tukey import tukey_depth

__all__ = [
    "coordinatewise_median",
    "deepest",
    "integrated_dual_depth",
    "mahalanobis_depth",
    "projection_depth",
    "sensitivity",
    "simplicial_depth",
    "spatial_depth",
    "spatial_median",
    "tukey_depth",
    "tukey_median",
]
