"""Learned statistics: how much more likely an output is from one neighbour than from the other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.keys import atoms, is_atom
from halfmask.audit.samples import Matrix
from halfmask.audit.statistics import Statistic

__all__ = ["learned_statistics"]

Vector = NDArray[np.float64]

BINS = 16
WIDEST = 64  # columns, beyond which nothing is learned
ROWS = 16_384  # a logistic score needs no more
NEWTON = 5
RIDGE = 1e-4


def learned_statistics(first: Matrix, second: Matrix) -> Iterator[Statistic]:
    """Yield scores fitted to outputs of both neighbours: large where the first is likelier."""
    width = first.shape[1]
    if not 1 < width <= WIDEST:
        return
    yield _independent("sum of log ratios of columns", first, second)
    steps = _independent("", _differences(first), _differences(second))
    yield Statistic("sum of log ratios of differences", lambda y: steps(_differences(y)))
    yield _logistic(first[:ROWS], second[:ROWS])


def _differences(outputs: Matrix) -> Matrix:
    """The first column, and each column less the one before it."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.diff(outputs, axis=1, prepend=0.0)


def _independent(name: str, first: Matrix, second: Matrix) -> Statistic:
    """Log likelihood ratio of independent columns, each by a histogram (naive Bayes)."""
    tables = [_table(first[:, j], second[:, j]) for j in range(first.shape[1])]

    def of(outputs: Matrix) -> Vector:
        total = np.zeros(outputs.shape[0])
        for j, (edges, ratios) in enumerate(tables):
            if ratios.any():
                total += ratios[np.searchsorted(edges, _total_order(outputs[:, j]), "right")]
        return total

    return Statistic(name, of)


def _total_order(values: Vector) -> Vector:
    return np.where(np.isnan(values), np.inf, values)


def _table(first: Vector, second: Vector) -> tuple[Vector, Vector]:
    first, second = _total_order(first), _total_order(second)
    pooled = np.sort(np.concatenate([first, second]))
    edges = np.unique(pooled[(np.arange(1, BINS) * pooled.size) // BINS])
    edges = np.unique(np.concatenate([edges, np.nextafter(edges, np.inf)]))
    one, two = (
        np.bincount(np.searchsorted(edges, values, "right"), minlength=edges.size + 1)
        for values in (first, second)
    )
    ratios = np.log((one + 1.0) / (two + 1.0))
    unsure = np.abs(one - two) < np.sqrt(one + two + 1.0)  # nothing but noise adds up, too
    return edges, np.where(unsure, 0.0, ratios)


def _logistic(first: Matrix, second: Matrix) -> Statistic:
    """Logistic regression on values and on flags of atoms and of what is not finite."""
    recurring = atoms(np.concatenate([first, second]))
    X = np.concatenate([_flags_and_values(first, recurring), _flags_and_values(second, recurring)])
    centre, spread = X.mean(axis=0), X.std(axis=0)
    useful = spread > 1e-12 * (1 + np.abs(centre))
    weights = np.zeros(X.shape[1])
    if useful.any():
        Z = (X[:, useful] - centre[useful]) / spread[useful]
        target = np.arange(len(X)) < len(first)
        weights[useful] = _fit(Z, target.astype(np.float64)) / spread[useful]

    def of(outputs: Matrix) -> Vector:
        return _flags_and_values(outputs, recurring) @ weights

    return Statistic("logistic score", of)


def _fit(Z: Matrix, target: Vector) -> Vector:
    """Return the weights, by Newton's method with a ridge; the constant is dropped."""
    Z = np.concatenate([np.ones((len(Z), 1)), Z], axis=1)
    weights = np.zeros(Z.shape[1])
    ridge = RIDGE * len(Z) * np.eye(Z.shape[1])
    for _ in range(NEWTON):
        p = 1 / (1 + np.exp(-np.clip(Z @ weights, -30, 30)))
        slope = Z.T @ (target - p) - ridge @ weights
        weights = weights + np.linalg.solve((Z.T * (p * (1 - p) + 1e-6)) @ Z + ridge, slope)
    return weights[1:]


def _flags_and_values(outputs: Matrix, recurring: Vector) -> Matrix:
    finite = np.isfinite(outputs)
    free = finite & ~is_atom(outputs, recurring)
    parts = [np.clip(np.where(free, outputs, 0.0), -1e100, 1e100)]
    parts += [(outputs == value).astype(np.float64) for value in recurring]
    if not finite.all():
        parts.append((~finite).astype(np.float64))
    else:
        parts.append(np.zeros((len(outputs), outputs.shape[1])))
    return np.concatenate(parts, axis=1)
