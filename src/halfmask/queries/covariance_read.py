"""Covariances and correlations, read off noisy sums of one body, with honest intervals."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive, DiscreteLaplace
from halfmask.queries.covariance_body import Body
from halfmask.queries.ratio import checked
from halfmask.queries.tails import noise_half_width

__all__ = ["Correlations", "Covariances", "Matrix", "projected"]

Matrix = NDArray[np.float64]
Table = tuple[tuple[float, ...], ...]
Brackets = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True)
class Covariances:
    """The covariance matrix (divisor n) of columns held inside their bounds.

    noisy: the weighted sums. scales: half of the width of each column's bounds.
    """

    noisy: tuple[int, ...]
    body: Body = field(repr=False)
    mechanism: Additive
    names: tuple[str, ...]
    scales: tuple[float, ...]

    post_processing: ClassVar[tuple[str, ...]] = (
        "read off noisy sums",
        "projected to the nearest positive semidefinite matrix (the raw one is kept)",
    )

    @cached_property
    def _parts(self) -> tuple[Matrix, Matrix]:
        """The parts of each column (d, 3) and the products of each pair (d, d), in rows."""
        d = len(self.names)
        own, pairs = self.body.wholes
        parts = [[n / own[i] for n in self.noisy[3 * i : 3 * i + 3]] for i in range(d)]
        products = np.zeros((d, d))
        for (i, j), whole, noisy in zip(self.body.places, pairs, self.noisy[3 * d :], strict=True):
            products[i, j] = products[j, i] = noisy / whole
        columns = np.array(parts)
        np.fill_diagonal(products, columns[:, 0] - columns[:, 1] + columns[:, 2])
        return columns, products

    @cached_property
    def rows(self) -> float:
        """The noisy number of rows; 1 at least."""
        return max(float(self._parts[0].sum(axis=1).mean()), 1.0)

    @cached_property
    def _means(self) -> Matrix:
        """The means in [-1, 1]."""
        parts = self._parts[0]
        numbers = np.maximum(parts.sum(axis=1), 1.0)
        found: Matrix = np.clip((parts[:, 2] - parts[:, 0]) / numbers, -1, 1)
        return found

    @cached_property
    def _unit(self) -> Matrix:
        """The raw matrix for columns in [-1, 1]: a column's own number of rows for its variance."""
        parts, products = self._parts
        m = self._means
        found = products / self.rows - np.outer(m, m)
        numbers = np.maximum(parts.sum(axis=1), 1.0)
        np.fill_diagonal(found, np.diagonal(products) / numbers - m * m)
        return found

    @property
    def raw(self) -> Table:
        """The matrix before its projection: symmetric, its noise unbiased but for the ratio."""
        return _table(self._unit * np.outer(self.scales, self.scales))

    @property
    def value(self) -> Table:
        """The nearest positive semidefinite matrix, in units of the columns.

        Nearest for columns scaled to their bounds, so that units do not matter.
        """
        return _table(projected(self._unit) * np.outer(self.scales, self.scales))

    def bracket(self, i: int, j: int, tail: float) -> tuple[float, float]:
        """Where the exact covariance of columns in [-1, 1] lies, but for a probability of `tail`.

        For any numbers m: cov = (C - m_j S_i - m_i S_j + m_i m_j n) / n - (mean_i - m_i)
        (mean_j - m_j). The noise of C gets half of the tail, that of n, S_i and S_j a sixth each
        (union bound); every term is taken at its worst.
        """
        parts, products = self._parts
        m = self._means
        h_c = self._half(i, j, tail / 2)
        h_n, h_i, h_j = (self._linear(k, kind, tail / 6) for k, kind in ((i, 3), (i, 2), (j, 2)))
        number = float(parts[i].sum())
        fewest, most = number - h_n, number + h_n
        if fewest <= 0:
            return (0.0 if i == j else -1.0), 1.0
        s = parts[:, 2] - parts[:, 0]
        linear = products[i, j] - m[j] * s[i] - m[i] * s[j] + m[i] * m[j] * number
        wide = h_c + abs(m[j]) * h_i + abs(m[i]) * h_j + abs(m[i] * m[j]) * h_n
        corners = [(linear + sign * wide) / n for sign in (-1, 1) for n in (fewest, most)]
        off = [
            (abs(s[k] - m[k] * number) + h + abs(m[k]) * h_n) / fewest
            for k, h in ((i, h_i), (j, h_j))
        ]
        shift = min(off[0], 2.0) * min(off[1], 2.0)
        low, high = min(corners) - shift, max(corners) + (0 if i == j else shift)
        return max(low, 0.0 if i == j else -1.0), min(high, 1.0)

    def _half(self, i: int, j: int, tail: float) -> float:
        if i == j:
            return self._linear(i, 3, tail)
        place = self.body.places[min(i, j), max(i, j)]
        return self._width(1, self.body.wholes[1][place], tail)

    def _linear(self, i: int, terms: int, tail: float) -> float:
        return self._width(terms, self.body.wholes[0][i], tail)

    def _width(self, terms: int, whole: int, tail: float) -> float:
        laplace = isinstance(self.mechanism, DiscreteLaplace)
        scale = float(self.mechanism.scale) / whole
        return noise_half_width([(scale, not laplace)] * terms, tail)

    def interval(self, confidence: float = 0.95) -> Brackets:
        """Bracket each exact entry with at least this confidence, each on its own."""
        tail, d, s = 1 - checked(confidence), len(self.names), self.scales
        upper = {
            (i, j): tuple(bound * s[i] * s[j] for bound in self.bracket(i, j, tail))
            for i in range(d)
            for j in range(i, d)
        }
        rows = (tuple(upper[min(i, j), max(i, j)] for j in range(d)) for i in range(d))
        return tuple(rows)  # type: ignore[arg-type]

    def cells(self, confidence: float = 0.95) -> list[tuple[str, float, float, float]]:
        """The entries on and above the diagonal, each with its name and interval."""
        value, interval, names = self.value, self.interval(confidence), self.names
        return [
            (f"{names[i]}, {names[j]}", value[i][j], *interval[i][j])
            for i in range(len(names))
            for j in range(i, len(names))
        ]


