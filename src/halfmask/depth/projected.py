"""Depths that look along directions: integrated dual depth and projection depth."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, anchor, read_both, read_directions
from halfmask.depth.directions import views
from halfmask.errors import InvalidQuery, shown

__all__ = ["integrated_dual_depth", "projection_depth"]


def integrated_dual_depth(
    points: ArrayLike, data: ArrayLike, directions: ArrayLike, *, score: str = "product"
) -> NDArray[np.float64]:
    """Return the mean over directions of F(1 - F), or of min(F, 1 - F) with ``score="minimum"``.

    F is the share of rows whose projection is at most the point's; directions are (k, d), any
    length, the result (m,). The product is flat at its top, so that a private choice by it wanders
    further than one by the minimum, which has a cusp.

    Source: Cuevas & Fraiman (2009), *On depth measures and dual statistics*.

    >>> integrated_dual_depth([[0, 0], [3, 0]], [[-2, 0], [-1, 1], [1, -1], [2, 0]], [[1, 0]])
    array([0.25, 0.  ])
    """
    at, rows = read_both(points, data)
    rays = read_directions(directions, rows.shape[1])
    if score not in ("product", "minimum"):
        raise InvalidQuery(f"score: {shown(score)}; give 'product' or 'minimum'")
    total = np.zeros(len(at))
    for seen in views(at, rows, rays):
        share = seen.at_most() / len(rows)
        other = 1 - share
        total += (share * other if score == "product" else np.minimum(share, other)).sum(axis=0)
    depth: Matrix = total / len(rays)
    return depth


def projection_depth(
    points: ArrayLike, data: ArrayLike, directions: ArrayLike
) -> NDArray[np.float64]:
    """Return 1/(1 + O), O the worst over directions of |projection - median| / MAD: (m,).

    The depth over all directions is at most this. Where the MAD is 0, or no more than rounding,
    O is 0 at the median and infinite elsewhere (depth 0). One row moves this depth from near 0 to
    near 1: it is no score for a private choice.

    Source: Zuo (2003), *Projection-based depth functions and associated medians*.

    >>> projection_depth([[0, 0], [3, 0]], [[-2, 0], [-1, 1], [0, 0], [1, -1], [2, 0]], [[1, 0]])
    array([1.  , 0.25])
    """
    at, rows = read_both(points, data)
    rays = read_directions(directions, rows.shape[1])
    spread = float(np.median(np.linalg.norm(rows - anchor(rows), axis=1)))
    worst = np.zeros(len(at))
    for seen in views(at, rows, rays):
        middle = np.median(seen.data, axis=1, keepdims=True)
        width = np.median(np.abs(seen.data - middle), axis=1, keepdims=True)
        off = np.abs(seen.points - middle)
        unit = 4 * (rows.shape[1] + 2) * np.finfo(np.float64).eps
        noise = unit * spread * np.linalg.norm(rays, axis=1).max() + seen.rounding
        outlying = off / np.where(width <= noise, 1, width)
        outlying = np.where(width <= noise, np.where(off <= noise, 0, np.inf), outlying)
        np.maximum(worst, outlying.max(axis=0), out=worst)
    depth: Matrix = 1 / (1 + worst)
    return depth
