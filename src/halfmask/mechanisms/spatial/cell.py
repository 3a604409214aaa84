"""The volume of a cell of the grid, in the coordinates in which shells are balls."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, factorial, prod

from halfmask.noise import pi_between

COUNT_BITS = 64


@dataclass(frozen=True)
class Cell:
    """The share of a cell in the ball of radius 1 of z, where the grid is c + W^-1 M z.

    diagonal: that of M, lower triangular, as integers over 2^k; steps: that of W.

    The cell has volume det W / det M, the ball π^m / m! in 2m dimensions and
    2^(2m+1) m! π^m / (2m+1)! in 2m + 1.
    """

    diagonal: tuple[int, ...]
    k: int
    steps: tuple[int, ...]

    @cached_property
    def _over_pi(self) -> Fraction:
        """The share times π^m."""
        d, m = len(self.steps), len(self.steps) // 2
        ball = Fraction(1, factorial(m))
        if d % 2:
            ball = Fraction(2**d * factorial(m), factorial(d))
        return prod(self.steps) / (prod(self.diagonal) * ball) * Fraction(2) ** (self.k * d)

    def _ends(self, bits: int) -> tuple[Fraction, Fraction]:
        """Both ends of the share, right to 2^-bits of itself or so."""
        m = len(self.steps) // 2
        more = bits + m.bit_length()
        low, high = (Fraction(end, 1 << more) ** m for end in pi_between(more))
        return self._over_pi / high, self._over_pi / low

    @cached_property
    def count(self) -> tuple[int, int]:
        """(q, a) with a at least 2^q times the share, by 2^-62 of it at most, and q >= 0."""
        most = self._ends(COUNT_BITS)[1]
        size = most.numerator.bit_length() - most.denominator.bit_length()
        shift = max(0, COUNT_BITS - size)
        return shift, ceil(most * 2**shift)

    def share(self, bits: int) -> tuple[Fraction, Fraction]:
        """Both ends of 2^q share / a, at most 1."""
        shift, count = self.count
        low, high = (end * 2**shift / count for end in self._ends(bits))
        return low, min(high, Fraction(1))
