"""A median of each coordinate, chosen exactly among all cells of the grid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Exponential
from halfmask.noise import Words, below, weighted
from halfmask.plan import OnGrid, cloud_of
from halfmask.queries.distribution import Drawn
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import range_epsilon

__all__ = ["Medians", "Middle"]

Int64s = NDArray[np.int64]

_FEW_CELLS = 64
"""Of a coordinate whose law is listed."""


@dataclass(frozen=True)
class Middle:
    """One cell a coordinate."""

    cells: tuple[int, ...]

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[int, ...]:
        """The cells."""
        return self.cells

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: where the other points lie is not known."""


@dataclass(frozen=True)
class Medians(OfPoints):
    """The median of each coordinate, by the exponential mechanism over the cells of the grid.

    The score of a cell t is -max(0, 2 #(x < t) - n, n - 2 #(x <= t)): 0 where t is a median. A
    row that comes or goes changes each of the three by at most 1, and so their maximum.
    Privacy: epsilon-DP for each coordinate, with sensitivity the number of rows that differ between
    neighbours; the choices compose. [McSherry & Talwar 2007, Thm 6] In zCDP each is
    epsilon^2/8. [Cesar & Rogers 2021, Lemma 3.4]
    """

    @property
    def mechanism(self) -> Exponential:
        """The choice of one coordinate."""
        return Exponential(self.moved, range_epsilon(self.price, self.points.size))

    def coarse(self) -> "Medians":
        """Return the same choices on a grid of few cells; see `Coarse`."""
        return replace(self, points=self.points.coarser(_FEW_CELLS))

    def distribution(self, exact: Any) -> tuple[Drawn, ...] | None:
        """Return the law of each coordinate, on a coarse grid alone; see `Distributed`."""
        if any(grid.upper - grid.lower > _FEW_CELLS for grid in self.points.values):
            return None
        laws, cloud = [], cloud_of(exact)
        for j, grid in enumerate(self.points.values):
            starts, counts, scores = spans(*cloud.cells(j), grid)
            law = self.mechanism.log_mass(np.repeat(scores, counts).tolist())
            laws.append(Drawn(j, dict(enumerate(law.tolist(), int(starts[0])))))
        return tuple(laws)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a cell of each coordinate."""
        rate = 1 / self.mechanism.scale
        cells, cloud = [], cloud_of(exact)
        for j, grid in enumerate(self.points.values):
            starts, counts, scores = spans(*cloud.cells(j), grid)
            chosen = int(weighted(counts, scores, rate, 1, words)[0])
            cells.append(int(starts[chosen]) + int(below(int(counts[chosen]), 1, words)[0]))
        return [tuple(cells)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read the cells."""
        return tuple(Middle(tuple(int(cell or 0) for cell in record)) for record in records)


def spans(values: Int64s, weights: Int64s, grid: OnGrid) -> tuple[Int64s, Int64s, Int64s]:
    """Return (first cells, numbers of cells, scores) of runs of cells with the same score.

    values: the cells that hold rows, rising; weights: how many each holds. The runs are those
    before, at, and between the values; they cover the grid.
    """
    low, high = grid.lower - grid.origin, grid.upper - grid.origin
    upto = np.cumsum(weights)
    n = int(upto[-1]) if len(upto) else 0
    starts = np.empty(2 * len(values) + 1, dtype=np.int64)
    starts[0], starts[1::2], starts[2::2] = low, values, values + 1
    counts = np.ones(len(starts), dtype=np.int64)
    counts[::2] = np.diff(values, prepend=low - 1, append=high + 1) - 1
    scores = np.empty(len(starts), dtype=np.int64)
    scores[0] = -n
    upto *= 2
    scores[2::2] = -np.abs(upto - n)  # at a gap as many lie at or below it as below
    scores[1::2] = -np.maximum(0, np.maximum(upto - 2 * weights - n, n - upto))
    return starts, counts, scores
