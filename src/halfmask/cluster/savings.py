"""What a public candidate saves rows of their way to the nearest medoid."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.cluster.rows import Rows

__all__ = ["FAR", "Savings"]

FAR = 2**14
"""The reach of a row in whole parts: no distance counts more."""

_ENTRIES = 2**21
"""Distances looked at together."""


@dataclass(frozen=True, eq=False)
class Savings:
    """Distances from rows to candidates in parts of a reach, whole, and FAR at most.

    What a set of medoids saves a row is FAR less its distance to the nearest; `first` and `swapped`
    sum it over rows.

    Privacy: a distance is a function of its row and of public candidates alone: |x|^2 + |c|^2 -
    2 x c is an integer below 2^53, so exact in doubles in any order; the rest is elementwise. A row
    saves from 0 to FAR for each set, so one that comes adds 0 to FAR to every score, and all scores
    move the same way; one that is replaced moves each by at most FAR.
    """

    distances: NDArray[np.int16]

    @classmethod
    def of(cls, rows: Rows, candidates: Rows, reach: float) -> "Savings":
        """Measure. reach: in parts of the bound of rows, as vectors are."""
        places = candidates.vectors.astype(np.float64)
        squares = (places * places).sum(axis=1)
        found = np.empty((len(rows.vectors), len(places)), dtype=np.int16)
        here = 0
        for block in rows.blocks():
            own = np.einsum("ij,ij->i", block, block)
            apart = np.sqrt(own[:, None] + squares - 2 * (block @ places.T))
            found[here : here + len(block)] = np.minimum(apart * (FAR / reach), FAR)
            here += len(block)
        return cls(found)

    def first(self, medoids: list[int]) -> list[int]:
        """Return what the medoids and one candidate save all rows together, for each candidate."""
        total = np.zeros(self.distances.shape[1], dtype=np.int64)
        for block in self._blocks():
            near = block[:, medoids].min(axis=1, initial=FAR)
            total += (FAR - np.minimum(block, near[:, None])).sum(axis=0)
        scores: list[int] = total.tolist()
        return scores

    def swapped(self, medoids: list[int]) -> list[int]:
        """Return what is saved with each medoid exchanged for each candidate, medoid by medoid."""
        k, m = len(medoids), self.distances.shape[1]
        total = np.zeros((k, m), dtype=np.int64)
        for block in self._blocks():
            own = block[:, medoids]
            nearest = own.argmin(axis=1)
            near = own.min(axis=1)
            own[np.arange(len(own)), nearest] = FAR
            second = own.min(axis=1)  # without the nearest: FAR where there is no other
            kept = FAR - np.minimum(block, near[:, None])
            total += kept.sum(axis=0)
            without = FAR - np.minimum(block, second[:, None])
            for j in range(k):  # only rows of that medoid are saved less
                lost = nearest == j
                total[j] += (without[lost] - kept[lost]).sum(axis=0)
        scores: list[int] = total.ravel().tolist()
        return scores

    def _blocks(self) -> Iterator[NDArray[np.int64]]:
        step = max(1, _ENTRIES // self.distances.shape[1])
        for start in range(0, len(self.distances), step):
            yield self.distances[start : start + step].astype(np.int64)
