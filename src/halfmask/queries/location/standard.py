"""Points put in units of public scales about a public centre, a block of rows at a time.

Privacy: what is computed of a row depends on that row and on public numbers alone, to the last
bit: only elementwise operations are used, each correctly rounded by IEEE 754, and coordinates are
added up one after the other, never by a sum whose order an engine or a block's length could choose.
So a row counts the same wherever it stands, and whatever other rows there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frame", "squares"]

Matrix = NDArray[np.float64]

ENTRIES = 1 << 18
"""Of one block: what fits a processor's cache."""


@dataclass(frozen=True)
class Frame:
    """A public centre and public positive scales, in cells of the grid."""

    centre: tuple[float, ...]
    scales: tuple[float, ...]

    def blocks(self, points: NDArray[np.int64]) -> Iterator[Matrix]:
        """Yield (d, b) blocks of (x - centre) / scale, of rows in their order."""
        d = len(self.centre)
        rows = max(1, ENTRIES // d)
        centre, scales = np.array(self.centre)[:, None], np.array(self.scales)[:, None]
        for start in range(0, len(points), rows):
            block = points[start : start + rows].T.astype(np.float64, order="C")
            block -= centre
            block /= scales
            yield block


def squares(block: Matrix) -> Matrix:
    """Return the sum of squares of each column of a (d, b) block, added in the order of d."""
    total = np.zeros(block.shape[1], dtype=block.dtype)
    for coordinate in block:
        total += coordinate * coordinate
    return total
