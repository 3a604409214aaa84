"""The stages of a private k-means: middle, axes, many cells, few, and one step in all columns."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.cluster.axes import Axes
from halfmask.cluster.cells import Cells, Told, shrunk
from halfmask.cluster.rows import Rows
from halfmask.cluster.shares import STEPS, Shares
from halfmask.noise import Words, rounded_gaussian
from halfmask.privacy import Cost
from halfmask.queries.cutting import FINE

__all__ = ["Found", "Stages"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_SEEDS = 4
"""Cells for each cluster, at most, while the core-set is made."""
_REACH = 1.75
"""The radius of pulls, in root mean squares of their lengths: few are cut."""
_SHORT = 1.0
"""The same where axes are looked for."""
_MEDIAN = 0.5
"""The same, below which a row pulls less, in steps towards spatial medians."""
_LEAST = 2.0**-9
"""The least radius, of the bound of rows."""
_CLEAR = 2.0
"""Of the radius, how large the noise of a centre may be, for one more cell."""


@dataclass(frozen=True, eq=False)
class Found:
    """Centres (k, d) as parts of the bound of rows, their noisy numbers of rows, and axes used."""

    centres: Matrix
    counts: Vector
    axes: int


@dataclass(frozen=True)
class Stages:
    """A clustering of rows, all of whose sight of them is by what `shares` pays for.

    group: finds clusters (k, p) of public weighted points: free, since they are noisy already.
    spend: takes the price of each stage out of a purse before that stage looks at rows.
    """

    clusters: int
    median: bool
    shares: Shares
    group: Callable[[Matrix, Vector, int], Matrix]
    spend: Callable[[Cost], Any]
    words: Words | None

    def run(self, rows: Rows) -> Found:
        """Find the centres."""
        count, middle, wide = self._middle(rows)
        axes = self._axes(rows, middle, wide, count)
        low = rows.turned(axes.directions)
        centres, weights, radius = self._many(low, axes, middle, wide, count)
        kept = weights > 0
        points, weights = centres[kept], weights[kept]
        few = self.group(points, weights, self.clusters) if len(points) else centres[:1]
        few = self._filled(few, radius)
        cells = self.shares.few(low.vectors.shape[1])
        few, told, within = self._step(cells, low, low.nearest(_whole(few)), few, radius)
        beyond = max((wide / _REACH / FINE) ** 2 - float(axes.spread.sum()), 0.0)
        radius = _radius((within / _REACH / FINE) ** 2 + beyond, _MEDIAN if self.median else _REACH)
        centres = self._last(rows, low, axes, middle, few, radius)
        return Found(centres / FINE, told.weights, len(axes.directions))

    def _middle(self, rows: Rows) -> tuple[float, Vector, float]:
        """Return the number of rows, their mean, and the radius of what is left of it."""
        cells = self.shares.middle
        self.spend(cells.price)
        origin = np.zeros((1, cells.dimensions))
        told = cells.tell(rows, np.zeros(len(rows.vectors), np.int64), origin, FINE, self.words)
        count = max(float(told.weights[0]), 1.0)
        mean = shrunk(told.pulls, told.pull_deviation)[0] / count
        mean = _inside(mean[None] * FINE)[0]
        left = told.square / count - float(mean @ mean) / FINE**2
        return count, np.rint(mean), _radius(left + 2 * told.square_deviation / count)

    def _axes(self, rows: Rows, middle: Vector, radius: float, count: float) -> Axes:
        """Return the axes of the rows; all columns where there are few."""
        spread = self.shares.spread
        if spread is None:
            d = self.shares.columns
            return Axes(np.eye(d), np.full(d, (radius / _REACH / FINE) ** 2 / d))
        self.spend(spread.price)
        radius *= _SHORT / _REACH  # directions are what counts: so shorter pulls, and less noise
        axes = spread.axes(rows, middle, radius, count, self.words)
        return Axes(axes.directions, axes.spread * (radius / FINE) ** 2)

    def _many(
        self, low: Rows, axes: Axes, middle: Vector, radius: float, count: float
    ) -> tuple[Matrix, Vector, float]:
        """Return more cells than clusters, and their noisy numbers of rows: a core-set."""
        cells = self.shares.many(len(axes.directions))
        noise = cells.deviation * sqrt(cells.dimensions)
        affordable = int(_CLEAR * count / noise)
        seeds = min(max(affordable, self.clusters), _SEEDS * self.clusters)
        centres = _inside(axes.directions @ middle + self._cloud(seeds, axes.spread))
        weights = np.ones(seeds)
        for step in range(STEPS):
            if step:
                centres = self._split(centres, weights, radius, 2 * cells.deviation)
            centres, told, radius = self._step(
                cells, low, low.nearest(_whole(centres)), centres, radius
            )
            weights = told.weights
        return centres, weights, radius

    def _step(
        self, cells: Cells, rows: Rows, nearest: NDArray[np.int64], centres: Matrix, radius: float
    ) -> tuple[Matrix, Told, float]:
        """Move centres to the means of their cells, as far as noise tells; the next radius."""
        self.spend(cells.price)
        told = cells.tell(rows, nearest, _whole(centres), radius, self.words)
        pulls = shrunk(told.pulls, told.pull_deviation)
        floor = max(2 * told.weight_deviation, 1.0)
        moved = centres + radius * pulls / np.maximum(told.weights, floor)[:, None]
        total = max(float(told.weights.sum()), 1.0)
        length = radius / FINE
        wider = (told.square + 2 * told.square_deviation) / total * length**2
        return _inside(moved), told, min(_radius(wider), 1.5 * radius)

    def _last(
        self, rows: Rows, low: Rows, axes: Axes, middle: Vector, few: Matrix, radius: float
    ) -> Matrix:
        """Move centres once more, in all columns."""
        cells, inward = self.shares.last, axes.directions
        outside = middle - (inward @ middle) @ inward
        centres = _whole(_inside(few @ inward + outside))
        self.spend(cells.price)
        nearest = low.nearest(_whole(few))
        told = cells.tell(rows, nearest, centres, radius, self.words, weighed=self.median)
        within = told.pulls @ inward.T
        beyond = told.pulls - within @ inward
        beyond_size = cells.dimensions - len(inward)
        pulls = shrunk(within, told.pull_deviation) @ inward
        pulls += shrunk(beyond, told.pull_deviation, beyond_size)
        floor = max(2 * told.weight_deviation, 1.0)
        moved = centres + radius * pulls / np.maximum(told.weights, floor)[:, None]
        return _inside(moved)

    def _cloud(self, points: int, spread: Vector) -> Matrix:
        """Draw points from a normal law of so much spread along each axis: nothing private."""
        whole = rounded_gaussian(2**20, (points, len(spread)), self.words)
        drawn: Matrix = whole.astype(np.float64) * (2.0**-20 * FINE * np.sqrt(spread))
        return drawn

    def _split(self, centres: Matrix, weights: Vector, radius: float, least: float) -> Matrix:
        """Put centres of nearly no rows beside those of most."""
        empty = np.flatnonzero(weights < max(least, weights.mean() / 10))
        largest = np.argsort(-weights, kind="stable")[: len(empty)]
        near = self._cloud(len(empty), np.full(centres.shape[1], (radius / FINE) ** 2 / 16))
        centres = centres.copy()
        centres[empty[: len(largest)]] = centres[largest] + near[: len(largest)]
        return _inside(centres)

    def _filled(self, few: Matrix, radius: float) -> Matrix:
        """Add centres beside the first, where the core-set had fewer points than clusters."""
        more = self.clusters - len(few)
        near = self._cloud(more, np.full(few.shape[1], (radius / FINE) ** 2 / 16))
        return _inside(np.vstack([few, few[:1] + near]))


def _radius(square: float, reach: float = _REACH) -> float:
    """Return the radius of pulls whose mean squared length, in bounds of rows, is about this."""
    return FINE * min(max(reach * sqrt(max(square, 0.0)), _LEAST), 2.0)


def _inside(centres: Matrix) -> Matrix:
    """Hold centres to where rows are."""
    length = np.linalg.norm(centres, axis=1, keepdims=True)
    most = FINE - centres.shape[1]  # so that they are, once rounded
    inside: Matrix = centres * np.minimum(1, most / np.maximum(length, 1))
    return inside


def _whole(centres: Matrix) -> Matrix:
    return np.rint(centres)
