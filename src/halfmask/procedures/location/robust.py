"""A robust private centre: coordinate medians, their scales, then noisy steps of a spatial sign."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.plan import Points
from halfmask.privacy import ZCDP, Cost
from halfmask.procedures.location.asked import Centre, inside_of
from halfmask.procedures.location.budget import COUNT, CUT, STEPS, Budget
from halfmask.procedures.location.composite import Composite
from halfmask.procedures.location.normal import middle_radius, winsorised
from halfmask.procedures.location.turned import Turned
from halfmask.procedures.procedure import Measure
from halfmask.queries import Expected, Setting, strength
from halfmask.queries.location import Frame, Medians, Radii, Region, Scales, Signs, Total

__all__ = ["Found", "Place", "RobustLocation", "RobustStages", "rejected"]

SURE = 3.0
"""Standard deviations by which the noisy count is taken to be too large."""

REJECT = 1.75
"""Median radii beyond which a point does not count; more in few dimensions."""


INSTEAD = "a robust location", "BoxMedian, SpatialMedian or CoordinateMedian"


@dataclass(frozen=True)
class Place:
    """A point, and how far noise may have moved it in each coordinate.

    labels: the columns.
    deviations: of the noise in the last steps; that of earlier stages only tunes them.
    found: whether the stages succeeded, as far as their noisy answers show.
    """

    labels: tuple[str, ...]
    point: tuple[float, ...]
    deviations: tuple[float, ...]
    count: float
    found: bool = True

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy point, and a warning where it may have failed."""
        doubt = "the noisy count of points is too small for this price: the point may be far off"
        return ("held inside the bounds",) if self.found else ("held inside the bounds", doubt)

    @property
    def value(self) -> tuple[float, ...]:
        """The coordinates, in the order of the columns."""
        return self.point

    def interval(self, confidence: float = 0.95) -> tuple[tuple[float, float], ...]:
        """Bracket what the same steps would have given without noise, coordinate by coordinate."""
        far = NormalDist().inv_cdf((1 + confidence) / 2)
        return tuple(
            (x - far * s, x + far * s) for x, s in zip(self.point, self.deviations, strict=True)
        )


