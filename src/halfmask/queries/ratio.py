"""A ratio of noisy sums, with an interval that is honest about the noise in both."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.queries.grid import Range, to_float
from halfmask.queries.prepared import Expected
from halfmask.queries.tails import noise_half_width, within_noise

__all__ = ["FIRST_ORDER", "Linear", "Ratio", "Term", "checked"]

FIRST_ORDER = 0.015
"""Noise on the number of rows, of that number, up to which errors of quotients follow the slope."""

MESH = 64
"""Points of [0, 1] at which membership in the interval is tried before bisection."""


@dataclass(frozen=True)
class Term:
    """One noisy number of the form: it enters as (top - theta * bottom) * noisy.

    scale: of its Laplace noise, or its standard deviation where `gaussian`.
    """

    noisy: float
    top: float
    bottom: float
    scale: float
    gaussian: bool = False

    def factor(self, theta: float) -> float:
        """The coefficient at theta."""
        return self.top - self.bottom * theta

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise."""
        return self.scale if self.gaussian else self.scale * math.sqrt(2)


@dataclass(frozen=True)
class Ratio:
    """The theta in [0, 1] at which the sum of (top - theta * bottom) * noisy vanishes, in bounds.

    The interval is Fieller's: all theta at which the sum is within its own noise's quantile; at
    the true theta the exact parts cancel, so only noise is left. Its convex hull is given.
    [Fieller 1954, Some problems in interval estimation]
    """

    terms: tuple[Term, ...]
    bounds: Range

    post_processing: ClassVar[tuple[str, ...]] = ("ratio of noisy sums, held inside the bounds",)

    @property
    def theta(self) -> float:
        """Where in the bounds the ratio lies: 0 at the lower, 1 at the upper one."""
        top = math.fsum(term.top * term.noisy for term in self.terms)
        bottom = math.fsum(term.bottom * term.noisy for term in self.terms)
        if bottom > 0:
            return min(max(top / bottom, 0.0), 1.0)
        # No rows, or so it seems: the middle of what the noise leaves possible.
        return sum(self._hull(0.05)) / 2

    def _at(self, theta: float) -> float:
        return to_float(self.bounds.lower + self.bounds.width * Fraction(theta))

    @property
    def value(self) -> float:
        """The ratio, held inside the bounds (post-processing)."""
        return self._at(self.theta)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the exact ratio on the bounded rows with at least this confidence."""
        low, high = self._hull(1 - checked(confidence))
        return self._at(low), self._at(high)

    def _hull(self, tail: float) -> tuple[float, float]:
        """The least and the greatest theta that the noise leaves possible."""

        def inside(theta: float) -> bool:
            far = abs(math.fsum(term.factor(theta) * term.noisy for term in self.terms))
            spread = [(abs(term.factor(theta)) * term.scale, term.gaussian) for term in self.terms]
            return within_noise(far, spread, tail)

        points = sorted({*(i / MESH for i in range(MESH + 1)), *self._pole()})
        held = [i for i, point in enumerate(points) if inside(point)]
        if not held:
            return (0.0, 1.0)
        first, last = held[0], held[-1]
        low, high = points[first], points[last]
        if first > 0:
            low = _boundary(inside, points[first - 1], low)
        if last < len(points) - 1:
            high = _boundary(inside, points[last + 1], high)
        return low, high

    def _pole(self) -> tuple[float, ...]:
        """The ratio itself, where it lies inside: it always belongs to the interval."""
        top = math.fsum(term.top * term.noisy for term in self.terms)
        bottom = math.fsum(term.bottom * term.noisy for term in self.terms)
        theta = top / bottom if bottom > 0 else math.nan
        return (theta,) if 0 <= theta <= 1 else ()

    def expected(self) -> Expected:
        """Read this ratio as if its sums were exact, and predict the error around it."""
        theta = self.theta
        bottom = math.fsum(term.bottom * term.noisy for term in self.terms)
        spread = math.hypot(*(term.factor(theta) * term.deviation for term in self.terms))
        low, high = self.interval()
        width = to_float(self.bounds.width)
        # A ratio held inside the bounds errs by no more than a uniform guess would.
        rmse = min(spread / bottom if bottom > 0 else math.inf, math.sqrt(1 / 12)) * width
        doubt = math.hypot(*(term.bottom * term.deviation for term in self.terms))
        rough = doubt > FIRST_ORDER * bottom
        return Expected(rmse, 0.0, high - low, "a mean in the middle of the bounds", rough)


def checked(confidence: float) -> float:
    """Refuse what is no confidence."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise InvalidQuery(f"confidence: {shown(confidence)} is no number; 0.95 is usual")
    if not 0 < confidence < 1:
        raise InvalidQuery(f"confidence: {confidence} is not between 0 and 1; 0.95 is usual")
    return confidence


def _boundary(inside: Callable[[float], bool], out: float, within: float) -> float:
    """Bisect to the edge of the set; return the point just outside: no interval is too short."""
    for _ in range(40):
        middle = (out + within) / 2
        if inside(middle):
            within = middle
        else:
            out = middle
    return out


@dataclass(frozen=True)
class Linear:
    """A weighted sum of noisy numbers: each enters as top * noisy."""

    terms: tuple[Term, ...]

    post_processing: ClassVar[tuple[str, ...]] = ("weighted sum of noisy sums",)

    @property
    def value(self) -> float:
        """The weighted sum, unbiased."""
        return math.fsum(term.top * term.noisy for term in self.terms)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the exact weighted sum with at least this confidence."""
        spread = [(abs(term.top) * term.scale, term.gaussian) for term in self.terms]
        half = noise_half_width(spread, 1 - checked(confidence))
        return self.value - half, self.value + half

    def expected(self) -> Expected:
        """Predict the error: that of the noise alone."""
        low, high = self.interval()
        rmse = math.hypot(*(term.top * term.deviation for term in self.terms))
        return Expected(rmse, 0.0, high - low)
