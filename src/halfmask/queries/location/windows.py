"""How many more points lie inside a window of each coordinate than outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.queries.distribution import Noisy
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Reach

__all__ = ["Excess", "Windows"]

Int64s = NDArray[np.int64]

FEW = 255
"""Rows whose sum fits a byte."""


@dataclass(frozen=True)
class Excess:
    """Noisy numbers of points inside less those outside, and the deviation of their noise."""

    values: tuple[int, ...]
    deviation: float

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[int, ...]:
        """The numbers."""
        return self.values

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: an excess serves to choose what is measured next."""


@dataclass(frozen=True)
class Windows(OfPoints):
    """For each coordinate, the points with low <= x < high less all others: in cells.

    Privacy: a row adds 1 or -1 to each of d integers, so rows that differ between neighbours move
    them by at most their number times d in L1, times root d in L2 (triangle inequality): noise for
    this reach. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1; for Gaussian noise Canonne, Kamath &
    Steinke 2020, Thm 14]
    """

    low: tuple[int, ...]
    high: tuple[int, ...]

    @cached_property
    def mechanism(self) -> Additive:
        """The noise of each number."""
        d = self.points.size
        return mechanism_for(Reach(self.moved * d, self.moved**2 * d), self.price)

    def of(self, block: Int64s) -> Int64s:
        """Return the exact integers of a block of points; see `Statistic`."""
        low, high = np.array(self.low, np.int64), np.array(self.high, np.int64)
        inside = np.zeros(self.points.size, np.int64)
        for start in range(0, len(block), FEW):
            rows = block[start : start + FEW]
            inside += np.add.reduce((rows >= low) & (rows < high), axis=0, dtype=np.uint8)
        return 2 * inside - len(block)

    def sums(self, points: Any) -> tuple[int, ...]:
        """Return the exact integers."""
        return tuple(cloud_of(points).total(self).tolist())

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the numbers with their noise; see `Distributed`."""
        return (Noisy(self.mechanism, self.sums(exact), Fraction(1)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.mechanism.release(self.sums(exact), words)]

    def read(self, records: Sequence[Record]) -> tuple[Excess, ...]:
        """Read noisy numbers."""
        deviation = self.mechanism.standard_deviation
        return tuple(Excess(tuple(int(n or 0) for n in record), deviation) for record in records)
