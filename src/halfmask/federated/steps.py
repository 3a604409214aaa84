"""The exact sum of clipped differences: how clients pull at a public centre."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.queries.cutting import FINE, cut

__all__ = ["FINE", "Pulls"]

Vector = NDArray[np.float64]

_ENTRIES = 1 << 17
"""Of one block of clients: what fits a processor's cache."""

_SLAB = 1 << 20
"""Clients whose pulls are added up in floats: at most 2^44 in each coordinate."""


@dataclass(frozen=True)
class Pulls:
    """The sum over clients of psi(x - centre), psi(v) = v / max(|v|, radius), in parts of FINE.

    Privacy: one client's part is an integer vector of length at most FINE, and depends on that
    client's update and on public numbers alone, to the last bit (`cut`; the difference too is
    elementwise); so adding or removing a client moves the sum by at most FINE in L2, replacing one
    by at most 2 FINE (triangle inequality), whatever floats do.

    An update with a NaN or an infinity, or of a length beyond 1e154, counts as absent: it pulls
    nowhere.

    >>> Pulls(radius=2.0).sums(np.array([[0.0, 8.0], [1.0, 0.0]]), np.zeros(2)) / FINE
    array([0.49999994, 0.99999994])
    """

    radius: float

    def sums(self, updates: NDArray[Any], centre: Vector) -> NDArray[np.int64]:
        """Return the exact integer sum of all pulls. updates: (clients, d) of numbers."""
        total = np.zeros(centre.size, dtype=np.int64)
        for start in range(0, len(updates), _SLAB):
            total += self._floats(updates[start : start + _SLAB], centre).astype(np.int64)
        return total

    def _floats(self, updates: NDArray[Any], centre: Vector) -> Vector:
        """Return the sum for few clients: integers below 2^53 are exact in floats, in any order."""
        total = np.zeros(centre.size)
        for block in _differences(updates, centre):
            cut(block, self.radius)
            total += block.sum(axis=0)
        return total


def _differences(updates: NDArray[Any], centre: Vector) -> Iterator[Vector]:
    """Yield updates - centre, a block of clients at a time, each in the same place."""
    rows = max(1, _ENTRIES // max(1, centre.size))
    place = np.empty((min(rows, len(updates)), centre.size))
    for start in range(0, len(updates), rows):
        part = updates[start : start + rows]
        block = place[: len(part)]
        with np.errstate(all="ignore"):  # a warning would tell about an update
            block[...] = part
            block -= centre
        yield block
