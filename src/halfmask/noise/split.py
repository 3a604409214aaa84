"""Scales above 1024: a geometric variable by its high and low binary digits.

The binary digits of a geometric variable G with P(G = g) = (1 - q) q^g, q = exp(-1/t), are
independent [Devroye 1986, chapter X.2]: G = 2^m H + L, where H is geometric of scale t / 2^m and
P(L = l) is proportional to exp(-l/t) on 0 .. 2^m - 1. With a sign bit s of P(s = 1) proportional
to exp(-1/t) against 1, X = G for s = 0 and X = -1 - G for s = 1 is discrete Laplace: the mass of
every integer follows from q alone and no value is drawn twice, so no -0 is rejected.

(L, s) is m + 1 uniform bits accepted with probability exp(-(L + s)/t). As 256 < t / 2^m <= 512, the
first byte of the accepting uniform number decides unless it is 255.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.lanes import BLOCK, INT64_MAX, Int32s, Int64s, Lanes, concatenated, half_words
from halfmask.noise.survival import Survival
from halfmask.noise.words import Words

__all__ = ["folded_geometric"]

LARGEST_HIGH_SCALE: Final = 512
BYTE: Final = 255
BYTE_255: Final = np.uint64(BYTE << 56)
LARGEST_HALF_BITS: Final = 24  # what fits beside a byte into half a word
LARGEST_FAST_BITS: Final = 16  # X fits into 32 bits, as 32-bit floats give H < 2^14

Bools = NDArray[np.bool_]
UInt64s = NDArray[np.uint64]


@dataclass
class _Digits:
    """The split of one scale, and the lanes that a byte leaves open."""

    scale: Fraction
    signed: bool
    doubtful: list[Int64s] = field(default_factory=list)

    @cached_property
    def low_bits(self) -> int:
        """The least m with t / 2^m <= 512."""
        return (-(-self.scale // LARGEST_HIGH_SCALE) - 1).bit_length()

    @property
    def low_mask(self) -> int:
        return (1 << self.low_bits) - 1

    @cached_property
    def high_law(self) -> Survival:
        return Survival(self.scale / (1 << self.low_bits), two_sided=False)

    def compose(self, lanes: Lanes, first: int, out: Int64s, words: Words) -> None:
        """Every lane's X, if its byte accepts it and 32-bit floats know its H."""
        halves = half_words(words, out.size)
        high = lanes.filter(halves, first)
        np.right_shift(halves, 31, out=halves)
        np.bitwise_xor(high, halves, out=high)
        low: Int32s | Int64s
        if self.low_bits <= LARGEST_HALF_BITS:
            low = half_words(words, out.size)
            doubtful = (low.view(np.uint32) >= np.uint32(BYTE << 24)).nonzero()[0]
        else:
            low = words.words(out.size).view("<i8")
            doubtful = (low.view(np.uint64) >= BYTE_255).nonzero()[0]
        np.bitwise_and(low, self.low_mask, out=low)
        if self.low_bits <= LARGEST_FAST_BITS:
            np.left_shift(high, self.low_bits, out=high)
            np.bitwise_or(high, low, out=high)
            np.copyto(out, high)
        else:
            np.copyto(out, high)
            np.left_shift(out, self.low_bits, out=out)
            np.bitwise_or(out, low, out=out)
        if doubtful.size:
            self.doubtful.append(doubtful + first)

    def accepted(self, values: Int64s, accepting: UInt64s, words: Words) -> Bools:
        """Whether values X, whose accepting numbers start with byte 255 and these words, stay.

        V = (255 + v) / 256; a lane stays when V < exp(-x), that is when 1 - v > 256 (1 - exp(-x)),
        where x = (L + s) / t < 1/256 or L / t; expm1 is trusted to 2^-40.
        """
        steps = (values ^ (values >> 63)) & self.low_mask
        if self.signed:
            steps += values < 0
        rest = (~accepting).astype(np.float64)  # 2^64 (1 - v) is between rest and rest + 1
        bound = np.expm1(steps * (-1.0 / float(self.scale))) * -(2.0**72)
        slack = 2.0**-40 * (bound + rest) + 4.0
        stays: Bools = rest > bound + slack
        for i in np.flatnonzero(~stays & (rest >= bound - slack)):
            digits, x = BYTE << WORD_BITS | int(accepting[i]), int(steps[i]) / self.scale
            stays[i] = falls_below(digits, 8 + WORD_BITS, x, words)
        return stays

    def redraw(self, values: Int64s, lanes: Int64s, words: Words) -> None:
        """Let the doubtful lanes read on; where rejected, draw (L, s) anew until accepted."""
        while lanes.size:
            stays = self.accepted(values[lanes], words.words(lanes.size), words)
            lanes = lanes[~stays]
            drawn = words.words(lanes.size)
            fold = (drawn << np.uint64(8)).view(np.int64) >> 63
            high = values[lanes] >> self.low_bits
            high ^= (high >> 63) ^ fold
            values[lanes] = high << self.low_bits | drawn.view(np.int64) & self.low_mask
            lanes = lanes[drawn >= BYTE_255]


def folded_geometric(scale: Fraction, count: int, words: Words, *, signed: bool) -> Int64s:
    """`count` samples X = G or -1 - G, by the sign s, for G geometric of a scale above 512.

    signed: s as in the module's text, so X is discrete Laplace. Otherwise s is a fair coin, and
    L is accepted with probability exp(-L/t).

    In blocks of 2^17 lanes, the last one shorter, of n lanes: ceil(n/2) words give each lane a
    half-word, low half first, for s and H (module `lanes`); then, if m <= 24, as many words again
    a second half-word, or else n words a word. Its top byte is the accepting byte, its low m bits
    are those of X; L is these m bits, inverted if s = 1. After all blocks, each lane whose H is
    open reads on, one after the other. Then the lanes with byte 255: (1) all read a word, the next
    digits of the accepting number, and any still undecided read on, one after the other; (2) those
    rejected read a word for a new byte (on top), s (bit 55) and low bits of X (the lowest m); (3)
    those whose new byte is 255 go back to (1).
    """
    digits = _Digits(scale, signed)
    lanes = Lanes(digits.high_law, min(count, BLOCK))
    values = np.empty(count, np.int64)
    with np.errstate(all="ignore"):  # ln 0, for lanes that stay open
        for first in range(0, count, BLOCK):
            digits.compose(lanes, first, values[first : first + BLOCK], words)
    where, high, minus = lanes.settle(words)
    folded = np.minimum(high, INT64_MAX >> digits.low_bits) ^ -minus.astype(np.int64)
    values[where] = (folded << digits.low_bits) | (values[where] & digits.low_mask)
    digits.redraw(values, concatenated(digits.doubtful), words)
    return values
