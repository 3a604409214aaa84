"""One point of the grid, chosen by a mechanism that meets all points at once."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from halfmask.mechanisms import BoxMedian, SpatialMedian
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.queries.distribution import Drawn
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.medians import Middle
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import range_epsilon

__all__ = ["BoxPoint", "GridPoint", "SpatialPoint"]

_FEW_POINTS, _LISTED = 512, 60_000
"""Points of a coarse grid, if it may have as few; and points whose probabilities are listed."""


@dataclass(frozen=True)
class GridPoint(OfPoints):
    """A cell of the grid, chosen over the whole grid between the bounds.

    Privacy: epsilon-DP in any dimension, by the exponential mechanism; epsilon^2/8-zCDP.
    [McSherry & Talwar 2007, Thm 6; Cesar & Rogers 2021, Lemma 3.4]
    """

    @property
    @abstractmethod
    def mechanism(self) -> BoxMedian | SpatialMedian:
        """The choice."""

    @property
    def _box(self) -> tuple[list[int], list[int]]:
        grids = self.points.values
        lower = [grid.lower - grid.origin for grid in grids]
        return lower, [grid.upper - grid.origin for grid in grids]

    def coarse(self) -> "GridPoint":
        """Return the same choice on a grid of few points; see `Coarse`."""
        return replace(self, points=self.points.coarser(int(_FEW_POINTS ** (1 / self.points.size))))

    def distribution(self, exact: Any) -> tuple[Drawn, ...] | None:
        """Return the law over all points of a coarse grid; see `Distributed`."""
        mechanism = self.mechanism
        if prod(b - a + 1 for a, b in zip(mechanism.lower, mechanism.upper, strict=True)) > _LISTED:
            return None
        return (Drawn(0, mechanism.log_masses(cloud_of(exact).array())),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a point."""
        return [self.mechanism.release(cloud_of(exact).array(), words)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read the cells."""
        return tuple(Middle(tuple(int(cell or 0) for cell in record)) for record in records)


@dataclass(frozen=True)
class BoxPoint(GridPoint):
    """A cell near the median of every coordinate.

    Privacy: that of `mechanisms.BoxMedian`: a row moves the least rank by at most 1.
    """

    @property
    def mechanism(self) -> BoxMedian:
        """The choice."""
        return BoxMedian(*self._box, self.moved, range_epsilon(self.price))


@dataclass(frozen=True)
class SpatialPoint(GridPoint):
    """A cell near the spatial median.

    lengths: how long a cell of each coordinate is, as integers in one unit.

    Privacy: that of `mechanisms.SpatialMedian`: a row moves the sum of directions by at most 1.
    """

    lengths: tuple[int, ...]

    @property
    def mechanism(self) -> SpatialMedian:
        """The choice."""
        return SpatialMedian(*self._box, self.moved, range_epsilon(self.price), self.lengths)
