"""The floor of an exponential variable, a million at a time: floats filter, integers decide.

A *lane* is one sample in the making. Its half-word (32 bits) holds a sign in the top bit and below
it w, the first 31 bits of a uniform number u in (w, w + 1) / 2^31. K = floor(t (ln C - ln u)).

Three steps, each for the lanes that the one before leaves open:

1. 32-bit floats, all lanes. ln u is off by at most LOG32_ERROR |ln u| + 2^-22 (sixteen units in the
   last place, four times what NumPy states and the tests measure; plus slack near ln u = 0) and
   by 2^-24 + 1/w for the rounding of w and the unread bits. Lanes with w < 2^21 stay open.
2. 64-bit floats at both ends of the unread bits, with an error bound of 2^-42 t.
3. Exact integers (`Survival`), which also say whether the cell of K ends inside (w, w + 1) / 2^31.
   Only then the lane reads on.

So a lane reads further words if and only if its bits do not fix K: a fact of the law, whatever the
floats do. The same words give the same samples on every platform.
"""

from dataclasses import dataclass, field
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.survival import Survival
from halfmask.noise.words import Words

__all__ = [
    "CHUNK",
    "INT64_MAX",
    "LARGEST_DIRECT_SCALE",
    "Lanes",
    "floors",
    "half_words",
]

CHUNK: Final = 1 << 14
LARGEST_DIRECT_SCALE: Final = 1024
UNIFORM_BITS: Final = 31
INT64_MAX: Final = (1 << 63) - 1
UNIFORM_MASK: Final = np.int32((1 << UNIFORM_BITS) - 1)
SMALLEST_W: Final = np.int32(1 << 21)
LN2: Final = log(2.0)
LARGEST_LOG: Final = (UNIFORM_BITS - 21) * LN2
LOG32_ERROR: Final = 2.0**-19
LOG64_ERROR: Final = 2.0**-42

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class Lanes:
    """Scratch space and the open lanes of one call."""

    law: Survival
    chunk: int
    open_lanes: list[Int64s] = field(default_factory=list)
    open_halves: list[Int32s] = field(default_factory=list)

    def __post_init__(self) -> None:
        t = self.law.width
        self.slope = np.float32(-t)
        head = t * self.law.log_head
        self.offset = np.float32(head - 0.5)
        relative = LARGEST_LOG * LOG32_ERROR + 2.0**-22 + 2.0**-24 + 1.01 / float(SMALLEST_W)
        rounding = (t * LARGEST_LOG + head + 1.0) * 2.0**-21  # three roundings of 2^-24 each
        self.certain = np.float32(0.5 - t * relative - rounding)
        self._w = np.empty(self.chunk, np.int32)
        self._x = np.empty(self.chunk, np.float32)
        self._nearest = np.empty(self.chunk, np.float32)
        self._flag = np.empty(self.chunk, np.bool_)
        self._flag_small = np.empty(self.chunk, np.bool_)

    def filter(self, halves: Int32s, first: int) -> Int32s:
        """K for each half-word where 32-bit floats are certain; the others are noted as open.

        The array is scratch: it is overwritten by the next call.
        """
        n = halves.size
        w, x, nearest = self._w[:n], self._x[:n], self._nearest[:n]
        flag, small = self._flag[:n], self._flag_small[:n]
        np.bitwise_and(halves, UNIFORM_MASK, out=w)
        np.copyto(x, w)
        np.multiply(x, np.float32(2.0**-UNIFORM_BITS), out=x)
        np.log(x, out=x)
        np.multiply(x, self.slope, out=x)
        np.add(x, self.offset, out=x)  # t (ln C - ln u) - 1/2, whose nearest integer is K
        np.rint(x, out=nearest)
        np.subtract(x, nearest, out=x)
        np.abs(x, out=x)
        np.greater(x, self.certain, out=flag)
        np.less(w, SMALLEST_W, out=small)
        np.logical_or(flag, small, out=flag)
        lanes = np.flatnonzero(flag)
        if lanes.size:
            self.open_halves.append(halves[lanes])
            self.open_lanes.append(lanes + first)
        np.copyto(w, nearest, casting="unsafe")
        return w

    def settle(self, words: Words, keep: Bools | None = None) -> tuple[Int64s, Int64s, Bools]:
        """The open lanes (in order; those in `keep`), K for each (int64 or, if huge, objects) and sign.

        Reads, lane by lane, the words that the open lanes need, one at a time.
        """
        if not self.open_lanes:
            none = np.empty(0, np.int64)
            return none, none, none < 0
        lanes, halves = np.concatenate(self.open_lanes), np.concatenate(self.open_halves)
        if keep is not None:
            kept = keep[lanes]
            lanes, halves = lanes[kept], halves[kept]
        bits = halves & UNIFORM_MASK
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
        w = bits.astype(np.float64)
        lower = np.floor(t * (top - np.log(w + 1.0) - LOG64_ERROR))
        upper = np.ceil(t * (top - np.log(np.maximum(w, 0.5)) + LOG64_ERROR)) - 1.0
        return np.maximum(lower, 0.0).astype(np.int64), (lower == upper) & (bits > 0)


def floors(law: Survival, count: int, words: Words) -> tuple[Int64s, Bools]:
    """`count` samples K of the law (scale at most 1024) and independent fair signs (True: minus).

    Reads ceil(count/2) words, low half first, a half-word a lane; then, lane by lane, the words
    that the open lanes need, one at a time.
    """
    lanes = Lanes(law, min(count, CHUNK))
    values, minus = np.empty(count, np.int64), np.empty(count, np.bool_)
    with np.errstate(all="ignore"):  # ln 0, for lanes that stay open
        for first in range(0, count, CHUNK):
            part = slice(first, min(first + CHUNK, count))
            halves = half_words(words, part.stop - first)
            values[part] = lanes.filter(halves, first)
            np.less(halves, 0, out=minus[part])
    where, k, _ = lanes.settle(words)
    values[where] = np.minimum(k, INT64_MAX)
    return values, minus


def half_words(words: Words, count: int) -> Int32s:
    """ceil(count/2) words as `count` half-words, low half first."""
    return words.words((count + 1) // 2).view("<i4")[:count]
