"""A point deep in every coordinate at once: chosen exactly from nested boxes of the grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Exponential
from halfmask.noise import Words, below, weighted
from halfmask.plan import OnGrid, Points
from halfmask.privacy import ZCDP, Cost, Pure
from halfmask.queries.location.chosen import chosen_epsilon
from halfmask.queries.location.medians import Middle
from halfmask.queries.measurement import Record

__all__ = ["Boxes"]

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Boxes:
    """One point of the grid by the exponential mechanism on its depth along the axes.

    The score of a point t is -max over coordinates j of max(0, 2 #(x_j < t_j) - n,
    n - 2 #(x_j <= t_j)): 0 where every t_j is a median. A row that comes or goes changes each of
    these numbers by at most 1, and so their maximum. The points of a score of at least -m are a
    box, so the level of the score is drawn by the exact numbers of points between boxes, and then
    a point of that shell uniformly: together, the exponential mechanism over all points.
    Privacy: epsilon-DP in any dimension, with sensitivity the number of rows that differ between
    neighbours. [McSherry & Talwar 2007, Thm 6] In zCDP epsilon^2/8. [Cesar & Rogers 2021, Lemma
    3.4]
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
    def mechanism(self) -> Exponential:
        """The choice of a point."""
        return Exponential(self.moved, chosen_epsilon(self.price, 1))

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choice, in words."""
        return (self.mechanism.law,)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a level, then a point of it."""
        nested = Nest.of(exact, self.points.values)
        level = int(weighted(nested.shells, -nested.levels, 1 / self.mechanism.scale, 1, words)[0])
        return [nested.point(level, words)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read the cells."""
        return tuple(Middle(tuple(int(cell or 0) for cell in record)) for record in records)


@dataclass(frozen=True)
class Nest:
    """Boxes from the deepest outwards, the last of them the whole grid.

    levels: shape (k,), how far from a median the points of each box may lie at most.
    lows, highs: shape (k, d), the first and last cell of each box in each coordinate.
    """

    levels: Int64s
    lows: Int64s
    highs: Int64s

    @classmethod
    def of(cls, points: Int64s, grids: Sequence[OnGrid]) -> "Nest":
        """Order each coordinate; a box ends at the values of the same two ranks in all."""
        n = len(points)
        ordered = np.sort(points, axis=0)
        levels = np.unique(np.append(np.arange(n % 2, n + 1, 2), 0))
        first, last = (n - levels + 1) // 2 - 1, (n + levels) // 2
        low = np.array([grid.lower - grid.origin for grid in grids])
        high = np.array([grid.upper - grid.origin for grid in grids])
        edged = np.vstack([low, ordered, high])  # one beyond the lowest and the highest value
        return cls(levels, edged[np.maximum(first, -1) + 1], edged[np.minimum(last, n) + 1])

    @property
    def shells(self) -> list[int]:
        """How many points of the grid each box has beyond the one inside it."""
        sizes = (self.highs - self.lows + 1).astype(object)
        counts = np.multiply.reduce(sizes, axis=1).tolist()
        return [outer - inner for inner, outer in zip([0, *counts], counts, strict=False)]

    def point(self, level: int, words: Words | None) -> tuple[int, ...]:
        """Draw uniformly from a shell: by the first coordinate that leaves the inner box."""
        low, high = self.lows[level].tolist(), self.highs[level].tolist()
        if level == 0:
            return tuple(_uniform(a, b, words) for a, b in zip(low, high, strict=True))
        near, far = self.lows[level - 1].tolist(), self.highs[level - 1].tolist()
        inner = [b - a + 1 for a, b in zip(near, far, strict=True)]
        outer = [b - a + 1 for a, b in zip(low, high, strict=True)]
        before, after = _products(inner), _products(outer[::-1])[::-1]
        ways = [before[j] * (outer[j] - inner[j]) * after[j + 1] for j in range(len(inner))]
        leaves = int(weighted(ways, [0] * len(ways), 0, 1, words)[0])
        cells = []
        for j, (a, b, c, d) in enumerate(zip(low, near, far, high, strict=True)):
            if j < leaves:
                cells.append(_uniform(b, c, words))
            elif j > leaves:
                cells.append(_uniform(a, d, words))
            else:
                place = _uniform(0, (b - a) + (d - c) - 1, words)
                cells.append(a + place if place < b - a else c + 1 + place - (b - a))
        return tuple(cells)


def _products(sizes: Sequence[int]) -> list[int]:
    """Return the products of the first 0, 1, ... of them."""
    found = [1]
    for size in sizes:
        found.append(found[-1] * size)
    return found


def _uniform(low: int, high: int, words: Words | None) -> int:
    return low + int(below(high - low + 1, 1, words)[0])
