"""The exact sum of clipped differences: how clients pull at a public centre."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FINE", "Pulls"]

Vector = NDArray[np.float64]

FINE = 2**24
"""Parts of the radius in which a pull is measured."""

_SHRUNK = FINE * (1 - 2.0**-40)
"""A little less, so that no rounding of a length or a quotient makes a pull longer than FINE."""

_ENTRIES = 1 << 17
"""Of one block of clients: what fits a processor's cache."""

_SLAB = 1 << 20
"""Clients whose pulls are added up in floats: at most 2^44 in each coordinate."""


@dataclass(frozen=True)
class Pulls:
    """The sum over clients of psi(x - centre), psi(v) = v / max(|v|, radius), in parts of FINE.

    Privacy: one client's part is an integer vector of length at most FINE, and depends on that
    client's update and on public numbers alone, to the last bit; so adding or removing a client
    moves the sum by at most FINE in L2, replacing one by at most 2 FINE (triangle inequality),
    whatever floats do. Proof: every operation on an update is elementwise and correctly rounded by
    IEEE 754, in an order that its place among other clients cannot change; cutting decimals off
    lengthens nothing; and the length is checked again, in integers.

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
        with np.errstate(all="ignore"):  # a warning would tell about an update
            for block in _differences(updates, centre):
                self._cut(block)
                total += block.sum(axis=0)
        return total

    def _cut(self, block: Vector) -> None:
        """Turn differences into pulls, in place."""
        length = np.sqrt(_added_by_halves(block * block))
        absent = ~np.isfinite(length)
        block *= (_SHRUNK / np.maximum(length, self.radius))[:, None]
        block[absent] = 0
        np.trunc(block, out=block)
        squared = np.einsum("ij,ij->i", block, block)  # exact: integers up to 2^48
        block[~(squared <= FINE**2)] = 0  # never: proves the bound


def _differences(updates: NDArray[Any], centre: Vector) -> Iterator[Vector]:
    """Yield updates - centre, a block of clients at a time, each in the same place."""
    rows = max(1, _ENTRIES // max(1, centre.size))
    place = np.empty((min(rows, len(updates)), centre.size))
    for start in range(0, len(updates), rows):
        part = updates[start : start + rows]
        block = place[: len(part)]
        block[...] = part
        block -= centre
        yield block


def _added_by_halves(block: Vector) -> Vector:
    """Return the sum of each row, the right half added to the left until one number is left.

    Only elementwise additions: no blocking, alignment or thread can change their order, as they can
    that of `sum`. It overwrites the block.
    """
    width = block.shape[1]
    while width > 1:
        half = (width + 1) // 2
        block[:, : width - half] += block[:, half:width]
        width = half
    return block[:, 0] if width else np.zeros(len(block))
