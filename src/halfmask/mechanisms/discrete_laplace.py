"""The discrete Laplace mechanism."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.additive import Additive
from halfmask.mechanisms.checks import charged, drawable, whole_sensitivity
from halfmask.noise import Words, discrete_laplace
from halfmask.privacy import Cost, Number, Pure
from halfmask.privacy.normal import decimal


@final
@dataclass(frozen=True, init=False)
class DiscreteLaplace(Additive):
    """Add discrete Laplace noise, P(k) ∝ exp(-|k|/scale), to each integer.

    Privacy: epsilon-DP with scale = sensitivity/epsilon. [Ghosh, Roughgarden & Sundararajan 2012]
    In a vector every grid step of L1 distance changes log P by at most 1/scale.

    Attributes:
        sensitivity: the most by which one unit can change the vector in L1, in grid steps.
        epsilon: the price; 0.1 means one tenth.
        price: what is charged in place of epsilon, which it must cover; None is epsilon itself.

    >>> count = DiscreteLaplace(sensitivity=1, epsilon=0.5)
    >>> count.law, str(count.cost), count.interval(100, confidence=0.95)
    ('discrete Laplace, scale 2', 'epsilon 0.5', (94, 106))

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

    @property
    def cost(self) -> Cost:
        """The price of one release of the whole vector."""
        return charged(Pure(self.epsilon), self.price)

    @property
    def scale(self) -> Fraction:
        """The scale, sensitivity/epsilon, in grid steps."""
        return self.sensitivity / self.epsilon

    @property
    def variance(self) -> float:
        """The variance 2a/(1-a)², a = exp(-1/scale), in squared grid steps."""
        if self.scale == 0:
            return 0.0
        x = float(1 / self.scale)
        return 2 * math.exp(-x) / math.expm1(-x) ** 2

    @property
    def _name(self) -> str:
        return "discrete Laplace, scale"

    def _draw(self, size: int, words: Words | None) -> NDArray[np.int64]:
        return discrete_laplace(self.scale, size, words)

    def _log_mass(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        # P(0) = (1-a)/(1+a) = tanh(x/2), x = 1/scale; near 1 its logarithm is -2 artanh(a).
        x = float(1 / self.scale)
        log_zero = math.log(math.tanh(x / 2)) if x < 1 else -2 * math.atanh(math.exp(-x))
        return log_zero - distance * x

    def _tail(self, k: int) -> Decimal:
        x = decimal(1 / self.scale)
        return 2 * (-x * (k + 1)).exp() / (1 + (-x).exp())

    def _guess(self, miss: float) -> float:
        return -float(self.scale) * math.log(miss)
