"""Strategies for numbers that come one period after the other: sums that are known when it closes.

Each is an integer matrix A, a row a sum that is measured with fresh noise when its period closes.
Running totals are read off the noisy sums so far: no noise is ever needed again, so none is kept.
Each is made anew from its text, by integers alone: the same on every machine.
"""

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import fsum, isqrt

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive
from halfmask.privacy import Cost, Pure
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Reach

__all__ = ["Causal", "Moved", "causal", "choose"]

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]

SCALE = 2**12
"""What a column of weights sums to (blocks), or is long (square roots)."""

PRECISE = 2**60
"""In parts of which square roots are computed."""

WIDTHS = (*range(2, 13), 14, 16, 18, 20, 23, 26, 30, 35, 40, 48, 56, 64)
"""Periods of a block that are tried."""

STEPS, WIDEST = 40, 16.0
"""Of the search for the weight of a block's sum, and where it ends."""


@dataclass(frozen=True)
class Causal:
    """An integer matrix over the periods, and the totals that its noisy answers tell.

    closes: for each row, how many periods there are when it is measured; rising. In each row the
      entries rise up to that period, none is negative, and none follows (`Closing` needs that).
    """

    text: str
    matrix: Whole = field(compare=False, repr=False)
    closes: Whole = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """Its kind in words."""
        kind, _, width = self.text.partition(" ")
        if kind == "roots":
            return "sums weighted by normalised square roots"
        return f"periods, and blocks of {width}" if width else "each period alone"

    def rows(self, first: int, last: int) -> range:
        """The rows that are measured when periods first, ..., last close, counted from 1."""
        begin, end = np.searchsorted(self.closes, [first, last + 1]).tolist()
        return range(begin, end)

    @functools.cached_property
    def digest(self) -> str:
        """The same for the same integers."""
        return hashlib.sha256(self.matrix.astype("<i8").tobytes()).hexdigest()

    @functools.cached_property
    def norms(self) -> tuple[int, int]:
        """The largest L1 norm of a column, and the largest squared L2 norm: exact."""
        return int(self.matrix.sum(axis=0).max()), int((self.matrix**2).sum(axis=0).max())

    def gains(self, periods: int) -> Matrix:
        """The (periods, rows so far) matrix that makes running totals of noisy answers.

        The best linear unbiased one at each period: of square roots there is no other.
        """
        A = self.matrix[: self.rows(1, periods).stop, :periods].astype(np.float64)
        if self.text == "roots":
            return np.tril(np.linalg.solve(A.T, np.tri(periods).T).T)
        return _block_gains(A, self.closes[: len(A)])


@functools.lru_cache(maxsize=8)
def causal(text: str, periods: int) -> Causal:
    """Make the strategy of this text: "each", "blocks 18", "roots"."""
    kind, _, width = text.partition(" ")
    matrix, closes = np.eye(periods, dtype=np.int64), np.arange(1, periods + 1)
    if kind == "roots":
        matrix = _roots(periods)
    elif kind == "blocks":
        matrix, closes = _blocks(periods, int(width))
    elif kind != "each":
        raise InvalidQuery(f"strategy: {kind!r} is not one of this version; use a later one")
    return Causal(text, matrix, closes)


@dataclass(frozen=True)
class Moved:
    """How far one unit moves the numbers of all periods together.

    far: in L1, when it is added or removed. l1, l2_squared: how much farther when the promise is
      about more than that: 2 and 2 where it is replaced, 2 and 4 where numbers have both signs.
    parts: in so many equal parts, that move other numbers each: their squares add up.
    """

    far: int
    l1: int = 1
    l2_squared: int = 1
    parts: int = 1

    def noise(self, strategy: Causal, price: Cost) -> Additive:
        """Return the least noise that the price buys for the sums of a strategy."""
        l1, squared = strategy.norms
        far = self.far
        apart = self.l2_squared * far * far * squared // self.parts
        return mechanism_for(Reach(self.l1 * far * l1, apart), price)


def choose(periods: int, moved: Moved, price: Cost) -> Causal:
    """Return the strategy of least mean squared error over all totals.

    Among: noise in each period's own number; sums of blocks of periods beside them, both weighted
    (`_weights`); and, for Gaussian noise, the square root of the matrix of running sums with
    columns of one length [Henzinger, Kalinin & Upadhyay 2025; Fichtenberger, Henzinger & Upadhyay
    2023], whose error is within a few hundredths of what any strategy can reach, even one that
    waits for the last period (benchmarks/series.py).
    """
    found, problem = [], InvalidQuery("epsilon: no noise is wide enough; give a larger one")
    for text, total in _candidates(periods, isinstance(price, Pure)):
        try:
            found.append((total * moved.noise(causal(text, periods), price).variance, text))
        except InvalidQuery as refused:  # noise too wide for the samplers
            problem = refused
    if not found:
        raise problem
    return causal(min(found)[1], periods)


