"""The floor of an exponential variable, a million at a time: floats filter, integers decide.

A *lane* is one sample in the making. Its half-word is an integer h in two's complement: a sign, and
w = h or, if the sign is set, w = -1 - h, the first 31 bits of a uniform number u in
(w, w + 1) / 2^31. K = floor(t (ln C - ln u)).

Three steps, each for the lanes that the one before leaves open:

1. 32-bit floats, all lanes. ln u is off by at most 2^-20 of itself (eight units in the last place:
   twice what NumPy states for its logarithm, and what the tests measure), by 2^-21 for the
   roundings around it and by 1/w for the unread bits. Where u < 2^-10, about, it stays open.
   A scale below 1/16 counts as 1/16 here: if K = 0 for that, it is 0 for the smaller scale.
2. 64-bit floats, with an error bound of 2^-42 t and the width of the unread bits.
3. Exact integers (`Survival`), which also say whether the cell of K ends inside (w, w + 1) / 2^31.
   Only then the lane reads on.

So a lane reads further words if and only if its bits do not fix K: a fact of the law, whatever the
floats do. The same words give the same samples on every platform.
"""

from dataclasses import dataclass, field
from math import ceil, exp
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.survival import LN2, LOG64_ERROR, Survival
from halfmask.noise.words import Words

__all__ = [
    "BLOCK",
    "INT64_MAX",
    "LARGEST_DIRECT_SCALE",
    "Int32s",
    "Int64s",
    "Lanes",
    "concatenated",
    "floors",
    "half_words",
]

BLOCK: Final = 1 << 17
LARGEST_DIRECT_SCALE: Final = 1024
UNIFORM_BITS: Final = 31
INT64_MAX: Final = (1 << 63) - 1
LEAST_LOG: Final = 10 * LN2
SMALLEST_WIDTH: Final = 2.0**-4
LOG32_ERROR: Final = 2.0**-20

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class Lanes:
    """Scratch space and the open lanes of one call."""

    law: Survival
    block: int
    open_lanes: list[Int64s] = field(default_factory=list)
    open_halves: list[Int32s] = field(default_factory=list)

    def __post_init__(self) -> None:
        t, head = max(self.law.width, SMALLEST_WIDTH), self.law.log_head
        cut = ceil(t * (LEAST_LOG + head))
        logs = cut / t - head  # -ln u is at most this where z is below the cut
        error = (logs + head) * (LOG32_ERROR + 2.0**-22) + 2.0**-21
        error += 1.01 * exp(logs) * 2.0**-UNIFORM_BITS
        fraction_bits = 30 - cut.bit_length()
        one = 1 << fraction_bits
        self._factor = np.float32(exp(-head - error) * 2.0**-UNIFORM_BITS)
        self._slope = np.float32(-t * one)
        self._cut = np.int32(cut << fraction_bits)
        self._fraction_bits, self._fraction = fraction_bits, np.int32(one - 1)
        self._doubt = np.int32(ceil(2 * t * error * one) + 2)
        self._x = np.empty(self.block, np.float32)
        self._z = np.empty(self.block, np.int32)
        self._open = np.empty(self.block, np.bool_)

    def filter(self, halves: Int32s, first: int) -> Int32s:
        """K for each half-word where 32-bit floats are certain; the others are noted as open.

        z is t (ln C - ln u + error) in fixed point, cut to an integer. A lane is open if the
        fraction of z is under twice the error: so are those at the cut. The array returned is
        scratch.
        """
        n = halves.size
        x, z, is_open = self._x[:n], self._z[:n], self._open[:n]
        np.copyto(x, halves)
        np.abs(x, out=x)  # w, or w + 1 where the sign is set
        np.multiply(x, self._factor, out=x)
        np.log(x, out=x)
        np.multiply(x, self._slope, out=x)
        np.copyto(z, x, casting="unsafe")  # what does not fit becomes the least or largest integer
        np.minimum(z, self._cut, out=z)
        fraction = np.bitwise_and(z, self._fraction, out=x.view(np.int32))
        np.less(fraction, self._doubt, out=is_open)
        lanes = is_open.nonzero()[0]
        if lanes.size:
            self.open_halves.append(halves[lanes])
            self.open_lanes.append(lanes + first)
        return np.right_shift(z, self._fraction_bits, out=z)

    def settle(self, words: Words) -> tuple[Int64s, Int64s, Bools]:
        """The open lanes in order, K for each (objects if beyond int64) and its sign.

        Reads, lane by lane, the words that the open lanes need, one at a time.
        """
        lanes = concatenated(self.open_lanes)
        halves = concatenated(self.open_halves).astype(np.int32)
        bits = halves ^ (halves >> UNIFORM_BITS)
        k, sure = self._filter64(bits)
        for i in np.flatnonzero(~sure):
            value = self.law.read(int(bits[i]), UNIFORM_BITS, words)
            if value > INT64_MAX:
                k = k.astype(object)
            k[i] = value
        return lanes, k, halves < 0

    def _filter64(self, bits: Int32s) -> tuple[Int64s, Bools]:
        """K in 64-bit floats, and where it is certain."""
        t = self.law.width
        top = self.law.log_head + UNIFORM_BITS * LN2
        w = np.maximum(bits, 1).astype(np.float64)
        middle = t * (top - np.log(w + 0.5))
        # ln(w + 1) - ln(w + 1/2) < ln(w + 1/2) - ln w < 1/(2 w)
        reach = t * (LOG64_ERROR + 0.5001 / w)
        lower, upper = np.floor(middle - reach), np.ceil(middle + reach) - 1.0
        return np.maximum(lower, 0.0).astype(np.int64), (lower == upper) & (bits > 0)


def floors(law: Survival, count: int, words: Words) -> tuple[Int64s, Bools]:
    """`count` samples K of the law (scale at most 1024) and independent fair signs (True: minus).

    Reads ceil(count/2) words, low half first, a half-word a lane; then, lane by lane, the words
    that the open lanes need, one at a time.
    """
    lanes = Lanes(law, min(count, BLOCK))
    values, minus = np.empty(count, np.int64), np.empty(count, np.bool_)
    with np.errstate(all="ignore"):  # ln 0, for lanes that stay open
        for first in range(0, count, BLOCK):
            part = slice(first, min(first + BLOCK, count))
            halves = half_words(words, part.stop - first)
            values[part] = lanes.filter(halves, first)
            np.less(halves, 0, out=minus[part])
    where, k, _ = lanes.settle(words)
    values[where] = np.minimum(k, INT64_MAX)
    return values, minus


def concatenated(parts: list[Any]) -> Any:
    """The arrays of a list, which may be empty, as one."""
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def half_words(words: Words, count: int) -> Int32s:
    """ceil(count/2) words as `count` half-words, low half first, in an array of their own."""
    return words.words((count + 1) // 2).view("<i4")[:count]
