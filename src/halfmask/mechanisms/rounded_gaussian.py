"""The Gaussian mechanism, rounded to the integer grid."""

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Self, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.checks import drawable, root_up, whole_sensitivity
from halfmask.mechanisms.quadrature import nodes_and_weights
from halfmask.noise import Words, rounded_gaussian
from halfmask.privacy import GDP, Approximate, Number
from halfmask.privacy.normal import decimal, normal_tail


@final
@dataclass(frozen=True, init=False)
class RoundedGaussian(Additive):
    """Add Gaussian noise rounded to the nearest integer, floor(N(0, sigma²) + 1/2).

    Privacy: mu-GDP with sigma² >= sensitivity_squared/mu², for the vector as a whole: rounding
    a sum with an integer is post-processing of the Gaussian mechanism.
    [Dong, Roth & Su 2019, Thm 2.7]

    Attributes:
        sensitivity_squared: the square of the most by which one unit can change the vector in
            L2, in squared grid steps.
        mu: the price; 0.1 means one tenth.
        price: an (epsilon, delta) to be charged in place of mu, which mu must meet; see
            `for_approximate`.

    >>> sums = RoundedGaussian(sensitivity_squared=25, mu=0.5)
    >>> sums.law, str(sums.cost), sums.interval(100, confidence=0.95)
    ('rounded Gaussian, sigma 10', 'mu 0.5', (80, 120))

    """

    sensitivity_squared: int
    mu: Fraction
    price: Approximate | None

    def __init__(
        self, sensitivity_squared: SupportsIndex, mu: Number, price: Approximate | None = None
    ) -> None:
        squared = whole_sensitivity(sensitivity_squared, "sensitivity_squared")
        object.__setattr__(self, "sensitivity_squared", squared)
        object.__setattr__(self, "mu", GDP(mu).mu)
        object.__setattr__(self, "price", price)
        drawable(self.scale, "mu")
        if price is not None and self.mu > _largest_mu(price):
            raise InvalidQuery(
                f"price: noise of mu {float(self.mu):g} costs more than {price}; "
                "fit the noise to the price with RoundedGaussian.for_approximate"
            )

    @classmethod
    def for_approximate(cls, sensitivity_squared: SupportsIndex, price: Approximate) -> Self:
        """Return the least Gaussian noise that is worth an (epsilon, delta) price.

        Privacy: (epsilon, delta)-DP, by the exact curve of mu-GDP. [Balle & Wang 2018, Thm 8]

        >>> RoundedGaussian.for_approximate(100, Approximate(1, 1e-6)).law
        'rounded Gaussian, sigma 42.2468'
        """
        return cls(sensitivity_squared, _largest_mu(price), price)

    @property
    def cost(self) -> GDP | Approximate:
        """The price of one release of the whole vector."""
        return GDP(self.mu) if self.price is None else self.price

    @functools.cached_property
    def scale(self) -> Fraction:
        """Sigma in grid steps: the root of sensitivity_squared/mu², rounded up."""
        return root_up(self.sensitivity_squared / self.mu**2)

    @property
    def variance(self) -> float:
        """The variance of the noise: sigma² + 1/12 but for a whisker, once sigma is above 1."""
        if self.scale == 0:
            return 0.0
        s = float(self.scale)
        if s < 1:  # Σ (2k+1) P(|noise| > k)
            return math.fsum(
                (2 * k + 1) * math.erfc((k + 0.5) / s / math.sqrt(2)) for k in range(12)
            )
        dual = ((k, math.exp(-2 * (math.pi * s * k) ** 2)) for k in (1, 2, 3))  # Sheppard
        waves = ((-1) ** k * (4 * s * s + 1 / (math.pi * k) ** 2) * wave for k, wave in dual)
        return s * s + 1 / 12 + math.fsum(waves)

    @property
    def _name(self) -> str:
        return "rounded Gaussian, sigma"

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        return rounded_gaussian(self.scale, size, words)

    def _log_mass(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        # φ(a)·∫ exp(-au - u²/2) du from the cell's inner edge a: nothing cancels. A cell is cut
        # where the integrand has died, so that one quadrature rule serves every cell.
        width = 1 / float(self.scale)
        zero = distance == 0  # twice its right half
        inner = np.where(zero, 0.0, (distance - 0.5) * width)
        length = np.minimum(np.where(zero, width / 2, width), 9.0)
        length = np.minimum(length, 40 / np.maximum(inner, 1.0))
        integral = np.zeros_like(distance)
        for node, weight in nodes_and_weights():
            u = length * node
            integral += weight * np.exp(-u * (inner + u / 2))
        scaled = length * integral * np.where(zero, 2.0, 1.0)
        return np.log(scaled) - inner**2 / 2 - math.log(2 * math.pi) / 2

    def _tail(self, k: int) -> Decimal:
        return 2 * normal_tail((Decimal(k) + Decimal("0.5")) / decimal(self.scale))

    def _guess(self, miss: float) -> float:
        return -float(self.scale) * NormalDist().inv_cdf(miss / 2)


def _largest_mu(price: Approximate) -> Fraction:
    """Return the largest mu that stays within an (epsilon, delta)."""
    if not isinstance(price, Approximate):
        raise InvalidQuery(f"price: {price} given; give an Approximate(epsilon, delta)")
    return price.largest_gdp().mu
