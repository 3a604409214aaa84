"""One point of the grid, chosen by a mechanism that meets all points at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfmask.mechanisms import BoxMedian
from halfmask.noise import Words
from halfmask.plan import Points
from halfmask.privacy import ZCDP, Cost, Pure
from halfmask.queries.location.chosen import chosen_epsilon
from halfmask.queries.location.medians import Middle
from halfmask.queries.measurement import Record

__all__ = ["GridPoint"]


@dataclass(frozen=True)
class GridPoint:
    """A cell of the grid near the median of every coordinate.

    Privacy: that of `mechanisms.BoxMedian`: epsilon-DP in any dimension, epsilon^2/8-zCDP.

    moved: how many rows differ between neighbours.
    """

    points: Points
    moved: int
    price: Pure | ZCDP

    @property
    def request(self) -> Points:
        """What is asked of the rows."""
        return self.points

    @property
    def cost(self) -> Cost:
        """The price of the choice."""
        return self.price

    @property
    def is_public(self) -> bool:
        """A choice is never public."""
        return False

    @property
    def mechanism(self) -> BoxMedian:
        """The choice over the whole grid between the bounds."""
        grids = self.points.values
        lower = [grid.lower - grid.origin for grid in grids]
        upper = [grid.upper - grid.origin for grid in grids]
        return BoxMedian(lower, upper, self.moved, chosen_epsilon(self.price, 1))

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choice, in words."""
        return (self.mechanism.law,)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a point."""
        return [self.mechanism.release(exact, words)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read the cells."""
        return tuple(Middle(tuple(int(cell or 0) for cell in record)) for record in records)
