"""Exact choices: uniform integers, permutations, and an index by exponential weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise.arguments import Number, Size, read_rational, read_size
from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.enclosure import exp_minus
from halfmask.noise.words import Words, secure_words

__all__ = ["below", "categorical", "permutation", "read_scores"]

WEIGHT_BITS: Final = 30
FLOAT_ERROR: Final = 2.0**-13  # of a weight up to 2^30; floats are good to 2^-16 there
CAP: Final = Fraction(1000)  # exp(-1000) is 0 to floats
UINT64_MAX: Final = np.uint64((1 << 64) - 1)

Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]


def below(bound: int, size: Size = (), words: Words | None = None) -> NDArray[np.int64]:
    """Uniform integers 0 .. bound - 1, exactly; bound at most 2^63.

    Words: as many as samples; the top b bits of each, b the bits of bound - 1, are a sample if
    below bound; the lanes that are not read a word each again, in order. bound 1 reads nothing.

    >>> from halfmask.noise import seeded_words
    >>> below(1, 3, seeded_words(1)).tolist()
    [0, 0, 0]
    """
    if isinstance(bound, bool) or not 1 <= index(bound) <= 1 << 63:
        raise InvalidQuery(f"bound: {bound!r} is outside 1 .. 2^63; give an integer within")
    count, shape = read_size(size)
    return _below(index(bound), count, secure_words() if words is None else words).reshape(shape)


def _below(bound: int, count: int, words: Words) -> Int64s:
    bits = (bound - 1).bit_length()
    if bits == 0:
        return np.zeros(count, np.int64)
    values = np.empty(count, np.int64)
    lanes: Any = np.arange(count)
    while lanes.size:
        drawn = (words.words(lanes.size) >> np.uint64(WORD_BITS - bits)).view(np.int64)
        values[lanes] = drawn
        lanes = lanes[drawn >= bound]
    return values


def permutation(count: int, words: Words | None = None) -> NDArray[np.int64]:
    """A uniform random order of 0 .. count - 1, exactly.

    Words: one for each of 0 .. count - 1, which are sorted by them; those with equal words read
    one more each, in order of index, until no two are equal.

    >>> sorted(permutation(5).tolist())
    [0, 1, 2, 3, 4]
    """
    n, _ = read_size(count)
    source = secure_words() if words is None else words
    keys = [source.words(n)]
    while True:
        order = np.lexsort(keys[::-1])
        same = np.ones(max(n - 1, 0), np.bool_)
        for key in keys:
            same &= key[order[1:]] == key[order[:-1]]
        if not same.any():
            return order.astype(np.int64)
        tied = np.zeros(n, np.bool_)
        tied[order[1:][same]] = tied[order[:-1][same]] = True
        key = np.zeros(n, np.uint64)
        key[tied] = source.words(int(tied.sum()))
        keys.append(key)


@dataclass(frozen=True)
class _Weights:
    """Candidates with P(i) proportional to exp(-x_i), x_i = rate (best score - score i)."""

    scores: NDArray[Any]  # int64, or Python integers as objects
    rate: Fraction

    @cached_property
    def best(self) -> int:
        return int(self.scores.max())

    def exponent(self, i: int) -> Fraction:
        return self.rate * (self.best - int(self.scores[i]))

    @cached_property
    def ceilings(self) -> UInt64s:
        """ceil(2^30 exp(-x_i)) exactly: floats where they are sure, integers elsewhere."""
        if self.scores.dtype == np.int64:
            gaps = np.uint64(self.best % (1 << 64)) - self.scores.view(np.uint64)
            x = gaps * float(self.rate)
        else:
            capped = [min(self.exponent(i), CAP) for i in range(self.scores.size)]
            x = np.array([float(exponent) for exponent in capped])
        weights = np.exp(-x) * 2.0**WEIGHT_BITS
        ceilings: UInt64s = np.maximum(np.ceil(weights), 1.0).astype(np.uint64)
        near = (np.abs(weights - np.rint(weights)) < FLOAT_ERROR) & (weights > 0.5) & (x > 0)
        for i in np.flatnonzero(near).tolist():
            ceilings[i] = _exact_ceiling(self.exponent(i))
        return ceilings

    @cached_property
    def cumulative(self) -> UInt64s:
        return np.cumsum(self.ceilings, dtype=np.uint64)

    def accepted(self, chosen: Int64s, words: Words) -> NDArray[np.bool_]:
        """Whether V < 2^30 exp(-x_i) / ceiling for the chosen i: so if V <= 1 - 1 / ceiling."""
        ceilings, drawn = self.ceilings[chosen], words.words(chosen.size)
        accepted: NDArray[np.bool_] = (~drawn > UINT64_MAX // ceilings) & (ceilings > 1)
        for j in np.flatnonzero(~accepted).tolist():
            x, factor = self.exponent(int(chosen[j])), Fraction(1 << WEIGHT_BITS, int(ceilings[j]))
            accepted[j] = falls_below(int(drawn[j]), WORD_BITS, x, words, factor)
        return accepted


def _exact_ceiling(x: Fraction) -> int:
    """ceil(2^30 exp(-x)); for x > 0 the power is no integer (Lindemann)."""
    more = 32
    while True:
        lower, upper = exp_minus(x, WEIGHT_BITS + more)
        if -(-lower >> more) == (ceiling := -(-upper >> more)):
            return ceiling
        more *= 2


def categorical(
    scores: Sequence[int] | NDArray[Any],
    rate: Number,
    size: Size = (),
    words: Words | None = None,
) -> NDArray[np.int64]:
    """Indices i with P(i) proportional to exp(rate * scores[i]), exactly.

    scores: integers of any magnitude (a list, or an array of an integer type), at least one.
    rate: at least 0, at most 2^64; a float counts at its exact binary value.

    Words: i is proposed with its integer weight c_i = ceil(2^30 exp(rate (score - best))) by
    `below(sum of c)`, all samples at once; then a word each starts V, and i is accepted if
    V < 2^30 exp(rate (score - best)) / c_i, undecided ones reading on, in order. The rejected start
    again, together. (Rejection; only a proposal with V > 1 - 1/c_i needs an exponential.)

    >>> categorical([0, 10**12, 5], 1, 3).tolist()
    [1, 1, 1]
    """
    r = read_rational(rate, "rate")
    if not 0 <= r <= 1 << 64:
        raise InvalidQuery(f"rate: {rate!r} is outside [0, 2^64]; give a rate within")
    weights = _Weights(read_scores(scores), r)
    count, shape = read_size(size)
    source = secure_words() if words is None else words
    values = np.empty(count, np.int64)
    lanes: Any = np.arange(count)
    while lanes.size:
        drawn = _below(int(weights.cumulative[-1]), lanes.size, source).view(np.uint64)
        chosen = np.searchsorted(weights.cumulative, drawn, "right").astype(np.int64)
        values[lanes] = chosen
        lanes = lanes[~weights.accepted(chosen, source)]
    return values.reshape(shape)


def read_scores(scores: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """Scores as int64 if they fit, or else as Python integers."""
    array = np.asarray(scores) if isinstance(scores, np.ndarray) else None
    if array is None or array.dtype.kind not in "iu":
        try:
            array = np.array([index(score) for score in scores], dtype=object)
        except TypeError:
            raise InvalidQuery("scores: not all are integers; scale and round them") from None
    if array.ndim != 1 or array.size == 0:
        raise InvalidQuery(f"scores: shape {array.shape} is not (n,), n >= 1; give a list of them")
    least, most = int(array.min()), int(array.max())
    fits = least >= -(1 << 63) and most < 1 << 63
    return array.astype(np.int64 if fits else object)
