"""Rows as integer vectors of a public length: held, or made of points wherever these are."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Cloud, Statistic, added, cloud_of
from halfmask.queries.cutting import FINE, cut
from halfmask.queries.location import Frame

__all__ = ["Rows", "Seen", "Vectors", "nearest", "turned", "vectors_of"]

Matrix = NDArray[np.float64]
Int64s = NDArray[np.int64]

_ENTRIES = 1 << 20
"""Of one block, at most, but for a row that is longer."""

_TINY = 1e-300
"""As a radius it makes every row as long as it: the direction of the row."""


class Vectors(Protocol):
    """Integer vectors of length at most FINE, of which sums are asked."""

    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Return the sum over all vectors, as Python integers."""
        ...

    def turned(self, axes: Matrix) -> "Vectors":
        """Return the coordinates of the vectors along axes (p, d), as `turned`."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """Integer vectors of length at most FINE, one for each row that is a vector.

    Privacy: each is a function of its row alone, to the last bit (`cut`), whatever stands beside
    it; rows with a NaN or an infinity, or longer than 1e154, are left out.

    >>> Rows.of(np.array([[3.0, 4.0], [np.nan, 0.0]]), bound=10).vectors / FINE
    array([[0.29999995, 0.39999998]], dtype=float32)
    """

    vectors: NDArray[np.float32]
    _low: "dict[int, tuple[Matrix, Rows]]" = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: NDArray[Any], bound: float | None) -> Self:
        """Cut rows to a bound, or, without one, stretch each to its direction."""
        kept = np.empty(table.shape, dtype=np.float32)  # integers up to 2^24 fit it exactly
        here = 0
        for part in _parts(table):
            with np.errstate(all="ignore"):  # a warning would tell about a row
                block = part.astype(np.float64)
            present = cut(block, _TINY if bound is None else bound)
            block = block[present]
            kept[here : here + len(block)] = block
            here += len(block)
        return cls(kept[:here])

    def blocks(self) -> Iterator[Matrix]:
        """Yield the vectors, some at a time."""
        for part in _parts(self.vectors):
            yield part.astype(np.float64)

    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Add block by block; see `Cloud`."""
        blocks = (part.astype(np.int64) for part in _parts(self.vectors))
        return added(statistic, blocks, self.vectors.shape[1])

    def turned(self, axes: Matrix) -> "Rows":
        """Return the coordinates of the vectors along axes (p, d), as `turned`; kept for later."""
        if id(axes) not in self._low:
            low = np.empty((len(self.vectors), len(axes)), dtype=np.float32)
            here = 0
            for block in self.blocks():
                low[here : here + len(block)] = turned(block, axes)
                here += len(block)
            self._low[id(axes)] = axes, Rows(low)
        return self._low[id(axes)][1]


@dataclass(frozen=True, eq=False)
class Seen:
    """The same of points: each is put in a public frame, and there held to the unit ball.

    axes: those along which the vectors are turned, if they are.
    """

    cloud: Cloud
    frame: Frame
    axes: Matrix | None = None

    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Have the cloud add."""
        return self.cloud.total(_Through(statistic, self.frame, self.axes))

    def turned(self, axes: Matrix) -> "Seen":
        """Return the coordinates of the vectors along axes (p, d), as `turned`."""
        return replace(self, axes=axes)


@dataclass(frozen=True, eq=False)
class _Through:
    """A statistic of vectors, asked of points."""

    statistic: Statistic
    frame: Frame
    axes: Matrix | None

    def of(self, block: Int64s) -> Int64s:
        """Return the sum over points; see `Statistic`."""
        size = len(self.frame.centre) if self.axes is None else len(self.axes)
        total = self.statistic.of(np.empty((0, size), np.int64))
        for part in self.frame.blocks(block):
            vectors = np.ascontiguousarray(part.T)
            cut(vectors, 1.0)
            if self.axes is not None:
                vectors = turned(vectors, self.axes)
            total += self.statistic.of(vectors.astype(np.int64))
        return total


def vectors_of(exact: Any, frame: Frame | None) -> Vectors:
    """Return rows that are vectors already, or points as vectors in the frame."""
    return exact if frame is None else Seen(cloud_of(exact), frame)


def turned(block: Matrix, axes: Matrix) -> Matrix:
    """Return the coordinates of vectors along axes (p, d), whole numbers again.

    Privacy: axes are rounded to integers of length 2^26, so sums of products stay below 2^53
    (Cauchy-Schwarz), and are exact in doubles in whatever order a library adds; the rest is
    elementwise. So a row's coordinates depend on it and on public axes alone.
    """
    whole = np.rint(axes / np.linalg.norm(axes, axis=1, keepdims=True) * 2**26)
    coordinates: Matrix = np.rint(block @ whole.T * 2.0**-26)
    return np.clip(coordinates, -FINE, FINE, out=coordinates)


def nearest(block: Matrix, centres: Matrix) -> Int64s:
    """Return for each vector the nearest of whole centres no longer than FINE; ties: the first.

    Privacy: |c|^2 - 2 x c is an integer below 2^52, so exact in doubles, in any order. So the
    choice is a function of the row and of public centres alone.
    """
    squares = (centres * centres).sum(axis=1)
    chosen: Int64s = (squares - 2 * (block @ centres.T)).argmin(axis=1)
    return chosen


def _parts(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    step = max(1, _ENTRIES // max(1, table.shape[1]))
    for start in range(0, len(table), step):
        yield table[start : start + step]
