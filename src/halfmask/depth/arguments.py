"""Checks of the arguments that all depths share, and the point around which they compute."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.errors import InvalidQuery, shown

__all__ = ["Matrix", "anchor", "read_both", "read_data", "read_directions", "read_dtype", "size"]

Matrix = NDArray[np.float64]

LARGEST = 2.0**500  # squares and their sums stay finite
LOOK = 255  # rows that place the anchor: odd, so that a median is one of their values


def read_data(data: ArrayLike, name: str = "data") -> Matrix:
    """Rows as an (n, d) array of doubles, none empty; an (n,) array is n rows of one column.

    >>> read_data([3, 1, 2]).shape
    (3, 1)
    """
    rows = _doubles(data, name)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise InvalidQuery(f"{name}: {rows.ndim} dimensions; give an array of shape (n, d)")
    if not rows.shape[0] or not rows.shape[1]:
        what = "columns" if rows.shape[0] else "rows"
        raise InvalidQuery(f"{name}: there are no {what}; give at least one")
    return rows


def read_both(points: ArrayLike, data: ArrayLike) -> tuple[Matrix, Matrix]:
    """Points (m, d) and data (n, d); a (d,) array is one point, or m points where d is 1."""
    rows = read_data(data)
    d = rows.shape[1]
    at = _doubles(points, "points")
    if at.ndim == 1:
        at = at.reshape(-1, 1) if d == 1 else at.reshape(1, -1)
    if at.ndim != 2 or at.shape[1] != d:
        raise InvalidQuery(f"points: shape {np.shape(points)}; the data need (m, {d})")
    return at, rows


def read_directions(directions: ArrayLike, d: int) -> Matrix:
    """Directions (k, d), none zero, each scaled by a power of two to a size near 1."""
    rays = _doubles(directions, "directions")
    if rays.ndim != 2 or rays.shape[1] != d or not len(rays):
        raise InvalidQuery(f"directions: shape {rays.shape}; the data need (k, {d}), k at least 1")
    largest = np.abs(rays).max(axis=1)
    if not largest.all():
        raise InvalidQuery("directions: one of them is zero; give directions with a length")
    scaled: Matrix = np.ldexp(rays, -np.frexp(largest)[1][:, None])
    return scaled


def read_dtype(dtype: Any) -> type[np.float32] | type[np.float64]:
    """The type to compute in: float64 or float32."""
    if dtype not in (np.float64, np.float32):
        raise InvalidQuery(f"dtype: {shown(dtype)}; give numpy.float64 or numpy.float32")
    return np.float32 if dtype == np.float32 else np.float64


def anchor(data: Matrix) -> Matrix:
    """A point amid the bulk of the data: medians by column of at most 255 rows.

    A difference of doubles has one rounding, relative to itself: depths computed from ``data -
    anchor`` lose nothing to an offset that all rows share, and an outlier does not move it.
    """
    step = -(-len(data) // LOOK)
    look = data[::step]
    median: Matrix = np.sort(look, axis=0)[len(look) // 2]
    return median


def _doubles(values: ArrayLike, name: str) -> Matrix:
    try:
        doubles = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(f"{name}: {shown(values)} is no array of numbers; give one") from None
    largest = size(doubles)  # NaN if one is NaN
    if not np.isfinite(largest):
        raise InvalidQuery(f"{name}: NaN or infinity in them; drop those rows first")
    if largest > LARGEST:
        raise InvalidQuery(f"{name}: a number above 2^500 in size; choose a larger unit")
    return doubles


def size(values: Matrix) -> float:
    """The largest absolute value, without a copy; 0 of nothing, NaN where one is NaN."""
    return float(max(values.max(), -values.min())) if values.size else 0.0
