"""Sums over the rows of each cell, released together: pulls at its centre, weights, squares."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import RoundedGaussian
from halfmask.privacy import GDP
from halfmask.procedures.cluster.rows import nearest, turned
from halfmask.queries.cutting import FINE, cut

__all__ = ["CellSums", "Cells", "Told", "shrunk"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_SQUARES = FINE // 4
"""The weight of the squared length: enough to tell the next radius, for 3 % more noise."""

_ROWS = 1 << 16
"""Looked at together."""


@dataclass(frozen=True, eq=False)
class Told:
    """Noisy sums. In rows, where a row that pulls with all its length, and counts whole, adds 1.

    pulls: (k, p) sums of vectors cut to the radius, in radii.
    weights: (k,) numbers of rows, or sums of what they weigh.
    square: the sum of squared lengths, over all cells.
    pull_deviation, weight_deviation, square_deviation: of the noise of each number.
    """

    pulls: Matrix
    weights: Vector
    square: float
    pull_deviation: float
    weight_deviation: float
    square_deviation: float


@dataclass(frozen=True)
class Cells:
    """What one Gaussian vector tells of all cells.

    A row x in the cell of centre c adds to that cell v = (x - c) / max(|x - c|, radius) in parts of
    FINE, and a weight of at most A; to one number for all cells, floor(B |v|^2 / FINE^2) <= B.

    dimensions: of the rows. A = FINE / d^(1/4): of all weights this one makes noise matter least
        for S / N, the mean of S over N rows, if S is as long as it can be: noise of variance
        1 + a^2 in each of d sums, and of (1 + a^2) / a^2 in the count, is least for a^4 = 1 / d.
    replaced: whether a row is replaced, rather than added or removed.
    price: of the vector.
    rows: how many of them a unit may have: it moves as much as so many rows, one after the other.

    Privacy: a row's part is an integer vector of squared length at most FINE^2 + A^2 + B^2 (`cut`,
    and both floors are of at most A and B); which, and of which cell, depends on that row and on
    public numbers alone. Where rows x and y are exchanged, within a cell pulls part by at most
    2 FINE, weights by A, squares by B; in two cells pulls part by 2 FINE^2 squared, weights by
    2 A^2, and A <= FINE, so 4 FINE^2 + A^2 + B^2 is enough. The noise is that of the Gaussian
    mechanism by this reach. [Dong, Roth & Su 2019, Thm 2.7]
    """

    dimensions: int
    replaced: bool
    price: GDP
    rows: int = 1

    @property
    def weight(self) -> int:
        """A, the weight of a row that counts whole."""
        return int(FINE / float(self.dimensions) ** 0.25)

    @property
    def reach_squared(self) -> int:
        """The square of how far neighbours' vectors can lie apart in L2."""
        one = (4 if self.replaced else 1) * FINE**2 + self.weight**2 + _SQUARES**2
        return self.rows**2 * one

    @property
    def mechanism(self) -> RoundedGaussian:
        """The noise of each number."""
        return RoundedGaussian(self.reach_squared, self.price.mu)

    @property
    def deviation(self) -> float:
        """The deviation of the noise of a sum of pulls, in rows."""
        return self.mechanism.standard_deviation / FINE

    def read(self, noisy: tuple[int, ...]) -> Told:
        """Read noisy integers: pulls cell by cell, weights, and the sum of squares."""
        found = np.array(noisy, dtype=np.float64)
        k = (len(found) - 1) // (self.dimensions + 1)
        pulls, weights = found[: k * self.dimensions], found[k * self.dimensions : -1]
        noise = self.mechanism.standard_deviation
        return Told(
            pulls.reshape(k, self.dimensions) / FINE,
            weights / self.weight,
            float(found[-1]) / _SQUARES,
            noise / FINE,
            noise / self.weight,
            noise / _SQUARES,
        )


@dataclass(frozen=True, eq=False)
class CellSums:
    """What vectors add to the cells of whole centres (k, d).

    radius: to which pulls are cut. weighed: whether a row counts radius / |x - c| where that is
    below 1. low, axes: where a row's cell is told by its coordinates along axes, places there.
    """

    cells: Cells
    centres: Matrix
    radius: float
    weighed: bool = False
    low: Matrix | None = None
    axes: Matrix | None = None

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return pulls cell by cell, weights, and the sum of squares; see `Statistic`."""
        k, d = self.centres.shape
        total = np.zeros(k * (d + 1) + 1, dtype=np.int64)
        for start in range(0, len(block), _ROWS):
            vectors = block[start : start + _ROWS].astype(np.float64)
            total += self._of(vectors)
        return total

    def _of(self, block: Matrix) -> NDArray[np.int64]:
        low = block if self.axes is None else turned(block, self.axes)
        cells = nearest(low, self.centres if self.low is None else self.low)
        member = np.equal.outer(np.arange(len(self.centres)), cells).astype(float)
        block -= self.centres[cells]
        weight = np.full(len(block), float(self.cells.weight))
        if self.weighed:  # lengths of integers are exact in any order, and floors elementwise
            length = np.sqrt(np.einsum("ij,ij->i", block, block))
            within = np.minimum(self.radius / np.maximum(length, self.radius), 1.0)
            weight = np.floor(weight * within)
        cut(block, self.radius)
        squared = np.einsum("ij,ij->i", block, block) * (_SQUARES / FINE**2)
        # Below 2^20 integers of at most 2^24 in a block: exact in doubles, in any order.
        sums = (member @ block).ravel(), member @ weight, [np.floor(squared).sum()]
        return np.concatenate(sums).astype(np.int64)


def shrunk(pulls: Matrix, deviation: float, dimensions: int | None = None) -> Matrix:
    """Return noisy vectors, each shortened by what noise alone would give it.

    Of p >= 3 coordinates: the estimate of James and Stein, positive part, which errs less than the
    vector itself, wherever the true one lies. [Baranchik 1964]
    dimensions: of the space that the noise fills, where it is not all.
    """
    p = pulls.shape[1] if dimensions is None else dimensions
    squared = np.maximum((pulls * pulls).sum(axis=1, keepdims=True), 1e-300)
    kept: Matrix = np.maximum(1 - max(p - 2, 0) * deviation**2 / squared, 0.0)
    return pulls * kept
