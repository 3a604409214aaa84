"""A sign covariance matrix, read off noisy sums of outer products."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive, DiscreteLaplace
from halfmask.queries.ratio import checked
from halfmask.queries.tails import noise_half_width

__all__ = ["SignMatrix", "entries", "with_trace"]

Matrix = NDArray[np.float64]
Table = tuple[tuple[float, ...], ...]
Brackets = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True)
class SignMatrix:
    """The mean of u u^T over points, u the direction of a point from the centre.

    noisy: the weighted sums on and above the diagonal, row by row; weights: of the diagonal and of
    the rest; fine: the length of a direction in integers.
    """

    noisy: tuple[int, ...]
    names: tuple[str, ...]
    weights: tuple[int, int]
    fine: int
    mechanism: Additive

    post_processing: ClassVar[tuple[str, ...]] = (
        "divided by its trace",
        "projected to the nearest positive semidefinite matrix of trace 1 (the raw one is kept)",
    )

    @cached_property
    def total(self) -> Matrix:
        """The noisy sum of u u^T, in rows: symmetric, unbiased."""
        d, (a, b) = len(self.names), self.weights
        found, above = np.zeros((d, d)), np.triu_indices(d)
        found[above] = [n / self.fine**2 for n in self.noisy]
        found[above] /= np.where(above[0] == above[1], a, b)
        return np.triu(found) + np.triu(found, 1).T

    @property
    def raw(self) -> Table:
        """The noisy sum of u u^T, in rows; its trace is about the number of points."""
        return _table(self.total)

    @cached_property
    def rows(self) -> float:
        """The noisy number of points that count, 1 at least."""
        return max(float(np.trace(self.total)), 1.0)

    @cached_property
    def matrix(self) -> Matrix:
        """The value as an array."""
        return with_trace(self.total / self.rows, 1.0)

    @property
    def value(self) -> Table:
        """The matrix: positive semidefinite, of trace 1."""
        return _table(self.matrix)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in a diagonal entry of the mean."""
        return self._scale(0) * self._root / self.rows

    @property
    def error(self) -> float:
        """The expected Frobenius norm of the noise in the mean; the projection only lessens it."""
        d = len(self.names)
        whole = d * self._scale(0) ** 2 + d * (d - 1) * self._scale(1) ** 2
        return self._root * sqrt(whole) / self.rows

    @property
    def _laplace(self) -> bool:
        return isinstance(self.mechanism, DiscreteLaplace)

    @property
    def _root(self) -> float:
        return sqrt(2) if self._laplace else 1.0

    def _scale(self, above: int) -> float:
        return float(self.mechanism.scale) / self.weights[above] / self.fine**2

    def interval(self, confidence: float = 0.95) -> Brackets:
        """Bracket each entry of the exact mean about the same centre, each on its own.

        The noise of the sum and that of the trace get half of the tail each (union bound).
        """
        tail, d = (1 - checked(confidence)) / 2, len(self.names)
        spreads = [(self._scale(0), not self._laplace)] * d
        own, rest = (
            noise_half_width([(self._scale(above), not self._laplace)], tail) for above in (0, 1)
        )
        wide, rows = noise_half_width(spreads, tail), float(np.trace(self.total))
        fewest, most = rows - wide, rows + wide
        found = [
            [
                _quotient(self.total[i, j], own if i == j else rest, (fewest, most), i == j)
                for j in range(d)
            ]
            for i in range(d)
        ]
        return tuple(map(tuple, found))

    def cells(self, confidence: float = 0.95) -> list[tuple[str, float, float, float]]:
        """The entries on and above the diagonal, each with its name and interval."""
        return entries(self.names, self.value, self.interval(confidence))


def _quotient(
    top: float, half: float, bottom: tuple[float, float], diagonal: bool
) -> tuple[float, float]:
    """Bracket top/bottom; an entry of u u^T lies in [0, 1], or in [-1/2, 1/2] off the diagonal."""
    least, most = (0.0, 1.0) if diagonal else (-0.5, 0.5)
    if bottom[0] <= 0:
        return least, most
    ends = [(top + sign * half) / n for sign in (-1, 1) for n in bottom]
    return min(max(min(ends), least), most), max(min(max(ends), most), least)


def with_trace(matrix: Matrix, trace: float) -> Matrix:
    """Return the nearest positive semidefinite matrix of this trace, in squared differences.

    Its eigenvalues are projected to a simplex; its eigenvectors stay. [Boyd & Vandenberghe 2004,
    sec. 8.1.1; Held, Wolfe & Crowder 1974 for the simplex]

    >>> with_trace(np.diag([0.9, 0.6, -0.5]), 1.0).round(9).diagonal().tolist()
    [0.65, 0.35, 0.0]
    """
    values, vectors = np.linalg.eigh(matrix)
    falling = values[::-1]
    shifts = (np.cumsum(falling) - trace) / np.arange(1, len(values) + 1)
    shift = shifts[np.flatnonzero(falling > shifts)[-1]]
    found: Matrix = (vectors * np.maximum(values - shift, 0)) @ vectors.T
    return (found + found.T) / 2


def entries(
    names: tuple[str, ...], value: Table, interval: Brackets
) -> list[tuple[str, float, float, float]]:
    """Return the entries on and above the diagonal, each with its name and interval."""
    d = len(names)
    return [
        (f"{names[i]}, {names[j]}", value[i][j], *interval[i][j])
        for i in range(d)
        for j in range(i, d)
    ]


def _table(matrix: Matrix) -> Table:
    return tuple(map(tuple, matrix.tolist()))
