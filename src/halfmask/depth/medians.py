"""Medians of many-dimensional data, without privacy: by column, and the deepest of given points."""

import numpy as np
from numpy.typing import ArrayLike

from halfmask.depth.arguments import Matrix, read_data
from halfmask.errors import InvalidQuery

__all__ = ["coordinatewise_median", "deepest"]


def coordinatewise_median(data: ArrayLike) -> Matrix:
    """Return the median of each column: (d,); of an even number the middle of the two inner ones.

    >>> coordinatewise_median([[1, 10], [2, 30], [9, 20]])
    array([ 2., 20.])
    """
    median: Matrix = np.median(read_data(data), axis=0)
    return median


def deepest(points: ArrayLike, depths: ArrayLike) -> Matrix:
    """Return the mean of those points (m, d) whose depth is greatest: (d,).

    The median that belongs to a depth, searched among given points, often the data themselves.

    >>> from halfmask.depth import simplicial_depth
    >>> rows = [[0, 0], [4, 0], [0, 4], [1, 1], [5, 5]]
    >>> deepest(rows, simplicial_depth(rows, rows))
    array([1., 1.])
    """
    at = read_data(points, "points")
    depth = read_data(depths, "depths")[:, 0]
    if len(depth) != len(at):
        raise InvalidQuery(f"depths: {len(depth)} of them for {len(at)} points; give one each")
    best: Matrix = at[depth == depth.max()].mean(axis=0)
    return best
