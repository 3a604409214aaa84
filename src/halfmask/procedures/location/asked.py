"""What every centre has in common: where it is sure to lie, and how a chosen cell is read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, log2
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.noise import Words
from halfmask.plan import Points
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries import (
    Coarse,
    Estimate,
    Expected,
    Measurement,
    Part,
    Record,
    Setting,
    Supposed,
    native,
    range_epsilon,
)
from halfmask.queries.location import Box, Middle, Region

__all__ = ["Centre", "Placed", "Reading", "best_for_choices", "counted_rows", "inside_of", "placed"]

E = TypeVar("E", bound=Estimate)

_WITHIN = 8.0
"""Deviations from bound to bound, beyond which points are tried: fewer would be moved."""

SPREAD = 20.0
"""Doublings from the points' deviation to the bounds, where no deviation is supposed."""


@dataclass(frozen=True)
class Centre(ABC):
    """A question for one point.

    center, radius: the box in which the points' centre is sure to lie, from center - radius to
      center + radius: numbers, or one for each column. Points outside are moved to its edge.
    columns: names; None takes every numeric column.
    deviation: about the smallest deviation that a coordinate may have, supposed in public; it
      serves previews and tells what is feasible. None supposes 2^-20 of the bounds' distance.
    """

    center: float | tuple[float, ...] = 0.0
    radius: float | tuple[float, ...] = 0.0
    columns: tuple[str, ...] | None = None
    deviation: float | None = None

    weight: ClassVar[float] = 1.0
    what: ClassVar[str] = "centre of"
    tries: ClassVar[int] = 1200

    def __post_init__(self) -> None:
        for name in ("center", "radius", "columns"):
            given = getattr(self, name)
            if hasattr(given, "__iter__") and not isinstance(given, str):
                object.__setattr__(self, name, tuple(given))
        assert self.box is not None  # noqa: S101
        guess = native(self.deviation)
        object.__setattr__(self, "deviation", guess)
        number = isinstance(guess, int | float | Fraction) and not isinstance(guess, bool)
        if guess is not None and not (number and 0 < guess < inf):
            raise InvalidQuery(
                f"deviation: {self.deviation!r} is no positive number; give a guess, or None"
            )

    @property
    def box(self) -> Box:
        """The box as bounds."""
        return Box.about(self.center, self.radius, self.columns)

    def octaves(self, region: Region) -> float:
        """How many doublings lie between the smallest deviation and the widest bounds."""
        if self.deviation is None:
            return SPREAD
        widest = float(np.max(region.widths * region.steps))
        return min(max(log2(widest / self.deviation), 1.0), float(np.log2(region.widths.max())))

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        names = ", ".join(self.columns) if self.columns else "all numeric columns"
        return f"{self.what} {names}"

    def check(self, setting: Setting) -> None:
        """Refuse columns that are not there or hold no numbers."""
        self.box.region(setting)

    def held(self, setting: Setting) -> None:
        """Refuse rows that stay in an engine, where all points must be held at once."""
        if not setting.near:
            raise InvalidQuery(
                f"{type(self).__name__}: it holds all points in memory, and these rows stay in "
                "their database; ask a CoordinateMedian or RobustLocation, or open the rows as an "
                "array. Nothing was charged."
            )

    def foreseen(self, error: float, region: Region, enough: bool) -> Expected:
        """Return an expected error of a coordinate, given in deviations."""
        widest = float(np.max(region.widths * region.steps))
        if not enough:
            return Expected(widest, 0.0, widest, "too few points for this price and these bounds")
        unit = self.deviation or 1.0
        narrow = float(np.min(region.widths * region.steps)) < _WITHIN * unit
        return Expected(error * unit, 0.0, widest, self._assumed, rough=not narrow)

    @property
    def _assumed(self) -> str:
        unit = self.deviation or 1.0
        return f"normal points of deviation {unit:g} in each coordinate, sampling counted"

    def supposed(self, setting: Setting) -> Supposed | None:
        """Return the points of `expected`, in the middle of the box; see `Supposes`."""
        region = self.box.region(setting)
        lower, upper = np.array(self.box.bounds(region.size)).T
        middle, unit = ((lower + upper) / 2).tolist(), self.deviation or 1.0
        points = {name: (at, unit) for name, at in zip(region.names, middle, strict=True)}
        return Supposed(self._assumed, normal=points, truth=self._truth(middle), most=self.tries)

    def _truth(self, middle: list[float]) -> tuple[float, ...]:
        """What an answer about normal points of this middle is held against."""
        return tuple(middle)

    @abstractmethod
    def prepare(self, setting: Setting, price: Cost) -> Measurement[Any]:
        """Fix the points and the noise; see `Query`."""

    @abstractmethod
    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate, for normal points of deviation 1."""


@dataclass(frozen=True)
class Placed:
    """A chosen point. No interval: it would need to know where other points lie."""

    point: tuple[float, ...]
    region: Region

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def doubt(self) -> str:
        """A warning where the point lies at the edge of its bounds."""
        return self.region.edge(self.point)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns."""
        return self.region.names

    @property
    def value(self) -> tuple[float, ...]:
        """The coordinates, in the order of the columns."""
        return self.point

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, float, None, None], ...]:
        """Each coordinate with its column, and without an interval."""
        pairs = zip(self.labels, self.point, strict=True)
        return tuple((label, x, None, None) for label, x in pairs)

    def interval(self, confidence: float = 0.95) -> tuple[tuple[float, float], ...]:
        """The public bounds: all that is sure of an exact median, given a chosen one."""
        steps = self.region.steps.tolist()
        pairs = zip(self.region.grids, steps, strict=True)
        return tuple((grid.lower * step, grid.upper * step) for grid, step in pairs)


