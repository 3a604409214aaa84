"""Spatial depth: one less the length of the mean unit vector from a point to the data.

Squared distances are one matrix product, |x|^2 - 2<x, t> + |t|^2, and the sums of unit vectors
another: sum w x - t sum w, w = 1/|x - t|. What cancels in them is recomputed, see ``NEAR``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, anchor, read_both, read_dtype, size

__all__ = ["spatial_depth", "unit_sums"]

# A pair closer than NEAR of |x|^2 + |t|^2 in square is taken from the difference itself, so that
# no pair's unit vector is off by more than about (d + 4) eps / NEAR: 4e-12 (d + 4) in float64 and
# 6e-5 (d + 4) in float32, at the few worst pairs. Errors of other pairs are of the size of eps.
NEAR = {np.float64: 2.0**-14, np.float32: 2.0**-10}
TINY = {np.float64: 2.0**-960, np.float32: 2.0**-100}  # below it a square may have lost its digits
WIDEST = 2.0**60  # above it float32 is not used: squares might overflow
POINTS = 256  # in one block; rows are chosen to fill CACHE
CACHE = 1 << 21  # bytes of distances at a time: they stay near the processor
SPARE = 1 << 20  # coordinates of recomputed pairs at a time


def spatial_depth(
    points: ArrayLike, data: ArrayLike, *, dtype: type[np.floating[Any]] = np.float64
) -> NDArray[np.float64]:
    """Return 1 - |mean over rows x of (x - t)/|x - t|| for each point t; a row at t counts as 0.

    `points` is (m, d), `data` (n, d), the result (m,), within [0, 1] up to rounding. Rotations,
    shifts and one common scale do not change it. The error is about 1e-15 d; with
    ``dtype=numpy.float32`` it stays below 1e-5 (1e-7 on common data), in half the time: harmless
    for looking, plotting or proposing, but not for deciding a private sample. Memory beyond the
    arguments: a few MB.

    Source: Vardi & Zhang (2000), *The multivariate L1-median and associated data depth*.

    >>> spatial_depth([[0, 0], [9, 9]], [[1, 0], [-1, 0], [0, 1], [0, -1]]).round(3)
    array([1.   , 0.002])
    """
    at, rows = read_both(points, data)
    sums = unit_sums(at, rows, read_dtype(dtype))
    depth: Matrix = np.maximum(0, 1 - np.linalg.norm(sums, axis=1) / len(rows))
    return depth


def unit_sums(
    points: Matrix, data: Matrix, dtype: type[np.float32] | type[np.float64] = np.float64
) -> Matrix:
    """Sums over the rows of the unit vectors from each point to the row: (m, d)."""
    if data.shape[1] == 1:
        return _signs(points, data)
    sums = np.empty(points.shape)
    centre = anchor(data)
    if max(size(points), size(data)) + size(centre) > WIDEST:
        dtype = np.float64
    for start in range(0, len(points), POINTS):
        block = slice(start, start + POINTS)
        sums[block] = _Block(points[block], centre, dtype).sums(data)
    return sums


def _signs(points: Matrix, data: Matrix) -> Matrix:
    """On a line the sum is the number of rows above less the number of rows below."""
    line, at = np.sort(data[:, 0]), points[:, 0]
    below, not_above = np.searchsorted(line, at), np.searchsorted(line, at, side="right")
    signs: Matrix = (len(line) - not_above - below).astype(np.float64)[:, None]
    return signs


class _Block:
    """A few hundred points, which meet all rows, a block of them at a time."""

    def __init__(self, points: Matrix, centre: Matrix, dtype: Any) -> None:
        self.points, self.centre, self.dtype = points, centre, dtype
        m, d = points.shape
        self.shifted = (points - centre).astype(dtype)
        self.squares = np.einsum("ij,ij->i", self.shifted, self.shifted)
        self.factor = np.empty((m, d + 2), dtype)  # times (x, 1, |x|^2): the squared distance
        self.factor[:, :d] = -2 * self.shifted
        self.factor[:, d] = self.squares
        self.factor[:, d + 1] = 1
        self.height = max(64, CACHE // (max(m, d + 2) * np.dtype(dtype).itemsize))
        self.exact = np.zeros((m, d))

    def sums(self, data: Matrix) -> Matrix:
        m, d = self.points.shape
        height = min(self.height, len(data))
        rows = np.ones((height, d + 2), self.dtype)
        distances = np.empty((height, m), self.dtype)
        total = np.zeros((m, d + 2))  # sums of w times (x, 1, |x|^2); the last is not needed
        for start in range(0, len(data), height):
            part = data[start : start + height]
            x, w = rows[: len(part)], distances[: len(part)]
            np.subtract(part, self.centre, out=x[:, :d], casting="same_kind")
            np.einsum("ij,ij->i", x[:, :d], x[:, :d], out=x[:, d + 1])
            np.matmul(x, self.factor.T, out=w)
            self.recompute_near(w, x[:, d + 1], part)
            np.divide(1, np.sqrt(w, out=w), out=w)
            total += w.T @ x  # whole rows: cutting the last column is slower
        sums: Matrix = total[:, :d] - self.shifted * total[:, d : d + 1] + self.exact
        return sums

    def recompute_near(self, w: NDArray[Any], squares: NDArray[Any], part: Matrix) -> None:
        """Take pairs whose square cancelled out of the products, and add them up by themselves."""
        near, tiny = NEAR[self.dtype], TINY[self.dtype]
        furthest = self.squares.max()
        if w.min() > near * (squares.max() + furthest) + tiny:
            return
        suspects = np.flatnonzero(w.min(axis=1) <= near * (squares + furthest) + tiny)
        limit = near * (squares[suspects, None] + self.squares) + tiny
        i, j = np.nonzero(w[suspects] <= limit)
        i = suspects[i]
        w[i, j] = np.inf  # weight 0
        step = max(1, SPARE // part.shape[1])
        for start in range(0, len(i), step):
            some = slice(start, start + step)
            gaps = part[i[some]] - self.points[j[some]]
            np.add.at(self.exact, j[some], _units(gaps))


def _units(gaps: Matrix) -> Matrix:
    """Each row divided by its length; a zero row stays zero. No square over- or underflows."""
    largest = np.abs(gaps).max(axis=1, keepdims=True)
    scaled = gaps / np.where(largest == 0, 1, largest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    units: Matrix = scaled / np.where(largest == 0, 1, lengths)
    return units
