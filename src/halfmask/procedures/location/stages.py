"""The stages of a robust location: count, find, scale, turn, step."""

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Points
from halfmask.privacy import ZCDP, Cost
from halfmask.procedures.location.budget import COUNT, CUT, LENGTHS, STEPS, TURN, Budget, ending
from halfmask.procedures.location.normal import middle_radius, winsorised
from halfmask.procedures.location.turned import Turned
from halfmask.procedures.procedure import Measure
from halfmask.queries import strength
from halfmask.queries.location import (
    FAR,
    Frame,
    Medians,
    Outers,
    Radii,
    Region,
    Scales,
    Signs,
    Total,
)

__all__ = ["Found", "Place", "RobustStages", "rejected"]

SURE = 3.0
"""Standard deviations by which the noisy count is taken to be too large."""

REJECT = 1.75
"""Median radii beyond which a point does not count; more in few dimensions."""


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

    post_processing: ClassVar[tuple[str, ...]] = ("held inside the bounds",)

    @property
    def doubt(self) -> str:
        """A warning where the stages may have failed."""
        few = "the noisy count of points is too small for this price: the point may be far off"
        return "" if self.found else few

    def cells(
        self, confidence: float = 0.95
    ) -> tuple[tuple[str, float, float | None, float | None], ...]:
        """Each coordinate with its column; with an interval where the stages succeeded."""
        known = self.interval(confidence) if self.found else ((None, None),) * len(self.point)
        return tuple(
            (label, x, *pair) for label, x, pair in zip(self.labels, self.point, known, strict=True)
        )

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


@dataclass(frozen=True, eq=False)
class Found:
    """Where the points were found, in cells; outer, inner: median lengths in units of the scales.

    Of lengths with coordinates held to 6 scales, and to `CUT` scales.
    enough: whether the noisy count leaves hope that they were found.
    """

    count: float
    enough: bool
    budget: Budget
    centre: NDArray[np.float64]
    scales: NDArray[np.float64]
    outer: float
    inner: float

    @property
    def reject(self) -> float:
        """The length beyond which a point does not count."""
        return rejected(len(self.centre)) * self.outer


class Asked(Protocol):
    """What a robust location was asked for."""

    @property
    def rows(self) -> int | None: ...
    @property
    def plan(self) -> tuple[float, float, float] | None: ...
    @property
    def whiten(self) -> bool: ...
    def octaves(self, region: Region) -> float: ...


@dataclass(frozen=True)
class RobustStages:
    """The stages of a robust location, on points that they never see."""

    region: Region
    points: Points
    moved: int
    replaced: bool
    asked: Asked
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
        place = self.region.place(point)
        return Place(self.region.names, place, deviations, found.count, found.enough)

    def find(self, price: ZCDP, measure: Measure) -> Found:
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
        (radii,) = measure(Radii(points, self.moved, price.share(budget.radii), frame, (FAR, CUT)))
        most = counted.value + self.unsure(price)
        enough = budget.feasible and self.budget(most, price).feasible
        return Found(count, enough, budget, centre, scales, *radii.values)

    def refine(
        self, price: ZCDP, measure: Measure, found: Found
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Step from where the points were found; return cells, and the deviations of the noise."""
        turned, budget = Turned.round(found.centre, found.scales), found.budget
        lengths = found.inner, found.reject
        if self.asked.whiten:
            turned, lengths = self._turn(price.share(budget.refinement), measure, turned, found)
        left = self.left(budget, price)
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

    def left(self, budget: Budget, inside: ZCDP) -> Cost:
        """What is left for the steps."""
        turning = TURN + LENGTHS if self.asked.whiten else 0
        return ending(self.paid, inside, 1 - budget.refinement * (1 - turning))

    def rehearse(self, inside: ZCDP) -> None:
        """Refuse a price too small for turned coordinates, before it is charged."""
        least = self.budget(1, inside).refinement  # medians and scales of one row take the most
        frame = Frame((0.0,) * self.region.size, (1.0,) * self.region.size)
        part = inside.share(least * TURN)
        _ = Outers(self.points, self.moved, part, frame, self.replaced).mechanism

    def _turn(
        self, price: ZCDP, measure: Measure, turned: Turned, found: Found
    ) -> tuple[Turned, tuple[float, float]]:
        """Turn to coordinates in which the points are round, and take median lengths there."""
        points, moved, part = self.points, self.moved, price.share(TURN)
        (signs,) = measure(Outers(points, moved, part, turned.frame, self.replaced, found.reject))
        turned, part = turned.by(signs), price.share(LENGTHS)
        (radii,) = measure(Radii(points, moved, part, turned.frame, (FAR, CUT)))
        outer, inner = radii.values
        return turned, (inner, rejected(self.region.size) * outer)

    def step(
        self,
        price: Cost,
        measure: Measure,
        found: Found,
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


def rejected(d: int) -> float:
    """Return the median lengths beyond which a point does not count: a normal one hardly ever."""
    return max(REJECT, 3.0 / middle_radius(d))
