"""Variance and standard deviation, read off noisy Bernstein sums of degree 2."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

from halfmask.queries.grid import Range, to_float
from halfmask.queries.prepared import Expected
from halfmask.queries.ratio import FIRST_ORDER, Term, checked
from halfmask.queries.tails import noise_half_width

__all__ = ["Spread"]


@dataclass(frozen=True)
class Spread:
    """Population variance (divisor n) of bounded values, from noisy sums of three parts.

    terms: the noisy parts ((1-a)^2, 2a(1-a), a^2) in rows.
    """

    terms: tuple[Term, ...]
    bounds: Range
    root: bool = False

    post_processing: ClassVar[tuple[str, ...]] = ("read off noisy sums, held inside the bounds",)

    @property
    def value(self) -> float:
        """Held inside what the bounds allow: 0 to a quarter of the squared width."""
        parts = [term.noisy for term in self.terms]
        if sum(parts) <= 0:  # no rows, or so it seems: values spread evenly are as good a guess
            return self._scaled(1 / 12)
        return self._scaled(_second(parts, _mean(parts)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the exact variance with at least this confidence.

        Each part is bracketed with a third of the tail (union bound); over that box and for the
        fixed centre m, the mean square about m and the mean are ratios of linear forms, so their
        extremes are at corners; variance = mean square about m - (mean - m)^2.
        """
        tail = (1 - checked(confidence)) / 3
        sides = []
        for term in self.terms:
            half = noise_half_width([(term.scale, term.gaussian)], tail)
            sides.append((max(term.noisy - half, 0.0), max(term.noisy + half, 0.0)))
        corners = list(product(*sides))
        if any(sum(corner) <= 0 for corner in corners):
            return self._scaled(0), self._scaled(0.25)
        parts = [term.noisy for term in self.terms]
        centre = min(max(_mean(parts), 0.0), 1.0)
        squares = [_second(corner, centre) for corner in corners]
        shift = max((_mean(corner) - centre) ** 2 for corner in corners)
        return self._scaled(min(squares) - shift), self._scaled(max(squares))

    def expected(self) -> Expected:
        """Read these sums as if they were exact, and predict the error around them.

        The influence of a part on the variance about its mean m is its mean square less the
        variance, over the number of rows.
        """
        parts = [term.noisy for term in self.terms]
        rows, centre = max(sum(parts), 1.0), _mean(parts)
        variance = _second(parts, centre)
        pulls = [(factor - variance) / rows for factor in _factors(centre)]
        noise = math.hypot(*(p * t.deviation for p, t in zip(pulls, self.terms, strict=True)))
        rmse, width = min(noise, 1 / 12), self.bounds.width
        if self.root:
            rmse /= 2 * math.sqrt(max(variance, rmse))
        low, high = self.interval()
        scaled = to_float(Fraction(rmse) * (width if self.root else width**2))
        rough = math.hypot(*(term.deviation for term in self.terms)) > FIRST_ORDER * rows
        return Expected(scaled, 0.0, high - low, "values spread evenly over the bounds", rough)

    def _scaled(self, share: float) -> float:
        held, width = min(max(share, 0.0), 0.25), self.bounds.width
        if self.root:
            return to_float(Fraction(math.sqrt(held)) * width)
        return to_float(Fraction(held) * width**2)


def _mean(parts: tuple[float, ...] | list[float]) -> float:
    return (parts[2] + parts[1] / 2) / sum(parts)


def _second(parts: tuple[float, ...] | list[float], centre: float) -> float:
    """The mean square about `centre`."""
    factors = _factors(centre)
    return math.fsum(f * part for f, part in zip(factors, parts, strict=True)) / sum(parts)


def _factors(centre: float) -> tuple[float, float, float]:
    """(a-m)^2 = m^2 (1-a)^2 - m(1-m) 2a(1-a) + (1-m)^2 a^2."""
    return centre**2, -centre * (1 - centre), (1 - centre) ** 2
