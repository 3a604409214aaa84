"""Tyler's shape by a few noisy sign covariances, each in coordinates turned by the last."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Points
from halfmask.privacy import Cost, Relation
from halfmask.procedures.location import (
    CUT,
    Centre,
    Composite,
    Found,
    RobustLocation,
    RobustStages,
    Turned,
    inside_of,
    middle_radius,
    rejected,
)
from halfmask.procedures.procedure import Measure
from halfmask.procedures.scatter.shape import Shape
from halfmask.procedures.scatter.sign import refuse_size
from halfmask.queries import Expected, Setting
from halfmask.queries.location import FAR, Frame, Outers, Radii, Region, SignMatrix

__all__ = ["TylerScatter"]

PLACES = (Fraction(1, 10), Fraction(1, 5), Fraction(2, 5))
"""Shares that may buy centre and scales: the least that finds them, or the second."""

EARLY, LENGTHS, AGAIN = Fraction(1, 4), Fraction(1, 40), Fraction(1, 40)
"""Shares of all sign covariances but the last; and, after each, of median lengths and a step of the
centre in the coordinates that it turned to."""

MOST_STEPS = 5
PER_OCTAVE = 32  # rungs for the median length: 2 % apart, for it tells the size
EDGE = 3.0  # how many times the noise's largest eigenvalue the mean eigenvalue is, at least
INSTEAD = "a Tyler scatter", "SignCovariance"


@dataclass(frozen=True)
class TylerScatter(Centre):
    """The shape of points: Tyler's M-estimator, whose errors do not depend on how heavy tails are.

    A robust centre and scales; then `steps` times the sign covariance, each in the coordinates in
    which the last one says that the points are round, and about a centre that was stepped again
    there. What directions hide of long axes is put back as for elliptical points, for which all of
    it is consistent. Trace d, unless `size`.

    center, radius, columns, deviation, rows: see `RobustLocation`.
    steps: sign covariances, from 1 to 5; one is enough for axes of about one length, two for most.
    outliers: whether points beyond 1.75 median lengths are left out; False keeps them, for data
      whose tails are heavy but on all sides: that is a third more points of a Cauchy law.
    size: whether the matrix is given the size of the points' covariance, as for normal points, by
      the median length: within about 2 %, and what a quarter of outliers adds to that.

    Privacy: as `RobustLocation`, whose stages come first; the last sign covariance takes what these
      leave. [queries.location.Outers]

    >>> TylerScatter(center=0, radius=100).title
    'shape of all numeric columns'
    """

    rows: int | None = None
    steps: int = 3
    outliers: bool = True
    size: bool = False

    what: ClassVar[str] = "shape of"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._place
        whole = isinstance(self.steps, int) and not isinstance(self.steps, bool)
        if not whole or not 1 <= self.steps <= MOST_STEPS:
            raise InvalidQuery(
                f"steps: {shown(self.steps)} given; give a whole number from 1 to {MOST_STEPS}"
            )

    @property
    def _place(self) -> RobustLocation:
        return RobustLocation(self.center, self.radius, self.columns, self.deviation, self.rows)

    def check(self, setting: Setting) -> None:
        """Refuse what the schema already shows to be wrong."""
        refuse_size(self.box.region(setting))

    def _stages(self, setting: Setting, price: Cost, rows: int | None) -> "TylerStages":
        region = self.box.region(setting)
        refuse_size(region)
        inside = inside_of(price, INSTEAD)
        request, moved = region.request(setting), region.moved(setting)
        made = [
            TylerStages(
                region,
                request,
                moved,
                setting.unit.relation is Relation.REPLACE,
                self,
                place,
            )
            for place in PLACES
        ]
        if rows is None:
            return made[1]
        return next((one for one in made if one.finds(rows, inside)), made[-1])

    def prepare(self, setting: Setting, price: Cost) -> Composite[Shape]:
        """Fix the points and the stages."""
        inside = inside_of(price, INSTEAD)
        stages = self._stages(setting, price, self.rows)
        if self.size and float(np.max(stages.region.widths * stages.region.steps)) > 1e150:
            raise InvalidQuery("size: squares of such numbers are beyond doubles; rescale columns")
        if self.rows is not None and self.rows < stages.needed(inside):
            raise InvalidQuery(
                f"rows: {self.rows} points in {stages.region.size} dimensions are too few for "
                f"{price} within these bounds: about {stages.needed(inside)} are needed; ask with "
                "a larger price, tighter bounds, or fewer columns. Nothing was charged."
            )
        stages.rehearse(inside)
        law = "exponential mechanism over ranks, then Gaussian noise on sums of products"
        return Composite(stages.points, stages, price, inside, (f"{law} of directions",))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of an entry for normal points, independent and of one scale."""
        inside = inside_of(price, INSTEAD)
        stages = self._stages(setting, price, self.rows if self.rows is not None else rows)
        d, n = stages.region.size, max(rows, 1)
        if rows < stages.needed(inside):
            return Expected(1.0, 0.0, inf, "too few points for this price and these bounds")
        noise = (d + 2) * stages.last(inside).error / n
        sampling = sqrt((1 + 2 / d) * (d - 1) * (d + 2) / n)
        width = 2 * NormalDist().inv_cdf(0.975) * noise / d
        assumed = "independent normal points of one deviation, of trace d, sampling counted"
        return Expected(sqrt(noise**2 + sampling**2) / d, 0.0, width, assumed)


