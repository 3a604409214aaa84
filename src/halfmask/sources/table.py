"""A table behind an engine: the one class that answers requests."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import ReleaseFailed
from halfmask.plan import Cloud, FoundKeys, GridCounts, Held, Points, Request, Schema, Tally
from halfmask.sources.far import FAILED
from halfmask.sources.sql import Cells, Dialect, emit, emit_cells, emit_keys, emit_points

__all__ = ["FAILED", "Runs", "Source", "Table"]

Key = str | int | bool | None
Int64s = NDArray[np.int64]

_SORTED = 2**24
"""Up to so many rows, a tenth of the time goes into sorting them here, not in the engine."""

_HELD = 2**25
"""Up to so many numbers, points are held in memory; more stream from a snapshot of the engine."""


class Source(Protocol):
    """Rows that answer requests with exact integers, and nothing else.

    origin: where the one table of this name is, in a database; None elsewhere.
    cut: the columns of times that were finer than microseconds.
    """

    schema: Schema
    name: str
    origin: str | None
    cut: frozenset[str]

    @property
    def near(self) -> bool:
        """Whether its rows may be held in this process."""
        ...

    def tally(self, tally: Tally) -> tuple[tuple[int, ...], ...]:
        """Return (groups, features) integers, groups in the product order of the tally."""
        ...

    def grid_counts(self, counts: GridCounts) -> tuple[tuple[Int64s, Int64s], ...]:
        """Return (cells, weights) for each group, the cells rising; see `GridCounts`."""
        ...

    def found_keys(self, found: FoundKeys) -> tuple[tuple[Key, tuple[int, ...]], ...]:
        """Return (key, features) in the order of the keys; see `FoundKeys`."""
        ...

    def points(self, points: Points) -> Int64s:
        """Return an (n, d) array, its rows in no meaningful order; see `Points`."""
        ...

    def cloud(self, points: Points) -> Cloud:
        """Return the same, to ask exact sums of; no array where it would be too large."""
        ...

    def close(self) -> None:
        """Let go of files and memory."""
        ...


class Runs(Protocol):
    """An engine; what it raises carries no word of the engine's.

    dialect: what it speaks.
    near: whether it is in this process, so that rows may be sorted and held here.
    """

    dialect: Dialect
    near: bool

    def cloud(self, sql: str, size: int) -> Cloud:
        """Return points (v0, v1, ...) that need not fit memory; what fails says `FAILED` alone."""
        ...

    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]:
        """Return the rows of a query, or raise `error` alone."""
        ...

    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]:
        """Return the columns of a query that has no nulls, as arrays; errors as in `rows`."""
        ...

    def close(self) -> None:
        """Let go of files, memory and connections; a second call does nothing."""
        ...


class Table:
    """A table behind an engine.

    physical: an expression of the canonical type of its kind for each column name.
    direct: answers for points without the engine; None where it cannot.
    cut: the columns of times that were finer than microseconds.
    """

    origin: str | None = None
    cut: frozenset[str] = frozenset()

    def __init__(
        self,
        name: str,
        schema: Schema,
        physical: dict[str, str],
        table: str,
        engine: Runs,
        digest: Callable[[], str | None] = lambda: None,
        direct: Callable[[Points], Cloud | None] = lambda points: None,
    ) -> None:
        self.name = name
        self.schema = schema
        self._physical = physical
        self._table = table
        self._engine = engine
        self._digest = digest
        self._direct = direct

    def __repr__(self) -> str:
        return f"<source {self.name!r}: {', '.join(self.schema.names)}>"

    def tally(self, tally: Tally) -> tuple[tuple[int, ...], ...]:
        """Return (groups, features) exact integers, groups in the product order of the tally.

        InvalidQuery if the schema cannot serve it; ReleaseFailed, without a reason, if the engine
        fails (a broken file, a full disk).
        """
        emission = emit(tally, self._cells(tally), self.reading(tally.columns()))
        answer = [(0,) * len(tally.features)] * tally.size
        for group, *sums in self._engine.rows(emission.sql, ReleaseFailed(FAILED)):
            if group is not None:
                answer[group] = emission.features(tally, sums)
        return tuple(answer)

    def grid_counts(self, counts: GridCounts) -> tuple[tuple[Int64s, Int64s], ...]:
        """Return (cells, weights) for each group, the cells rising; errors as in `tally`."""
        plain = counts.unit is None and not counts.groups
        if self._engine.near and plain and self._rows() <= _SORTED:
            every = self._points(Points((counts.value,), counts.where), self._cells(counts))[:, 0]
            cells, weights = np.unique(every, return_counts=True)
            return ((cells, weights * counts.weight),)
        sql = emit_cells(counts, self._cells(counts), self.reading(counts.columns()))
        found = self._engine.columns(sql, ReleaseFailed(FAILED))
        groups, cells, weights = (np.asarray(found[name]) for name in "gvw")
        order = np.lexsort((cells, groups)) if counts.groups else np.argsort(cells)
        groups, cells, weights = groups[order], cells[order], weights[order]
        ends = np.searchsorted(groups, np.arange(counts.tally.size + 1))
        return tuple(
            (cells[start:stop], weights[start:stop])
            for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        )

    def found_keys(self, found: FoundKeys) -> tuple[tuple[Key, tuple[int, ...]], ...]:
        """Return (key, features) in the order of the keys; errors as in `tally`."""
        emission = emit_keys(found, self._cells(found), self.reading(found.columns()))
        answer = self._engine.rows(emission.sql, ReleaseFailed(FAILED))
        return tuple((key, emission.features(found.tally, sums)) for key, *sums in answer)

    def points(self, points: Points) -> Int64s:
        """Return an (n, d) array in column order; errors as in `tally`."""
        return self._points(points, self._cells(points))

    def cloud(self, points: Points) -> Cloud:
        """Return the points to ask exact sums of; errors as in `tally`, and then as they come."""
        cells = self._cells(points)
        direct = self._direct(points)
        if direct is not None:
            return direct
        if self.near and self._rows() * points.size <= _HELD:
            return Held(self._points(points, cells))
        return self._engine.cloud(self._pointed(points, cells), points.size)

    def reading(self, names: Sequence[str]) -> str:
        """Write the table of which these columns are read; it may look at rows to do so."""
        return self._table

    def _points(self, points: Points, cells: Cells) -> Int64s:
        direct = self._direct(points)
        if direct is not None:
            return direct.array()
        sql = self._pointed(points, cells)
        columns = self._engine.columns(sql, ReleaseFailed(FAILED))
        answer = np.empty((points.size, len(columns["v0"])), np.int64)
        for i, row in enumerate(answer):
            row[:] = columns.pop(f"v{i}")  # each is let go of at once: half of the memory
        return answer.T

    def _pointed(self, points: Points, cells: Cells) -> str:
        count = self._rows() if self.near and points.unit is not None else None
        return emit_points(points, cells, self.reading(points.columns()), count=count)

    def _rows(self) -> int:
        self._digest()
        ((rows,),) = self._engine.rows(f"SELECT COUNT(*) FROM {self._table}", ReleaseFailed(FAILED))
        return int(rows)

    def _cells(self, request: Request[Any]) -> Cells:
        """Check a request against the schema, and have the rows ready to be read."""
        request.check(self.schema)
        self._digest()  # a file that is copied before its rows are read is copied now
        return Cells(self.schema, self._physical, self._engine.dialect)

    @property
    def near(self) -> bool:
        """Whether the rows may be held in this process."""
        return self._engine.near

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the file, in hexadecimal; None where the table is no file."""
        return self._digest()

    def close(self) -> None:
        """Let go of files and memory; a second call does nothing."""
        self._engine.close()
