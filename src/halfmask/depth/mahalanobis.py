"""Mahalanobis depth: one over one plus the squared distance in units of the sample covariance."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, anchor, read_both

__all__ = ["mahalanobis_depth"]

ROWS = 4096  # at a time
NOTHING = 2.0**-40  # a spread below this part of the largest, columns at one scale, is rounding


def mahalanobis_depth(points: ArrayLike, data: ArrayLike) -> NDArray[np.float64]:
    """Return 1/(1 + (t - mean)' S^-1 (t - mean)), S the sample covariance (divisor n - 1): (m,).

    Affine maps do not change it. Where the data lie on a line, plane, ... (n <= d, constant or
    dependent columns) so does every point of positive depth: off it the distance is infinite.
    It is neither robust nor a score for a private choice: one row moves it from near 0 to near 1.

    Source: Liu, Parelius & Singh (1999), *Multivariate analysis by data depth*.

    >>> mahalanobis_depth([[0, 0], [2, 0]], [[1, 1], [-1, 1], [-1, -1], [1, -1]])
    array([1.  , 0.25])
    """
    at, rows = read_both(points, data)
    centre = anchor(rows)
    parts = [slice(i, i + ROWS) for i in range(0, len(rows), ROWS)]
    mean = sum(((rows[part] - centre).sum(axis=0) for part in parts), np.zeros(rows.shape[1]))
    mean /= len(rows)
    triangle: Matrix = np.zeros((0, rows.shape[1]))
    for part in parts:  # squares are never formed: a spread keeps all its digits
        below = (rows[part] - centre) - mean
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, below]), mode="r"))
    squares = _squares((at - centre) - mean, triangle) * max(1, len(rows) - 1)
    depth: Matrix = 1 / (1 + squares)
    return depth


def _squares(gaps: Matrix, triangle: Matrix) -> Matrix:
    """Squared lengths in units of triangle' triangle; infinite off the space that it spans."""
    spreads = np.linalg.norm(triangle, axis=0)
    scale = np.where(spreads == 0, 1, spreads)
    _, widths, axes = np.linalg.svd(triangle / scale, full_matrices=True)
    widths = np.append(widths, np.zeros(len(axes) - len(widths)))
    along = (gaps / scale) @ axes.T
    real = widths > NOTHING * max(1.0, widths[0])
    squares = ((along[:, real] / widths[real]) ** 2).sum(axis=1)
    off = np.abs(along[:, ~real]).max(axis=1, initial=0)
    return np.where(off > NOTHING * (1 + np.abs(along).max(axis=1)), np.inf, squares)
