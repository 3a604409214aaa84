"""Counts of unknown keys with discrete Laplace noise that is cut off at the threshold."""

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.checks import figure
from halfmask.mechanisms.discrete_laplace import DiscreteLaplace
from halfmask.mechanisms.tails import MARGIN, precise, smallest
from halfmask.mechanisms.threshold import Thresholded
from halfmask.noise import Words, discrete_laplace
from halfmask.privacy import Approximate
from halfmask.privacy.normal import decimal


@final
@dataclass(frozen=True, init=False)
class ThresholdLaplace(Thresholded):
    """Add discrete Laplace noise, held to -T .. T, to the count of each key; show what is above T.

    Privacy: (epsilon, delta)-DP for all keys and counts together. [Desfontaines, Voss, Gipson &
    Mandayam 2022, Thm 3 and section 3.2: the optimal selection of keys, where epsilon and delta
    make T an integer; the vector of several keys per unit: below]

    Let every key that could exist draw noise; those that no row holds stay at or below T, hidden
    whatever their noise, so the counts of the found keys are the whole output. Two neighbours
    differ in at most `changed` keys, by at most `reach` in each. Where each of these keys shows a
    value that both tables could give, the masses differ by a factor of at most
    exp(changed*reach/scale) = exp(epsilon). Any other output needs a key whose noise lies among the
    last `reach` values of one end; keys are independent, so this has the probability
    1 - (1 - P(T - reach < noise <= T))^changed, which is delta. Hiding is post-processing.

    The threshold is the least T for which that is within the price.

    >>> counts = ThresholdLaplace(reach=1, groups=1, price=Approximate("0.5", "1e-6"))
    >>> counts.threshold, counts.law
    (25, 'discrete Laplace, scale 2, held to -25 to 25; shown where above 25')

    """

    reach: int
    groups: int
    price: Approximate
    replaced: bool

    @functools.cached_property
    def noise(self) -> DiscreteLaplace:
        """The law of the noise, but for its ends."""
        return DiscreteLaplace(self.reach * self.changed, self.price.epsilon)

    @functools.cached_property
    def threshold(self) -> int:
        """The least T whose delta is within the price."""
        x = float(1 / self.noise.scale)
        one = -math.expm1(math.log1p(-float(self.price.delta)) / self.changed)
        log_rest = math.log(one) + math.log1p(math.exp(-x))
        grown = x * self.reach + math.log(-math.expm1(-x * self.reach) + 2 * one)
        guess = max(0, math.ceil((grown - log_rest) / x) - 1 - self.reach)
        with precise():
            allowed = decimal(self.price.delta) * (1 - MARGIN)
            return self.reach + smallest(lambda h: self._delta(self.reach + h) <= allowed, guess)

    def _delta(self, threshold: int) -> Decimal:
        """1 - (1 - P(T - reach < noise <= T))^changed, the mass at the ends included."""
        x = decimal(1 / self.noise.scale)
        inner, outer = (-x * (threshold - self.reach + 1)).exp(), (-x * (threshold + 1)).exp()
        end = (inner - outer) / (1 + (-x).exp() - 2 * outer)
        return 1 - (1 - end) ** self.changed

    @property
    def law(self) -> str:
        """The law in words."""
        t = self.threshold
        return (
            f"discrete Laplace, scale {figure(self.noise.scale)}, held to -{t} to {t}; "
            f"shown where above {t}"
        )

    @property
    def far(self) -> int:
        """The noise is nowhere farther from 0 than the threshold."""
        return self.threshold

    def beyond(self, m: int) -> float:
        """Return P(noise >= m)."""
        if m <= 0:
            return 1 - self.beyond(1 - m)
        x, last = float(1 / self.noise.scale), self.threshold + 1
        if m >= last:
            return 0.0
        return math.exp(-x * m) * -math.expm1(-x * (last - m)) / self._total

    @functools.cached_property
    def _total(self) -> float:
        """(1 - a) times the sum of a^|k| over -T .. T."""
        x = float(1 / self.noise.scale)
        return math.expm1(-x) - 2 * math.expm1(-x * (self.threshold + 1))

    def _log_mass(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        x = float(1 / self.noise.scale)
        log_zero = math.log(-math.expm1(-x)) - math.log(self._total)
        masses: NDArray[np.float64] = log_zero - np.abs(k) * x
        return np.where(np.abs(k) > self.threshold, -np.inf, masses)

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        """Rejection: what lies beyond the ends is drawn again, in order."""
        noise = discrete_laplace(self.noise.scale, size, words)
        while (beyond := np.flatnonzero(np.abs(noise) > self.threshold)).size:
            noise[beyond] = discrete_laplace(self.noise.scale, beyond.size, words)
        return noise
