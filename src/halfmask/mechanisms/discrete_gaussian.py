"""The discrete Gaussian mechanism."""

import functools
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.checks import drawable, root_up, whole_sensitivity
from halfmask.mechanisms.tails import discrete_gaussian_tail
from halfmask.noise import Words, discrete_gaussian
from halfmask.privacy import ZCDP, Number

TERMS = range(1, 12)  # of a theta series; the last is below exp(-60) of the first


@final
@dataclass(frozen=True, init=False)
class DiscreteGaussian(Additive):
    """Add discrete Gaussian noise, P(k) ∝ exp(-k²/(2 sigma²)), to each integer.

    Privacy: rho-zCDP with sigma² >= sensitivity_squared/(2 rho), for the vector as a whole.
    [Canonne, Kamath & Steinke 2020, Thm 14]

    Attributes:
        sensitivity_squared: the square of the most by which one unit can change the vector in
            L2, in squared grid steps.
        rho: the price; 0.1 means one tenth.

    >>> counts = DiscreteGaussian(sensitivity_squared=2, rho=0.25)
    >>> counts.law, str(counts.cost), counts.interval(100, confidence=0.95)
    ('discrete Gaussian, sigma 2', 'rho 0.25', (96, 104))

    """

    sensitivity_squared: int
    rho: Fraction

    def __init__(self, sensitivity_squared: SupportsIndex, rho: Number) -> None:
        squared = whole_sensitivity(sensitivity_squared, "sensitivity_squared")
        object.__setattr__(self, "sensitivity_squared", squared)
        object.__setattr__(self, "rho", ZCDP(rho).rho)
        drawable(self.scale, "rho")

    @property
    def cost(self) -> ZCDP:
        """The price of one release of the whole vector."""
        return ZCDP(self.rho)

    @functools.cached_property
    def scale(self) -> Fraction:
        """Sigma in grid steps: the root of sensitivity_squared/(2 rho), rounded up."""
        return root_up(self.sensitivity_squared / (2 * self.rho))

    @property
    def variance(self) -> float:
        """The variance of the noise: sigma² but for a whisker, once sigma is above 1."""
        if self.scale == 0:
            return 0.0
        s = float(self.scale)
        if s < 1:
            masses = [math.exp(-((k / s) ** 2) / 2) for k in TERMS]
            moment = math.fsum(k * k * mass for k, mass in zip(TERMS, masses, strict=True))
            return 2 * moment / (1 + 2 * math.fsum(masses))
        dual = [math.exp(-2 * (math.pi * s * k) ** 2) for k in TERMS]  # Poisson summation
        moment = math.fsum(k * k * mass for k, mass in zip(TERMS, dual, strict=True))
        return s * s * (1 - 8 * (math.pi * s) ** 2 * moment / (1 + 2 * math.fsum(dual)))

    @property
    def _name(self) -> str:
        return "discrete Gaussian, sigma"

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        return discrete_gaussian(self.scale, size, words)

    def _log_mass(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        s = float(self.scale)
        if s < 1:
            log_sum = math.log1p(2 * math.fsum(math.exp(-((k / s) ** 2) / 2) for k in TERMS))
        else:  # Σ exp(-k²/2s²) = s√(2π) Σ exp(-2(πsk)²), by Poisson summation
            dual = 2 * math.fsum(math.exp(-2 * (math.pi * s * k) ** 2) for k in TERMS)
            log_sum = math.log(s) + math.log(2 * math.pi) / 2 + math.log1p(dual)
        return -((distance / s) ** 2) / 2 - log_sum

    def _tail(self, k: int) -> Decimal:
        return discrete_gaussian_tail(self.scale, k)

    def _guess(self, miss: float) -> float:
        return -float(self.scale) * NormalDist().inv_cdf(miss / 2)
