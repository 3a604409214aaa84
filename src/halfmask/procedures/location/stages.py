"""The stages of a robust location: count, find, scale, turn, step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.plan import Points
from halfmask.privacy import Cost
from halfmask.procedures.location.budget import (
    CAPS,
    COUNT,
    CUT,
    LENGTHENED,
    LENGTHS,
    STEPS,
    TURN,
    Budget,
)
from halfmask.procedures.location.finding import Finding
from halfmask.procedures.location.halving import halvings
from halfmask.procedures.location.normal import middle_radius, winsorised
from halfmask.procedures.location.step import NORMAL, Belief, Step
from halfmask.procedures.location.turned import Turned
from halfmask.procedures.procedure import Measure
from halfmask.queries import strength
from halfmask.queries.location import (
    FAR,
    Frame,
    Medians,
    OfPoints,
    Outers,
    Radii,
    Region,
    Signs,
    Total,
    Windows,
)

__all__ = ["Found", "Place", "RobustStages", "rejected"]

Vector = NDArray[np.float64]

SURE = 3.0
"""Standard deviations by which the noisy count is taken to be too large."""

WIDEST = 2.0
"""Median lengths with coordinates held to `CUT` that one with them held to 6 scales may be."""

REJECT = 1.75
"""Median radii beyond which a point does not count; more in few dimensions."""


@dataclass(frozen=True)
class Place:
    """A point, and how far noise may have moved it in each coordinate.

    labels: the columns.
    deviations: of the noise in the last steps; that of earlier stages only tunes them.
    found: whether the stages succeeded, as far as their noisy answers show.
    edge: what is to say where the point lies at the edge of its bounds.
    """

    labels: tuple[str, ...]
    point: tuple[float, ...]
    deviations: tuple[float, ...]
    count: float
    found: bool = True
    edge: str = ""

    post_processing: ClassVar[tuple[str, ...]] = ("held inside the bounds",)

    @property
    def doubt(self) -> str:
        """A warning where the stages may have failed, or have ended at the edge of the bounds."""
        lost = "the noisy answers do not show that the points were found: the point may be far off"
        return "; ".join(filter(None, ["" if self.found else lost, self.edge]))

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
        return rejected(len(self.centre), self.outer, self.inner)


class Asked(Protocol):
    """What a robust location was asked for."""

    @property
    def rows(self) -> int | None: ...
    @property
    def plan(self) -> tuple[float, float, float] | None: ...
    @property
    def whiten(self) -> bool: ...
    @property
    def title(self) -> str: ...
    def octaves(self, region: Region) -> float: ...


@dataclass(frozen=True)
class RobustStages:
    """The stages of a robust location, on points that they never see."""

    region: Region
    points: Points
    moved: int
    replaced: bool
    asked: Asked

    def budget(self, rows: float, inside: Cost) -> Budget:
        """Split the price for about so many rows."""
        octaves = self.asked.octaves(self.region)
        planned = Budget.plan(rows, self.region.size, inside, octaves, self.moved)
        if self.asked.plan is None:
            return planned
        location, scale, _ = (Fraction(str(share)) for share in self.asked.plan)
        most = 1 - planned.count
        medians, scales, radii = (most * s for s in (location, scale * 3 / 5, scale * 2 / 5))
        return replace(planned, medians=medians, scales=scales, radii=radii)

    def total(self, price: Cost) -> Total:
        """The number of points, for a hundredth of the price."""
        return Total(self.points, self.moved, price.share(COUNT))

    def unsure(self, price: Cost) -> float:
        """How far the noisy number of points may be off, nearly surely."""
        return SURE * self.total(price).mechanism.standard_deviation

    def run(self, price: Cost, measure: Measure) -> Place:
        """Find, scale, refine."""
        found = self.find(price, measure)
        point, noise, held = self.refine(price, measure, found)
        deviations = tuple(float(s) for s in noise * self.region.steps)
        place = self.region.place(point)
        edge = self.region.edge(place)
        return Place(self.region.names, place, deviations, found.count, found.enough and held, edge)

    def find(self, price: Cost, measure: Measure) -> Found:
        """Count, find the coordinate medians, their scales, and two median lengths."""
        (counted,) = measure(self.total(price))
        count = float(max(counted.value, 1))
        least = counted.value - self.unsure(price)  # too many would leave the medians too little
        budget = self.budget(self.asked.rows or least, price)
        parts = price.share(budget.medians), price.share(budget.scales)
        finding = Finding(self.region, self.points, self.moved, *parts)
        octaves = self.asked.octaves(self.region)
        if budget.halved:
            centre, scales, taken = finding.halved(measure, count, octaves)
            budget = replace(budget, medians=budget.medians * taken)  # refinement has the rest
        else:
            centre, scales = finding.chosen(measure)
        frame = Frame(tuple(centre.tolist()), tuple(scales.tolist()))
        part = price.share(budget.radii)
        (radii,) = measure(Radii(self.points, self.moved, part, frame, (FAR, CUT)))
        most = counted.value + self.unsure(price)
        enough = budget.feasible and self.budget(most, price).feasible
        return Found(count, enough, budget, centre, scales, *radii.values)

    def refine(self, price: Cost, measure: Measure, found: Found) -> tuple[Vector, Vector, bool]:
        """Step from where the points were found.

        Return cells, the deviations of the noise, and whether the last step stayed near.
        """
        turned, budget = Turned.round(found.centre, found.scales), found.budget
        lengths = found.inner, found.reject
        if self.asked.whiten:
            turned, lengths = self._turn(price.share(budget.refinement), measure, turned, found)
        left, belief, steps = self.left(budget, price), NORMAL, list[Step]()
        for share in STEPS:
            step = self.step(left.share(share), measure, found, turned, lengths, left, belief)
            turned, belief = step.turned, step.belief
            steps.append(step)
        # Each end has its own noise: averaged by how sure they are, the whole price counts.
        weights = np.array([1 / step.variance for step in steps])
        weights /= weights.sum()
        point = weights @ np.array([step.turned.centre for step in steps])
        noise = float(np.linalg.norm(weights * [step.deviation for step in steps]))
        spread = found.scales * np.sqrt(np.diagonal(turned.shape))
        return point, noise * spread, steps[-1].held

    def left(self, budget: Budget, inside: Cost) -> Cost:
        """What is left for the steps."""
        turning = TURN + LENGTHS if self.asked.whiten else 0
        return inside.share(budget.refinement * (1 - turning))

    def rehearse(self, inside: Cost) -> None:
        """Refuse a price of which a stage would get too little, before it is charged."""
        try:
            for one in self._least(inside):
                _ = one.mechanism
        except InvalidQuery as problem:
            raise InvalidQuery(
                f"price: {inside} is too small for all stages of a {self.asked.title}; ask with a "
                f"larger one ({problem}). Nothing was charged."
            ) from None

    def _least(self, inside: Cost) -> Iterator[OfPoints]:
        """Yield each measurement at the least price that it may have."""
        points, moved = self.points, self.moved
        frame = Frame((0.0,) * self.region.size, (1.0,) * self.region.size)
        budget = self.budget(1, inside)  # medians and scales of one row take the most
        yield self.total(inside)
        for name, octaves in (("medians", self.asked.octaves(self.region)), ("scales", LENGTHENED)):
            share = getattr(budget, name) if self.asked.plan else Fraction(str(CAPS[name][0]))
            part = inside.share(share)
            yield Medians(points, moved, part)
            yield Windows(points, moved, part.share(Fraction(1, halvings(octaves))), (), ())
        share = budget.radii if self.asked.plan else Fraction(str(CAPS["radii"][0]))
        yield Radii(points, moved, inside.share(share), frame, (FAR, CUT))
        step = self.left(budget, inside).share(min(STEPS))
        yield Signs(points, moved, step, frame, CUT, 1.0, 1.0)
        if self.asked.whiten:
            left = inside.share(budget.refinement)
            yield Outers(points, moved, left.share(TURN), frame, self.replaced)
            yield Radii(points, moved, left.share(LENGTHS), frame, (FAR, CUT))

    def _turn(
        self, price: Cost, measure: Measure, turned: Turned, found: Found
    ) -> tuple[Turned, tuple[float, float]]:
        """Turn to coordinates in which the points are round, and take median lengths there."""
        points, moved, part = self.points, self.moved, price.share(TURN)
        (signs,) = measure(Outers(points, moved, part, turned.frame, self.replaced, found.reject))
        turned, part = turned.by(signs), price.share(LENGTHS)
        (radii,) = measure(Radii(points, moved, part, turned.frame, (FAR, CUT)))
        outer, inner = radii.values
        return turned, (inner, rejected(self.region.size, outer, inner))

    def step(
        self,
        price: Cost,
        measure: Measure,
        found: Found,
        turned: Turned,
        lengths: tuple[float, float],
        left: Cost,
        belief: Belief = NORMAL,
    ) -> Step:
        """Take one of Newton's steps in turned coordinates.

        lengths: the median length with coordinates held to `CUT`, and that of rejection.
        left: what all steps together are worth, for which the core of the directions is chosen.
        belief: what is known of the slope.
        """
        inner, reject = lengths
        d, worth = self.region.size, strength(left) ** 2 / 2
        one = found.budget.tuning(found.count, d, worth, self.moved)
        core = one.core * inner
        (pull,) = measure(Signs(self.points, self.moved, price, turned.frame, CUT, core, reject))
        free, _ = winsorised(CUT)
        belief = belief.told(pull, found.count * one.core * free / one.step)
        unit = core / (belief.slope * found.count * one.core * free / one.step)
        return Step.by(turned, pull, unit, belief, inner)


def rejected(d: int, outer: float, inner: float) -> float:
    """Return the length beyond which a point does not count: a normal one hardly ever does not.

    Both median lengths are nearly one where most coordinates are not held; a much longer outer one
    was drawn from the empty place between the points and outliers.
    """
    return max(REJECT, 3.0 / middle_radius(d)) * min(outer, WIDEST * inner)
