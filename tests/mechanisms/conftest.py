"""The members of the laws: a new mechanism joins every law by one line in MEMBERS."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from halfmask.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    Staircase,
)


def laplace_mass(t: mpf, k: int) -> mpf:
    return mp.tanh(1 / (2 * t)) * mp.exp(-abs(k) / t)


def gaussian_mass(s: mpf, k: int) -> mpf:
    peak = mp.exp(-(mpf(k) ** 2) / (2 * s**2))
    if s > 5:  # the constant is then sigma√(2π) to 200 digits
        return peak / (s * mp.sqrt(2 * mp.pi))
    return peak / mp.jtheta(3, 0, mp.exp(-1 / (2 * s**2))).real


def rounded_mass(s: mpf, k: int) -> mpf:
    inner, outer = ((mpf(abs(k)) + side / mpf(2)) / (s * mp.sqrt(2)) for side in (-1, 1))
    return (mp.erfc(inner) - mp.erfc(outer)) / 2


def laplace_tail(t: mpf, k: int) -> mpf:
    return 2 * mp.exp(-(k + 1) / t) / (1 + mp.exp(-1 / t))


def normal_tail(s: mpf, k: int) -> mpf:
    return mp.erfc((k + mpf(1) / 2) / (s * mp.sqrt(2)))


def staircase(t: mpf) -> tuple[int, int, mpf, mpf]:
    """Width, first step, ratio and P(0) of the member of this scale, whose loss is near 1."""
    width = max(1, math.ceil(t))
    first, b = Staircase(width, width / Fraction(str(t))).first, mp.exp(-width / t)
    return width, first, b, (1 - b) / (2 * first + 2 * b * (width - first) - (1 - b))


def staircase_mass(t: mpf, k: int) -> mpf:
    width, first, b, peak = staircase(t)
    return peak * b ** (-(-(abs(k) - first + 1) // width) if abs(k) >= first else 0)


def staircase_tail(t: mpf, k: int) -> mpf:
    width, first, b, peak = staircase(t)
    level = max(0, -(-(k + 2 - first) // width))
    inside = max(0, first + level * width - (k + 1))
    return 2 * peak * (inside * b**level + width * b ** (level + 1) / (1 - b))


@dataclass(frozen=True)
class Member:
    """A mechanism by its sensitivity and a loss, so that its scale is sensitivity/loss.

    Its naive twin: the mass, and a tail right to 1/scale² or better, in mpmath.
    """

    build: Callable[[int, Fraction], Additive]
    mass: Callable[[mpf, int], mpf]
    wide_tail: Callable[[mpf, int], mpf]

    def at(self, scale: float | Fraction) -> Additive:
        """Return the mechanism whose noise has this scale."""
        sensitivity = max(1, math.ceil(scale))
        return self.build(sensitivity, sensitivity / Fraction(scale))


MEMBERS = {
    "DiscreteLaplace": Member(lambda s, loss: DiscreteLaplace(s, loss), laplace_mass, laplace_tail),
    "Staircase": Member(lambda s, loss: Staircase(s, loss), staircase_mass, staircase_tail),
    "DiscreteGaussian": Member(
        lambda s, loss: DiscreteGaussian(s * s, loss**2 / 2), gaussian_mass, normal_tail
    ),
    "RoundedGaussian": Member(
        lambda s, loss: RoundedGaussian(s * s, loss), rounded_mass, normal_tail
    ),
}


@pytest.fixture(params=MEMBERS.values(), ids=MEMBERS.keys(), scope="session")
def member(request: pytest.FixtureRequest) -> Member:
    """Each additive mechanism in turn."""
    return request.param
