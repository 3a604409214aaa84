"""Points as a measurement meets them: exact sums over rows that come in any order.

A cloud may be an array, columns put on the grid a block at a time, a table of an engine that no
memory holds, or the rows of a cluster whose workers send sums alone. What is asked of it is the
same integers for all of these, since every statistic is a sum of integers over rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cloud", "Held", "Near", "Statistic", "added", "cloud_of", "counted"]

Int64s = NDArray[np.int64]

ROWS = 2**24
"""Rows whose sum is sure to fit 64 bits: no statistic adds more than 2^38 a row."""


class Statistic(Protocol):
    """What each row adds to a vector of integers. Public, and small enough to send to workers."""

    def of(self, block: Int64s, /) -> Int64s:
        """Return the sum over rows of a block (m, d), of one shape for every block.

        What a row adds depends on that row alone, to the last bit, and is at most 2^38 in each
        entry; no row adds nothing.
        """
        ...


class Cloud(ABC):
    """Points: cells of a grid, their rows in no meaningful order."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of coordinates."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Return the sum over all rows, as Python integers: they cannot overflow."""

    @abstractmethod
    def cells(self, j: int) -> tuple[Int64s, Int64s]:
        """Return the cells of coordinate j that hold rows, rising, and how many rows each holds."""

    @abstractmethod
    def array(self) -> Int64s:
        """Return all points, (n, d); rows that are far refuse: see `Setting.near`."""


class Near(Cloud):
    """Rows that this process may look at, a block at a time."""

    @abstractmethod
    def blocks(self) -> Iterator[Int64s]:
        """Yield (m, d) arrays of at most 2^24 rows."""

    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Add block by block; see `Cloud`."""
        return added(statistic, self.blocks(), self.size)


@dataclass(frozen=True, eq=False)
class Held(Near):
    """An array (n, d) of points.

    >>> Held(np.array([[1, 7], [0, 7]])).cells(1)
    (array([7]), array([2]))
    """

    points: Int64s

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return int(self.points.shape[1])

    def __len__(self) -> int:
        return len(self.points)

    def blocks(self) -> Iterator[Int64s]:
        """Yield slices."""
        for start in range(0, len(self.points), ROWS):
            yield self.points[start : start + ROWS]

    def cells(self, j: int) -> tuple[Int64s, Int64s]:
        """Sort a column; see `Cloud`."""
        return counted(self.points[:, j])

    def array(self) -> Int64s:
        """Return the array itself."""
        return self.points


def cloud_of(exact: Any) -> Cloud:
    """Return the answer to `Points` as a cloud: an array is one that is held."""
    return exact if isinstance(exact, Cloud) else Held(exact)


def added(statistic: Statistic, blocks: Iterable[Int64s], size: int) -> NDArray[Any]:
    """Return the sum over the rows of all blocks, as Python integers.

    >>> class Sum:
    ...     def of(self, block):
    ...         return block.sum(axis=0)
    >>> added(Sum(), [np.array([[1, 2], [3, 4]]), np.array([[5, 6]])], 2).tolist()
    [9, 12]
    """
    run, rows = statistic.of(np.empty((0, size), np.int64)), 0
    total: NDArray[Any] = run.astype(object)
    for block in blocks:
        if rows + len(block) > ROWS:
            total += run.astype(object)
            run, rows = np.zeros_like(run), 0
        run += statistic.of(block)
        rows += len(block)
    total += run.astype(object)
    return total


def counted(column: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct values of a column, rising, and how often each is there."""
    ordered = np.sort(column)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    places = np.flatnonzero(first)
    return ordered[places], np.diff(places, append=len(ordered))
