"""Answers that are chosen among public candidates by exact scores, not made noisy."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from halfmask.mechanisms import Exponential, PermuteAndFlip, Selection
from halfmask.noise import Words
from halfmask.plan import Request
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries.distribution import Drawn
from halfmask.queries.measurement import Record, Scalar
from halfmask.queries.prepared import Expected
from halfmask.queries.pricing import range_epsilon

__all__ = ["Choice", "Chosen", "selection_for"]

_MOST_LISTED = 5000
"""Possible records whose probabilities are listed."""


@dataclass(frozen=True)
class Choice:
    """What was chosen: one candidate, or several in order."""

    chosen: tuple[Scalar, ...]
    alone: bool

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> Scalar | tuple[Scalar, ...]:
        """The candidate, or the tuple of them, the best first."""
        return self.chosen[0] if self.alone else self.chosen

    def interval(self, confidence: float = 0.95) -> None:
        """Say nothing: a choice has no interval."""

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, object, None, None], ...]:
        """Return each candidate with its place."""
        if self.alone:
            return (("", self.chosen[0], None, None),)
        return tuple((f"{i}.", one, None, None) for i, one in enumerate(self.chosen, start=1))


@dataclass(frozen=True)
class Chosen:
    """Choose one candidate, or several, one after the other from those that are left.

    Privacy: the price, by sequential composition of the choices. In groups by public keys a choice
    is made for each: with scores of group j that rise by at most u_j and fall by at most d_j, its
    loss is at most (u_j + d_j)/scale, and the sum of these over all groups is what one choice was
    priced for. [Dwork, McSherry, Nissim & Smith 2006, Thm 3; the loss of permute-and-flip: raise
    the exponential noise of the winner by u_j + d_j, see `PermuteAndFlip`]

    size: how many cells of the request make up one group's scores; None: one tally a candidate.
    step: what one of the scores' integers is worth.
    """

    request: Request[Any]
    mechanism: Selection
    cost: Cost
    candidates: tuple[Scalar, ...]
    size: int | None = None
    times: int = 1
    alone: bool = True
    step: Fraction = Fraction(1)

    @property
    def is_public(self) -> bool:
        """Tell whether no unit can change the answer: then it costs nothing."""
        return self.mechanism.scale == 0

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choice, in words."""
        several = f", {self.times} times" if self.times > 1 else ""
        return (f"{self.mechanism.law_in(self.step)}{several}",)

    def expected(self) -> Expected:
        """Predict how far the choice falls behind: one scale, where another is close."""
        behind = float(self.mechanism.scale * self.step)
        return Expected(behind, -behind, 0.0, "how far the choice's score is behind the best one")

    def scores(self, exact: Any) -> list[list[int]]:
        """Cut the exact integers into the scores of each public key."""
        if self.size is None:
            return [list(scores) for scores in zip(*map(_flat, exact), strict=True)]
        flat = _flat(exact)
        return [flat[at : at + self.size] for at in range(0, len(flat), self.size)]

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Return the places of the chosen candidates, for each public key."""
        return [self._peeled(scores, words) for scores in self.scores(exact)]

    def _peeled(self, scores: Sequence[int], words: Words | None) -> Record:
        left, found = list(range(len(scores))), []
        for _ in range(self.times):
            place = self.mechanism.release([scores[i] for i in left], words)
            found.append(left.pop(place))
        return tuple(found)

    def read(self, records: Sequence[Record]) -> tuple[Choice, ...]:
        """Read the candidates."""
        return tuple(
            Choice(tuple(self.candidates[int(place or 0)] for place in record), self.alone)
            for record in records
        )

    def distribution(self, exact: Any) -> tuple[Drawn, ...] | None:
        """Return the law of each public key's choices; see `Distributed`."""
        if math.perm(len(self.candidates), self.times) > _MOST_LISTED:
            return None
        return tuple(Drawn(i, law) for i, law in enumerate(self.log_masses(exact)))

    def log_masses(self, exact: Any) -> list[dict[Record, float]]:
        """Return, for each public key, the exact log probability of every possible record."""
        return [dict(self._laws(scores)) for scores in self.scores(exact)]

    def _laws(self, scores: Sequence[int]) -> Iterator[tuple[Record, float]]:
        for order in itertools.permutations(range(len(scores)), self.times):
            left, total = list(range(len(scores))), 0.0
            for place in order:
                masses = self.mechanism.log_mass([scores[i] for i in left])
                total += float(masses[left.index(place)])
                left.remove(place)
            yield order, total


def _flat(cells: Any) -> list[int]:
    return [int(number) for cell in cells for number in cell]


def selection_for(sensitivity: int, monotonic: bool, price: Cost, times: int = 1) -> Selection:
    """Return the best choice that the price buys, `times` over.

    Privacy: each branch is the theorem of the mechanism that it builds; permute-and-flip is of no
    bounded range, so its price in mu is that of an epsilon, see `GDP.largest_pure`.
    """
    match price:
        case Pure() | Approximate():
            return PermuteAndFlip(sensitivity, price.epsilon / times, monotonic)
        case ZCDP():
            return Exponential(sensitivity, range_epsilon(price, times), monotonic)
        case GDP():
            each = price.share(Fraction(1, times)).largest_pure()
            return PermuteAndFlip(sensitivity, each.epsilon, monotonic)
        case _:
            raise TypeError(f"no choice is known for a price of type {type(price).__name__}")
