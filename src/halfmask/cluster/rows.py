"""Rows of a table as integer vectors of a public length."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.queries.cutting import FINE, cut

__all__ = ["Rows", "distances_between", "held", "numbers"]

Matrix = NDArray[np.float64]

_ENTRIES = 1 << 20
"""Of one block, at most, but for a row that is longer."""

_MOST_COLUMNS = 2048

_TINY = 1e-300
"""As a radius it makes every row as long as it: the direction of the row."""


def numbers(X: Any) -> NDArray[Any]:
    """Return a table as an array (n, d), judged by its shape and type alone.

    No message tells the number of rows, which is private, nor how long texts are.
    """
    if hasattr(X, "tocsr"):
        raise InvalidQuery("X: Sparse tables are not supported; give a dense one")
    try:
        table = np.asarray(X)
    except ValueError:
        table = np.empty(0, dtype=object)
    if table.dtype.kind == "c":
        raise InvalidQuery("X: Complex data not supported; give real numbers")
    if table.dtype.kind not in "fiub":
        raise InvalidQuery(
            f"X: of type {table.dtype.type.__name__}; give numbers, NaN for those that are "
            "missing. Objects are not converted: a refusal would tell which one is no number"
        )
    if table.ndim != 2:
        raise InvalidQuery(
            f"X: {table.ndim} dimensions given, expected 2. Reshape your data: (rows, columns), "
            "X.reshape(-1, 1) for a single column"
        )
    if not 1 <= table.shape[1] <= _MOST_COLUMNS:
        raise InvalidQuery(
            f"X: {table.shape[1]} feature(s) (shape=(, {table.shape[1]})) while a minimum of 1 is "
            f"required, and a maximum of {_MOST_COLUMNS}; map wider rows to fewer columns by "
            "public means"
        )
    return table


def held(table: NDArray[Any], bound: float | None) -> Matrix:
    """Return rows as a fitted model compares them: of length 1, or cut to the bound; NaN if none.

    >>> held(np.array([[3, 4], [0, 0]]), None).tolist(), held(np.array([[30, 40]]), 10).tolist()
    ([[0.6, 0.8], [0.0, 0.0]], [[6.0, 8.0]])
    """
    with np.errstate(all="ignore"):
        rows: Matrix = table.astype(np.float64)
        length: Matrix = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        length[~np.isfinite(length)] = np.nan
        if bound is None:
            rows /= np.where(length == 0, 1, length)
        else:
            rows *= bound / np.maximum(length, bound)
    return rows


def distances_between(rows: Matrix, places: Matrix) -> Matrix:
    """Return the distance from each row to each place. NaN where the row is no vector."""
    each = [np.sqrt(((rows - place) ** 2).sum(axis=1)) for place in places]
    return np.stack(each, axis=1)


@dataclass(frozen=True, eq=False)
class Rows:
    """Integer vectors of length at most FINE, one for each row that is a vector.

    Privacy: each is a function of its row alone, to the last bit (`cut`), whatever stands beside
    it; rows with a NaN or an infinity, or longer than 1e154, are left out.

    >>> Rows.of(np.array([[3.0, 4.0], [np.nan, 0.0]]), bound=10).vectors / FINE
    array([[0.29999995, 0.39999998]], dtype=float32)
    """

    vectors: NDArray[np.float32]

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

    def turned(self, axes: Matrix) -> "Rows":
        """Return the coordinates of the vectors along axes (p, d), whole numbers again.

        Privacy: axes are rounded to integers of length 2^26, so sums of products stay below 2^53
        (Cauchy-Schwarz), and are exact in doubles in whatever order a library adds; the rest is
        elementwise. So a row's coordinates depend on it and on public axes alone.
        """
        whole = np.rint(axes / np.linalg.norm(axes, axis=1, keepdims=True) * 2**26)
        turned = np.empty((len(self.vectors), len(whole)), dtype=np.float32)
        here = 0
        for block in self.blocks():
            coordinates = np.rint(block @ whole.T * 2.0**-26)
            turned[here : here + len(block)] = np.clip(coordinates, -FINE, FINE)
            here += len(block)
        return Rows(turned)

    def nearest(self, centres: Matrix) -> NDArray[np.int64]:
        """Return for each vector the nearest of whole centres no longer than FINE; ties: the first.

        Privacy: |c|^2 - 2 x c is an integer below 2^52, so exact in doubles, in any order. So the
        choice is a function of the row and of public centres alone.
        """
        squares = (centres * centres).sum(axis=1)
        chosen = np.empty(len(self.vectors), dtype=np.int64)
        here = 0
        for block in self.blocks():
            chosen[here : here + len(block)] = (squares - 2 * (block @ centres.T)).argmin(axis=1)
            here += len(block)
        return chosen


def _parts(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    step = max(1, _ENTRIES // max(1, table.shape[1]))
    for start in range(0, len(table), step):
        yield table[start : start + step]
