"""Exact choice among groups of equal candidates: by their number times an exponential weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, log2
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise.arguments import Number, Size, read_rational, read_size
from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.choice import below, read_scores
from halfmask.noise.enclosure import exp_minus
from halfmask.noise.words import Words, secure_words

__all__ = ["weighted"]

WEIGHT_BITS: Final = 20  # few: so that floats decide nearly every ceiling
FLOAT_ERROR: Final = 2.0**-12  # of a weight up to 2^21, its logarithm known to 2^-36
LARGEST: Final = 4096.0  # beyond it, in exponents, a weight is below 2^-20 of the greatest
NEAR: Final = 64  # beyond it, 2^63 candidates weigh less than 2^-29 of the best one
UINT64_MAX: Final = np.uint64((1 << 64) - 1)


@dataclass(frozen=True)
class Groups:
    """P(i) proportional to w_i = counts_i exp(-x_i), x_i = rate (best score - score i)."""

    counts: NDArray[Any]  # int64, or Python integers as objects; at least 1
    scores: NDArray[Any]
    rate: Fraction

    @cached_property
    def best(self) -> int:
        return int(self.scores.max())

    def exponent(self, i: int) -> Fraction:
        return self.rate * (self.best - int(self.scores[i]))

    @property
    def float_error(self) -> float:
        """The greatest error of a weight up to 2^21 by floats."""
        return FLOAT_ERROR

    def count(self, i: int) -> int:
        """How many candidates stand behind index i."""
        return int(self.counts[i])

    @cached_property
    def near(self) -> NDArray[np.int64]:
        """Indices of all whose ceiling may be above 1: of many, most are far behind the best."""
        small = self.scores.dtype == np.int64 and self.counts.dtype == np.int64
        if not small or self.rate * 2**64 <= NEAR:
            return np.arange(self.scores.size)
        return np.flatnonzero(self._gaps(self.scores) <= np.uint64(int(NEAR / self.rate) + 1))

    def _gaps(self, scores: NDArray[np.int64]) -> NDArray[np.uint64]:
        """How far int64 scores are behind the best."""
        return np.uint64(self.best % (1 << 64)) - scores.view(np.uint64)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """log2 counts_i of those near, to 2^-37 or so."""
        if self.counts.dtype == np.int64:
            logs: NDArray[np.float64] = np.log2(self.counts[self.near].astype(float))
            return logs
        return np.array([_log2(int(count)) for count in self.counts])

    @cached_property
    def _log2(self) -> NDArray[np.float64]:
        """log2 w_i of those near, to 2^-36 where it is within LARGEST of the greatest."""
        if self.scores.dtype == np.int64:
            x = self._gaps(self.scores[self.near]).astype(float) * float(self.rate)
        else:
            exponents = (self.exponent(i) for i in range(self.scores.size))
            x = np.array([float(min(e, Fraction(10**300))) for e in exponents])
        found: NDArray[np.float64] = self.sizes - x / log(2)
        return found

    @cached_property
    def shift(self) -> int:
        """An integer k with w_i <= 2^k (about) for all, and 2^(k-1) < w_i for one."""
        return int(np.ceil(self._log2.max()))

    def factor(self, i: int) -> Fraction:
        """What exp(-x_i) is multiplied by to become a weight of about 2^20 at most."""
        return self.count(i) * Fraction(2) ** (WEIGHT_BITS - self.shift)

    @cached_property
    def ceilings(self) -> NDArray[np.uint64]:
        """ceil(2^(20-k) w_i) exactly: floats where they are sure, integers elsewhere."""
        weights = np.exp2(np.maximum(self._log2 - self.shift, -LARGEST) + WEIGHT_BITS)
        unsure = (np.abs(weights - np.rint(weights)) < self.float_error) & (weights > 0.5)
        ceilings = np.ones(self.scores.size, np.uint64)
        ceilings[self.near] = np.maximum(np.ceil(weights), 1.0)
        for i in self.near[unsure].tolist():
            ceilings[i] = _exact_ceiling(self.exponent(i), self.factor(i))
        return ceilings

    @cached_property
    def cumulative(self) -> NDArray[np.uint64]:
        total: NDArray[np.uint64] = np.cumsum(self.ceilings, dtype=np.uint64)
        return total

    def accepted(self, chosen: NDArray[np.int64], words: Words) -> NDArray[np.bool_]:
        """Whether V < 2^(20-k) w_i / ceiling for the chosen i: so if V <= 1 - 1 / ceiling."""
        ceilings, drawn = self.ceilings[chosen], words.words(chosen.size)
        accepted: NDArray[np.bool_] = (~drawn > UINT64_MAX // ceilings) & (ceilings > 1)
        for j in np.flatnonzero(~accepted).tolist():
            i = int(chosen[j])
            factor = self.factor(i) / int(ceilings[j])
            accepted[j] = falls_below(int(drawn[j]), WORD_BITS, self.exponent(i), words, factor)
        return accepted

    def draw(self, count: int, words: Words) -> NDArray[np.int64]:
        """Draw `count` indices."""
        values = np.empty(count, np.int64)
        lanes: Any = np.arange(count)
        while lanes.size:
            drawn = below(int(self.cumulative[-1]), lanes.size, words).view(np.uint64)
            chosen = np.searchsorted(self.cumulative, drawn, "right").astype(np.int64)
            values[lanes] = chosen
            lanes = lanes[~self.accepted(chosen, words)]
        return values


def _log2(count: int) -> float:
    more = max(count.bit_length() - 60, 0)
    return log2(count >> more) + more


def _exact_ceiling(x: Fraction, factor: Fraction) -> int:
    """ceil(factor exp(-x)); for x > 0 it is no integer (Lindemann)."""
    if x == 0:
        return -(-factor.numerator // factor.denominator)
    more = 64
    while True:
        lower, upper = (Fraction(end, 1 << more) * factor for end in exp_minus(x, more))
        if (ceiling := -(-upper.numerator // upper.denominator)) == lower // 1 + 1:
            return ceiling
        more *= 2


def weighted(
    counts: Sequence[int] | NDArray[Any],
    scores: Sequence[int] | NDArray[Any],
    rate: Number,
    size: Size = (),
    words: Words | None = None,
) -> NDArray[np.int64]:
    """Indices i with P(i) proportional to counts[i] * exp(rate * scores[i]), exactly.

    counts: how many equal candidates stand behind each index: integers of any magnitude, not
      negative, at least one of them positive.
    scores: integers of any magnitude, one for each count.
    rate: at least 0, at most 2^64; a float counts at its exact binary value.

    Words: as `categorical`, with the integer weights ceil(2^(20-k) counts[i] exp(rate (score -
    best))), k such that the greatest is between 2^19 and 2^20 or so.

    >>> weighted([1, 10**30, 0], [0, 0, 10], 1, 2).tolist()
    [1, 1]
    """
    r = read_rational(rate, "rate")
    if not 0 <= r <= 1 << 64:
        raise InvalidQuery(f"rate: {rate!r} is outside [0, 2^64]; give a rate within")
    numbers, points = read_scores(counts), read_scores(scores)
    if numbers.shape != points.shape or int(numbers.min()) < 0 or not numbers.any():
        raise InvalidQuery(
            "counts: give one of at least 0 for each score, and one above 0"
        )  # not shown: they come from rows
    there = np.flatnonzero(numbers)
    groups = Groups(numbers[there], points[there], r)
    count, shape = read_size(size)
    return there[groups.draw(count, secure_words() if words is None else words)].reshape(shape)
