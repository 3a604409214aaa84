"""The lines through a point and the rows of a planar data set, in their exact order of angle.

Angles are compared in floating point; neighbours that this cannot tell apart are compared by
cross products of integers, to which all coordinates are scaled exactly. So ties, duplicates,
collinear rows and lattices are counted as they are.
"""

from collections.abc import Callable, Iterator
from functools import cache, cmp_to_key, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmask.depth.arguments import Matrix

__all__ = ["Lines", "lines_through"]

UNSURE = 2.0**-48  # twice the error of a pseudo-angle, with room: it has four roundings of 2^-53
NARROW = 30  # bits; cross products of differences of such integers fit in 64
Integers = NDArray[Any]  # int64, or Python integers where those are too wide
Exact = Callable[[], tuple[Integers, Integers]]


class Lines(NamedTuple):
    """Lines through a point by angle in [0, pi): rows `ahead` on each, rows `behind`, rows `at` it.

    `ahead` is the side of the angle itself. `towards` is a row's number for each line, to name its
    direction.
    """

    ahead: NDArray[np.int64]
    behind: NDArray[np.int64]
    at: int
    towards: NDArray[np.int64]


def lines_through(points: Matrix, data: Matrix) -> Iterator[Lines]:
    """The lines through each point in turn; n log n time each."""
    everything = np.concatenate([points, data])
    # Powers of two, one per column, change no count and keep a stretched axis from blurring angles
    # (numbers below 2^-1000 of a column's span may be lost).
    scaled = np.ldexp(everything, -np.frexp(np.ptp(everything, axis=0))[1])
    exact = cache(lambda: _integers(scaled))  # few data need it
    m = len(points)
    for j in range(m):
        yield _Sweep(scaled[m:], scaled[j], partial(_parted, exact, m, j)).lines()


def _parted(exact: Callable[[], Integers], m: int, j: int) -> tuple[Integers, Integers]:
    return exact()[m:], exact()[j]


class _Sweep:
    def __init__(self, data: Matrix, point: Matrix, exact: Exact) -> None:
        gaps = data - point
        away = np.flatnonzero(gaps.any(axis=1))  # a difference of doubles is 0 only of equal ones
        gaps = gaps[away]
        self.n, self.exact = len(data), exact
        ahead = (gaps[:, 1] > 0) | ((gaps[:, 1] == 0) & (gaps[:, 0] > 0))
        lengths = np.abs(gaps).sum(axis=1)
        keys = np.where(ahead, -gaps[:, 0], gaps[:, 0]) / lengths  # rises with the line's angle
        order = np.argsort(keys)
        self.away, self.ahead, self.keys = away[order], ahead[order], keys[order]

    def lines(self) -> Lines:
        if not len(self.away):
            none = np.zeros(0, dtype=np.int64)
            return Lines(none, none, self.n, none)
        starts = np.flatnonzero(np.concatenate([[True], ~self._same_as_before()]))
        ahead = np.add.reduceat(self.ahead.astype(np.int64), starts)
        total = np.diff(np.append(starts, len(self.away)))
        return Lines(ahead, total - ahead, self.n - len(self.away), self.away[starts])

    def _same_as_before(self) -> NDArray[np.bool_]:
        """Which rows lie on the line of the row before them; puts unsure neighbours into order."""
        unsure = np.diff(self.keys) <= UNSURE
        same = np.zeros(len(unsure), dtype=bool)
        i = np.flatnonzero(unsure)
        if not len(i):
            return same
        same[i] = self._crosses(i) == 0
        if not same[i].all():
            for start, stop in _runs(unsure):
                if not same[start : stop - 1].all():
                    self._sort(start, stop)
            same[i] = self._crosses(i) == 0
        return same

    def _sort(self, start: int, stop: int) -> None:
        rows, at = self.exact()
        gaps = rows[self.away[start:stop]].astype(object) - at.astype(object)
        gaps[~self.ahead[start:stop]] *= -1
        order = sorted(
            range(stop - start),
            key=cmp_to_key(lambda a, b: gaps[b, 0] * gaps[a, 1] - gaps[a, 0] * gaps[b, 1]),
        )
        self.away[start:stop] = self.away[start:stop][order]
        self.ahead[start:stop] = self.ahead[start:stop][order]

    def _crosses(self, i: NDArray[np.intp]) -> Integers:
        rows, at = self.exact()
        u, v = rows[self.away[i]] - at, rows[self.away[i + 1]] - at
        crosses: Integers = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        return crosses


def _runs(unsure: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Start and stop of each longest chain of unsure neighbours."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], unsure, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), (edges[1::2] + 1).tolist(), strict=True)


def _integers(values: Matrix) -> Integers:
    """Each column times a power of two that makes all its doubles integers."""
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    # Trailing zeros of the mantissa are dropped, so that integers stay the small integers they are.
    zeros = np.where(whole == 0, 0, np.frexp((whole & -whole).astype(np.float64))[1] - 1)
    lowest = np.where(whole == 0, np.iinfo(np.int32).max, exponents - 53 + zeros).min(axis=0)
    highest = np.where(whole == 0, lowest, exponents).max(axis=0)
    if np.all(highest - lowest <= NARROW):
        small: Integers = np.ldexp(values, -lowest).astype(np.int64)
        return small
    shifts = np.where(whole == 0, 0, exponents - 53 + zeros - lowest)
    odd = (whole >> zeros).astype(object)
    exact: Integers = np.left_shift(odd, shifts.astype(object))
    return exact
