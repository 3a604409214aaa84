"""Points straight from numeric arrays in memory: the integers of the engine, without the engine.

The arithmetic is that of `sql.emit.on_grid`, step by step, in the same IEEE doubles: so both ways
give the same integers. They are put on the grid whenever they are asked for, some at a time: that
takes about as long as reading them back, and no second copy of the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Everything, Near, OnGrid, Points, Schema, counted
from halfmask.sources.vectors import Vector

__all__ = ["DirectPoints"]

_ENTRIES = 2**20
"""Of a block."""

_ROWS = 2**17
"""Of a column that are put on the grid at a time: the doubles between stay in the cache's reach."""


class DirectPoints:
    """Answers for points of numeric columns in memory, where all rows are asked for."""

    def __init__(self, vectors: Mapping[str, Vector], schema: Schema) -> None:
        kinds = {column.name: column.kind for column in schema}
        self._vectors = {
            name: vector
            for name, vector in vectors.items()
            if vector.kind == kinds[name] and vector.kind in ("integer", "real", "boolean")
        }

    def __call__(self, points: Points) -> "InMemory | None":
        """Return the points; None where the engine is needed."""
        whole = points.unit is None and isinstance(points.where, Everything)
        if not whole or not all(value.column in self._vectors for value in points.values):
            return None
        vectors = tuple(self._vectors[value.column] for value in points.values)
        return InMemory(points.values, vectors, ~_missing(vectors))


@dataclass(frozen=True, eq=False)
class InMemory(Near):
    """Points of columns in memory.

    present: which rows have every coordinate.
    """

    values: tuple[OnGrid, ...]
    vectors: tuple[Vector, ...]
    present: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.values)

    def __len__(self) -> int:
        return int(self.present.sum())

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """Yield blocks of about 2^20 numbers."""
        rows = max(1, _ENTRIES // self.size)
        for start in range(0, len(self.present), rows):
            yield self._points(slice(start, start + rows))

    def cells(self, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sort a column; see `Cloud`."""
        column = np.empty(len(self), np.int64)
        self._place(j, slice(None), column)
        return counted(column)

    def array(self) -> NDArray[np.int64]:
        """Return all points, (n, d), in column order."""
        return self._points(slice(None))

    def _points(self, rows: slice) -> NDArray[np.int64]:
        found = np.empty((self.size, int(self.present[rows].sum())), np.int64)
        for j, row in enumerate(found):
            self._place(j, rows, row)
        return found.T

    def _place(self, j: int, rows: slice, out: NDArray[np.int64]) -> None:
        """Put a coordinate of these rows on the grid."""
        data, present, value = self.vectors[j].data[rows], self.present[rows], self.values[j]
        low, high = value.lower * 2.0**value.log2_step, value.upper * 2.0**value.log2_step
        at = 0
        for start in range(0, len(present), _ROWS):
            part, here = data[start : start + _ROWS], present[start : start + _ROWS]
            x = (part if here.all() else part[here]).astype(np.float64)
            np.clip(x, low, high, out=x)
            if value.log2_step > 0:
                np.floor(x, out=x)
            x *= 2.0**-value.log2_step
            np.floor(x, out=x)
            out[at : at + len(x)] = x
            at += len(x)
        out -= value.origin


def _missing(vectors: tuple[Vector, ...]) -> NDArray[np.bool_]:
    missing = np.zeros(len(vectors[0].data), np.bool_)
    for vector in vectors:
        if vector.missing is not None:
            missing |= vector.missing
        if vector.kind == "real":
            missing |= np.isnan(vector.data)
    return missing
