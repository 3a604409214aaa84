"""The stages of a private k-means: middle, axes, many cells, few, and one step in all columns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.noise import Words, rounded_gaussian, seeded_words
from halfmask.plan import Points
from halfmask.privacy import GDP, Cost
from halfmask.procedures.cluster.axes import Axes, Spread
from halfmask.procedures.cluster.cells import Cells, CellSums, Told, shrunk
from halfmask.procedures.cluster.rows import Vectors, vectors_of
from halfmask.procedures.cluster.shares import STEPS, Shares
from halfmask.queries import Noisy, Record
from halfmask.queries.cutting import FINE
from halfmask.queries.location import Frame

__all__ = ["Found", "Stages"]

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

PUBLIC_SEED = 2014
"""Of where cells start: whoever asks cannot have picked it by the rows, and a replay needs it."""

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


@dataclass(frozen=True, eq=False)
class OfVectors(ABC):
    """One Gaussian vector of sums over rows: a measurement of one stage.

    request: what is asked of a table, and frame: how its points become vectors; None where rows are
      vectors already.
    """

    request: Points | None
    frame: Frame | None
    part: Cells | Spread

    is_public: ClassVar[bool] = False
    landmarks: ClassVar[tuple[tuple[int, ...], ...]] = ()

    @abstractmethod
    def sums(self, vectors: Vectors) -> list[int]:
        """Return the exact integers."""

    @property
    def cost(self) -> GDP:
        """The price of the vector."""
        return self.part.price

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise, in words."""
        return (self.part.mechanism.law,)

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the sums with their noise; see `Distributed`."""
        exact_sums = tuple(self.sums(vectors_of(exact, self.frame)))
        return (Noisy(self.part.mechanism, exact_sums, Fraction(1, FINE)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.part.mechanism.release(self.sums(vectors_of(exact, self.frame)), words)]

    def read(self, records: Sequence[Record]) -> tuple[Any, ...]:
        """Read noisy integers."""
        return tuple(self.told(tuple(int(n or 0) for n in record)) for record in records)

    @abstractmethod
    def told(self, noisy: tuple[int, ...]) -> Any:
        """Read one vector."""


@dataclass(frozen=True, eq=False)
class Matrices(OfVectors):
    """The matrix in which axes are looked for; read as plain integers."""

    part: Spread
    middle: Vector
    radius: float

    def sums(self, vectors: Vectors) -> list[int]:
        """Return the exact weighted entries."""
        return self.part.sums(vectors, self.middle, self.radius)

    def told(self, noisy: tuple[int, ...]) -> tuple[int, ...]:
        """Return them."""
        return noisy


@dataclass(frozen=True, eq=False)
class Pulls(OfVectors):
    """The sums of all cells; turned: axes along which vectors are turned before they are added."""

    part: Cells
    asked: CellSums
    turned: Matrix | None = None

    def sums(self, vectors: Vectors) -> list[int]:
        """Return pulls cell by cell, weights, and the sum of squares."""
        seen = vectors if self.turned is None else vectors.turned(self.turned)
        found: list[int] = seen.total(self.asked).tolist()
        return found

    def told(self, noisy: tuple[int, ...]) -> Told:
        """Read them."""
        return self.part.read(noisy)


@dataclass(frozen=True)
class Stages:
    """A clustering of rows, all of whose sight of them is by what `shares` pays for.

    group: finds clusters (k, p) of public weighted points: free, since they are noisy already.
    request, frame: as in `OfVectors`.
    """

    clusters: int
    median: bool
    shares: Shares
    group: Callable[[Matrix, Vector, int], Matrix]
    request: Points | None = None
    frame: Frame | None = None

    def run(self, price: Cost, measure: Any) -> Found:
        """Find the centres, by the `measure` of a procedure; it takes each price before rows."""
        return _Run(self, measure, seeded_words(PUBLIC_SEED)).found()


@dataclass(frozen=True, eq=False)
class _Run:
    """One run; words: those of starts, which everyone knows."""

    of: Stages
    measure: Any
    words: Words

    def found(self) -> Found:
        count, middle, wide = self._middle()
        axes = self._axes(middle, wide, count)
        centres, weights, radius = self._many(axes, middle, wide, count)
        kept = weights > 0
        points, weights = centres[kept], weights[kept]
        few = self.of.group(points, weights, self.of.clusters) if len(points) else centres[:1]
        few = self._filled(few, radius)
        cells = self.of.shares.few(len(axes.directions))
        few, told, within = self._step(cells, axes, few, radius)
        beyond = max((wide / _REACH / FINE) ** 2 - float(axes.spread.sum()), 0.0)
        reach = _MEDIAN if self.of.median else _REACH
        radius = _radius((within / _REACH / FINE) ** 2 + beyond, reach)
        centres = self._last(axes, middle, few, radius)
        return Found(centres / FINE, told.weights, len(axes.directions))

    def _told(self, cells: Cells, asked: CellSums, axes: Axes | None = None) -> Told:
        along = None if axes is None else axes.directions
        found: Told
        (found,) = self.measure(Pulls(self.of.request, self.of.frame, cells, asked, along))
        return found

    def _middle(self) -> tuple[float, Vector, float]:
        """Return the number of rows, their mean, and the radius of what is left of it."""
        cells = self.of.shares.middle
        told = self._told(cells, CellSums(cells, np.zeros((1, cells.dimensions)), FINE))
        count = max(float(told.weights[0]), 1.0)
        mean = shrunk(told.pulls, told.pull_deviation)[0] / count
        mean = _inside(mean[None] * FINE)[0]
        left = told.square / count - float(mean @ mean) / FINE**2
        return count, np.rint(mean), _radius(left + 2 * told.square_deviation / count)

    def _axes(self, middle: Vector, radius: float, count: float) -> Axes:
        """Return the axes of the rows; all columns where there are few."""
        spread = self.of.shares.spread
        if spread is None:
            d = self.of.shares.columns
            return Axes(np.eye(d), np.full(d, (radius / _REACH / FINE) ** 2 / d))
        radius *= _SHORT / _REACH  # directions are what counts: so shorter pulls, and less noise
        (noisy,) = self.measure(Matrices(self.of.request, self.of.frame, spread, middle, radius))
        axes = spread.axes(noisy, count)
        return Axes(axes.directions, axes.spread * (radius / FINE) ** 2)

    def _many(
        self, axes: Axes, middle: Vector, radius: float, count: float
    ) -> tuple[Matrix, Vector, float]:
        """Return more cells than clusters, and their noisy numbers of rows: a core-set."""
        cells, clusters = self.of.shares.many(len(axes.directions)), self.of.clusters
        noise = cells.deviation * sqrt(cells.dimensions)
        affordable = int(_CLEAR * count / noise)
        seeds = min(max(affordable, clusters), _SEEDS * clusters)
        centres = _inside(axes.directions @ middle + self._cloud(seeds, axes.spread))
        weights = np.ones(seeds)
        for step in range(STEPS):
            if step:
                centres = self._split(centres, weights, radius, 2 * cells.deviation)
            centres, told, radius = self._step(cells, axes, centres, radius)
            weights = told.weights
        return centres, weights, radius

    def _step(
        self, cells: Cells, axes: Axes, centres: Matrix, radius: float
    ) -> tuple[Matrix, Told, float]:
        """Move centres to the means of their cells, as far as noise tells; the next radius."""
        told = self._told(cells, CellSums(cells, _whole(centres), radius), axes)
        pulls = shrunk(told.pulls, told.pull_deviation)
        floor = max(2 * told.weight_deviation, 1.0)
        moved = centres + radius * pulls / np.maximum(told.weights, floor)[:, None]
        total = max(float(told.weights.sum()), 1.0)
        length = radius / FINE
        wider = (told.square + 2 * told.square_deviation) / total * length**2
        return _inside(moved), told, min(_radius(wider), 1.5 * radius)

    def _last(self, axes: Axes, middle: Vector, few: Matrix, radius: float) -> Matrix:
        """Move centres once more, in all columns."""
        cells, inward = self.of.shares.last, axes.directions
        outside = middle - (inward @ middle) @ inward
        centres = _whole(_inside(few @ inward + outside))
        told = self._told(
            cells, CellSums(cells, centres, radius, self.of.median, _whole(few), inward)
        )
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
        more = self.of.clusters - len(few)
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
