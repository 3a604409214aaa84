"""How far a sum of independent noises of different scales reaches, exactly."""

import math
from collections.abc import Sequence
from statistics import NormalDist

__all__ = ["noise_half_width", "within_noise"]

Spreads = Sequence[tuple[float, bool]]
"""The noises of a sum: the scale of each, and whether it is Gaussian (else Laplace)."""


def within_noise(far: float, spread: Spreads, tail: float) -> bool:
    """Tell whether the sum of the noises is as far from 0 with a probability above `tail`."""
    normal, laplace = _kinds(spread)
    if normal and laplace:
        return far <= noise_half_width(spread, tail)
    return (_normal_tail(far, normal) if normal else LaplaceSum(laplace).beyond(far)) >= tail


def noise_half_width(spread: Spreads, tail: float) -> float:
    """Return the h with P(|sum of the noises| > h) <= tail."""
    normal, laplace = _kinds(spread)
    if normal and laplace:  # each kind gets half of the tail (union bound)
        return _normal_half_width(normal, tail / 2) + LaplaceSum(laplace).half_width(tail / 2)
    return _normal_half_width(normal, tail) if normal else LaplaceSum(laplace).half_width(tail)


def _kinds(spread: Spreads) -> tuple[list[float], list[float]]:
    normal = [scale for scale, gaussian in spread if gaussian and scale > 0]
    laplace = [scale for scale, gaussian in spread if not gaussian and scale > 0]
    return normal, laplace


def _normal_tail(far: float, deviations: Sequence[float]) -> float:
    return math.erfc(far / math.hypot(*deviations) / math.sqrt(2))


def _normal_half_width(deviations: Sequence[float], tail: float) -> float:
    return -NormalDist().inv_cdf(tail / 2) * math.hypot(*deviations)


class LaplaceSum:
    """The sum of independent Laplace noises of given scales b.

    Its tail is sum_i exp(-h/b_i) * prod_{j != i} b_i^2 / (b_i^2 - b_j^2), by partial fractions of
    the characteristic function prod_i 1/(1 + b_i^2 t^2).
    """

    def __init__(self, scales: Sequence[float]) -> None:
        self.scales = _apart(scales)
        self.weights = [
            math.prod(b * b / (b * b - c * c) for c in self.scales if c != b) for b in self.scales
        ]

    def beyond(self, far: float) -> float:
        """P(|sum| > far)."""
        parts = zip(self.weights, self.scales, strict=True)
        return math.fsum(w * math.exp(-far / b) for w, b in parts)

    def half_width(self, tail: float) -> float:
        """The h with P(|sum| > h) <= tail, by bisection."""
        low, high = 0.0, sum(self.scales) * (math.log(1 / tail) + 8)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.beyond(middle) > tail else (low, middle)
        return high


def _apart(scales: Sequence[float]) -> list[float]:
    """Raise scales until all differ by 1 % (partial fractions need it; more noise is safe)."""
    apart: list[float] = []
    least = max(scales, default=0.0) * 1e-4
    for scale in sorted(scales):
        apart.append(max(scale, least, apart[-1] * 1.01 if apart else 0.0))
    return apart
