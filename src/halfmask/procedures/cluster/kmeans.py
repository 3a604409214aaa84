"""Centres of clusters of a table's rows, for means or medians."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy import GDP, Approximate, Cost, Relation
from halfmask.procedures.cluster.grouping import grouped, need_grouping
from halfmask.procedures.cluster.shares import Shares
from halfmask.procedures.cluster.stages import Stages
from halfmask.procedures.location import Composite
from halfmask.queries import Expected, Setting
from halfmask.queries.location import Box, Frame, Region

__all__ = ["Clusters", "KMeans"]

MOST = 1000
MOST_COLUMNS = 2048

NEAR = 0.25
"""Of the radius, how far rows are supposed to lie from the centre of their cluster."""


@dataclass(frozen=True)
class Clusters:
    """Centres, and noisy numbers of rows, which may be negative."""

    labels: tuple[str, ...]
    centres: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    axes: int

    post_processing: ClassVar[tuple[str, ...]] = (
        "core-set of noisy cells clustered",
        "noisy pulls shortened by what noise alone would give them",
        "held inside the radius",
    )

    @property
    def value(self) -> tuple[tuple[float, ...], ...]:
        """The centres, coordinates in the order of the columns."""
        return self.centres

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: where a centre without noise would lie depends on which rows are its own."""

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, float, None, None], ...]:
        """Return each coordinate under the number of its cluster and the name of its column."""
        return tuple(
            (f"{i}, {label}", x, None, None)
            for i, centre in enumerate(self.centres, 1)
            for label, x in zip(self.labels, centre, strict=True)
        )


@dataclass(frozen=True)
class KMeans:
    """Centres of clusters, for k-means or, with loss "median", k-medians.

    Rows are held to a public ball; their mean and axes are found first, then many noisy cells along
    the axes, which are a private core-set: it is clustered for free, and the clusters take one more
    noisy step in all columns. As `halfmask.cluster.PrivateKMeans` does for an array; this one is
    asked of any table, in rows, units and filters as any query.

    clusters: how many, from 1 to 1000.
    center, radius: rows further than radius from center are moved towards it, to that distance:
      public numbers, or one for each column; distances are in radii. They say what is known of such
      rows without these ones.
    columns: names; None takes every numeric column.
    loss: "mean", or "median" for a last step towards the spatial median of each cluster, which far
      rows pull less.

    No row's label is told, nor a sum of distances: they would be facts about rows. Noisy numbers of
    rows are in `.estimate.sizes`.

    Privacy: mu-GDP, and of an (epsilon, delta) the largest mu within it: every stage is a Gaussian
      mechanism (`Cells`, `Spread`), and a purse holds them to that.
      [Dong, Roth & Su 2019, Thm 2.7 and Cor. 3.3; Balle & Wang 2018, Thm 8]

    >>> KMeans(3, center=0, radius=10).title
    '3 clusters of all numeric columns'
    """

    clusters: int
    center: float | tuple[float, ...] = 0.0
    radius: float | tuple[float, ...] = 0.0
    columns: tuple[str, ...] | None = None
    loss: str = "mean"

    def __post_init__(self) -> None:
        for name in ("center", "radius", "columns"):
            given = getattr(self, name)
            if hasattr(given, "__iter__") and not isinstance(given, str):
                object.__setattr__(self, name, tuple(given))
        k = self.clusters
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST:
            raise InvalidQuery(
                f"clusters: {shown(k)} given; give a whole number from 1 to {MOST} of centres"
            )
        if self.loss not in ("mean", "median"):
            raise InvalidQuery(f"loss: unknown value {shown(self.loss)}; choose 'mean' or 'median'")
        assert self.box is not None  # noqa: S101

    @property
    def box(self) -> Box:
        """Bounds about the ball."""
        return Box.about(self.center, self.radius, self.columns)

    @property
    def weight(self) -> float:
        """More centres share the noise."""
        return float(self.clusters)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        names = ", ".join(self.columns) if self.columns else "all numeric columns"
        return f"{self.clusters} cluster{'s' if self.clusters > 1 else ''} of {names}"

    def check(self, setting: Setting) -> None:
        """Refuse columns that are not there, hold no numbers, or are too many."""
        need_grouping()
        size = self.box.region(setting).size
        if size > MOST_COLUMNS:
            raise InvalidQuery(
                f"columns: {size} of them; name at most {MOST_COLUMNS}, or map rows to fewer "
                "columns by public means"
            )

    def _stages(self, setting: Setting, price: Cost) -> Stages:
        region = self.box.region(setting)
        replaced = setting.unit.relation is Relation.REPLACE
        shares = Shares(region.size, replaced, _inside(price), setting.unit.rows)
        request, median = region.request(setting), self.loss == "median"
        return Stages(self.clusters, median, shares, grouped, request, _frame(region))

    def prepare(self, setting: Setting, price: Cost) -> Composite[Clusters]:
        """Fix the points, the stages and the noise; see `Query`."""
        stages, region = self._stages(setting, price), self.box.region(setting)
        stages.shares.rehearse()
        whole, inside = _InUnits(stages, region), stages.shares.price
        laws = ("Gaussian noise on sums of vectors, numbers and squared lengths of each cell",)
        return Composite(region.request(setting), whole, price, inside, laws)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict how far noise moves a coordinate in the last step."""
        stages = self._stages(setting, price)
        region, last = self.box.region(setting), stages.shares.last
        radius = float(np.mean(region.widths * region.steps)) / 2
        error = 1.75 * NEAR * last.deviation / max(rows / self.clusters, 1.0)
        error = min(error * sqrt(1 + NEAR**2), 1.0) * radius
        width = 2 * NormalDist().inv_cdf(0.975) * error
        assumed = "clusters of equal size whose rows lie within a quarter of the radius"
        return Expected(error, 0.0, width, assumed)


@dataclass(frozen=True)
class _InUnits:
    """The stages, read in the units of the columns."""

    stages: Stages
    region: Region

    def run(self, price: Cost, measure: Any) -> Clusters:
        """Find the centres."""
        found, frame = self.stages.run(price, measure), _frame(self.region)
        cells = np.array(frame.centre) + found.centres * np.array(frame.scales)
        centres = tuple(map(self.region.place, cells))
        return Clusters(self.region.names, centres, tuple(found.counts.tolist()), found.axes)


def _frame(region: Region) -> Frame:
    """Points from the centre of the ball, in its radius along each column."""
    middles = ((grid.lower + grid.upper) / 2 - grid.origin for grid in region.grids)
    return Frame(tuple(middles), tuple((region.widths / 2).tolist()))


def _inside(price: Cost) -> GDP:
    """Return the mu in which stages compose."""
    match price:
        case GDP():
            return price
        case Approximate() if price.delta:
            return price.largest_gdp()
        case _:
            raise InvalidQuery(
                f"price: {price} given; k-means needs mu, or epsilon with a delta: all of its "
                "noise is Gaussian. Nothing was charged."
            )
