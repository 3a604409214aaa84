"""Points that are too many to hold: put on the grid once, then read back some at a time."""

from collections.abc import Iterator
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import ReleaseFailed
from halfmask.plan import Near, counted
from halfmask.sources.far import FAILED

__all__ = ["Snapshot"]

Int64s = NDArray[np.int64]

_ENTRIES = 2**21
"""Of a block."""

_SORTED = 2**24
"""Rows of a column that are sorted here; beyond, the engine counts them."""

_names = count()


class _Runs(Protocol):
    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]: ...
    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]: ...
    def discarded(self, table: str) -> None: ...


class Snapshot(Near):
    """Points in a temporary table of the engine, which spills to its private folder.

    So a unit's rows are picked once, every statistic is of the same rows, and no more than a block
    of them is in this process's hands beside the engine's own limited memory.
    """

    def __init__(self, engine: _Runs, sql: str, size: int) -> None:
        self._engine, self._size = engine, size
        self._name = f"points{next(_names)}"
        self._rows(f"CREATE TEMP TABLE {self._name} AS {sql}")
        ((self._count,),) = self._rows(f"SELECT COUNT(*) FROM {self._name}")

    def __del__(self) -> None:
        self._engine.discarded(self._name)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self._size

    def __len__(self) -> int:
        return int(self._count)

    def blocks(self) -> Iterator[Int64s]:
        """Yield blocks of about 2^21 numbers."""
        rows = max(2048, _ENTRIES // self._size)
        for start in range(0, len(self), rows):
            where = f"rowid >= {start} AND rowid < {start + rows}"
            columns = self._columns(f"SELECT * FROM {self._name} WHERE {where}")
            yield np.array([columns[f"v{j}"] for j in range(self._size)], np.int64).T

    def cells(self, j: int) -> tuple[Int64s, Int64s]:
        """Sort a column, or have it counted; see `Cloud`."""
        if len(self) <= _SORTED:
            return counted(self._columns(f"SELECT v{j} AS v FROM {self._name}")["v"])
        sql = f"SELECT v{j} AS v, COUNT(*) AS w FROM {self._name} GROUP BY v{j} ORDER BY v{j}"
        columns = self._columns(sql)
        return columns["v"], columns["w"]

    def array(self) -> Int64s:
        """Return all points, (n, d), in column order."""
        found = np.empty((self._size, len(self)), np.int64)
        for j, row in enumerate(found):
            row[:] = self._columns(f"SELECT v{j} AS v FROM {self._name} ORDER BY rowid")["v"]
        return found.T

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._engine.rows(sql, ReleaseFailed(FAILED))

    def _columns(self, sql: str) -> dict[str, NDArray[Any]]:
        return self._engine.columns(sql, ReleaseFailed(FAILED))
