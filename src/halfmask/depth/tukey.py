"""Tukey (halfspace) depth: the least number of rows in a closed halfspace that holds the point."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, read_both, read_directions
from halfmask.depth.directions import views
from halfmask.depth.planar import Lines, lines_through
from halfmask.errors import InvalidQuery

__all__ = ["least_side", "tukey_depth"]


def tukey_depth(
    points: ArrayLike, data: ArrayLike, directions: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Return how many of the n rows the emptiest closed halfspace around each point holds: (m,).

    Counts, from 0 (outside the hull) to n; divide by n for a fraction. Exact in one and two
    dimensions, ties and collinear rows included, in O(n log n) a point.

    In more dimensions `directions` (k, d) are needed, and the count is the least over the two
    sides of each: never below the true depth, up to rounding. It is too high by more than s with
    probability (1 - p)^k if the directions are independent and p is the share of the sphere
    along which a side holds at most depth + s rows. In high dimensions p is tiny: the bound is
    then a depth of its own (the random Tukey depth), not an approximation.

    Source: Tukey (1975); Rousseeuw & Ruts (1996) for the sweep; Cuesta-Albertos & Nieto-Reyes
    (2008), *The random Tukey depth*.

    >>> tukey_depth([[0, 0], [1, 1], [5, 5]], [[1, 1], [-1, 1], [-1, -1], [1, -1]])
    array([2, 1, 0])
    >>> tukey_depth([2, 9], [1, 2, 2, 4])
    array([3, 0])
    """
    at, rows = read_both(points, data)
    d = rows.shape[1]
    if directions is not None:
        return _along(at, rows, read_directions(directions, d))
    if d > 2:
        raise InvalidQuery(f"directions: needed in {d} dimensions; give an array (k, {d})")
    if d == 1:
        return _along(at, rows, np.ones((1, 1)))
    counts = [least_side(lines)[0] + lines.at for lines in lines_through(at, rows)]
    return np.array(counts, dtype=np.int64)


def least_side(lines: Lines) -> tuple[int, int]:
    """The fewest rows on one side of a line that turns around the point, and when it does so.

    The side starts as the upper one and turns anticlockwise; after the k-th line, counted from 1,
    it has lost that line's rows ahead and won those behind. At the k of the answer, k from 0 to
    2 * len(lines) - 1, the fewest lie between the k-th line's direction and its opposite.
    """
    if not len(lines.ahead):
        return 0, 0
    turns = np.concatenate([[0], np.cumsum(lines.behind - lines.ahead)[:-1]])
    sides = int(lines.ahead.sum()) + turns
    total = int(lines.ahead.sum() + lines.behind.sum())
    both = np.concatenate([sides, total - sides])
    k = int(np.argmin(both))
    return int(both[k]), k


def _along(points: Matrix, data: Matrix, directions: Matrix) -> NDArray[np.int64]:
    depth = np.full(len(points), float(len(data)))
    for seen in views(points, data, directions):
        sides = np.minimum(seen.at_most(), seen.at_least())
        np.minimum(depth, sides.min(axis=0), out=depth)
    return depth.astype(np.int64)
