"""The shape of a mechanism that chooses one candidate among scores."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.checks import figure, whole_sensitivity
from halfmask.noise import Words
from halfmask.privacy import Number, Pure


@dataclass(frozen=True, init=False)
class Selection(ABC):
    """The private choice of one candidate among integer scores, the higher the better.

    Attributes:
        sensitivity: the most by which one unit can change any single score.
        epsilon: the price; 0.1 means one tenth.
        monotonic: True only where one unit moves all scores the same way (all up or all down).

    """

    sensitivity: int
    epsilon: Fraction
    monotonic: bool

    def __init__(
        self, sensitivity: SupportsIndex, epsilon: Number, monotonic: bool = False
    ) -> None:
        object.__setattr__(self, "sensitivity", whole_sensitivity(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", Pure(epsilon).epsilon)
        if not isinstance(monotonic, bool):
            raise InvalidQuery(f"monotonic: {monotonic!r} given; give True or False")
        object.__setattr__(self, "monotonic", monotonic)

    @property
    def cost(self) -> Pure:
        """The price of one choice."""
        return Pure(self.epsilon)

    @property
    def scale(self) -> Fraction:
        """The shortfall in score that divides a candidate's weight by e."""
        return self.sensitivity * (1 if self.monotonic else 2) / self.epsilon

    @property
    @abstractmethod
    def _name(self) -> str:
        """The name of the mechanism in words."""

    @property
    def law(self) -> str:
        """The law of the choice in words."""
        return self.law_in(Fraction(1))

    def law_in(self, step: Fraction) -> str:
        """Return the law in words, its scale in units of which a grid step is worth `step`."""
        if self.scale == 0:
            return "no noise: no unit can change these scores"
        return f"{self._name}, scale {figure(self.scale * step)}"

    @abstractmethod
    def _choose(self, gaps: list[int], words: Words | None) -> int:
        """Return an index, given how far each score is below the best."""

    @abstractmethod
    def _log_mass(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log probabilities, given the gaps divided by the scale."""

    def release(self, scores: Sequence[int], words: Words | None = None) -> int:
        """Return the index of the chosen candidate.

        Args:
            scores: one integer per candidate, of any size.
            words: the source of random words; None means the secure one.

        """
        gaps = _gaps(scores)
        return gaps.index(0) if self.scale == 0 else self._choose(gaps, words)

    def log_mass(self, scores: Sequence[int]) -> NDArray[np.float64]:
        """Return the log probability of each candidate, to 1e-12."""
        gaps = _gaps(scores)
        if self.scale == 0:
            certain = np.full(len(gaps), -np.inf)
            certain[gaps.index(0)] = 0.0
            return certain
        up, down = self.scale.denominator, self.scale.numerator
        most = (down << 1000) // up + 1  # beyond it a probability is exp(-2^1000): 0 to anyone
        return self._log_mass(np.array([min(gap, most) * up / down for gap in gaps]))


def _gaps(scores: Sequence[int]) -> list[int]:
    """Return how far each score lies below the best, as Python integers."""
    try:
        whole = [operator.index(score) for score in scores]
    except TypeError:  # the scores themselves are not shown: they come from rows
        raise InvalidQuery("scores: not integers; put them on an integer grid") from None
    if not whole:
        raise InvalidQuery("scores: none given; give one integer for each candidate")
    best = max(whole)
    return [best - score for score in whole]
