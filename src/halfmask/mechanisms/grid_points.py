"""What the mechanisms that choose a point of a public grid have in common."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.checks import figure, whole_sensitivity
from halfmask.noise import Words, below, secure_words
from halfmask.privacy import ZCDP, Number, Pure

LARGEST = 2**60
"""Of a coordinate, so that differences and widths fit 63 bits."""


@dataclass(frozen=True, init=False)
class GridChoice(ABC):
    """The private choice of one point of the grid of integers in a public box.

    All have a score that one row, added or removed, changes by at most 1, and the law
    P(θ) ∝ exp(score(θ) epsilon / (2 moved)).

    Privacy: epsilon-DP, the exponential mechanism over a finite public set: neighbours, `moved`
    rows apart, change every score by at most `moved`. [McSherry & Talwar 2007, Thm 6]

    Attributes:
        lower, upper: the box, an integer for each coordinate, both ends within.
        moved: how many rows come and go between neighbours: 1 for one row added or removed, 2 for
          one replaced; a unit of r rows moves r or 2 r.
        epsilon: the price.

    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    moved: int
    epsilon: Fraction

    def __init__(
        self,
        lower: Sequence[SupportsIndex],
        upper: Sequence[SupportsIndex],
        moved: SupportsIndex,
        epsilon: Number,
    ) -> None:
        try:
            low, high = (tuple(operator.index(end) for end in side) for side in (lower, upper))
        except TypeError:
            raise InvalidQuery("box: not all ends are integers; put them on the grid") from None
        if not low or len(low) != len(high):
            raise InvalidQuery(
                f"box: {len(low)} lower and {len(high)} upper ends; give one of both for each "
                "coordinate"
            )
        for a, b in zip(low, high, strict=True):
            if not -LARGEST <= a <= b <= LARGEST:
                raise InvalidQuery(f"box: {a} to {b} is no range within 2^60; swap or shrink it")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "moved", whole_sensitivity(moved, "moved"))
        object.__setattr__(self, "epsilon", Pure(epsilon).epsilon)
        if self.moved and not 0 < self.rate <= LARGEST:
            raise InvalidQuery(f"epsilon: {epsilon} is outside what can be drawn; use another")

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @property
    def cost(self) -> Pure:
        """The price of one choice."""
        return Pure(self.epsilon)

    @property
    def zcdp(self) -> ZCDP:
        """The same choice priced in zCDP.

        Privacy: epsilon-bounded range, hence epsilon²/8-zCDP. [Cesar & Rogers 2021, Lemma 3.4]
        """
        return ZCDP.from_amounts(self.epsilon**2 / 8, Fraction(0), up=True)

    @property
    def rate(self) -> Fraction:
        """What one unit of score adds to the logarithm of a probability."""
        return self.epsilon / (2 * self.moved)

    @property
    def scale(self) -> Fraction:
        """The shortfall in score that divides a probability by e."""
        return 2 * self.moved / self.epsilon

    @property
    @abstractmethod
    def _name(self) -> str:
        """The name of the score in words."""

    @property
    def law(self) -> str:
        """The law of the choice in words."""
        if self.moved == 0:
            return "uniform in the box: no unit has a row"
        return f"exponential mechanism over a grid of {self._name}, scale {figure(self.scale)}"

    @abstractmethod
    def _choose(self, points: NDArray[np.int64], words: Words) -> tuple[int, ...]:
        """Return a point, given rows within the box."""

    def release(self, points: NDArray[Any], words: Words | None = None) -> tuple[int, ...]:
        """Return the chosen point of the grid.

        Args:
            points: an (n, d) array of integers, a row for each record; n may be 0. Coordinates
              outside the box are moved to its nearest end.
            words: the source of random words; None means the secure one.

        """
        source = secure_words() if words is None else words
        if self.moved == 0:
            return self.anywhere(source)
        return self._choose(self.inside(points), source)

    def inside(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """Return the rows, moved into the box coordinate by coordinate."""
        if points.ndim != 2 or points.shape[1] != self.size or points.dtype.kind not in "iu":
            raise InvalidQuery(f"points: not an (n, {self.size}) array of integers; give that")
        low, high = (np.array(side, np.int64) for side in (self.lower, self.upper))
        moved: NDArray[np.int64] = np.clip(points, low, high).astype(np.int64, copy=False)
        return moved

    def anywhere(self, words: Words) -> tuple[int, ...]:
        """Return a uniform point of the box."""
        ends = zip(self.lower, self.upper, strict=True)
        return tuple(a + int(below(b - a + 1, (), words)) for a, b in ends)
