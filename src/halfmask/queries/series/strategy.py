"""Strategies for numbers that come one period after the other: sums that are known when it closes.

Each is an integer matrix A, a row a sum that is measured with fresh noise when its period closes.
Running totals are read off the noisy sums so far: no noise is ever needed again, so none is kept.
Each is made anew from its text, by integers alone: the same on every machine.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isqrt

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
"""What a column of square roots is long."""

PRECISE = 2**60
"""In parts of which square roots are computed."""

DEEPEST, WIDEST = 4, 64
"""Levels of blocks that are tried, and how many parts make up a block."""


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
        kind, _, rest = self.text.partition(" ")
        if kind == "roots":
            return "sums weighted by normalised square roots"
        return f"periods and blocks of {rest}" if rest else "each period alone"

    def rows(self, first: int, last: int) -> range:
        """The rows that are measured when periods first, ..., last close, counted from 1."""
        begin, end = np.searchsorted(self.closes, [first, last + 1]).tolist()
        return range(begin, end)

    @functools.cached_property
    def norms(self) -> tuple[int, int]:
        """The largest L1 norm of a column, and the largest squared L2 norm: exact."""
        return int(self.matrix.sum(axis=0).max()), int((self.matrix**2).sum(axis=0).max())

    def gains(self, periods: int) -> Matrix:
        """The (periods, rows so far) matrix that makes running totals of noisy answers.

        The best linear unbiased one at each period: among square roots there is no other; in blocks
        see `_from_below`.
        """
        held = self.rows(1, periods)
        if self.text == "roots":
            A = self.matrix[:periods, :periods].astype(np.float64)
            return np.tril(np.linalg.solve(A.T, np.tri(periods).T).T)
        return _from_below(self.matrix[held.start : held.stop], periods)


@functools.lru_cache(maxsize=8)
def causal(text: str, periods: int) -> Causal:
    """Make the strategy of this text: "each", "blocks 5 25", "roots"."""
    kind, _, rest = text.partition(" ")
    if kind == "roots":
        return Causal(text, _roots(periods), np.arange(1, periods + 1))
    if kind not in ("each", "blocks"):
        raise InvalidQuery(f"strategy: {kind!r} is not one of this version; use a later one")
    sizes = [1, *map(int, rest.split())]
    ends = [(end, size) for size in sizes for end in range(size, periods + 1, size)]
    spans = np.array(sorted(ends))
    cell = np.arange(periods)
    closes, starts = spans[:, 0], spans[:, 0] - spans[:, 1]
    held = (starts[:, None] <= cell) & (cell < closes[:, None])
    return Causal(text, held.astype(np.int64), closes)


@dataclass(frozen=True)
class Moved:
    """How far one unit moves the numbers of all periods together.

    far: in L1, when it is added or removed. l1, l2_squared: how much farther when the promise is
      about more than that: 2 and 2 where it is replaced, 2 and 4 where numbers have both signs.
    """

    far: int
    l1: int = 1
    l2_squared: int = 1

    def noise(self, strategy: Causal, price: Cost) -> Additive:
        """Return the least noise that the price buys for the sums of a strategy."""
        l1, squared = strategy.norms
        far = self.far
        return mechanism_for(
            Reach(self.l1 * far * l1, self.l2_squared * far * far * squared), price
        )


def choose(periods: int, moved: Moved, price: Cost) -> Causal:
    """Return the strategy of least mean squared error over all totals.

    Among: noise in each period's own number; blocks of periods beside them, as in a tree, read from
    below [Honaker 2015; of wide branches: Cardoso & Rogers 2022]; and, for Gaussian noise, the
    square root of the matrix of running sums with columns of one length [Henzinger, Kalinin &
    Upadhyay 2025; Fichtenberger, Henzinger & Upadhyay 2023], whose error is within a few hundredths
    of what any strategy can reach, even one that waits for the last period (benchmarks/series.py).
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
    found = [("each", _error(periods, ()))]
    for depth in range(1, DEEPEST):
        widths = [b for b in range(2, WIDEST + 1) if b**depth <= periods]
        sizes = [tuple(b**i for i in range(1, depth + 1)) for b in widths]
        if sizes:
            error, best = min((_error(periods, one), one) for one in sizes)
            found.append((f"blocks {' '.join(map(str, best))}", error))
    if not pure and periods > 1:
        gains = causal("roots", periods).gains(periods)
        found.append(("roots", float((gains**2).sum())))
    return tuple(found)


def _error(periods: int, sizes: tuple[int, ...]) -> float:
    """The sum over all periods of the variances of the blocks that make up the total."""
    spreads = [(1, 1.0)]
    for size in sizes:
        before, spread = spreads[-1]
        below = size // before * spread
        spreads.append((size, below / (1 + below)))
    left, total = np.arange(1, periods + 1), 0.0
    for size, spread in reversed(spreads):
        total += float((left // size).sum()) * spread
        left = left % size
    return total


def _from_below(spans: Whole, periods: int) -> Matrix:
    """Estimate each block by its own noisy sum and by what is below it; totals sum whole blocks.

    All that is known of a block when it closes lies inside it. [Honaker 2015, section 3]
    """
    sizes = spans.sum(axis=1)
    ends = spans.shape[1] - np.argmax(spans[:, ::-1], axis=1)
    widths = sorted(set(sizes.tolist()), reverse=True)
    best: dict[tuple[int, int], Matrix] = {}
    spread: dict[int, float] = {}

    def parts(start: int, end: int) -> Iterator[tuple[int, Matrix]]:
        while start < end:
            size = next(w for w in widths if (start, start + w) in best and start + w <= end)
            yield size, best[start, start + size]
            start += size

    for row, (end, size) in enumerate(zip(ends.tolist(), sizes.tolist(), strict=True)):
        own, wide = np.zeros(len(spans)), 0.0
        if size > 1:
            below = list(parts(end - size, end))
            wide = sum(spread[width] for width, _ in below)
            own = np.sum([part for _, part in below], axis=0) / (1 + wide)
        own[row] = wide / (1 + wide) if size > 1 else 1
        best[end - size, end], spread[size] = own, float(own[row])
    totals = [np.sum([part for _, part in parts(0, end)], axis=0) for end in range(1, periods + 1)]
    return np.array(totals)


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
