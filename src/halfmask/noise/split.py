"""Scales above 1024: a geometric variable by its high and low binary digits.

The binary digits of a geometric variable G with P(G = g) = (1 - q) q^g, q = exp(-1/t), are
independent [Devroye 1986, chapter X.2]: G = 2^m H + L, where H is geometric of scale t / 2^m and
P(L = l) is proportional to exp(-l/t) on 0 .. 2^m - 1. With a sign bit s of P(s = 1) proportional
to exp(-1/t) against 1, X = G for s = 0 and -1 - G for s = 1 is discrete Laplace: P(0) = (1-q)/(1+q)
and every other integer follows; no value is drawn twice, so none is rejected.

(L, s) is m + 1 uniform bits accepted with probability exp(-(L + s)/t). As 256 < t / 2^m <= 512, the
first byte of the accepting uniform number decides unless it is 255.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.lanes import CHUNK, INT64_MAX, Lanes
from halfmask.noise.survival import Survival
from halfmask.noise.words import Words

__all__ = ["geometric_by_digits"]

LARGEST_HIGH_SCALE: Final = 512
BYTE: Final = 255
LARGEST_LOW_BITS: Final = 24  # what fits with a byte into half a word

Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Digits:
    """The split of one scale, and how a lane's words are cut."""

    scale: Fraction
    signed: bool  # whether the sign is part of the acceptance (discrete Laplace)

    @property
    def low_bits(self) -> int:
        """The least m with t / 2^m <= 512."""
        return max(0, (-(-self.scale // LARGEST_HIGH_SCALE) - 1).bit_length())

    @property
    def words_per_lane(self) -> int:
        return 1 if self.low_bits <= LARGEST_LOW_BITS else 2

    @property
    def high_law(self) -> Survival:
        return Survival(self.scale / (1 << self.low_bits), two_sided=False)


def geometric_by_digits(
    scale: Fraction, count: int, words: Words, *, signed: bool
) -> tuple[Int64s, Int64s]:
    """`count` samples G (scale above 512) and sign masks s (0 or -1).

    signed: (G, s) as in the module's text. Otherwise G and s are independent and s is fair.

    A lane reads one word, or two if m > 24. In the first: sign (bit 63), 31 bits for H (62 to 32).
    The low half of the first, or all of the second: L in the top m bits, the accepting byte in the
    lowest 8. Then, in this order: every lane with byte 255 reads a word, the next digits of the
    accepting number; each lane still undecided reads on, one after the other; each accepted lane
    whose H is open reads on, one after the other. The rejected lanes start again, together.
    """
    return _attempt(_Digits(scale, signed), count, words)


def _attempt(digits: _Digits, count: int, words: Words) -> tuple[Int64s, Int64s]:
    m = digits.low_bits
    lanes = Lanes(digits.high_law, min(count, CHUNK))
    values, signs = np.empty(count, np.int64), np.empty(count, np.int64)
    doubtful = []
    with np.errstate(all="ignore"):  # ln 0, for lanes that stay open
        for first in range(0, count, CHUNK):
            part = slice(first, min(first + CHUNK, count))
            drawn = words.words((part.stop - first) * digits.words_per_lane)
            low, byte = _cut(drawn, digits)
            doubtful.append(np.flatnonzero(byte == BYTE) + first)
            halves = np.ascontiguousarray(drawn.view("<i4")[1 :: 2 * digits.words_per_lane])
            value = values[part]
            value[:] = lanes.filter(halves, first)
            value <<= m
            value |= low
            np.copyto(signs[part], halves >> 31)
    rejected = _reject(digits, np.concatenate(doubtful), values, signs, words)
    keep = np.ones(count, np.bool_)
    keep[rejected] = False
    where, k, _ = lanes.settle(words, keep)
    k = np.minimum(k, INT64_MAX >> m) << m
    values[where] = k | (values[where] & ((1 << m) - 1))
    if rejected.size:
        values[rejected], signs[rejected] = _attempt(digits, rejected.size, words)
    return values, signs


def _cut(drawn: NDArray[np.uint64], digits: _Digits) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """L and the accepting byte of each lane."""
    m = digits.low_bits
    if digits.words_per_lane == 1:
        low = drawn.view("<u4")[::2]
        return low >> np.uint32(32 - m), low & np.uint32(BYTE)
    low = drawn[1::2]
    return (low >> np.uint64(64 - m)).view("<i8"), low & np.uint64(BYTE)


def _reject(
    digits: _Digits, lanes: Int64s, values: Int64s, signs: Int64s, words: Words
) -> Int64s:
    """Those of the lanes with accepting byte 255 that are rejected.

    V = (255 + v) / 256 with v the lane's further digits; accept when V < exp(-x), that is when
    1 - v > 256 (1 - exp(-x)), where x = (L + s) / t < 2^-8 and expm1 is trusted to 2^-40.
    """
    low = values[lanes] & ((1 << digits.low_bits) - 1)
    if digits.signed:
        low -= signs[lanes]
    drawn = words.words(lanes.size)
    rest = (~drawn).astype(np.float64)  # 2^64 (1 - v) is between rest and rest + 1
    bound = np.expm1(low * (-1.0 / float(digits.scale))) * -(2.0**72)
    slack = 2.0**-40 * bound + 2.0**-40 * rest + 4.0
    rejected = rest < bound - slack
    for i in np.flatnonzero(~rejected & (rest <= bound + slack)):
        digit = BYTE << WORD_BITS | int(drawn[i])
        x = int(low[i]) / digits.scale
        rejected[i] = not falls_below(digit, WORD_BITS + 8, x, words)
    return lanes[rejected]
