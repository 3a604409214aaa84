"""Discrete Gaussian and rounded Gaussian samples, by exact rejection in batches."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.arguments import Number, Size, read_scale, read_size
from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.enclosure import exp_minus
from halfmask.noise.lanes import INT64_MAX, floors
from halfmask.noise.laplace import laplace_lanes
from halfmask.noise.survival import Survival
from halfmask.noise.words import Words, secure_words

__all__ = ["discrete_gaussian", "rounded_gaussian"]

BLOCK: Final = 1 << 14
FLOAT_ERROR: Final = 2.0**-40  # generous: acceptance probabilities are good to 2^-46
LARGEST_SURE: Final = 2.0**62
SMALLEST_SIGMA: Final = 2.0**-64  # for floats: below, only 0 is accepted, by 2^-40 and more

Bools = NDArray[np.bool_]
Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]


class _Batch(Protocol):
    def __call__(self, missing: int, words: Words) -> Int64s: ...


def _in_blocks(batch: _Batch, count: int, words: Words) -> Int64s:
    """`count` samples in blocks of at most 2^14; each block asks for batches until it is full."""
    values = np.empty(count, np.int64)
    done = 0
    while done < count:
        block_end = min(count, done - done % BLOCK + BLOCK)
        accepted = batch(block_end - done, words)
        values[done : done + accepted.size] = accepted
        done += accepted.size
    return values


@dataclass(frozen=True)
class _DiscreteGaussian:
    sigma: Fraction

    def __call__(self, missing: int, words: Words) -> Int64s:
        """The accepted among missing + missing // 2 + 16 proposals, at most `missing`."""
        t = floor(self.sigma) + 1
        proposals = laplace_lanes(Fraction(t), missing + missing // 2 + 16, words)
        drawn = words.words(proposals.size)
        sigma = max(float(self.sigma), SMALLEST_SIGMA)
        away = (np.abs(proposals) - float(self.sigma**2 / t)) / sigma
        chance = np.exp(-0.5 * away * away)
        margin = chance - drawn * 2.0**-64
        accepted: Bools = margin > 0
        for i in np.flatnonzero(np.abs(margin) < FLOAT_ERROR):
            x = (abs(int(proposals[i])) - self.sigma**2 / t) ** 2 / (2 * self.sigma**2)
            accepted[i] = falls_below(int(drawn[i]), WORD_BITS, x, words)
        kept: Int64s = proposals[accepted][:missing]
        return kept


def discrete_gaussian(
    sigma: Number, size: Size = (), words: Words | None = None
) -> NDArray[np.int64]:
    """Samples of the discrete Gaussian law P(k) proportional to exp(-k^2 / (2 sigma^2)), exactly.

    sigma: above 0, at most 2^55; a float counts at its exact binary value. Values beyond int64
    (never, in practice) saturate. Rejection from the discrete Laplace law of scale
    t = floor(sigma) + 1. [Canonne, Kamath & Steinke 2020, algorithm 3]

    Words, in blocks of 2^14 samples: while m samples are missing, a batch of n = m + m // 2 + 16
    proposals (`discrete_laplace(t, n)`), then n words that start their accepting numbers, then, in
    order, each undecided proposal reads on. The first m accepted are the samples.

    >>> from halfmask.noise import seeded_words
    >>> discrete_gaussian(3, (2, 2), seeded_words(1)).shape
    (2, 2)
    """
    batch = _DiscreteGaussian(read_scale(sigma, "sigma"))
    count, shape = read_size(size)
    return _in_blocks(batch, count, secure_words() if words is None else words).reshape(shape)


@dataclass
class _Proposals:
    """Half-normal proposals k + x, x in (x, x + 1) / 2^64, and those whose x is known further."""

    k: Int64s
    minus: Bools
    x: UInt64s
    longer: dict[int, tuple[int, int]] = field(default_factory=dict)

    def bits(self, i: int) -> tuple[int, int]:
        return self.longer.get(i, (int(self.x[i]), WORD_BITS))


@dataclass(frozen=True)
class _RoundedGaussian:
    sigma: Fraction

    def __call__(self, missing: int, words: Words) -> Int64s:
        """The accepted among 2 missing + missing // 8 + 16 proposals, at most `missing`."""
        n = 2 * missing + missing // 8 + 16
        k, minus = floors(_HALF_UNIT, n, words)
        proposals = _Proposals(k, minus, words.words(n))
        chosen = np.flatnonzero(_accepted(proposals, words))[:missing]
        return self._rounded(proposals, chosen, words)

    def _rounded(self, proposals: _Proposals, chosen: NDArray[np.intp], words: Words) -> Int64s:
        """Sigma (k + x) rounded, with sign, for the chosen: by floats, wider floats, integers."""
        k, x = proposals.k[chosen], proposals.x[chosen]
        values, sure = self._float_rounded(k, x, np.float64)
        if not sure.all():
            again = np.flatnonzero(~sure)
            values[again], sure[again] = self._float_rounded(k[again], x[again], np.longdouble)
        open_ones = set(np.flatnonzero(~sure).tolist())
        if proposals.longer:
            open_ones |= {j for j, i in enumerate(chosen.tolist()) if i in proposals.longer}
        for j in sorted(open_ones):
            known = proposals.bits(int(chosen[j]))
            values[j] = min(_exact_rounded(self.sigma, int(k[j]), *known, words), INT64_MAX)
        return np.where(proposals.minus[chosen], -values, values)

    def _float_rounded(self, k: Int64s, x: UInt64s, kind: Any) -> tuple[Int64s, Bools]:
        """floor(sigma (k + x) + 1/2), and where it is certain (four roundings, and unread bits)."""
        high = float(self.sigma)
        sigma = kind(high) + kind(float(self.sigma - Fraction(high)))
        y = sigma * (x.astype(kind) * kind(2.0**-64) + k)
        error = (y + 1) * kind(8 * np.finfo(kind).eps) + sigma * kind(2.0**-63)
        lower, upper = np.floor(y + 0.5 - error), np.floor(y + 0.5 + error)
        sure = (lower == upper) & (upper < LARGEST_SURE)
        return np.where(sure, lower, 0).astype(np.int64), sure


_HALF_UNIT: Final = Survival(Fraction(2), two_sided=False)


def _accepted(proposals: _Proposals, words: Words) -> Bools:
    """Accept k + x with probability exp(-(k (k - 1) + x (2 k + x)) / 2)."""
    k, x = proposals.k, proposals.x * 2.0**-64
    drawn = words.words(k.size)
    margin = np.exp(-0.5 * (k * (k - 1.0) + x * (2 * k + x))) - drawn * 2.0**-64
    accepted: Bools = margin > 0
    for i in np.flatnonzero(np.abs(margin) < FLOAT_ERROR).tolist():
        u, v, bits = int(proposals.x[i]), int(drawn[i]), WORD_BITS
        while (answer := _side(int(k[i]), u, v, bits)) is None:
            more = words.words(2).tolist()
            u, v, bits = u << WORD_BITS | more[0], v << WORD_BITS | more[1], bits + WORD_BITS
        accepted[i] = answer
        if bits > WORD_BITS:
            proposals.longer[i] = u, bits
    return accepted


def _side(k: int, u: int, v: int, bits: int) -> bool | None:
    """Accept (True), reject, or None: for all x in (u, u + 1) / 2^bits and V as much above v."""
    one = 1 << bits

    def exponent(x: int) -> Fraction:
        return Fraction(k * (k - 1) * one * one + x * (2 * k * one + x), 2 * one * one)

    more = 8
    while True:
        least = exp_minus(exponent(u + 1), bits + more)
        most = exp_minus(exponent(u), bits + more)
        if v + 1 << more <= least[0]:
            return True
        if v << more >= most[1]:
            return False
        if v + 1 << more > least[1] and v << more < most[0]:
            return None
        more *= 2


def _exact_rounded(sigma: Fraction, k: int, u: int, bits: int, words: Words) -> int:
    """floor(sigma (k + x) + 1/2) for the x that starts with these bits, reading until sure."""
    while True:
        scale = sigma / (1 << bits)
        start = (k << bits) + u
        lower = floor(scale * start + Fraction(1, 2))
        upper = -floor(-(scale * (start + 1) + Fraction(1, 2))) - 1
        if lower == upper:
            return lower
        u, bits = u << WORD_BITS | int(words.words(1)[0]), bits + WORD_BITS


def rounded_gaussian(
    sigma: Number, size: Size = (), words: Words | None = None
) -> NDArray[np.int64]:
    """floor(Z + 1/2) for a continuous Gaussian Z of mean 0 and this standard deviation, exactly.

    Rounding is post-processing, so what holds for the continuous Gaussian holds for it as it is.
    |Z| / sigma = k + x, k geometric with P(k) proportional to exp(-k/2) and x uniform, accepted
    with probability exp(-(k (k - 1) + x (2 k + x)) / 2). [after Karney 2016, algorithm N]

    Words, in blocks of 2^14 samples: while m samples are missing, a batch of
    n = 2 m + m // 8 + 16 proposals: `geometric(2, n)` with its signs; n words for x; n words for
    the accepting numbers V. In order, each proposal whose bits do not decide reads one word more
    for x and one for V, again and again. The first m accepted are kept; in order, each whose x
    does not fix the rounded value reads on.

    >>> from halfmask.noise import seeded_words
    >>> rounded_gaussian(3, 4, seeded_words(1)).shape
    (4,)
    """
    batch = _RoundedGaussian(read_scale(sigma, "sigma"))
    count, shape = read_size(size)
    return _in_blocks(batch, count, secure_words() if words is None else words).reshape(shape)
