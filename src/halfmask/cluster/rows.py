"""Tables that are clustered, judged by shape and type alone; rows as a model compares them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.procedures.cluster import Rows

__all__ = ["Rows", "distances_between", "held", "numbers"]

Matrix = NDArray[np.float64]

_MOST_COLUMNS = 2048


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
