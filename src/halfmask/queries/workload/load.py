"""Workloads: many linear queries over the same public cells, as matrices or as ranges of cells."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Load", "MatrixLoad", "Merged", "RangeLoad"]

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Merged:
    """Cells that no query tells apart, taken together: the same answers from fewer cells.

    index: for each cell, the merged one that it is part of; -1 where no query looks at it.
    Privacy: a row still lies in at most one merged cell, so no reach grows.
    """

    load: "Load"
    index: Whole


class Load(Protocol):
    """Linear queries over `cells` public cells."""

    def __hash__(self) -> int:
        """Equal workloads have equal ones."""
        ...

    @property
    def cells(self) -> int:
        """The number of cells."""
        ...

    @property
    def queries(self) -> int:
        """The number of queries."""
        ...

    def merged(self) -> Merged:
        """Take together the cells that all queries weigh alike; leave out those of no weight."""
        ...

    def gram(self) -> Matrix:
        """The (cells, cells) matrix W'W of the queries' coefficients W."""
        ...

    def whole(self) -> Whole | None:
        """W as integers, but for a factor; None where identity noise is never worse than W's."""
        ...

    def answers(self, cells: Matrix) -> Matrix:
        """W times estimates of the cells."""
        ...

    def variances(self, covariance: Matrix) -> Matrix:
        """The diagonal of W C W' for a covariance C of the cells."""
        ...

    def largest(self) -> Matrix:
        """The largest coefficient of each query, in absolute value."""
        ...

    def shares(self) -> Matrix:
        """The sum of each query's absolute coefficients over the number of cells."""
        ...


def _digest(*parts: Any) -> bytes:
    made = hashlib.sha256()
    for part in parts:
        made.update(np.ascontiguousarray(part).tobytes() if hasattr(part, "shape") else part)
    return made.digest()


@dataclass(frozen=True)
class MatrixLoad:
    """Queries of integer coefficients times a power of two: coefficients / 2^bits, one row each."""

    key: bytes = field(init=False)
    coefficients: Whole = field(compare=False, repr=False)
    bits: int

    def __post_init__(self) -> None:
        shape = repr((self.coefficients.shape, self.bits)).encode()
        object.__setattr__(self, "key", _digest(b"matrix", shape, self.coefficients))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return int(self.coefficients.shape[1])

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(self.coefficients.shape[0])

    @property
    def _real(self) -> Matrix:
        return np.ldexp(self.coefficients.astype(np.float64), -self.bits)

    def merged(self) -> Merged:
        """Merge equal columns, in the order of their first cells, and drop columns of zeros."""
        columns, first, found = np.unique(
            self.coefficients, axis=1, return_index=True, return_inverse=True
        )
        weighed = columns.any(axis=0)
        order = np.argsort(np.where(weighed, first, self.cells + 1), kind="stable")
        place = np.full(len(first), -1)
        place[order[: weighed.sum()]] = np.arange(weighed.sum())
        kept = columns[:, order[: weighed.sum()]]
        return Merged(MatrixLoad(kept, self.bits), place[found.reshape(-1)])

    def gram(self) -> Matrix:
        """W'W."""
        return self._real.T @ self._real

    def whole(self) -> Whole | None:
        """The coefficients, where the queries are not far more than the cells."""
        return self.coefficients if self.queries <= 4 * self.cells + 16 else None

    def answers(self, cells: Matrix) -> Matrix:
        """W times the cells."""
        return self._real @ cells

    def variances(self, covariance: Matrix) -> Matrix:
        """The diagonal of W C W'."""
        real = self._real
        found: Matrix = np.einsum("ij,ij->i", real @ covariance, real)
        return np.maximum(found, 0)

    def largest(self) -> Matrix:
        """The largest coefficient of each query."""
        found: Matrix = np.abs(self._real).max(axis=1, initial=0)
        return found

    def shares(self) -> Matrix:
        """The mean absolute coefficient of each query."""
        found: Matrix = np.abs(self._real).mean(axis=1)
        return found


@dataclass(frozen=True)
class RangeLoad:
    """Sums over ranges of cells: starts[i] <= cell < ends[i]."""

    key: bytes = field(init=False)
    cells: int
    starts: Whole = field(compare=False, repr=False)
    ends: Whole = field(compare=False, repr=False)

    def __post_init__(self) -> None:
        size = str(self.cells).encode()
        object.__setattr__(self, "key", _digest(b"ranges", size, self.starts, self.ends))

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.starts)

    def merged(self) -> Merged:
        """Merge cells between neighbouring ends of ranges, and drop those in no range."""
        marks = np.zeros(self.cells + 1, dtype=np.int64)
        marks[self.starts], marks[self.ends] = 1, 1
        cover = np.zeros(self.cells + 1, dtype=np.int64)
        np.add.at(cover, self.starts, 1)
        np.add.at(cover, self.ends, -1)
        held = np.cumsum(cover)[:-1] > 0
        opens = held & (marks[:-1] > 0)
        index = np.where(held, np.cumsum(opens) - 1, -1)
        before = np.concatenate([[0], np.cumsum(opens)])  # merged cells that open before a cell
        merged = RangeLoad(int(opens.sum()), before[self.starts], before[self.ends])
        return Merged(merged, index)

    def gram(self) -> Matrix:
        """W'W: how many ranges hold both cells, from counts of ranges by their two ends."""
        n = self.cells
        counts = np.zeros((n + 1, n + 1))
        np.add.at(counts, (self.starts, self.ends), 1.0)
        begun = np.cumsum(counts, axis=0)[:n]
        both = np.cumsum(begun[:, ::-1], axis=1)[:, ::-1][:, 1:]  # [i, j]: start <= i, end > j
        upper = np.triu(both)
        return upper + np.triu(upper, 1).T

    def whole(self) -> Whole | None:
        """Zeros and ones, where the ranges are not far more than the cells."""
        if self.queries > 4 * self.cells + 16:
            return None
        cells = np.arange(self.cells)
        inside = (self.starts[:, None] <= cells) & (cells < self.ends[:, None])
        return inside.astype(np.int64)

    def answers(self, cells: Matrix) -> Matrix:
        """Differences of running sums."""
        running = np.concatenate([[0.0], np.cumsum(cells)])
        found: Matrix = running[self.ends] - running[self.starts]
        return found

    def variances(self, covariance: Matrix) -> Matrix:
        """Those of differences of running sums."""
        running = np.zeros((self.cells + 1, self.cells + 1))
        running[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
        own = np.diagonal(running)
        a, b = self.starts, self.ends
        found: Matrix = own[a] + own[b] - running[a, b] - running[b, a]
        return np.maximum(found, 0)

    def largest(self) -> Matrix:
        """One."""
        return np.ones(self.queries)

    def shares(self) -> Matrix:
        """The share of the cells in each range."""
        found: Matrix = (self.ends - self.starts) / self.cells
        return found
