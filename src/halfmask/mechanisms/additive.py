"""The shape of a mechanism that adds noise to integers."""

import functools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.checks import figure
from halfmask.mechanisms.tails import MARGIN, precise, smallest
from halfmask.noise import Words
from halfmask.privacy import Cost, exact
from halfmask.privacy.normal import decimal


class Additive(ABC):
    """Integer noise, independent and of one symmetric law, added to each integer of a vector."""

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """The price of one release of the whole vector."""

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The scale of the noise in grid steps; 0 where no unit can change the statistic."""

    @property
    @abstractmethod
    def _name(self) -> str:
        """The law and its parameter in words, such as "discrete Laplace, scale"."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise, in squared grid steps."""

    @abstractmethod
    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        """Draw the noise."""

    @abstractmethod
    def _log_mass(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log P(noise = k) from what `_reading` returned, for a positive scale."""

    def _reading(self, distance: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the mass depends on, from |k| in integers: here |k| itself, in floats."""
        return distance.astype(np.float64)

    @abstractmethod
    def _tail(self, k: int) -> Decimal:
        """Return P(|noise| > k) for k >= 0 and a positive scale, to 18 digits."""

    @abstractmethod
    def _guess(self, miss: float) -> float:
        """Return about the half-width that misses with this probability."""

    @property
    def law(self) -> str:
        """The law of the noise in words."""
        return self.law_in(Fraction(1))

    def law_in(self, step: Fraction) -> str:
        """Return the law in words, its scale in units of which a grid step is worth `step`."""
        if self.scale == 0:
            return "no noise: no unit can change this statistic"
        return f"{self._name} {figure(self.scale * step)}"

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of the noise, in grid steps."""
        return math.sqrt(self.variance)

    def release(self, integers: Sequence[int], words: Words | None = None) -> tuple[int, ...]:
        """Return each integer plus fresh noise, as Python integers that cannot overflow.

        Args:
            integers: the exact statistic, in grid steps.
            words: the source of random words; None means the secure one.

        """
        exact_values = [operator.index(integer) for integer in integers]
        if self.scale == 0 or not exact_values:
            return tuple(exact_values)
        noise = self._draw(len(exact_values), words).tolist()
        return tuple(map(operator.add, exact_values, noise))

    def interval(self, value: int, confidence: float | Fraction | str = 0.95) -> tuple[int, int]:
        """Return the smallest symmetric integer interval about a released value that covers.

        The exact value lies inside with probability at least `confidence`, over the noise; with
        bounds one grid step closer the probability is smaller.

        Args:
            value: a released integer.
            confidence: between 0 and 1, both at least 1e-12 away; 0.95 means 95/100.

        Raises:
            InvalidQuery: when the confidence is no such number.

        """
        sure = exact(confidence, "confidence")
        if sure >= 1:
            raise InvalidQuery(f"confidence: {confidence} is not below 1; give 0.95 for 95 %")
        half_width = _half_width(self, exact(1 - sure, "1 - confidence"))
        return operator.index(value) - half_width, operator.index(value) + half_width

    def tail(self, k: int) -> float:
        """Return P(|noise| > k)."""
        if k < 0 or self.scale == 0:
            return float(k < 0)
        with precise():
            return float(self._tail(operator.index(k)))

    @overload
    def log_mass(self, k: int) -> float: ...
    @overload
    def log_mass(self, k: Sequence[int] | NDArray[Any]) -> NDArray[np.float64]: ...
    def log_mass(self, k: Any) -> Any:
        """Return log P(noise = k), to 1e-12 absolute or relative, whichever is larger.

        Args:
            k: an integer, or an array or sequence of integers.

        """
        distance = _distances(k)
        if self.scale == 0:
            result = np.where(distance == 0, 0.0, -np.inf)
        else:
            with np.errstate(over="ignore", divide="ignore"):  # beyond 1e150: log mass -inf
                result = self._log_mass(self._reading(distance))
        return float(result) if distance.ndim == 0 else result


def _distances(k: object) -> NDArray[Any]:
    """Return |k| as integers that floats can hold; refuse what is not made of integers."""
    array = k if isinstance(k, np.ndarray) else np.array(k, dtype=object)
    try:
        if array.dtype.kind in "iu":
            negative = array < 0
            return np.where(negative, ~array, array).astype(np.uint64) + negative
        if array.dtype.kind != "O":
            raise TypeError
        if any(isinstance(each, bool) for each in array.flat):
            raise TypeError
        flat = [min(abs(operator.index(each)), 10**300) for each in array.flat]
    except TypeError:
        raise InvalidQuery(
            "k: not integers; the noise takes only integers, so ask for those"
        ) from None
    return np.array(flat, dtype=object).reshape(array.shape)


@functools.lru_cache(maxsize=1024)
def _half_width(mechanism: Additive, miss: Fraction) -> int:
    """Return the smallest h with P(|noise| > h) <= miss."""
    if mechanism.scale == 0:
        return 0
    with precise():
        allowed = decimal(miss) * (1 - MARGIN)
        guess = int(mechanism._guess(float(miss)))
        return smallest(lambda h: mechanism._tail(h) <= allowed, guess)