@dataclass(frozen=True)
class RobustLocation(Centre):
    """The centre of points, little moved by a quarter of outliers or by heavy tails.

    Coordinate medians find the points, median distances their scales; then Newton's steps of the
    mean direction, in which coordinates are held to 1.5 scales and far points do not count. On
    normal data its own sampling error is 1 to 5 % above the mean's.
    What is estimated: the point where the mean direction vanishes: the centre of symmetric data;
    on skewed data a point between the coordinate medians and the spatial median.

    center, radius: the box in which the points' centre is sure to lie, from center - radius to
      center + radius: numbers, or one for each column. Points outside are moved to its edge.
    columns: names; None takes every numeric column.
    rows: how many there are, if that is known or supposed in public: then the price is split by it,
      and what cannot succeed is refused before it costs anything. None splits by a noisy count.
    plan: shares of the price for (location, scale, refinement), such as (0.7, 0.2, 0.1); None
      splits by public facts.

    Privacy: rho-zCDP, the sum over the stages; of an (epsilon, delta), the stages take parts of the
    largest rho within it, and the last steps the mu that these leave. [Cesar & Rogers 2021 for
    choices; Canonne, Kamath & Steinke 2020, Thm 14 and Cor. 13; privacy.gdp_after_zcdp]

    >>> RobustLocation(center=0, radius=100).title
    'robust centre of all numeric columns'
    """

    rows: int | None = None
    plan: tuple[float, float, float] | None = None

    what: ClassVar[str] = "robust centre of"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is not None and (isinstance(self.rows, bool) or self.rows < 1):
            raise InvalidQuery(f"rows: {self.rows!r} is no number of points; give one, or None")
        if self.plan is None:
            return
        object.__setattr__(self, "plan", tuple(self.plan))
        shares = [Fraction(str(share)) for share in self.plan]
        if len(shares) != 3 or min(shares) <= 0 or sum(shares) != 1:
            raise InvalidQuery(
                f"plan: {self.plan} are no shares of location, scale and refinement; give three "
                "positive numbers that sum to 1, such as (0.7, 0.2, 0.1)"
            )

    def prepare(self, setting: Setting, price: Cost) -> Composite[Place]:
        """Fix the points and the stages."""
        region, inside = self.box.region(setting), inside_of(price, INSTEAD)
        stages = self._stages(region, setting, price)
        if self.rows is not None:
            budget = stages.budget(self.rows, inside)
            if not budget.feasible:
                raise InvalidQuery(
                    f"rows: {self.rows} points in {region.size} dimensions are too few for "
                    f"{price} within these bounds: about {budget.needed} are needed; ask with a "
                    "larger price, tighter bounds, or fewer columns. Nothing was charged."
                )
        laws = ("exponential mechanism over ranks, then Gaussian noise on sums of directions",)
        return Composite(stages.points, stages, price, inside, laws)

    def _stages(self, region: Region, setting: Setting, price: Cost) -> "RobustStages":
        return RobustStages(region, region.request(setting), region.moved(setting), self, price)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1."""
        region, inside = self.box.region(setting), inside_of(price, INSTEAD)
        stages = self._stages(region, setting, price)
        known = self.rows is not None
        budget = stages.budget(rows if known else rows - 2 * stages.unsure(inside), inside)
        rho = strength(budget.ending(price, inside)) ** 2 / 2
        error = budget.error(rows, region.size, rho, stages.moved) / sqrt(region.size)
        expected = self.foreseen(error, region, budget.feasible)
        width = 2 * NormalDist().inv_cdf(0.975) * error if budget.feasible else expected.rmse
        return replace(expected, interval_width=width * (self.deviation or 1.0))


@dataclass(frozen=True)
class RobustStages:
    """The stages of a robust location, on points that they never see."""

    region: Region
    points: Points
    moved: int
    asked: RobustLocation
    paid: Cost

    def budget(self, rows: float, inside: ZCDP) -> Budget:
        """Split the price for about so many rows."""
        octaves = self.asked.octaves(self.region)
        d, rho = self.region.size, float(inside.rho)
        planned = Budget.plan(rows, d, rho, octaves, self.moved)
        if self.asked.plan is None:
            return planned
        location, scale, _ = (Fraction(str(share)) for share in self.asked.plan)
        most = 1 - planned.count
        return Budget(
            planned.count,
            medians=location * most,
            scales=scale * most * Fraction(3, 5),
            radii=scale * most * Fraction(2, 5),
            feasible=planned.feasible,
            needed=planned.needed,
        )

    def total(self, price: ZCDP) -> Total:
        """The number of points, for a hundredth of the price."""
        return Total(self.points, self.moved, price.share(COUNT))

    def unsure(self, price: ZCDP) -> float:
        """How far the noisy number of points may be off, nearly surely."""
        return SURE * self.total(price).mechanism.standard_deviation

    def run(self, price: Cost, measure: Measure) -> Place:
        """Find, scale, refine."""
        assert isinstance(price, ZCDP)  # noqa: S101
        found = self.find(price, measure)
        point, noise = self.refine(price, measure, found)
        deviations = tuple(float(s) for s in noise * self.region.steps)
        place, feasible = self.region.place(point), found.budget.feasible
        return Place(self.region.names, place, deviations, found.count, feasible)

    def find(self, price: ZCDP, measure: Measure) -> "Found":
        """Count, find the coordinate medians, their scales, and two median lengths."""
        points, d = self.points, self.region.size
        (counted,) = measure(self.total(price))
        count = float(max(counted.value, 1))
        least = counted.value - self.unsure(price)  # too many would leave the medians too little
        budget = self.budget(self.asked.rows or least, price)
        (middle,) = measure(Medians(points, self.moved, price.share(budget.medians)))
        centre = np.array(middle.cells, dtype=float)
        frame = Frame(tuple(centre.tolist()), (1.0,) * d)
        widest = float(self.region.widths.max())
        (lengths,) = measure(Scales(points, self.moved, price.share(budget.scales), frame, widest))
        scales = np.array(lengths.values) / NormalDist().inv_cdf(0.75)
        frame = Frame(tuple(centre.tolist()), tuple(scales.tolist()))
        (radii,) = measure(Radii(points, self.moved, price.share(budget.radii), frame, (6.0, CUT)))
        return Found(count, budget, centre, scales, *radii.values)

    def refine(
        self, price: ZCDP, measure: Measure, found: "Found"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Step from where the points were found; return cells, and the deviations of the noise."""
        left = found.budget.ending(self.paid, price)
        turned = Turned.round(found.centre, found.scales)
        lengths = found.inner, found.reject
        ends, noises = [], []
        for share in STEPS:
            turned, noise = self.step(left.share(share), measure, found, turned, lengths, left)
            ends.append(turned.centre)
            noises.append(noise)
        # Each end has its own noise: averaged by their shares, the whole price counts.
        pairs = list(zip(map(float, STEPS), ends, noises, strict=True))
        weights = [weight for weight, _, _ in pairs]
        point = sum((w * end for w, end, _ in pairs), np.zeros(len(ends[0]))) / sum(weights)
        noise = np.sqrt(sum((w * s) ** 2 for w, _, s in pairs)) / sum(weights)
        return point, noise

    def step(
        self,
        price: Cost,
        measure: Measure,
        found: "Found",
        turned: Turned,
        lengths: tuple[float, float],
        left: Cost,
    ) -> tuple[Turned, NDArray[np.float64]]:
        """Take one of Newton's steps in turned coordinates; return the deviations of its noise too.

        lengths: the median length with coordinates held to `CUT`, and that of rejection.
        left: what all steps together are worth, for which the core of the directions is chosen.
        """
        inner, reject = lengths
        d, worth = self.region.size, strength(left) ** 2 / 2
        one = found.budget.tuning(found.count, d, worth, self.moved)
        frame, core = turned.frame, one.core * inner
        (pull,) = measure(Signs(self.points, self.moved, price, frame, CUT, core, reject))
        slope, _ = winsorised(CUT)
        unit = one.step * inner / slope / max(pull.kept, found.count / 2)
        spread = found.scales * np.sqrt(np.diagonal(turned.shape))
        return turned.moved(unit * np.array(pull.total)), unit * pull.deviation * spread


@dataclass(frozen=True, eq=False)
class Found:
    """Where the points were found, in cells; outer, inner: median lengths in units of the scales.

    Of lengths with coordinates held to 6 scales, and to `CUT` scales.
    """

    count: float
    budget: Budget
    centre: NDArray[np.float64]
    scales: NDArray[np.float64]
    outer: float
    inner: float

    @property
    def reject(self) -> float:
        """The length beyond which a point does not count."""
        return rejected(len(self.centre)) * self.outer


def rejected(d: int) -> float:
    """Return the median lengths beyond which a point does not count: a normal one hardly ever."""
    return max(REJECT, 3.0 / middle_radius(d))
