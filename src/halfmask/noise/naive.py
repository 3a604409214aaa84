"""All samplers, one draw at a time, exact: the first version, being made fast."""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, floor

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise.arguments import Number, Size, read_rational, read_scale, read_size, shaped
from halfmask.noise.enclosure import exp_minus
from halfmask.noise.words import Words, secure_words


class _Draw:
    def __init__(self, words: Words | None) -> None:
        self._words = secure_words() if words is None else words
        self._held: list[int] = []

    def word(self) -> int:
        if not self._held:
            self._held = self._words.words(256).tolist()
        return self._held.pop()

    def below(self, bound: int) -> int:
        bits = (bound - 1).bit_length()
        while True:
            value = 0
            for _ in range(0, bits, 64):
                value = value << 64 | self.word()
            value >>= -bits % 64
            if value < bound:
                return value

    def bernoulli_exp(self, x: Fraction) -> bool:
        u, bits = self.word(), 64
        guess = exp(-min(float(x), 1000.0)) * 2.0**64
        if abs(u - guess) > 2.0**20:
            return u < guess
        while True:
            lower, upper = exp_minus(x, bits)
            if u + 1 <= lower:
                return True
            if u >= upper:
                return False
            u, bits = u << 64 | self.word(), bits + 64

    def geometric(self, t: Fraction) -> int:
        p, q = t.numerator, t.denominator
        while True:
            u = self.below(p)
            if self.bernoulli_exp(Fraction(u, p)):
                break
        v = 0
        while self.bernoulli_exp(Fraction(1)):
            v += 1
        return (u + p * v) // q

    def discrete_laplace(self, t: Fraction) -> int:
        while True:
            k, negative = self.geometric(t), self.word() & 1
            if k or not negative:
                return -k if negative else k

    def rounded_laplace(self, t: Fraction) -> int:
        if not self.bernoulli_exp(1 / (2 * t)):
            return 0
        k = 1 + self.geometric(t)
        return -k if self.word() & 1 else k

    def discrete_gaussian(self, sigma: Fraction) -> int:
        t = Fraction(floor(sigma) + 1)
        while True:
            k = self.discrete_laplace(t)
            if self.bernoulli_exp((abs(k) - sigma**2 / t) ** 2 / (2 * sigma**2)):
                return k

    def rounded_gaussian(self, sigma: Fraction) -> int:
        """[Karney 2016, algorithm N], bits of x read as needed."""
        while True:
            k = self.geometric(Fraction(2))
            x, v, bits = self.word(), self.word(), 64
            while True:
                lower, upper = (
                    (k * (k - 1) + y * (2 * k + y)) / 2
                    for y in (Fraction(x, 1 << bits), Fraction(x + 1, 1 << bits))
                )
                if v + 1 <= exp_minus(upper, bits)[0]:
                    accepted = True
                    break
                if v >= exp_minus(lower, bits)[1]:
                    accepted = False
                    break
                x, v, bits = x << 64 | self.word(), v << 64 | self.word(), bits + 64
            if not accepted:
                continue
            sign = -1 if self.word() & 1 else 1
            while True:
                ends = sorted(sign * sigma * (k + Fraction(y, 1 << bits)) for y in (x, x + 1))
                low, high = (floor(end + Fraction(1, 2)) for end in ends)
                if low == high or (high == low + 1 and (ends[1] + Fraction(1, 2)) == high):
                    return low
                x, bits = x << 64 | self.word(), bits + 64


def _many(draw: object, size: Size) -> NDArray[np.int64]:
    count, shape = read_size(size)
    return shaped([draw() for _ in range(count)], shape)  # type: ignore[operator]


def discrete_laplace(scale: Number, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    t, source = read_scale(scale), _Draw(words)
    return _many(lambda: source.discrete_laplace(t), size)


def rounded_laplace(scale: Number, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    t, source = read_scale(scale), _Draw(words)
    return _many(lambda: source.rounded_laplace(t), size)


def geometric(scale: Number, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    t, source = read_scale(scale), _Draw(words)
    return _many(lambda: source.geometric(t), size)


def bernoulli_exp(exponent: Number, size: Size, words: Words | None = None) -> NDArray[np.bool_]:
    x, source = read_rational(exponent, "exponent"), _Draw(words)
    if x < 0:
        raise InvalidQuery(f"exponent: {exponent!r} is negative; give at least 0")
    return _many(lambda: source.bernoulli_exp(x), size).astype(bool)


def discrete_gaussian(sigma: Number, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    s, source = read_scale(sigma, "sigma"), _Draw(words)
    return _many(lambda: source.discrete_gaussian(s), size)


def rounded_gaussian(sigma: Number, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    s, source = read_scale(sigma, "sigma"), _Draw(words)
    return _many(lambda: source.rounded_gaussian(s), size)


def categorical(
    scores: Sequence[int], rate: Number, size: Size, words: Words | None = None
) -> NDArray[np.int64]:
    r, source = read_rational(rate, "rate"), _Draw(words)
    integers = [int(score) for score in scores]
    best = max(integers)
    exponents = [r * (best - score) for score in integers]
    bounds = [exp_minus(x, 32)[1] for x in exponents]
    cumulative = np.cumsum(bounds)

    def draw() -> int:
        while True:
            i = int(np.searchsorted(cumulative, source.below(int(cumulative[-1])), "right"))
            u, bits = source.word(), 64
            while True:
                lower, upper = (end << 32 for end in exp_minus(exponents[i], bits))
                if (u + 1) * bounds[i] <= lower:
                    return i
                if u * bounds[i] >= upper:
                    break
                u, bits = u << 64 | source.word(), bits + 64

    return _many(draw, size)


def below(bound: int, size: Size, words: Words | None = None) -> NDArray[np.int64]:
    source = _Draw(words)
    return _many(lambda: source.below(bound), size)


def permutation(count: int, words: Words | None = None) -> NDArray[np.int64]:
    source = _Draw(words)
    order = np.arange(count)
    for i in range(count - 1, 0, -1):
        j = source.below(i + 1)
        order[[i, j]] = order[[j, i]]
    return order
