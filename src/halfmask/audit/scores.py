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
SLICE = 256  # rows multiplied at a time: too few for the matrix library to start threads
FAR = 1e100


def learned_statistics(first: Matrix, second: Matrix) -> Iterator[Statistic]:
    """Yield scores fitted to outputs of both neighbours: large where the first is likelier."""
    if not 1 < first.shape[1] <= WIDEST:
        return
    columns = _independent(first, second)
    yield Statistic("sum of log ratios of columns", columns.score)
    steps = _independent(_differences(first), _differences(second))
    yield Statistic("sum of log ratios of differences", lambda y: steps.score(_differences(y)))
    yield Statistic("linear score", _linear(first, second).score)


@dataclass(frozen=True)
class _Additive:
    """A sum over columns: a weight for each atom, `slopes` or a table of cells for the rest.

    atoms: shape (a,); atom_weights: (a, k); slopes: (k,);
    tables: (k, CELLS + 2), of cells of width `widths` from `starts` on, or None.
    """

    atoms: Vector
    atom_weights: Matrix
    slopes: Vector
    starts: Vector | None = None
    widths: Vector | None = None
    tables: Matrix | None = None

    def score(self, outputs: Matrix) -> Vector:
        """Return shape (size,)."""
        y = np.clip(np.where(np.isnan(outputs), FAR, outputs), -FAR, FAR)
        parts = self._looked_up(y) if self.tables is not None else y * self.slopes
        for atom, weights in zip(self.atoms, self.atom_weights, strict=True):
            np.copyto(parts, weights, where=y == atom)
        total: Vector = parts.sum(axis=1)
        return total

    def _looked_up(self, y: Matrix) -> Matrix:
        assert self.tables is not None  # noqa: S101
        cells = np.clip((y - self.starts) / self.widths, -1, CELLS).astype(np.int32) + 1
        cells += np.arange(y.shape[1], dtype=np.int32) * (CELLS + 2)
        found: Matrix = self.tables.ravel()[cells]
        return found


def _differences(outputs: Matrix) -> Matrix:
    """The first column, and each column less the one before it."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.diff(outputs, axis=1, prepend=0.0)


def _split(first: Matrix, second: Matrix) -> tuple[Vector, Matrix, NDArray[np.bool_]]:
    """Return the atoms, infinity being one, the outputs of both, and where they are free."""
    pooled = np.concatenate([first, second])
    pooled = np.clip(np.where(np.isnan(pooled), FAR, pooled), -FAR, FAR)
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
    return _Additive(recurring, weights, np.zeros(width), starts, widths, tables)


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
    flags = [pooled == atom for atom in recurring]
    values = np.where(free, pooled, 0.0)
    if recurring.size > 2:  # answers among markers: where they stand, the flags say
        values = values.sum(axis=1, keepdims=True)
    X = np.concatenate([values, *flags], axis=1).astype(np.float32)
    centre, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    useful = spread > 1e-6 * (1 + np.abs(centre))
    weights = np.zeros(X.shape[1])
    if useful.any():
        Z = (X[:, useful] - centre[useful].astype(np.float32)) / spread[useful].astype(np.float32)
        parts = (Z[: len(first)], Z[len(first) :])
        means = np.subtract(*(part.mean(axis=0, dtype=np.float64) for part in parts))
        gram = RIDGE * len(Z) * np.eye(Z.shape[1])
        for start in range(0, len(Z), SLICE):
            rows = Z[start : start + SLICE]
            gram += rows.T @ rows
        gram /= len(Z)
        weights[useful] = np.linalg.solve(gram, means) / spread[useful]
    width, slopes = pooled.shape[1], weights[: values.shape[1]]
    atom_weights = weights[values.shape[1] :].reshape(recurring.size, width)
    return _Additive(recurring, atom_weights, np.broadcast_to(slopes, width))
