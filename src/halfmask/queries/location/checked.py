"""How deep one public place lies among the rows, as a share of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.queries.distribution import Noisy
from halfmask.queries.grid import Range
from halfmask.queries.location.depths import Halfspaces
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.measurement import Record
from halfmask.queries.moments import term
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.ratio import Ratio
from halfmask.queries.setting import Reach

__all__ = ["DepthShare"]


@dataclass(frozen=True)
class DepthShare(OfPoints):
    """The rows on the emptiest side of a place, along public directions, and all the others.

    Privacy: a row added raises the first count by 0 or 1 (see `Halfspaces`) and both together by 1,
    so exactly one of them by 1: the whole price serves both. Units that differ in m rows move them
    by at most m in L1 and m^2 in squared L2; where r rows replace r others the counts move
    oppositely, by at most r each: 2 r^2. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1; for
    Gaussian noise Canonne, Kamath & Steinke 2020, Thm 14]
    """

    depth: Halfspaces
    place: tuple[int, ...]
    replaced: bool

    @property
    def landmarks(self) -> tuple[tuple[int, ...], ...]:
        """The place that is checked."""
        return (self.place,)

    @property
    def mechanism(self) -> Additive:
        """The noise of each count."""
        squared = self.moved**2
        return mechanism_for(
            Reach(self.moved, squared // 2 if self.replaced else squared), self.price
        )

    def counts(self, points: Any) -> tuple[int, int]:
        """Return the exact counts."""
        places = np.array([self.place], np.int64)
        (deep,), rows = self.depth.counted(cloud_of(points), places)
        return deep, rows - deep

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the counts with their noise; see `Distributed`."""
        return (Noisy(self.mechanism, self.counts(exact), Fraction(1)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.mechanism.release(self.counts(exact), words)]

    def read(self, records: Sequence[Record]) -> tuple[Ratio, ...]:
        """Read the share of the first count."""
        shares = []
        for record in records:
            deep, others = (int(count or 0) for count in record)
            terms = term(deep, self.mechanism, 1, 1, 1), term(others, self.mechanism, 1, 0, 1)
            shares.append(Ratio(terms, Range(0, 1)))
        return tuple(shares)