@dataclass(frozen=True)
class TylerStages:
    """The stages of a Tyler scatter, on points that they never see."""

    region: Region
    points: Points
    moved: int
    replaced: bool
    asked: TylerScatter
    place: Fraction

    @property
    def spent(self) -> Fraction:
        """The share of all stages but the last."""
        early = self.asked.steps - 1
        return self.place + (EARLY + (LENGTHS + AGAIN) * early if early else 0)

    def finds(self, rows: int, inside: Cost) -> bool:
        """Tell whether so many rows are enough to find the centre."""
        return rows >= self._located.budget(rows, inside.share(self.place)).needed

    def needed(self, inside: Cost) -> int:
        """How many rows are needed.

        For the centre; and for the noise of the last step to lie below a third of the mean
        eigenvalue.
        """
        located = self._located.budget(1, inside.share(self.place)).needed
        d, last = self.region.size, self.last(inside)
        one = last.mechanism.standard_deviation / last.unit
        return max(located, int(EDGE * d * sqrt(2 * d) * one) + 1)

    def last(self, inside: Cost) -> Outers:
        """The last step, in any coordinates."""
        return self._anywhere(inside.share(1 - self.spent))

    def rehearse(self, inside: Cost) -> None:
        """Refuse a price too small for noise that can be drawn, before it is charged."""
        early = self.asked.steps - 1
        self._located.rehearse(inside.share(self.place))  # its steps get less than those after it
        prices = [inside.share(1 - self.spent)]
        prices += [inside.share(EARLY / early)] if early else []
        for price in prices:
            _ = self._anywhere(price).mechanism

    def _anywhere(self, price: Cost) -> Outers:
        d = self.region.size
        return self._outers(price, Frame((0.0,) * d, (1.0,) * d), inf)

    @property
    def _located(self) -> RobustStages:
        asked = self.asked._place
        return RobustStages(self.region, self.points, self.moved, self.replaced, asked)

    def _outers(self, price: Cost, frame: Frame, reject: float) -> Outers:
        outer = reject if self.asked.outliers else inf
        return Outers(self.points, self.moved, price, frame, self.replaced, outer)

    def run(self, price: Cost, measure: Any) -> Shape:
        """Find the centre and the scales, then turn and look again, `steps` times."""
        ask: Measure = measure
        located, part = self._located, price.share(self.place)
        found = located.find(part, ask)
        centre, _, held = located.refine(part, ask, found)
        turned, early = Turned.round(centre, found.scales), self.asked.steps - 1
        length, reject = found.outer, found.reject
        for _ in range(early):
            (signs,) = ask(self._outers(price.share(EARLY / early), turned.frame, reject))
            turned = turned.by(signs)
            length, inner = self._lengths(price, ask, turned)
            reject = rejected(self.region.size, length, inner)
            share = price.share(AGAIN)
            turned = located.step(share, ask, found, turned, (inner, reject), share).turned
        (signs,) = ask(self._outers(price.share(1 - self.spent), turned.frame, reject))
        return self._read(signs, turned, length, replace(found, enough=found.enough and held))

    def _lengths(self, price: Cost, ask: Measure, turned: Turned) -> tuple[float, ...]:
        """Two median lengths in turned coordinates: these held to 6, and to `CUT`."""
        share, cuts = price.share(LENGTHS), (FAR, CUT)
        (radii,) = ask(Radii(self.points, self.moved, share, turned.frame, cuts, PER_OCTAVE))
        return radii.values

    def _read(self, signs: SignMatrix, turned: Turned, length: float, found: Found) -> Shape:
        d, last, size = self.region.size, turned.by(signs), None
        if self.asked.size:
            # The median length in the coordinates of the last step, as for normal points.
            seen = float(np.trace(turned.inverse @ last.shape @ turned.inverse)) / d
            size = (length / middle_radius(d)) ** 2 / seen
        return Shape(
            self.region.names,
            last.shape,
            found.scales * self.region.steps,
            (d + 2) * signs.deviation,
            size,
            found.enough and EDGE * d * sqrt(2 * d) * signs.deviation <= 1,
        )
