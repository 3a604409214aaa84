"""Learned statistics: how much more likely an output is from one neighbour than from the other."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.keys import atoms, is_atom
from halfmask.audit.samples import Matrix
from halfmask.audit.statistics import Statistic

__all__ = ["learned_statistics"]

Vector = NDArray[np.float64]

CELLS = 32  # equal cells of a column between its outer hundredths
WIDEST = 64  # columns, beyond which nothing is learned
RIDGE = 1e-4
PRODUCT = 200_000  # multiplications at a time: too few for the matrix library to start threads
FAR = 1e100


def learned_statistics(first: Matrix, second: Matrix) -> Iterator[Statistic]:
    """Yield scores fitted to outputs of both neighbours: large where the first is likelier."""
    if not 1 < first.shape[1] <= WIDEST:
        return
    if not _two_valued(first, second):  # where a linear score says it all
        columns = _independent(first, second)
        yield Statistic("sum of log ratios of columns", columns.score)
        steps = _independent(_differences(first), _differences(second))
        yield Statistic("sum of log ratios of differences", lambda y: steps.score(_differences(y)))
    yield Statistic("linear score", _linear(first, second).score)


@dataclass(frozen=True)
class _Additive:
    """A sum over columns: weights for atoms; for all else a slope, or a table of cells.

    atoms: shape (a,), with what stands for infinities at both ends; atom_weights: (a, k).
    """

    atoms: Vector
    atom_weights: Matrix
    free: "_Slopes | _Tables"

    def score(self, outputs: Matrix) -> Vector:
        """Return shape (size,)."""
        y, atoms = outputs, slice(1, -1)
        if not np.isfinite(outputs).all():
            y, atoms = _bounded(outputs), slice(None)
        parts = self.free(y)
        for atom, weights in zip(self.atoms[atoms], self.atom_weights[atoms], strict=True):
            np.copyto(parts, weights, where=y == atom)
        total: Vector = parts.sum(axis=1)
        return total


@dataclass(frozen=True)
class _Slopes:
    """Values times slopes."""

    slopes: Vector

    def __call__(self, y: Matrix) -> Matrix:
        found: Matrix = y * self.slopes
        return found


@dataclass(frozen=True)
class _Tables:
    """The weight of a cell for each column: `tables`, shape (k, CELLS + 2)."""

    starts: Vector
    widths: Vector
    tables: Matrix

    def __call__(self, y: Matrix) -> Matrix:
        cells = np.clip((y - self.starts) / self.widths, -1, CELLS).astype(np.int32) + 1
        cells += np.arange(y.shape[1], dtype=np.int32) * (CELLS + 2)
        found: Matrix = self.tables.ravel()[cells]
        return found


def _bounded(outputs: Matrix) -> Matrix:
    """Return outputs with infinities and NaN as far values."""
    return np.clip(np.where(np.isnan(outputs), FAR, outputs), -FAR, FAR)


def _two_valued(first: Matrix, second: Matrix) -> bool:
    values = first[0, 0], first[:, 0].max(), first[:, 0].min()
    low, high = min(values), max(values)
    return all(bool(((part == low) | (part == high)).all()) for part in (first, second))


def _differences(outputs: Matrix) -> Matrix:
    """The first column, and each column less the one before it."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.diff(outputs, axis=1, prepend=0.0)


def _split(first: Matrix, second: Matrix) -> tuple[Vector, Matrix, NDArray[np.bool_]]:
    """Return the atoms, infinity being one, the outputs of both, and where they are free."""
    pooled = _bounded(np.concatenate([first, second]))
    recurring = np.union1d(atoms(pooled), [FAR, -FAR])
    return recurring, pooled, ~is_atom(pooled, recurring)


def _independent(first: Matrix, second: Matrix) -> _Additive:
    """Return the log likelihood ratio of independent columns, by histograms (naive Bayes)."""
    recurring, pooled, free = _split(first, second)
    width = pooled.shape[1]
    starts, widths = np.zeros(width), np.ones(width)
    tables, weights = np.zeros((width, CELLS + 2)), np.zeros((recurring.size, width))
    is_first = np.arange(len(pooled)) < len(first)
    for j in range(width):
        weights[:, j] = [_log_ratio(pooled[:, j] == atom, is_first) for atom in recurring]
        kept = free[:, j]
        if kept.sum() >= CELLS:
            values = pooled[kept, j]
            low, high = np.quantile(values[:: max(1, values.size // 4096)], [0.01, 0.99])
            starts[j], widths[j] = low, max((high - low) / CELLS, 1e-300)
            cells = np.clip((values - starts[j]) / widths[j], -1, CELLS).astype(np.int64) + 1
            tables[j] = _log_ratios(cells, is_first[kept])
    return _Additive(recurring, weights, _Tables(starts, widths, tables))


def _log_ratio(where: NDArray[np.bool_], is_first: NDArray[np.bool_]) -> float:
    one = np.count_nonzero(where & is_first)
    two = np.count_nonzero(where) - one
    return float(_trusted(np.array([one]), np.array([two]))[0])


def _log_ratios(cells: NDArray[np.int64], is_first: NDArray[np.bool_]) -> Vector:
    return _trusted(
        np.bincount(cells[is_first], minlength=CELLS + 2),
        np.bincount(cells[~is_first], minlength=CELLS + 2),
    )


def _trusted(one: NDArray[np.int64], two: NDArray[np.int64]) -> Vector:
    """Return log ratios of counts; what may be chance counts as 0, lest chance add up."""
    ratios: Vector = np.log((one + 1.0) / (two + 1.0))
    ratios[np.abs(one - two) < np.sqrt(one + two + 1.0)] = 0.0
    return ratios


def _linear(first: Matrix, second: Matrix) -> _Additive:
    """Discriminate linearly between values and flags of atoms.

    One step of Newton's method for logistic regression: for small differences all that is needed.
    """
    recurring, pooled, free = _split(first, second)
    width = pooled.shape[1]
    if _two_valued(first, second):
        recurring, free = recurring[[0, -1]], np.ones(pooled.shape, np.bool_)
    values = np.where(free, pooled, 0.0)
    if recurring.size > 2:  # answers among markers: where they stand, the flags say
        values = values.sum(axis=1, keepdims=True)
    parts = [values, *(pooled == atom for atom in recurring)]
    weights = [np.zeros(part.shape[1]) for part in parts]
    places = [(i, j) for i, part in enumerate(parts) for j in range(part.shape[1])]
    places = [(i, j) for i, j in places if (parts[i][:, j] != parts[i][0, j]).any()]
    if places:
        found = _discriminate(np.stack([parts[i][:, j] for i, j in places], axis=1))
        for (i, j), weight in zip(places, found, strict=True):
            weights[i][j] = weight
    slopes = _Slopes(np.broadcast_to(weights[0], width))
    return _Additive(recurring, np.array(weights[1:]), slopes)


def _discriminate(X: Matrix) -> Vector:
    """Return weights that tell the first half of rows from the second."""
    centre, spread = X.mean(axis=0), X.std(axis=0)
    Z = ((X - centre) / spread).astype(np.float32)
    half = len(Z) // 2
    means = Z[:half].mean(axis=0, dtype=np.float64) - Z[half:].mean(axis=0, dtype=np.float64)
    gram = RIDGE * len(Z) * np.eye(Z.shape[1])
    rows = max(8, PRODUCT // Z.shape[1] ** 2)
    for start in range(0, len(Z), rows):
        part = Z[start : start + rows]
        gram += part.T @ part
    weights: Vector = np.linalg.solve(gram / len(Z), means) / spread
    return weights
