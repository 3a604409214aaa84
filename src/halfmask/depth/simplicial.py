"""Simplicial depth: the share of simplices with corners among the rows that hold the point."""

from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, read_both
from halfmask.depth.planar import Lines, lines_through
from halfmask.errors import InvalidQuery

__all__ = ["simplicial_depth"]


def simplicial_depth(points: ArrayLike, data: ArrayLike) -> NDArray[np.float64]:
    """Return the share of closed segments (d = 1) or triangles (d = 2) that hold each point: (m,).

    All C(n, d + 1) choices of rows count, those that degenerate to a segment or a point too: such
    a one holds the points of its hull. Counted exactly, in O(n log n) a point, and divided once.
    With fewer than d + 1 rows there is no simplex and the depth is 0.

    Source: Liu (1990), *On a notion of data depth based on random simplices*; counting as in
    Rousseeuw & Ruts (1996).

    >>> simplicial_depth([[0, 0], [1, 1]], [[1, 1], [-1, 1], [-1, -1], [1, -1]])
    array([1.  , 0.75])
    >>> simplicial_depth([2], [1, 2, 4])
    array([1.])
    """
    at, rows = read_both(points, data)
    n, d = rows.shape
    if d > 2:
        raise InvalidQuery(f"data: {d} columns; simplicial depth is for one or two")
    simplices = comb(n, d + 1)
    if not simplices:
        return np.zeros(len(at))
    counts = _segments(at, rows) if d == 1 else _triangles(at, rows)
    return np.array([count / simplices for count in counts], dtype=np.float64)


def _segments(points: Matrix, data: Matrix) -> list[int]:
    """A segment misses the point when both its ends are below it, or both above."""
    line, at = np.sort(data[:, 0]), points[:, 0]
    n = len(line)
    below = np.searchsorted(line, at).tolist()
    above = (n - np.searchsorted(line, at, side="right")).tolist()
    return [comb(n, 2) - comb(a, 2) - comb(b, 2) for a, b in zip(below, above, strict=True)]


def _triangles(points: Matrix, data: Matrix) -> list[int]:
    n = len(data)
    return [comb(n, 3) - _apart(lines) for lines in lines_through(points, data)]


def _apart(lines: Lines) -> int:
    """How many triples lie in an open halfplane beside the point.

    Each has one first row anticlockwise; its two others lie in the same direction (later in some
    order) or within less than half a turn. Of g rows in one direction with h within the next open
    half turn, C(0 + h, 2) + ... + C(g - 1 + h, 2) = C(g + h, 3) - C(h, 3) triples start there.
    """
    ahead, behind = lines.ahead.tolist(), lines.behind.tolist()
    up, down = sum(ahead), 0  # rows ahead on later lines; rows behind on earlier ones
    all_behind = sum(behind)
    total = passed = 0
    for a, b in zip(ahead, behind, strict=True):
        up -= a
        h = up + down
        total += comb(a + h, 3) - comb(h, 3)
        h = (all_behind - down - b) + passed
        total += comb(b + h, 3) - comb(h, 3)
        passed, down = passed + a, down + b
    return total