class _OfPoints(Protocol):
    @property
    def points(self) -> Points: ...
    @property
    def laws(self) -> tuple[str, ...]: ...
    @property
    def landmarks(self) -> tuple[tuple[int, ...], ...]: ...
    def distribution(self, exact: Any) -> tuple[Part, ...] | None: ...
    def release(self, exact: Any, words: Words | None) -> list[Record]: ...
    def read(self, records: Sequence[Record]) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class Reading(Generic[E]):
    """A measurement of points, read once more, and charged at the price that was asked."""

    measured: _OfPoints
    cost: Cost
    reader: Callable[[Any], E]

    is_public: ClassVar[bool] = False

    @property
    def request(self) -> Points:
        """What is asked of the rows."""
        return self.measured.points

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of the noise or the choice, in words."""
        return self.measured.laws

    def coarse(self) -> Self:
        """Return the same on a grid of few cells, where it is asked of all cells; see `Coarse`."""
        fine = self.measured
        return replace(self, measured=fine.coarse()) if isinstance(fine, Coarse) else self

    @property
    def landmarks(self) -> tuple[tuple[int, ...], ...]:
        """Those of what is measured."""
        return self.measured.landmarks

    def distribution(self, exact: Any) -> tuple[Part, ...] | None:
        """Return the law of what is measured; see `Distributed`."""
        return self.measured.distribution(exact)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Measure."""
        return self.measured.release(exact, words)

    def read(self, records: Sequence[Record]) -> tuple[E, ...]:
        """Read what was measured: post-processing."""
        return tuple(self.reader(one) for one in self.measured.read(records))


def counted_rows(rows: Any) -> int:
    """Return a public number of points as an integer."""
    given = native(rows)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidQuery(
            f"rows: {shown(rows)} is no number of points; give your guess, known in public"
        )
    return given


def placed(region: Region) -> Callable[[Middle], Placed]:
    """Return what reads cells as coordinates."""
    return lambda middle: Placed(region.place(np.array(middle.cells, dtype=float)), region)


def inside_of(price: Cost, asked: tuple[str, str]) -> ZCDP | GDP:
    """Return the rho or mu in which stages compose; asked: what is, and what to ask at delta 0."""
    match price:
        case ZCDP() | GDP():
            return price
        case Approximate() if price.delta:
            return price.largest_gdp()
        case _:
            what, instead = asked
            raise InvalidQuery(
                f"price: {price} given; {what} needs rho, mu, or epsilon with a delta; for delta 0 "
                f"ask {instead}"
            )


def best_for_choices(price: Cost, choices: int) -> Cost:
    """Return the currency within a price in which each of several choices gets the most."""
    if not isinstance(price, Approximate):
        return price
    pure = Pure(price.epsilon)
    if not price.delta:
        return pure
    zcdp = price.largest_zcdp()
    return zcdp if range_epsilon(zcdp, choices) > range_epsilon(pure, choices) else pure
