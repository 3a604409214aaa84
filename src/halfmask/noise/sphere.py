"""Uniform points in a spherical shell of any dimension, exactly: as many digits as are asked.

A direction in an even dimension 2m: the squared lengths of its m pairs of coordinates are the
spacings of m - 1 uniform numbers in [0, 1] (a Dirichlet law: normalised exponential variables, half
the squared lengths of pairs of normal variables), and each pair points as a uniform point of the
disk does. An odd dimension is one more, the last coordinate dropped and the rest brought to
length 1. The radius t in [a, b) has t^d uniform in [a^d, b^d). So all is algebraic: a point is
integers, square roots and a d-th root of uniform numbers, whose digits are read as needed.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from math import isqrt

from halfmask.noise.bernoulli import WORD_BITS
from halfmask.noise.whole import read_bits
from halfmask.noise.words import Words

__all__ = ["ShellPoint", "floor_root"]

FIRST_BITS = 2 * WORD_BITS
BISECTED = 16  # binary digits of a root found by halving


@dataclass
class _Uniform:
    """A uniform number in [0, 1) of which `bits` digits are known: in [digits, digits + 1)."""

    words: Words
    digits: int = 0
    bits: int = 0

    def extend(self, bits: int) -> None:
        """Read on."""
        self.digits = self.digits << bits | read_bits(bits, self.words)
        self.bits += bits

    @property
    def centre(self) -> int:
        """2^bits (2 U - 1) is within 1 of it."""
        return 2 * self.digits + 1 - (1 << self.bits)


@dataclass
class ShellPoint:
    """A uniform point z of the shell inner <= |z| < outer in `size` dimensions.

    Words: two each (128 digits) for the spacings' numbers; for each pair of coordinates two
    each for both until they lie in the disk (another word each while that is open); two for the
    radius. Each `refine` reads another word for each of these numbers, in the same order.
    """

    size: int
    inner: int
    outer: int
    words: Words
    _cuts: list[_Uniform] = field(default_factory=list)
    _pairs: list[tuple[_Uniform, _Uniform]] = field(default_factory=list)

    def __post_init__(self) -> None:
        pairs = (self.size + 1) // 2
        self._cuts = [self._fresh() for _ in range(pairs - 1)]
        self._pairs = [self._in_disk() for _ in range(pairs)]
        self._radius = self._fresh()

    def _fresh(self) -> _Uniform:
        number = _Uniform(self.words)
        number.extend(FIRST_BITS)
        return number

    def _in_disk(self) -> tuple[_Uniform, _Uniform]:
        while True:
            x, y = self._fresh(), self._fresh()
            while True:
                least, most = _squares(x, y)
                if most <= 1 << 2 * x.bits:
                    return x, y
                if least >= 1 << 2 * x.bits:
                    break
                x.extend(WORD_BITS)
                y.extend(WORD_BITS)

    def refine(self) -> None:
        """Read another word of every number behind the point."""
        numbers = [*self._cuts, *(number for pair in self._pairs for number in pair), self._radius]
        for number in numbers:
            number.extend(WORD_BITS)

    def enclosure(self, bits: int) -> tuple[list[int], int] | None:
        """Return integers within an error of 2^bits z, and that error; None: refine first."""
        length = self._length(bits)
        factors = self._factors(bits)
        if factors is None:
            return None
        low, high = length
        centre, error = [], 0
        for (x, y), (least, most) in zip(self._pairs, factors, strict=True):
            for number in (x, y):
                # |z| between (|c| - 1) low least and (|c| + 1) high most, with its sign, or
                # around 0 where |c| is 1: the ends below do for both.
                c, shift = number.centre, number.bits + bits
                ends = [
                    (c - 1) * (low * least if c > 0 else high * most),
                    (c + 1) * (high * most if c > 0 else low * least),
                ]
                start, end = ends[0] >> shift, -(-ends[1] >> shift)
                centre.append((start + end) // 2)
                error = max(error, end - start)
        return centre[: self.size], error + 1

    def _length(self, bits: int) -> tuple[int, int]:
        """Both ends of 2^bits t."""
        a, b = self.inner**self.size, self.outer**self.size
        digits, known = self._radius.digits, self._radius.bits
        ends = []
        for more in (0, 1):
            power = (a << known) + (digits + more) * (b - a)
            shift = bits * self.size - known
            scaled = power << shift if shift >= 0 else power >> -shift
            ends.append(floor_root(scaled, self.size))
        return ends[0], ends[1] + 1

    def _factors(self, bits: int) -> list[tuple[int, int]] | None:
        """Both ends of 2^bits √(spacing / (x² + y²) / rest) for each pair."""
        known = self._radius.bits  # of the cuts too
        one = 1 << known
        cuts = sorted(cut.digits for cut in self._cuts)
        spacings = [(b - a - (a > 0), b - a + (b < one)) for a, b in pairwise([0, *cuts, one])]
        if min(least for least, _ in spacings) <= 0:
            return None
        # What the kept coordinates' squares sum to: 1, less a dropped coordinate's square.
        rest = (one, one)
        if self.size % 2:
            (x, y), (least, most) = self._pairs[-1], spacings[-1]
            inside, around = _squares(x, y)
            if inside <= 0:
                return None
            dropped = abs(y.centre)
            rest = (
                one + (-most * (dropped + 1) ** 2 // inside),
                one - least * (dropped - 1) ** 2 // around,
            )
            if rest[0] <= 0:
                return None
        factors = []
        for (x, y), (least, most) in zip(self._pairs, spacings, strict=True):
            inside, around = _squares(x, y)
            if inside <= 0:
                return None
            shift = 2 * (bits + x.bits)
            factors.append(
                (
                    isqrt((least << shift) // (around * rest[1])),
                    isqrt((most << shift) // (inside * rest[0])) + 1,
                )
            )
        return factors


def _squares(x: _Uniform, y: _Uniform) -> tuple[int, int]:
    """Both ends of 4^bits (x² + y²), x and y in [-1, 1)."""
    a, b = abs(x.centre), abs(y.centre)
    return (a - 1) ** 2 + (b - 1) ** 2, (a + 1) ** 2 + (b + 1) ** 2


def floor_root(number: int, degree: int) -> int:
    """The greatest integer whose power `degree` is at most `number`, by Newton's steps from above.

    >>> floor_root(10**300 - 1, 100), floor_root(10**300, 100)
    (999, 1000)
    """
    if number == 0 or degree == 1:
        return number
    places = -(-number.bit_length() // degree)
    half = places // 2
    if places <= BISECTED:
        low, high = 0, 1 << places
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**degree <= number else (low, middle)
        return low
    root = (floor_root(number >> half * degree, degree) + 1) << half
    while True:
        step = ((degree - 1) * root + number // root ** (degree - 1)) // degree
        if step >= root:
            return root
        root = step
