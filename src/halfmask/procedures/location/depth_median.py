"""The deepest of public candidates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy import Cost, Pure, Relation
from halfmask.procedures.location.asked import Reading
from halfmask.procedures.location.publics import Vectors, along, read_points, read_rays
from halfmask.queries import Expected, Setting
from halfmask.queries.location import Box, Depth, DepthChoice, Middle, Region, Signs, SpatialSums

__all__ = ["Candidate", "DepthMedian"]

WIDE = 1000.0
"""Of the candidates' own extent, how far out points count as they are, where no radius is given."""


def _spatial(region: Region, rays: Vectors | None, setting: Setting) -> Depth:
    if rays is not None:
        raise InvalidQuery("directions: spatial depth has none; leave them out")
    price = Pure(1)  # sums alone are asked of it, no noise
    return SpatialSums(Signs(region.request(setting), 1, price, region.frame, inf, 0.0, inf))


_DEPTHS: Mapping[str, Callable[[Region, Vectors | None, Setting], Depth]] = {
    "tukey": lambda region, rays, _: along(region, rays),
    "integrated dual": lambda region, rays, _: along(region, rays, summed=True),
    "spatial": _spatial,
}


@dataclass(frozen=True)
class Candidate:
    """The candidate that was chosen."""

    labels: tuple[str, ...]
    point: tuple[float, ...]

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[float, ...]:
        """Its coordinates, in the order of the columns."""
        return self.point

    def interval(self, confidence: float = 0.95) -> None:
        """Say nothing: a choice has no interval."""

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, float, None, None], ...]:
        """Return each coordinate under the name of its column."""
        return tuple((name, x, None, None) for name, x in zip(self.labels, self.point, strict=True))


@dataclass(frozen=True)
class DepthMedian:
    """The deepest of public candidates.

    depth: "tukey", the rows on the emptiest side of a candidate along any direction; "integrated
      dual", those on the emptier side, averaged over the directions; "spatial", minus the length of
      the sum of directions to the rows.
    candidates: points known without the rows, a coordinate for each column; two or more. Points
      taken from the rows would show them: one row then has infinite epsilon.
    radius: how far from the middle of the candidates rows count as they are: a number, or one for
      each column; those outside are moved to its edge. None takes a thousand times the candidates'
      extent.
    columns: names; None takes every numeric column.
    directions: for the first two depths, known without the rows, in units of the radius of each
      column; None takes the axes and 64 directions that stand in the source.

    Privacy: epsilon-DP by permute-and-flip, in rho the exponential mechanism, on exact integer
    scores which a row moves by at most 1 (2 where a row is replaced, for "spatial"), whatever the
    number of columns. [McKenna & Sheldon 2020, Thm 1; McSherry & Talwar 2007, Thm 6]

    >>> DepthMedian("tukey", [[0, 0], [1, 0], [0, 1]]).title
    'deepest of 3 candidates, by tukey depth'
    """

    depth: str
    candidates: tuple[tuple[float, ...], ...]
    radius: float | tuple[float, ...] | None = None
    columns: tuple[str, ...] | None = None
    directions: tuple[tuple[float, ...], ...] | None = None

    weight: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if self.depth not in _DEPTHS:
            raise InvalidQuery(f"depth: {shown(self.depth)}; give one of {', '.join(_DEPTHS)}")
        points = read_points(self.candidates, "candidates", "[[0, 0], [0, 1], [1, 0]]")
        if len(points) < 2:
            raise InvalidQuery("candidates: one is no choice; give two or more points")
        if len(set(points)) < len(points):
            raise InvalidQuery("candidates: a point is listed twice; list each once")
        object.__setattr__(self, "candidates", points)
        object.__setattr__(self, "directions", read_rays(self.directions))
        assert self.box is not None  # noqa: S101

    @property
    def box(self) -> Box:
        """The bounds within which rows count as they are."""
        points = np.array(self.candidates)
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        if self.radius is None:
            return Box.about(middle, float(np.ptp(points, axis=0).max()) * WIDE, self.columns)
        return Box.about(middle, self.radius, self.columns)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"deepest of {len(self.candidates)} candidates, by {self.depth} depth"

    def check(self, setting: Setting) -> None:
        """Refuse candidates and directions of another number of columns, or out of bounds."""
        self._choice(setting, Pure(1))

    def _choice(self, setting: Setting, price: Cost) -> DepthChoice:
        region = self._region(setting)
        return DepthChoice(
            region.request(setting),
            region.moved(setting),
            price,
            _DEPTHS[self.depth](region, self.directions, setting),
            tuple(region.cells(point) for point in self.candidates),
            setting.unit.relation is Relation.REPLACE,
        )

    def _region(self, setting: Setting) -> Region:
        region = self.box.region(setting)
        points = np.array(self.candidates)
        ends = np.array(self.box.bounds(region.size)).T
        if not ((ends[0] <= points) & (points <= ends[1])).all():
            raise InvalidQuery(
                f"radius: {shown(self.radius)} does not reach all candidates from their middle; "
                "give a larger one"
            )
        return region

    def prepare(self, setting: Setting, price: Cost) -> Reading[Candidate]:
        """Fix the scores and the choice; see `Query`."""
        names = self._region(setting).names

        def read(middle: Middle) -> Candidate:
            return Candidate(names, self.candidates[middle.cells[0]])

        return Reading(self._choice(setting, price), price, read)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict how far the depth of the choice is behind the best one: one scale, in rows."""
        behind = self._choice(setting, price).behind
        assumed = "how many rows the depth of the choice is behind the best one"
        return Expected(behind, -behind, 0.0, assumed)
