"""The length of the sum of unit vectors from a grid point to rows, enclosed as closely as asked."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from halfmask.noise import Words, bernoulli_enclosed, exp_minus

LEVEL_BITS = 20  # bounds are rounded down to multiples of 2^-20
FLOAT_BITS = 64  # asked of a chance, up to which floats are taken
BLOCK = 4096
"""Rows at a time: their sum is rounded as one, and the sums of blocks are added exactly."""


@dataclass(frozen=True)
class UnitSum:
    """‖S(θ)‖ for S(θ) = Σ u(W (x_i - θ)), u(v) = v/‖v‖ and u(0) = 0.

    points: (n, d) integers; place: θ; steps: the positive integers on the diagonal of W.
    """

    points: NDArray[np.int64]
    place: NDArray[np.int64]
    steps: tuple[int, ...]

    @cached_property
    def near(self) -> tuple[Fraction, Fraction]:
        """Both ends by floats.

        x - θ is exact; conversion and scaling round it by 2^-52, the length by d/2 + 4 more units
        of 2^-53, a quotient by one, and a sum of m terms (m <= 4096, in any order) by m of them;
        over coordinates these errors are at most the sum of lengths, n (Minkowski). The length of
        the sum adds d/2 + 4. So the error is below n (4096 + 2 d + 40) 2^-53.
        """
        n, d = self.points.shape
        weights = np.array(self.steps, dtype=np.float64)
        sums = []
        for start in range(0, n, BLOCK):
            gaps = (self.points[start : start + BLOCK] - self.place).astype(np.float64) * weights
            lengths = np.sqrt(np.square(gaps).sum(axis=1))
            lengths[lengths == 0] = 1.0
            gaps /= lengths[:, None]
            sums.append(gaps.sum(axis=0))
        total = [math.fsum(column) for column in np.array(sums).reshape(-1, d).T.tolist()]
        length = Fraction(math.sqrt(math.fsum(x * x for x in total)))
        error = Fraction(n * (min(n, BLOCK) + 2 * d + 40), 2**53)
        return max(length - error, Fraction(0)), length + error

    def within(self, bits: int) -> tuple[Fraction, Fraction]:
        """Both ends by integers, at most (2 n √d + 3) 2^-bits apart or so.

        A length is rounded down by less than 2^-bits of itself, being at least 1, and each
        quotient by less than 2^-bits: each coordinate of S by less than n 2^(1-bits).
        """
        n, d = self.points.shape
        total = [0] * d
        for row in self.points:
            gaps = [
                (x - t) * step
                for x, t, step in zip(row.tolist(), self.place.tolist(), self.steps, strict=True)
            ]
            square = sum(gap * gap for gap in gaps)
            if square:
                length = isqrt(square << 2 * bits)
                for j, gap in enumerate(gaps):
                    total[j] += (gap << 2 * bits) // length
        length = isqrt(sum(x * x for x in total))
        error = 2 * n * (isqrt(d) + 1) + 1
        return Fraction(max(length - error, 0), 1 << bits), Fraction(length + error, 1 << bits)

    def chance(self, level: int, rate: Fraction, bits: int) -> tuple[int, int]:
        """Both ends of 2^bits exp(-(‖S‖ - level 2^-20) rate), the level at most ‖S‖."""
        ends = self.near if bits <= FLOAT_BITS else self.within(bits + 64)
        least, most = (max(end - Fraction(level, 1 << LEVEL_BITS), Fraction(0)) for end in ends)
        return exp_minus(most * rate, bits)[0], exp_minus(least * rate, bits)[1]

    def accepts(self, level: int, rate: Fraction, words: Words) -> bool:
        """Whether a coin of that chance shows heads."""
        chance = partial(self.chance, level, rate)
        return bool(bernoulli_enclosed(chance, 1, words)[0])
