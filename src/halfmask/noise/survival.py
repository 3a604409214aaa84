"""Where the cells of the inverse transform end, decided with exact arithmetic.

For a law on 0, 1, 2, ... with P(K >= j) = S(j) and U uniform in (0, 1), K = k exactly when
S(k + 1) < U <= S(k). Here S(j) = exp(-j/t) (geometric) or, for two-sided laws, the magnitude of a
discrete Laplace variable: S(j) = 2 exp(-j/t) / (1 + exp(-1/t)) for j >= 1.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, floor, inf, log, log1p
from typing import Final

from halfmask.noise.enclosure import exp_minus
from halfmask.noise.words import Words

__all__ = ["LN2", "LOG64_ERROR", "Survival"]

WORD_BITS: Final = 64
LN2: Final = log(2.0)
LOG64_ERROR: Final = 2.0**-42  # generous: logarithms of 64-bit floats are good to 2^-48 here


@dataclass(frozen=True)
class Survival:
    """The cells of a geometric or (two_sided) discrete Laplace magnitude of scale t."""

    scale: Fraction
    two_sided: bool

    @cached_property
    def width(self) -> float:
        """The scale as a float; below 2^-64 a sample is 0 for every word that is not 0."""
        return max(float(self.scale), 2.0**-64)

    @cached_property
    def log_head(self) -> float:
        """Ln C where S(j) = C exp(-j/t), as a float good to 2^-50."""
        if not self.two_sided:
            return 0.0
        return log(2.0) - log1p(exp(-1.0 / self.width))

    def enclosure(self, j: int, bits: int) -> tuple[int, int]:
        """Integers around 2^bits S(j), for j >= 1."""
        lower, upper = exp_minus(j / self.scale, bits)
        if not self.two_sided:
            return lower, upper
        one = 1 << bits
        step_lower, step_upper = exp_minus(1 / self.scale, bits)
        return (2 * one * lower) // (one + step_upper), -(-2 * one * upper // (one + step_lower))

    def beyond(self, u: int, bits: int, j: int) -> bool:
        """Whether u / 2^bits > S(j), j >= 1: equality cannot be (Lindemann: S(j) is irrational)."""
        if u == 0:
            return False
        more = WORD_BITS
        while True:
            lower, upper = self.enclosure(j, bits + more)
            if u << more >= upper:
                return True
            if u << more <= lower:
                return False
            more *= 2

    def cell(self, u: int, bits: int) -> int | None:
        """The k whose cell holds all of (u, u + 1) / 2^bits; None if a cell ends inside.

        Where K is counted by x = t (ln C - ln U), floats know both ends of x to `slack`.
        """
        top = self.log_head + bits * LN2
        slack = self.width * (LOG64_ERROR + top * 2.0**-48)
        least = self.width * (top - log(u + 1))
        most = self.width * (top - log(u)) if u else inf
        if floor(least - slack) == (k := floor(least + slack)):
            if k < most + slack <= k + 1:
                return k
            if most - slack > k + 1:
                return None
        return self._exact_cell(u, bits, max(0, floor(least)))

    def _exact_cell(self, u: int, bits: int, k: int) -> int | None:
        while k > 0 and self.beyond(u, bits, k):
            k -= 1
        while not self.beyond(u + 1, bits, k + 1):
            k += 1
        inside = self.beyond(u, bits, k + 1) and not (k > 0 and self.beyond(u + 1, bits, k))
        return k if inside else None

    def read(self, u: int, bits: int, words: Words) -> int:
        """K for the uniform number that starts with these bits, reading words until it is sure."""
        while (k := self.cell(u, bits)) is None:
            u, bits = u << WORD_BITS | int(words.words(1)[0]), bits + WORD_BITS
        return k
