"""How many steps of a rising ladder a number has at or below it, faster than by bisection."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Steps"]

_KEPT = 44
"""Bits of a double below those of its bin: a bin is a 256th of a doubling, or less."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Positive rising marks, and a table that knows for each bin of doubles how many lie below it.

    The bits of doubles that are not negative rise with them: so their upper bits are bins in order.

    >>> Steps.of(np.array([1.0, 2.0, 2.01])).places(np.array([0.0, 1.0, 1.9, 2.001, 9.0])).tolist()
    [0, 1, 1, 2, 3]
    """

    marks: NDArray[np.float64]
    first: int
    table: NDArray[np.int64]
    most: int

    @classmethod
    def of(cls, marks: NDArray[np.float64]) -> Self:
        """Make the table; most: the marks of the fullest bin."""
        bins = marks.view(np.int64) >> _KEPT
        first, last = int(bins[0]), int(bins[-1])
        table = np.searchsorted(bins, np.arange(first, last + 2))
        most = int(np.diff(table).max())
        return cls(np.append(marks, np.full(most, np.nan)), first, table, most)

    @property
    def count(self) -> int:
        """How many marks there are."""
        return len(self.marks) - self.most

    def places(self, lengths: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return what `searchsorted(marks, lengths, "right")` does, of lengths of at least 0."""
        bins = (lengths.view(np.int64) >> _KEPT) - self.first
        places = self.table.take(bins, mode="clip")
        for _ in range(self.most):
            places += lengths >= self.marks.take(places)
        return places
