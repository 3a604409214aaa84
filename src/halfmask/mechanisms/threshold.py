"""The shape of a mechanism that shows some of many keys: those whose count passes a threshold.

Which keys exist is itself private, so nothing may be said of a key that no row holds; a key that
one unit alone holds may be shown with a probability of at most delta.
"""

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.checks import whole_sensitivity
from halfmask.mechanisms.tails import precise
from halfmask.noise import Words
from halfmask.privacy import Approximate, Cost, exact
from halfmask.privacy.normal import round_up

MARGIN = 1 - 1e-9
"""Tails in floating point are good to this; intervals lean to the wide side."""


class Thresholded(ABC):
    """Noisy counts of keys, each shown where it is above the threshold and hidden elsewhere.

    A key of count 0 is always hidden, so the keys that no row holds need no noise.

    Attributes:
        reach: the most by which one unit changes the count of one key.
        groups: how many keys one unit may be counted in.
        price: the (epsilon, delta) of the whole.
        replaced: whether a unit is replaced (it then leaves so many keys and enters as many).

    """

    reach: int
    groups: int
    price: Approximate
    replaced: bool

    def __init__(
        self,
        reach: SupportsIndex,
        groups: SupportsIndex,
        price: Cost,
        replaced: bool = False,
    ) -> None:
        names = ("reach", "groups", "price", "replaced")
        for name, value in zip(names, checked(reach, groups, price, replaced), strict=True):
            object.__setattr__(self, name, value)
        _ = self.noise  # refuses a scale that cannot be drawn

    @property
    def cost(self) -> Approximate:
        """The price of showing all keys and their counts."""
        return self.price

    @property
    def changed(self) -> int:
        """In how many keys two neighbours may differ."""
        return self.groups * (2 if self.replaced else 1)

    @property
    @abstractmethod
    def noise(self) -> Additive:
        """The law of the noise, but for its ends."""

    @property
    @abstractmethod
    def threshold(self) -> int:
        """The noisy count that is still hidden: the next one is shown."""

    @abstractmethod
    def _delta(self, threshold: int) -> Decimal:
        """Return the delta of a threshold, to 18 digits."""

    @cached_property
    def delta(self) -> Fraction:
        """The delta that is proved, rounded up: at most that of the price."""
        with precise():
            return min(round_up(self._delta(self.threshold)), self.price.delta)

    @property
    @abstractmethod
    def law(self) -> str:
        """The law in words."""

    @property
    @abstractmethod
    def far(self) -> int:
        """The noise is not farther than this from 0, to double precision."""

    @abstractmethod
    def beyond(self, m: int) -> float:
        """Return P(noise >= m)."""

    @abstractmethod
    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        """Draw the noise."""

    @abstractmethod
    def _log_mass(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return log P(noise = k)."""

    def chance(self, count: int) -> float:
        """Return the probability that a key of this count is shown."""
        return self.beyond(self.threshold + 1 - count) if count > 0 else 0.0

    def log_chance(self, count: int) -> float:
        """Return the log probability that a key of this count is shown."""
        chance = self.chance(count)
        return math.log(chance) if chance > 0 else -math.inf

    @property
    def likely(self) -> int:
        """The least count of a key that is shown as often as not."""
        return self.threshold + 1

    def release(self, counts: Sequence[int], words: Words | None = None) -> list[int | None]:
        """Return each count plus noise, or None where that is not above the threshold.

        Args:
            counts: one exact count a key.
            words: the source of random words; None means the secure one.

        """
        whole = [operator.index(count) for count in counts]
        noisy = map(operator.add, whole, self._draw(len(whole), words).tolist())
        return [
            value if value > self.threshold and count > 0 else None
            for count, value in zip(whole, noisy, strict=True)
        ]

    def log_masses(self, count: int, most: int) -> dict[int | None, float]:
        """Return the exact law of one key: the log mass of None and of each value up to `most`."""
        if count <= 0:
            return {None: 0.0}
        values = np.arange(self.threshold + 1, most + 1)
        masses = self._log_mass(values - count)
        hidden = 1 - self.beyond(self.threshold + 1 - count)
        law: dict[int | None, float] = {None: math.log(hidden) if hidden > 0 else -math.inf}
        return law | dict(zip(values.tolist(), masses.tolist(), strict=True))

    def interval(self, value: int, confidence: float | Fraction | str = 0.95) -> tuple[int, int]:
        """Return the integers that hold the exact count with at least this confidence.

        It holds for the keys that are shown, among them: each is tested by its law given that it is
        shown, which counts just above the threshold need. A symmetric interval would miss them.
        """
        sure = exact(confidence, "confidence")
        if sure >= 1:
            raise InvalidQuery(f"confidence: {confidence} is not below 1; give 0.95 for 95 %")
        shift = max(0, value - (self.threshold + 2 * self.far + 2))  # beyond: a shift is exact
        low, high = _interval(self, value - shift, float(1 - sure))
        return low + shift, high + shift


@lru_cache(maxsize=65536)
def _interval(law: Thresholded, value: int, miss: float) -> tuple[int, int]:
    """Invert the two tests of half the miss each; both tails move one way with the count.

    Laws shifted by the count and cut at the threshold have a monotone likelihood ratio, as the
    noise is log-concave. [Lehmann & Romano 2005, Thm 3.4.1 and Cor. 3.5.1]
    """
    half = miss / 2 * MARGIN

    def above(count: int) -> float:
        return law.beyond(value - count) / law.beyond(law.threshold + 1 - count)

    def below(count: int) -> float:
        shown = law.beyond(law.threshold + 1 - count)
        return (shown - law.beyond(value + 1 - count)) / shown

    low = max(1, value - law.far)
    low = _first(lambda count: above(count) > half, low, max(low, value))
    high = _first(lambda count: below(count) <= half, value, value + law.far + 1) - 1
    return low, max(high, value)


def _first(holds: Any, low: int, high: int) -> int:
    """Return the first integer of low .. high at which it holds, or high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def checked(
    reach: object, groups: object, price: Cost, replaced: object
) -> tuple[int, int, Approximate, bool]:
    """Return the parameters of a thresholded release; InvalidQuery where keys would be bare."""
    far, several = whole_sensitivity(reach, "reach"), whole_sensitivity(groups, "groups")
    if min(far, several) < 1:
        raise InvalidQuery("groups: a unit that is counted nowhere needs no threshold; give 1")
    if not isinstance(replaced, bool):
        raise InvalidQuery(f"replaced: {replaced!r} given; give True or False")
    if not isinstance(price, Approximate) or not price.delta:
        raise InvalidQuery(
            f"delta: {price} has none, and without a delta no key that rows hold can be shown: a "
            "key that one unit alone holds would tell that it is there; give epsilon and delta, "
            "such as delta=1e-9, or list public Keys"
        )
    return far, several, price, replaced
