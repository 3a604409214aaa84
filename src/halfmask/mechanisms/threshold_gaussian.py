"""Counts of unknown keys with Gaussian noise: less of it where a unit may be in many groups."""

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.checks import figure
from halfmask.mechanisms.rounded_gaussian import RoundedGaussian
from halfmask.mechanisms.tails import MARGIN, precise, smallest
from halfmask.mechanisms.threshold import Thresholded
from halfmask.noise import Words, rounded_gaussian
from halfmask.privacy import Approximate, gdp_delta
from halfmask.privacy.normal import decimal, normal_tail, round_up

NOISE = Fraction(99, 100)
"""The part of delta that the noise alone may use: neighbours that share all their keys."""

BLOCKS = 24


@final
@dataclass(frozen=True, init=False)
class ThresholdGaussian(Thresholded):
    """Add rounded Gaussian noise to the count of each key; show what is above the threshold T.

    Privacy: (epsilon, delta)-DP for all keys and counts together; proof below, with the exact delta
    of the Gaussian mechanism. [Balle & Wang 2018, Thm 8]

    Let two neighbours differ in d keys; of them the one unit alone holds a in the first table and b
    in the second. A key that is not held is hidden. Let A be the probability that the a keys are
    all hidden in the first table, B that of the b keys in the second; with p the probability that
    a key of count `reach` is hidden, A >= p^a and B >= p^b. Outputs that show one of the a keys
    have probability 1 - A. On the others the first density is A P and the second at least B Q, with
    P and Q Gaussian mechanisms on d - a keys at most, of mu = reach√(d-a)/sigma. So
        delta <= 1 - A + ∫(A P - e^epsilon B Q)+,
    which falls in A, as the integral's slope is at most 1, and in B: it is largest at p^a, p^b,
        delta <= 1 - p^a + p^a D(epsilon - (b - a) ln(1/p)),  D the exact delta of that mu,
    taken at its largest over a = 0 .. groups, with b = groups and d = changed.
    Hiding is post-processing.

    The threshold is the least T for which that is within the price.

    >>> counts = ThresholdGaussian(reach=1, groups=50, price=Approximate(1, "1e-6"))
    >>> counts.threshold, counts.law
    (165, 'rounded Gaussian, sigma 29.8876; shown where above 165')

    """

    reach: int
    groups: int
    price: Approximate
    replaced: bool

    @functools.cached_property
    def noise(self) -> RoundedGaussian:
        """The law of the noise."""
        part = Approximate.from_amounts(self.price.epsilon, self.price.delta * NOISE, up=False)
        return RoundedGaussian(self.reach**2 * self.changed, part.largest_gdp().mu)

    @functools.cached_property
    def threshold(self) -> int:
        """The least T whose delta is within the price."""
        one = -math.expm1(math.log1p(-float(self.price.delta)) / self.groups)
        guess = math.ceil(-float(self.noise.scale) * NormalDist().inv_cdf(min(one, 0.4)))
        with precise():
            allowed = decimal(self.price.delta) * (1 - MARGIN)
            return self.reach + smallest(lambda h: self._delta(self.reach + h) <= allowed, guess)

    def _delta(self, threshold: int) -> Decimal:
        """The largest over a, in blocks where there are many: a at its worse end in each term."""
        above = Decimal(threshold - self.reach) + Decimal("0.5")
        hidden = 1 - normal_tail(above / decimal(self.noise.scale))
        if self.groups <= BLOCKS:
            return max(self._term(hidden, a, a) for a in range(self.groups + 1))
        ends = [i * self.groups // BLOCKS for i in range(BLOCKS + 1)]
        blocks = [(0, 0), *((low + 1, high) for low, high in pairwise(ends))]
        return max(self._term(hidden, low, high) for low, high in blocks)

    def _term(self, hidden: Decimal, fewest: int, most: int) -> Decimal:
        """Bound delta for every number of keys held alone, fewest <= a <= most."""
        lost = 1 - hidden**most
        shared = self.changed - fewest
        if shared == 0:
            return lost
        shift = (self.groups - fewest) * -hidden.ln()
        epsilon = self.price.epsilon - (Fraction(0) if shift == 0 else round_up(shift))
        mu = round_up(decimal(Fraction(self.reach**2 * shared)).sqrt() / decimal(self.noise.scale))
        return lost + decimal(gdp_delta(mu, epsilon))

    @property
    def law(self) -> str:
        """The law in words."""
        return (
            f"rounded Gaussian, sigma {figure(self.noise.scale)}; shown where above "
            f"{self.threshold}"
        )

    @functools.cached_property
    def far(self) -> int:
        """The noise is not farther than this from 0, to double precision."""
        return math.ceil(9 * self.noise.scale) + 1

    def beyond(self, m: int) -> float:
        """Return P(noise >= m)."""
        return math.erfc((m - 0.5) / float(self.noise.scale) / math.sqrt(2)) / 2

    def _log_mass(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.noise.log_mass(k)

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        return rounded_gaussian(self.noise.scale, size, words)
