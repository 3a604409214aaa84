"""Points in a public frame, multiplied by a public matrix: exactly, so in any order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.queries.location.standard import Frame, squares

__all__ = ["Whitened"]

WHOLE = 2.0**26
"""The length of a direction in integers, and of the longest row of the matrix."""


@dataclass(frozen=True)
class Whitened(Frame):
    """A frame whose points y are turned into W y, W a public matrix.

    matrix: the rows of W / unit, whole numbers; no row is longer than 2^26 + sqrt(d).

    Privacy: a row counts the same wherever it stands, as in `Frame`. The direction of y is rounded
    to integers of length about 2^26; a partial sum of its products with a row of the matrix is at
    most the product of both lengths (Cauchy-Schwarz), below 2^53, so doubles hold it exactly and a
    library may add in any order. All else is elementwise.

    >>> turned = Whitened.by(Frame((0.0, 0.0), (1.0, 1.0)), [[0, 2], [1, 0]])
    >>> next(turned.blocks(np.array([[3, 4]]))).round(6).tolist()
    [[8.0], [3.0]]
    """

    matrix: tuple[tuple[int, ...], ...]
    unit: float

    @classmethod
    def by(cls, frame: Frame, matrix: Sequence[Sequence[float]] | NDArray[np.float64]) -> Frame:
        """Round a matrix to integers, its longest row to 2^26."""
        rows = np.asarray(matrix, dtype=float)
        unit = float(np.sqrt((rows * rows).sum(axis=1)).max()) / WHOLE
        whole = np.rint(rows / unit).astype(np.int64)
        return cls(frame.centre, frame.scales, tuple(map(tuple, whole.tolist())), unit)

    def blocks(self, points: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        """Yield (d, b) blocks of W (x - centre) / scale, of rows in their order."""
        matrix = np.array(self.matrix, dtype=np.float64)
        for block in super().blocks(points):
            length = np.sqrt(squares(block))
            factor = np.zeros(length.shape)
            np.divide(WHOLE, length, out=factor, where=length > 0)
            turned = matrix @ np.rint(block * factor)
            turned *= length * (self.unit / WHOLE)
            yield turned
