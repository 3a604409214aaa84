"""Discrete Laplace, rounded Laplace and geometric samples."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.arguments import Number, Size, read_scale, read_size
from halfmask.noise.bernoulli import coins
from halfmask.noise.lanes import BLOCK, INT64_MAX, LARGEST_DIRECT_SCALE, Lanes, floors, half_words
from halfmask.noise.split import folded_geometric
from halfmask.noise.survival import Survival
from halfmask.noise.words import Words, secure_words

__all__ = ["discrete_laplace", "geometric", "laplace_lanes", "rounded_laplace", "signed_geometric"]

Int64s = NDArray[np.int64]


def laplace_lanes(scale: Fraction, count: int, words: Words) -> Int64s:
    """`count` discrete Laplace samples of a checked scale."""
    if scale > LARGEST_DIRECT_SCALE:
        return folded_geometric(scale, count, words, signed=True)
    lanes = Lanes(Survival(scale, two_sided=True), min(count, BLOCK))
    values = np.empty(count, np.int64)
    with np.errstate(all="ignore"):  # ln 0, for lanes that stay open
        for first in range(0, count, BLOCK):
            n = min(BLOCK, count - first)
            halves = half_words(words, n)
            magnitude = lanes.filter(halves, first)
            np.right_shift(halves, 31, out=halves)
            magnitude ^= halves
            magnitude -= halves  # -1 - k for a set sign bit, then + 1
            values[first : first + n] = magnitude
    where, k, minus = lanes.settle(words)
    k = np.minimum(k, INT64_MAX)
    values[where] = np.where(minus, -k, k)
    return values


def signed_geometric(scale: Fraction, count: int, words: Words) -> tuple[Int64s, NDArray[np.bool_]]:
    """`count` geometric samples of a checked scale, and independent fair signs (True: minus)."""
    if scale > LARGEST_DIRECT_SCALE:
        folded = folded_geometric(scale, count, words, signed=False)
        return folded ^ (folded >> 63), folded < 0
    return floors(Survival(scale, two_sided=False), count, words)


def discrete_laplace(
    scale: Number, size: Size = (), words: Words | None = None
) -> NDArray[np.int64]:
    """Samples of the discrete Laplace law P(k) proportional to exp(-|k| / scale), exactly.

    scale: above 0, at most 2^55; a float counts at its exact binary value. size: a number of
    samples or a shape. Values beyond int64 (probability under 2^-350) saturate.

    Words, scale at most 1024: a half-word a sample, low half first, is an integer h in two's
    complement; u starts with the 31 bits of h or, if h < 0, of -1 - h, and the sample has the sign
    of h and the size floor(-scale ln(u (1 + exp(-1/scale)) / 2)). Then each sample whose bits do
    not fix that size reads on, in order. Larger scales: `split.folded_geometric`.
    [Inverse transform; Ghosh, Roughgarden & Sundararajan 2012 for the law.]

    >>> from halfmask.noise import seeded_words
    >>> discrete_laplace(2, 5, seeded_words(1)).shape
    (5,)
    """
    t = read_scale(scale)
    count, shape = read_size(size)
    return laplace_lanes(t, count, secure_words() if words is None else words).reshape(shape)


def geometric(scale: Number, size: Size = (), words: Words | None = None) -> NDArray[np.int64]:
    """Samples of the geometric law P(k) proportional to exp(-k / scale), k >= 0, exactly.

    Words: as `discrete_laplace` with |k| = floor(-scale ln u), the sign bit unused.

    >>> from halfmask.noise import seeded_words
    >>> bool((geometric(2, 5, seeded_words(1)) >= 0).all())
    True
    """
    t = read_scale(scale)
    count, shape = read_size(size)
    source = secure_words() if words is None else words
    return signed_geometric(t, count, source)[0].reshape(shape)


def rounded_laplace(
    scale: Number, size: Size = (), words: Words | None = None
) -> NDArray[np.int64]:
    """floor(L + 1/2) for a continuous Laplace variable L of this scale, exactly.

    It is 0 with probability 1 - exp(-1/(2 scale)), and otherwise 1 + G with a fair sign, G
    geometric of the same scale (the exponential law forgets).

    Words: `bernoulli_exp(1/(2 scale))` for all samples, then `geometric` with its sign for all.

    >>> from halfmask.noise import seeded_words
    >>> rounded_laplace(2, (2, 3), seeded_words(1)).shape
    (2, 3)
    """
    t = read_scale(scale)
    count, shape = read_size(size)
    source = secure_words() if words is None else words
    moved = coins(1 / (2 * t), count, source)
    steps, minus = signed_geometric(t, count, source)
    steps += steps < INT64_MAX
    return np.where(moved, np.where(minus, -steps, steps), 0).reshape(shape)
