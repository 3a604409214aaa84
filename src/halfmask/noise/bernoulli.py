"""Coins: with probability exp(-x), x rational, or with any that can be enclosed closely."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise.arguments import Number, Size, read_rational, read_size
from halfmask.noise.enclosure import exp_minus
from halfmask.noise.words import Words, secure_words

__all__ = ["WORD_BITS", "bernoulli_enclosed", "bernoulli_exp", "coins", "falls_below"]

WORD_BITS = 64


def falls_below(
    u: int, bits: int, x: Fraction, words: Words, factor: Fraction = Fraction(1)
) -> bool:
    """Whether V < factor exp(-x) for the uniform V that starts with these bits: reads until sure.

    Sure means: factor exp(-x) does not lie inside (u, u + 1) / 2^bits.
    """
    while (answer := _side(u, bits, x, factor)) is None:
        u, bits = u << WORD_BITS | int(words.words(1)[0]), bits + WORD_BITS
    return answer


def _side(u: int, bits: int, x: Fraction, factor: Fraction) -> bool | None:
    """True if u + 1 <= 2^bits factor exp(-x), False if u >= it, None if it lies between."""
    more = 8
    while True:
        lower, upper = (factor.numerator * end for end in exp_minus(x, bits + more))
        low, high = (factor.denominator * end << more for end in (u, u + 1))
        if high <= lower:
            return True
        if low >= upper:
            return False
        if low <= lower and upper <= high:
            return None
        more *= 2


def coins(x: Fraction, count: int, words: Words) -> NDArray[np.bool_]:
    """`count` independent coins with P(True) = exp(-x).

    Reads a word a coin; then, in order, each coin whose word is floor(2^64 exp(-x)) reads on.
    """
    drawn = words.words(count)
    lower, upper = exp_minus(x, WORD_BITS + 8)
    floor_lower, floor_upper = lower >> 8, (upper - 1) >> 8
    answer = drawn < np.uint64(floor_upper) if floor_upper < 1 << WORD_BITS else drawn >= 0
    near = (drawn >= np.uint64(min(floor_lower, (1 << WORD_BITS) - 1))) & (
        drawn <= np.uint64(min(floor_upper, (1 << WORD_BITS) - 1))
    )
    for i in np.flatnonzero(near):
        answer[i] = falls_below(int(drawn[i]), WORD_BITS, x, words)
    return answer


def bernoulli_exp(
    exponent: Number, size: Size = (), words: Words | None = None
) -> NDArray[np.bool_]:
    """Coins that are True with probability exactly exp(-exponent), exponent >= 0.

    Words: as many as coins; then a coin whose word does not decide reads on, in order. The first
    word is the most significant digit of the uniform number that is compared with exp(-exponent).

    >>> from halfmask.noise import seeded_words
    >>> bernoulli_exp(0, 3, seeded_words(1)).tolist()
    [True, True, True]
    """
    x = read_rational(exponent, "exponent")
    if x < 0:
        raise InvalidQuery(f"exponent: {exponent!r} is negative; give an exponent of at least 0")
    count, shape = read_size(size)
    return coins(x, count, secure_words() if words is None else words).reshape(shape)


def bernoulli_enclosed(
    chance: Callable[[int], tuple[int, int]], size: Size = (), words: Words | None = None
) -> NDArray[np.bool_]:
    """Coins that are True with exactly a probability that is known by its enclosures.

    chance: bits -> integers (a, b) with a <= 2^bits p <= b, as close together as bits is large.

    Words: as `bernoulli_exp`. A coin reads on until the interval of its unread bits lies on one
    side of the enclosure.

    >>> from halfmask.noise import seeded_words
    >>> bernoulli_enclosed(lambda bits: (1 << bits, 1 << bits), 3, seeded_words(1)).tolist()
    [True, True, True]
    """
    count, shape = read_size(size)
    source = secure_words() if words is None else words
    drawn = source.words(count)
    lower, upper = chance(WORD_BITS)
    most = (1 << WORD_BITS) - 1
    # (u + 1) <= lower is True for certain, u >= upper False for certain.
    answer: NDArray[np.bool_] = drawn <= np.uint64(max(lower - 1, 0)) if lower else drawn < 0
    near = (drawn >= np.uint64(min(lower, most))) & (drawn < np.uint64(min(upper, most)))
    near |= (drawn == np.uint64(most)) & (lower <= most < upper)
    for i in np.flatnonzero(near).tolist():
        answer[i] = _lies_below(int(drawn[i]), chance, source)
    return answer.reshape(shape)


def _lies_below(u: int, chance: Callable[[int], tuple[int, int]], words: Words) -> bool:
    bits = WORD_BITS
    while True:
        lower, upper = chance(bits)
        if u + 1 <= lower:
            return True
        if u >= upper:
            return False
        u, bits = u << WORD_BITS | int(words.words(1)[0]), bits + WORD_BITS
