"""Points straight from numeric arrays in memory: the integers of the engine, without the engine.

The arithmetic is that of `sql.emit.on_grid`, step by step, in the same IEEE doubles: so both ways
give the same integers.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Everything, OnGrid, Points, Schema
from halfmask.sources.vectors import Vector

__all__ = ["DirectPoints"]

_BLOCK = 2**17
"""Rows that are put on the grid at a time: the doubles between stay in the cache's reach."""


class DirectPoints:
    """Answers for points of numeric columns in memory, where all rows are asked for."""

    def __init__(self, vectors: Mapping[str, Vector], schema: Schema) -> None:
        kinds = {column.name: column.kind for column in schema}
        self._vectors = {
            name: vector
            for name, vector in vectors.items()
            if vector.kind == kinds[name] and vector.kind in ("integer", "real", "boolean")
        }

    def __call__(self, points: Points) -> NDArray[np.int64] | None:
        """Return the points; None where the engine is needed."""
        whole = points.unit is None and isinstance(points.where, Everything)
        if not whole or not all(value.column in self._vectors for value in points.values):
            return None
        vectors = [self._vectors[value.column] for value in points.values]
        present = ~_missing(vectors)
        found = np.empty((points.size, int(present.sum())), np.int64)
        for value, vector, row in zip(points.values, vectors, found, strict=True):
            _place(value, vector, present, row)
        return found.T


def _missing(vectors: list[Vector]) -> NDArray[np.bool_]:
    missing = np.zeros(len(vectors[0].data), np.bool_)
    for vector in vectors:
        if vector.missing is not None:
            missing |= vector.missing
        if vector.kind == "real":
            missing |= np.isnan(vector.data)
    return missing


def _place(
    value: OnGrid, vector: Vector, present: NDArray[np.bool_], out: NDArray[np.int64]
) -> None:
    low, high = value.lower * 2.0**value.log2_step, value.upper * 2.0**value.log2_step
    at = 0
    for start in range(0, len(present), _BLOCK):
        rows = slice(start, start + _BLOCK)
        x = vector.data[rows][present[rows]].astype(np.float64)
        np.clip(x, low, high, out=x)
        if value.log2_step > 0:
            np.floor(x, out=x)
        x *= 2.0**-value.log2_step
        np.floor(x, out=x)
        out[at : at + len(x)] = x
        at += len(x)
    out -= value.origin