@functools.lru_cache(maxsize=64)
def _candidates(periods: int, pure: bool) -> tuple[tuple[str, float], ...]:
    """Texts, each with the sum of the totals' variances for noise of variance 1."""
    widths = [width for width in WIDTHS if width <= periods]
    texts = ["each"]
    if widths:
        best = f"blocks {min(widths, key=lambda width: _block_error(periods, width))}"
        if len(causal(best, periods).closes) > periods:  # else no block is worth its noise
            texts.append(best)
    if not pure and periods > 1:
        texts.append("roots")
    return tuple((text, float((causal(text, periods).gains(periods) ** 2).sum())) for text in texts)


def _starts(periods: int, width: int) -> Iterator[tuple[int, int]]:
    """The first period of each block, counted from 0, and how many there are in it."""
    return ((start, min(width, periods - start)) for start in range(0, periods, width))


def _block_error(periods: int, width: int) -> float:
    return fsum(_weights(size, periods - at - size + 1)[0] for at, size in _starts(periods, width))


@functools.lru_cache(maxsize=65536)
def _weights(size: int, later: int) -> tuple[float, tuple[float, ...]]:
    """Return the least variance that a block adds to all totals, and the weights for it.

    A period's number is measured alone with weight w and in the sum of its block with 1 - w, so
    that it weighs 1 in all. Each total at the block's end or later (there are `later` of them)
    takes c times the noisy sum of the block, and (1 - c (1 - w)) / w = c - (c - 1) / w times the
    noisy number of each period; a total inside of the block takes 1 / w times those so far. In
    q = 1 / w >= 1 a period adds k q^2 + later (c - (c - 1) q)^2, k the totals between it and the
    block's end: a parabola. So c alone is sought, by golden sections. Sums of floats are rounded
    once, so that all machines find the same.
    """
    between = range(size - 1, -1, -1)

    def q(c: float) -> list[float]:
        top, least = later * c * (c - 1), later * (c - 1) * (c - 1)
        return [max(1.0, top / (k + least)) for k in between]

    def error(c: float) -> float:
        each = zip(between, q(c), strict=True)
        parts = (k * q * q + later * (c - (c - 1) * q) * (c - (c - 1) * q) for k, q in each)
        return fsum(parts) + later * c * c

    alone = float(fsum(between) + later * size)
    low, high = 1.0 + 1 / SCALE, WIDEST
    for _ in range(STEPS if size > 1 else 0):
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if error(left) < error(right) else (left, high)
    best = error(low) if size > 1 else alone
    return min((best, tuple(1 / one for one in q(low))), (alone, (1.0,) * size))


def _blocks(periods: int, width: int) -> tuple[Whole, Whole]:
    """A row for each period, and one for each block whose sum says something."""
    rows: list[Whole] = []
    closes: list[int] = []
    for at, size in _starts(periods, width):
        _, weights = _weights(size, periods - at - size + 1)
        own = [max(1, round(SCALE * weight)) for weight in weights]
        for place, weight in enumerate(own, start=at):
            rows.append(np.zeros(periods, dtype=np.int64))
            rows[-1][place] = weight
        closes += range(at + 1, at + size + 1)
        if min(own) < SCALE:
            rows.append(np.zeros(periods, dtype=np.int64))
            rows[-1][at : at + size] = [SCALE - weight for weight in own]
            closes.append(at + size)
    return np.array(rows), np.array(closes)


def _block_gains(A: Matrix, closes: Whole) -> Matrix:
    """The best unbiased totals: numbers of periods so far, and of each block that is closed.

    Of a block, c (its sum) + sum_p (1 - c s_p) / w_p (own number of p), with s and w the weights in
    the sum and alone, has the variance c^2 + sum_p ((1 - c s_p) / w_p)^2, least at the c below.
    """
    gains, total = np.zeros((A.shape[1], len(A))), np.zeros(len(A))
    for row, (weights, closed) in enumerate(zip(A, closes.tolist(), strict=True)):
        held = np.flatnonzero(weights)
        if row == 0 or closes[row - 1] < closed:
            total = total.copy()
            total[row] = 1 / weights[closed - 1]
        else:
            own = row - 1 - closed + held + 1
            s, w = weights[held], A[own, held]
            c = float((s / w**2).sum() / (1 + ((s / w) ** 2).sum()))
            total = total.copy()
            total[own], total[row] = (1 - c * s) / w, c
        gains[closed - 1] = total
    return gains


def _roots(periods: int) -> Whole:
    """The square root of the matrix of running sums, its columns made equally long, in integers.

    Entries r_(t-s) / |r_0, ..., r_(T-1-s)|, where r_j = (2j choose j) / 4^j.
    """
    r = [PRECISE]
    for j in range(1, periods):
        r.append(r[-1] * (2 * j - 1) // (2 * j))
    matrix = np.zeros((periods, periods), dtype=np.int64)
    for s in range(periods):
        kept = r[: periods - s]
        length = isqrt(sum(one * one for one in kept))
        matrix[s:, s] = [one * SCALE // length for one in kept]
    return matrix