@dataclass(frozen=True)
class Correlations:
    """The correlation matrix, read off the covariances; 0 for a column that seems constant."""

    covariances: Covariances

    post_processing: ClassVar[tuple[str, ...]] = (
        *Covariances.post_processing,
        "divided by standard deviations",
    )

    @property
    def value(self) -> Table:
        """The correlations: 1 on the diagonal."""
        unit = projected(self.covariances._unit)
        deviations = np.sqrt(np.maximum(np.diagonal(unit), 0))
        known = deviations > 1e-9
        safe = np.where(known, deviations, 1)
        found = np.clip(unit / np.outer(safe, safe), -1, 1) * np.outer(known, known)
        np.fill_diagonal(found, 1)
        return _table(found)

    def interval(self, confidence: float = 0.95) -> Brackets:
        """Bracket each exact correlation: covariance and variances with a third of the tail."""
        tail, one = (1 - checked(confidence)) / 3, self.covariances
        d = len(one.names)
        spreads = [one.bracket(i, i, tail) for i in range(d)]
        found = [[(1.0, 1.0)] * d for _ in range(d)]
        for i in range(d):
            for j in range(i + 1, d):
                found[i][j] = found[j][i] = _quotient(
                    one.bracket(i, j, tail), spreads[i], spreads[j]
                )
        return tuple(map(tuple, found))

    def cells(self, confidence: float = 0.95) -> list[tuple[str, float, float, float]]:
        """The entries above the diagonal, each with its name and interval."""
        value, interval, names = self.value, self.interval(confidence), self.covariances.names
        return [
            (f"{names[i]}, {names[j]}", value[i][j], *interval[i][j])
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ]


def projected(matrix: Matrix) -> Matrix:
    """Return the nearest positive semidefinite matrix in squared differences.

    [Higham 1988, Thm 2.1]
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Matrix = (vectors * np.maximum(values, 0)) @ vectors.T
    return (found + found.T) / 2


def _quotient(
    top: tuple[float, float], one: tuple[float, float], other: tuple[float, float]
) -> tuple[float, float]:
    least, most = math.sqrt(one[0] * other[0]), math.sqrt(one[1] * other[1])

    def held(number: float, bottom: float) -> float:
        return max(-1.0, min(1.0, number / bottom)) if bottom > 0 else math.copysign(1.0, number)

    low = held(top[0], least if top[0] < 0 else most)
    return low, held(top[1], most if top[1] < 0 else least)


def _table(matrix: Matrix) -> Table:
    return tuple(map(tuple, matrix.tolist()))
