"""One point of the grid, chosen by a mechanism that meets all points at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfmask.mechanisms import BoxMedian
from halfmask.noise import Words
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.medians import Middle
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import range_epsilon

__all__ = ["GridPoint"]


@dataclass(frozen=True)
class GridPoint(OfPoints):
    """A cell of the grid near the median of every coordinate.

    Privacy: that of `mechanisms.BoxMedian`: epsilon-DP in any dimension, epsilon^2/8-zCDP.
    """

    @property
    def mechanism(self) -> BoxMedian:
        """The choice over the whole grid between the bounds."""
        grids = self.points.values
        lower = [grid.lower - grid.origin for grid in grids]
        upper = [grid.upper - grid.origin for grid in grids]
        return BoxMedian(lower, upper, self.moved, range_epsilon(self.price))

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a point."""
        return [self.mechanism.release(exact, words)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read the cells."""
        return tuple(Middle(tuple(int(cell or 0) for cell in record)) for record in records)
