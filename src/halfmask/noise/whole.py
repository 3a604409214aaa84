"""Exact choices with integers of any magnitude: one below a bound, and one of huge groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise.arguments import Number, read_rational
from halfmask.noise.bernoulli import WORD_BITS
from halfmask.noise.choice import read_scores
from halfmask.noise.weighted import Groups
from halfmask.noise.words import Words, secure_words

__all__ = ["below_whole", "read_bits", "weighted_huge"]


def read_bits(bits: int, words: Words) -> int:
    """Draw `bits` uniform bits as one integer: ceil(bits / 64) words, the first on top."""
    count = -(-bits // WORD_BITS)
    drawn = words.words(count).astype(">u8").tobytes()
    return int.from_bytes(drawn) >> (WORD_BITS * count - bits)


def below_whole(bound: int, words: Words | None = None) -> int:
    """Draw a uniform integer 0 .. bound - 1 of any magnitude, exactly.

    Words: ceil(b / 64), b the bits of bound - 1; their top b bits are the sample if below bound,
    or else as many words are read again. bound 1 reads nothing.

    >>> below_whole(1), 0 <= below_whole(10**100) < 10**100
    (0, True)
    """
    if bound < 1:
        raise InvalidQuery("bound: it is below 1; give an integer of at least 1")
    source = secure_words() if words is None else words
    bits = (bound - 1).bit_length()
    while True:
        if (drawn := read_bits(bits, source)) < bound:
            return drawn


@dataclass(frozen=True)
class _Huge(Groups):
    """Groups whose counts are computed only where a decision needs them."""

    logs: NDArray[np.float64]
    error: float
    exact: Callable[[int], int]

    @property
    def float_error(self) -> float:
        return super().float_error + self.error * 2.0**21

    @property
    def near(self) -> NDArray[np.int64]:
        return np.arange(self.logs.size)

    @property
    def sizes(self) -> NDArray[np.float64]:
        return self.logs

    def count(self, i: int) -> int:
        return self.exact(i)


def weighted_huge(
    logs: NDArray[np.float64],
    error: float,
    count: Callable[[int], int],
    scores: NDArray[Any],
    rate: Number,
    words: Words | None = None,
) -> int:
    """Draw one index i with P(i) proportional to count(i) * exp(rate * scores[i]), exactly.

    As `weighted`, for counts that are too many and too large to be all held at once.

    logs: log2 count(i), each right to `error`, which is at most 1/4.
    count: the exact counts, at least 1; called for few indices.

    >>> weighted_huge(np.array([3000.0, 2.0]), 0.0, lambda i: [2**3000, 4][i], np.array([0, 0]), 1)
    0
    """
    r = read_rational(rate, "rate")
    if not 0 <= r <= 1 << 64:
        raise InvalidQuery(f"rate: {rate!r} is outside [0, 2^64]; give a rate within")
    points = read_scores(scores)
    groups = _Huge(np.zeros(0, np.int64), points, r, logs, error, count)
    return int(groups.draw(1, secure_words() if words is None else words)[0])
