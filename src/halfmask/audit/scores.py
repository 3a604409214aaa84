"""Learned statistics: how much more likely an output is from one neighbour than from the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.keys import atoms, is_atom
from halfmask.audit.samples import Matrix
from halfmask.audit.statistics import Statistic

__all__ = ["learned_statistics"]

Vector = NDArray[np.float64]

CELLS = 32  # equal cells of a column between its outer hundredths
WIDEST = 64  # columns, beyond which nothing is learned
RIDGES = {"linear score": 1e-4, "smooth linear score": 0.1}  # sharp with many rows; steady with few
BLOCK = 4096  # rows at a time: they stay in the processor's cache
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
    for name, line in _linear(first, second):
        yield Statistic(name, line.score)


@dataclass(frozen=True)
class _Additive:
    """A sum over columns: weights for atoms; for all else a slope, or a table of cells.

    atoms: shape (a,), with what stands for infinities at both ends; atom_weights: (a, k);
    columns: the span of those in which each atom was seen.
    """

    atoms: Vector
    atom_weights: Matrix
    columns: tuple[slice, ...]
    free: "_Slopes | _Tables"

    def score(self, outputs: Matrix) -> Vector:
        """Return shape (size,): equal rows score alike to the last bit."""
        y = _bounded(outputs)
        atoms = slice(1, -1) if y is outputs else slice(None)
        parts, taken = self.free(y), np.zeros(y.shape, np.bool_)
        total = np.zeros(len(y))
        for i in range(self.atoms.size)[atoms]:
            near = self.columns[i]
            here = y[:, near] == self.atoms[i]
            taken[:, near] |= here
            total += (here * self.atom_weights[i, near]).sum(axis=1)
        total += (parts * ~taken).sum(axis=1)
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
        cells = _cells(y, self.starts, self.widths)
        cells += np.arange(y.shape[1], dtype=np.int32) * (CELLS + 2)
        found: Matrix = self.tables.ravel()[cells]
        return found


def _cells(y: Matrix, starts: Vector, widths: Vector) -> NDArray[np.int32]:
    """Number the cells of values: 0 is below all, CELLS + 1 above."""
    place = (y - starts) * (1 / widths)
    np.minimum(np.maximum(place, -1, out=place), CELLS, out=place)
    place += 1
    return place.astype(np.int32)


def _bounded(outputs: Matrix) -> Matrix:
    """Return outputs with infinities and NaN as far values."""
    if np.isfinite(outputs).all():
        return outputs
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


def _spans(pooled: Matrix, recurring: Vector) -> tuple[slice, ...]:
    """Return from which to which column each atom occurs; infinities may come anywhere."""
    everywhere = slice(0, pooled.shape[1])
    spans = [everywhere]
    for atom in recurring[1:-1]:
        seen = np.flatnonzero((pooled == atom).any(axis=0))
        spans.append(slice(int(seen[0]), int(seen[-1]) + 1))
    return (*spans, everywhere)


def _independent(first: Matrix, second: Matrix) -> _Additive:
    """Return the log likelihood ratio of independent columns, by histograms (naive Bayes)."""
    recurring, pooled, free = _split(first, second)
    size, width = len(first), pooled.shape[1]
    flags = [pooled == atom for atom in recurring]
    counts = [[np.count_nonzero(half, axis=0) for half in (f[:size], f[size:])] for f in flags]
    weights = np.stack([_trusted(one, two) for one, two in counts])
    starts, widths = np.zeros(width), np.ones(width)
    tables = np.zeros((width, CELLS + 2))
    for j in range(width):
        values = pooled[free[:, j], j]
        if values.size >= CELLS:
            low, high = np.quantile(values[:: max(1, values.size // 4096)], [0.01, 0.99])
            starts[j], widths[j] = low, max((high - low) / CELLS, 1e-300)
            cells = _cells(values, starts[j], widths[j])
            end = np.count_nonzero(free[:size, j])
            one, two = (np.bincount(c, minlength=CELLS + 2) for c in (cells[:end], cells[end:]))
            tables[j] = _trusted(one, two)
    spans = _spans(pooled, recurring)
    return _Additive(recurring, weights, spans, _Tables(starts, widths, tables))


def _trusted(one: NDArray[np.int64], two: NDArray[np.int64]) -> Vector:
    """Return log ratios of counts; what may be chance counts as 0, lest chance add up."""
    ratios: Vector = np.log((one + 1.0) / (two + 1.0))
    ratios[np.abs(one - two) < np.sqrt(one + two + 1.0)] = 0.0
    return ratios


def _linear(first: Matrix, second: Matrix) -> Iterator[tuple[str, _Additive]]:
    """Discriminate linearly between values and flags of atoms, with each of the RIDGES.

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
    places = [(i, j) for i, part in enumerate(parts) for j in range(part.shape[1])]
    places = [(i, j) for i, j in places if (parts[i][:, j] != parts[i][0, j]).any()]
    if not places:
        return
    spans = _spans(pooled, recurring)
    found = _discriminate([parts[i][:, j] for i, j in places])
    for name, solution in zip(RIDGES, found, strict=True):
        weights = [np.zeros(part.shape[1]) for part in parts]
        for (i, j), weight in zip(places, solution, strict=True):
            weights[i][j] = weight
        slopes = _Slopes(np.broadcast_to(weights[0], width))
        yield name, _Additive(recurring, np.array(weights[1:]), spans, slopes)


def _discriminate(columns: Sequence[NDArray[Any]]) -> list[Vector]:
    """Return weights that tell the first half of rows from the second, for each of the RIDGES."""
    size, width = columns[0].size, len(columns)
    half, rows = size // 2, max(8, PRODUCT // width**2)
    centre, spread = (np.array([f(column) for column in columns]) for f in (np.mean, np.std))
    gram, means = np.zeros((width, width)), np.zeros(width)
    for sign, first in ((1, 0), (-1, half)):
        for start in range(first, first + half, BLOCK):
            block = slice(start, min(start + BLOCK, first + half))
            Z = np.empty((block.stop - start, width), np.float32)
            for j, column in enumerate(columns):
                Z[:, j] = (column[block] - centre[j]) / spread[j]
            means += sign * Z.sum(axis=0, dtype=np.float64)
            for part in np.split(Z, range(rows, len(Z), rows)):
                gram += part.T @ part
    gram, means = gram / size, means / half
    return [np.linalg.solve(gram + r * np.eye(width), means) / spread for r in RIDGES.values()]
