"""The directions in which rows spread most: noisy principal components."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import RoundedGaussian
from halfmask.privacy import GDP
from halfmask.procedures.cluster.rows import Vectors
from halfmask.queries.cutting import FINE, cut

__all__ = ["LEAST", "MOST", "Axes", "Spread", "SpreadSums"]

Matrix = NDArray[np.float64]

_COARSE = 2**7
"""By how much vectors are coarser here, so that sums of their products are exact in doubles."""
_LENGTH = FINE // _COARSE
_WEIGHTS = (29, 41)
"""Of the diagonal, and of what is above it: 41^2 <= 2 * 29^2, so the root of 2 nearly."""


_ROWS = 1 << 16
"""Looked at together."""

LEAST = 4
MOST = 15
"""How many axes: more would carry more noise than they tell of rows."""


@dataclass(frozen=True, eq=False)
class Axes:
    """Orthonormal directions (p, d), and the mean square along each, in squared radii."""

    directions: Matrix
    spread: NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """The sum of u u^T over rows, u = (x - m) / max(|x - m|, radius) for a public m.

    dimensions: d, of the rows.
    replaced: whether a row is replaced, rather than added or removed.
    price: of the whole matrix.
    rows: how many of them a unit may have, as in `Cells`.

    Privacy: u is an integer vector of length at most L = FINE / 2^7 (`cut`, then decimals are cut
    off again). The weighted vector of a symmetric matrix M, a on and b above the diagonal with
    b^2 <= 2 a^2, is at most a ||M|| long in the Frobenius norm, and ||u u^T|| = |u|^2 <= L^2.
    Where a row comes for another, ||u u^T - v v^T||^2 <= |u|^4 + |v|^4, as trace(u u^T v v^T) >= 0.
    The noise is that of the Gaussian mechanism by this reach. [Dong, Roth & Su 2019, Thm 2.7]
    """

    dimensions: int
    replaced: bool
    price: GDP
    rows: int = 1

    @property
    def reach_squared(self) -> int:
        """The square of how far neighbours' weighted matrices can lie apart in L2."""
        return self.rows**2 * (2 if self.replaced else 1) * (_WEIGHTS[0] * _LENGTH**2) ** 2

    @property
    def mechanism(self) -> RoundedGaussian:
        """The noise of each weighted entry."""
        return RoundedGaussian(self.reach_squared, self.price.mu)

    @property
    def deviation(self) -> float:
        """The deviation of the noise of an entry above the diagonal, in rows."""
        return self.mechanism.standard_deviation / (_WEIGHTS[1] * _LENGTH**2)

    def sums(self, vectors: Vectors, middle: NDArray[np.float64], radius: float) -> list[int]:
        """Return the exact weighted integers on and above the diagonal, row by row."""
        total = vectors.total(SpreadSums(middle, radius)).tolist()
        weights = np.where(np.eye(self.dimensions, dtype=bool), *_WEIGHTS)
        above = weights[np.triu_indices(self.dimensions)].tolist()
        return [weight * entry for weight, entry in zip(above, total, strict=True)]

    def axes(self, noisy: tuple[int, ...], count: float) -> Axes:
        """Return the axes that stand out of the noise; a few at least, `MOST` at most."""
        d = self.dimensions
        matrix = np.zeros((d, d))
        matrix[np.triu_indices(d)] = np.array(noisy, dtype=np.float64) / _LENGTH**2
        matrix /= np.where(np.eye(d, dtype=bool), *_WEIGHTS)
        matrix += np.triu(matrix, 1).T
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = values[::-1], vectors[:, ::-1]
        edge = 2 * self.deviation * sqrt(d)  # where the spectrum of the noise alone ends [Wigner]
        kept = min(max(int((values > edge).sum()), LEAST), MOST, d)
        squares = (values[:kept] + np.sqrt(np.maximum(values[:kept] ** 2 - edge**2, 0))) / 2
        return Axes(vectors[:, :kept].T.copy(), np.maximum(squares, 0) / count)


@dataclass(frozen=True, eq=False)
class SpreadSums:
    """What vectors add to the matrix about a whole middle, pulls cut to a radius."""

    middle: NDArray[np.float64]
    radius: float

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entries on and above the diagonal, row by row; see `Statistic`."""
        d = len(self.middle)
        total = np.zeros((d, d), dtype=np.int64)
        for start in range(0, len(block), _ROWS):
            part = block[start : start + _ROWS].astype(np.float64)
            part -= self.middle
            cut(part, self.radius)
            part /= _COARSE
            np.trunc(part, out=part)
            total += (part.T @ part).astype(np.int64)  # of 2^16 rows at most: below 2^50
        entries: NDArray[np.int64] = total[np.triu_indices(d)]
        return entries
