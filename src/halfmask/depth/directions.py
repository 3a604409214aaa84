"""Data seen along directions: sorted projections, a few directions at a time."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from halfmask.depth.arguments import Matrix, anchor

__all__ = ["Views", "views"]

SPARE = 1 << 20  # projections at a time


class Views(NamedTuple):
    """Some directions: `data` (k, n) sorted, `points` (k, m), and their `rounding` (k, m).

    Equal points may project a little apart; `rounding` bounds how far, for a point and a row that
    equals it, so that ties with rows at the point itself count as ties.
    """

    data: Matrix
    points: Matrix
    rounding: Matrix

    def at_most(self) -> Matrix:
        """How many rows lie at or below each point, (k, m); those within `rounding` do."""
        upper = self.points + self.rounding
        return np.array(
            [np.searchsorted(x, t, side="right") for x, t in zip(self.data, upper, strict=True)],
            dtype=np.float64,
        )

    def at_least(self) -> Matrix:
        """How many rows lie at or above each point, (k, m); those within `rounding` do."""
        lower = self.points - self.rounding
        below = [np.searchsorted(x, t) for x, t in zip(self.data, lower, strict=True)]
        counts: Matrix = self.data.shape[1] - np.array(below, dtype=np.float64)
        return counts


def views(points: Matrix, data: Matrix, directions: Matrix) -> Iterator[Views]:
    """Project on the directions, as many at a time as fit in a few MB, and sort each."""
    centre = anchor(data)
    x, t = data - centre, points - centre
    lengths = np.linalg.norm(t, axis=1)
    unit = 2 * (data.shape[1] + 2) * np.finfo(np.float64).eps  # both errors of a sum of d products
    step = max(1, SPARE // (len(data) + len(points)))
    for start in range(0, len(directions), step):
        rays = directions[start : start + step]
        seen = rays @ x.T
        seen.sort(axis=1)
        yield Views(seen, rays @ t.T, unit * np.linalg.norm(rays, axis=1)[:, None] * lengths)
