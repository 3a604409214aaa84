"""The spatial sign covariance about a public centre, or about one that is bought first."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Points
from halfmask.privacy import Approximate, Cost, Pure, Relation
from halfmask.procedures.location import Centre, Composite, ending, finds
from halfmask.procedures.procedure import Measure
from halfmask.queries import Expected, Measurement, Setting, Supposed, range_epsilon
from halfmask.queries.location import Frame, Medians, Outers, Region, SignMatrix

__all__ = ["MOST", "SignCovariance", "refuse_size"]

MOST = 300
"""Columns: 45 150 pairs of them."""

CENTRE = Fraction(1, 8)
"""The share that buys a centre."""


def refuse_size(region: Region) -> None:
    """Refuse one column, and too many: public facts."""
    if region.size < 2:
        raise InvalidQuery(
            "columns: a single one has no directions to compare; ask StandardDeviation of it, or "
            "give two columns or more"
        )
    if region.size > MOST:
        raise InvalidQuery(f"columns: {region.size} of them; give at most {MOST}")


@dataclass(frozen=True)
class SignCovariance(Centre):
    """The spatial sign covariance: the mean of u u^T, u the direction of a point from the centre.

    A positive semidefinite matrix of trace 1 with the eigenvectors of the covariance, whatever the
    tails; its eigenvalues lie closer together (see `TylerScatter` for the shape itself). A point
    counts 1 however far it lies. Directions are those in the units of the columns; a point at the
    centre counts nothing.

    center, radius: the box from center - radius to center + radius that is sure to hold nearly all
      points: numbers, or one for each column. Points outside are moved to its edge.
    columns: names; None takes every numeric column; from 2 to 300.
    location: the centre of the points, if it is known in public; None buys the medians of the
      columns with an eighth of the price.
    deviation: see `RobustLocation`.

    Privacy: that of noise on the sum of u u^T, see `queries.location.Outers`, at the whole price
    with a public centre; else the composition with `CoordinateMedian`'s choices.

    >>> SignCovariance(center=0, radius=100, location=(0, 0)).title
    'sign covariance of all numeric columns'
    """

    location: tuple[float, ...] | None = None

    tries: ClassVar[int] = 500
    what: ClassVar[str] = "sign covariance of"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.location is None:
            return
        try:
            object.__setattr__(self, "location", tuple(float(x) for x in self.location))
            fine = all(map(isfinite, self.location))
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise InvalidQuery(
                f"location: {shown(self.location)} is no point; give one number for each column"
            )

    def check(self, setting: Setting) -> None:
        """Refuse what the schema already shows to be wrong."""
        self._cells(self._region(setting))

    def _region(self, setting: Setting) -> Region:
        region = self.box.region(setting)
        refuse_size(region)
        return region

    def _cells(self, region: Region) -> tuple[float, ...] | None:
        """The public centre in cells."""
        if self.location is None:
            return None
        if len(self.location) != region.size:
            raise InvalidQuery(
                f"location: {len(self.location)} coordinates for {region.size} columns; give one "
                "for each"
            )
        cells = np.array(self.location) / region.steps
        for grid, cell, x in zip(region.grids, cells.tolist(), self.location, strict=True):
            if not grid.lower <= cell <= grid.upper:
                raise InvalidQuery(
                    f"location: {x:g} in column {grid.column!r} lies outside of the bounds; give a "
                    "larger radius"
                )
        return tuple(cells.tolist())

    def prepare(self, setting: Setting, price: Cost) -> Measurement[SignMatrix]:
        """Fix the points and the noise."""
        region = self._region(setting)
        stages = SignStages(
            region,
            region.request(setting),
            region.moved(setting),
            setting.unit.relation is Relation.REPLACE,
            price,
        )
        cells = self._cells(region)
        if cells is not None:
            return stages.outers(cells, price)
        law = "exponential mechanism over ranks, then noise on sums of products of directions"
        inside, anywhere = _inside(price), (0.0,) * region.size
        _ = stages.outers(
            anywhere, ending(price, inside, CENTRE)
        ).mechanism  # refuses now, or never
        return Composite(stages.points, stages, price, inside, (law,))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of an entry from the noise, for points spread alike on all sides."""
        region, inside = self._region(setting), _inside(price)
        d, moved = region.size, region.moved(setting)
        bought = self.location is None
        last = ending(price, inside, CENTRE) if bought else price
        replaced = setting.unit.relation is Relation.REPLACE
        frame = Frame((0.0,) * d, (1.0,) * d)
        outers = Outers(region.request(setting), moved, last, frame, replaced).fitted
        n = max(rows, 1)
        error = outers.error * sqrt(1 - 2 / (d * (d + 1))) / n  # but for the trace, divided out
        assumed = "points spread alike on all sides"
        if bought:
            pull = float(range_epsilon(inside.share(CENTRE), d)) / moved * rows / 2
            if not finds(pull, self.octaves(region), d):
                return Expected(1.0, 0.0, 1.0, "too few points for this price and these bounds")
            assumed += ", the noise of the centre left out"
        far = 2 * NormalDist().inv_cdf(0.975) * error / d
        return Expected(error / d, 0.0, far, assumed, rough=True)

    def supposed(self, setting: Setting) -> Supposed | None:
        """Return normal points about the centre; see `Supposes`."""
        points = super().supposed(setting)
        if points is None or self.location is None:
            return points
        about = zip(points.normal.items(), self.location, strict=True)
        return replace(points, normal={name: (at, unit) for (name, (_, unit)), at in about})

    def _truth(self, middle: list[float]) -> tuple[float, ...]:
        d = len(middle)
        return tuple((np.eye(d) / d).ravel().tolist())


def _inside(price: Cost) -> Cost:
    """Return the currency in which the stages compose."""
    if not isinstance(price, Approximate):
        return price
    return price.largest_zcdp() if price.delta else Pure(price.epsilon)


@dataclass(frozen=True)
class SignStages:
    """A centre, then the sum of u u^T about it, on points that it never sees."""

    region: Region
    points: Points
    moved: int
    replaced: bool
    paid: Cost

    def outers(self, centre: tuple[float, ...], price: Cost) -> Outers:
        """The sum about a centre, in the units of the columns."""
        logs = np.array([float(grid.log2_step) for grid in self.region.grids])
        scales = np.exp2(np.minimum(logs.max() - logs, 1000.0))  # cells to the widest one
        frame = Frame(centre, tuple(scales.tolist()))
        return Outers(self.points, self.moved, price, frame, self.replaced).fitted

    def run(self, price: Cost, measure: Any) -> SignMatrix:
        """Find the medians, then sum up."""
        ask: Measure = measure
        (middle,) = ask(Medians(self.points, self.moved, price.share(CENTRE)))
        centre = tuple(map(float, middle.cells))
        (found,) = ask(self.outers(centre, ending(self.paid, price, CENTRE)))
        return found
