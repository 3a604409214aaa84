"""The discrete staircase mechanism."""

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.checks import LARGEST_SCALE, charged, drawable, figure, whole_sensitivity
from halfmask.mechanisms.tails import precise, smallest
from halfmask.noise import Words, below, bernoulli_enclosed, exp_minus, geometric, secure_words
from halfmask.privacy import Cost, Number, Pure
from halfmask.privacy.normal import decimal

_LAST_INT64 = 2**63 - 1


@final
@dataclass(frozen=True, init=False)
class Staircase(Additive):
    """Add staircase noise to one integer: P(k) falls by exp(-epsilon) a step, and is level between.

    The first step reaches to |k| < first, the others are `sensitivity` wide: P(k) is proportional
    to exp(-epsilon * level), level = floor((|k| + sensitivity - first) / sensitivity). `first` is
    the one of least variance, so no noise of this price that depends on the sensitivity alone has
    less; for sensitivity 1 it is discrete Laplace noise.

    Privacy: epsilon-DP where neighbours differ in one integer, by at most `sensitivity`: |k| then
    moves by at most a step's width, so its level by at most 1. Not for vectors of which a unit
    moves several integers: each of those would cost epsilon. [Geng & Viswanath 2014, Thm 3]

    Attributes:
        sensitivity: the most by which one unit can change the integer, in grid steps; up to 2^55.
        epsilon: the price; 0.1 means one tenth.
        price: what is charged in place of epsilon, which it must cover; None is epsilon itself.

    >>> total = Staircase(sensitivity=100, epsilon=4)
    >>> total.law, str(total.cost), total.interval(1000, confidence=0.95)
    ('discrete staircase, first step 20, then 100, scale 25', 'epsilon 4', (937, 1063))

    """

    sensitivity: int
    epsilon: Fraction
    price: Cost | None

    def __init__(
        self, sensitivity: SupportsIndex, epsilon: Number, price: Cost | None = None
    ) -> None:
        object.__setattr__(self, "sensitivity", whole_sensitivity(sensitivity, "sensitivity"))
        object.__setattr__(self, "epsilon", Pure(epsilon).epsilon)
        object.__setattr__(self, "price", price)
        charged(Pure(epsilon), price)
        drawable(self.scale, "epsilon")
        if not self.takes(self.sensitivity):
            raise InvalidQuery("sensitivity: is above 2^55; use a coarser grid")

    @staticmethod
    def takes(sensitivity: int) -> bool:
        """Tell whether the sampler reaches so far: up to 2^55."""
        return sensitivity <= LARGEST_SCALE

    @property
    def cost(self) -> Cost:
        """The price of one release."""
        return charged(Pure(self.epsilon), self.price)

    @property
    def scale(self) -> Fraction:
        """sensitivity/epsilon in grid steps: the scale of Laplace noise at the same price."""
        return self.sensitivity / self.epsilon

    @property
    def first(self) -> int:
        """How far the first step reaches: all |k| below it are equally likely."""
        return _stairs(self.sensitivity, self.epsilon)[0] if self.sensitivity else 0

    @property
    def variance(self) -> float:
        """The variance of the noise, in squared grid steps."""
        return _stairs(self.sensitivity, self.epsilon)[1] if self.sensitivity else 0.0

    def law_in(self, step: Fraction) -> str:
        """Return the law in words, in units of which a grid step is worth `step`."""
        plain = super().law_in(step)
        widths = f"{figure(self.first * step)}, then {figure(self.sensitivity * step)}"
        return plain.replace("first step", f"first step {widths}")

    @property
    def _name(self) -> str:
        return "discrete staircase, first step, scale"

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        """Draw level, side of the step and place on it; a zero of the second sign is drawn anew.

        |k| = level * sensitivity + place, where the place lies on a period's `first` integers of
        weight 1 or on its other ones of weight exp(-epsilon).
        Privacy: the law is exact. Levels beyond int64 (probability under 2^-350) saturate.
        """
        source = secure_words() if words is None else words
        width, first = self.sensitivity, self.first
        values, lanes = np.empty(size, np.int64), np.arange(size)
        while lanes.size:
            level = geometric(1 / self.epsilon, lanes.size, source)
            np.minimum(level, _LAST_INT64 // width - 1, out=level)
            place = below(first, lanes.size, source)
            if first < width:
                upper = bernoulli_enclosed(self._first_enclosed, lanes.size, source)
                place = np.where(upper, place, first + below(width - first, lanes.size, source))
            far = level * width + place
            minus = below(2, lanes.size, source) == 1
            values[lanes] = np.where(minus, -far, far)
            lanes = lanes[minus & (far == 0)]
        return values

    def _first_enclosed(self, bits: int) -> tuple[int, int]:
        """Enclose the share of the first step in a period, first/(first + rest exp(-epsilon))."""
        first, rest = self.first, self.sensitivity - self.first
        more = bits + 2 + rest.bit_length()
        low, high = exp_minus(self.epsilon, more)
        top = first << more
        return (top << bits) // (top + rest * high), -(-(top << bits) // (top + rest * low))

    def _reading(self, distance: NDArray[Any]) -> NDArray[np.float64]:
        """Return the level, in integers: floats would miss the edge of a step beyond 2^53."""
        if not self.sensitivity:
            return super()._reading(distance)
        if distance.dtype.kind != "O" and distance.size and int(distance.max()) > LARGEST_SCALE:
            distance = distance.astype(object)
        levels = (distance + (self.sensitivity - self.first)) // self.sensitivity
        return np.asarray(levels, dtype=np.float64)

    def _log_mass(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        return _stairs(self.sensitivity, self.epsilon)[2] - distance * float(self.epsilon)

    def _tail(self, k: int) -> Decimal:
        width = self.sensitivity
        level, place = divmod(k + 1 + width - self.first, width)
        b = (-decimal(self.epsilon)).exp()
        whole = _Moments(width, b).whole(self.first)
        return 2 * b**level * (width - place + width * b / (1 - b)) / whole

    def _guess(self, miss: float) -> float:
        return -float(self.scale) * math.log(miss)


@functools.lru_cache(maxsize=1024)
def _stairs(width: int, epsilon: Fraction) -> tuple[int, float, float]:
    """Return the first step of least variance, that variance, and log P(0).

    Sixty-digit decimals, so that every platform finds the same step. The variance falls in `first`
    and then rises (checked by brute force in tests/mechanisms); the guess is the best step of
    continuous noise. [Geng & Viswanath 2014, Thm 4]
    """
    with precise():
        b = (-decimal(epsilon)).exp()
        moments = _Moments(width, b)
        share = ((b * (1 + b) / 2) ** (Decimal(1) / 3) - b) / (1 - b)

        def rises(less: int) -> bool:
            first = less + 1
            return first >= width or moments.variance(first + 1) >= moments.variance(first)

        first = 1 + smallest(rises, guess=min(int(share * width), width - 1))
        peak = -moments.whole(first).ln()
        return first, float(moments.variance(first)), float(peak)


@dataclass(frozen=True)
class _Moments:
    """Sums over the law, over P(0): with j the level and |k| = j * width + v, v > -width."""

    width: int
    b: Decimal

    def whole(self, first: int) -> Decimal:
        """Return the sum over all k of exp(-epsilon * level), which is 1/P(0)."""
        return 2 * (self.width / (1 - self.b) - (self.width - first)) - 1

    def variance(self, first: int) -> Decimal:
        """Return the mean of k²: sums of b^j (j * width + v)², less those of k < 0 at level 0."""
        b, w, below_first = self.b, self.width, self.width - first
        places = w * (first - 1 - below_first) // 2  # the sum of v
        squares = _squares(first - 1) + _squares(below_first)
        half = (
            w**3 * b * (1 + b) / (1 - b) ** 3
            + 2 * w * places * b / (1 - b) ** 2
            + squares / (1 - b)
            - _squares(below_first)
        )
        return 2 * half / self.whole(first)


def _squares(n: int) -> int:
    return n * (n + 1) * (2 * n + 1) // 6
