"""The median of each coordinate."""

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, ClassVar

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.noise import Words
from halfmask.plan import Points
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries import Expected, Record, Setting
from halfmask.queries.location import Box, Medians, Region, chosen_epsilon

__all__ = ["CoordinateMedian", "Middles"]


@dataclass(frozen=True)
class Middles:
    """A point of coordinate medians. No interval: it would need to know where other points lie."""

    point: tuple[float, ...]
    region: Region

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns."""
        return self.region.names

    @property
    def value(self) -> tuple[float, ...]:
        """The coordinates, in the order of the columns."""
        return self.point

    def interval(self, confidence: float = 0.95) -> tuple[tuple[float, float], ...]:
        """The public bounds: all that is sure of an exact median, given a chosen one."""
        steps = self.region.steps.tolist()
        pairs = zip(self.region.grids, steps, strict=True)
        return tuple((grid.lower * step, grid.upper * step) for grid, step in pairs)


@dataclass(frozen=True)
class _Placed:
    """Medians of cells, read as coordinates and charged at the price that was asked."""

    medians: Medians
    region: Region
    cost: Cost

    is_public: ClassVar[bool] = False

    @property
    def request(self) -> Points:
        """What is asked of the rows."""
        return self.medians.points

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choices, in words."""
        return self.medians.laws

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a cell of each coordinate."""
        return self.medians.release(exact, words)

    def read(self, records: Any) -> tuple[Middles, ...]:
        """Read cells as coordinates."""
        (middle,) = self.medians.read(records)
        return (Middles(self.region.place(np.array(middle.cells, dtype=float)), self.region),)


@dataclass(frozen=True)
class CoordinateMedian:
    """The point whose coordinates are the medians of the columns.

    center, radius, columns: as in `RobustLocation`.

    Privacy: epsilon-DP, each coordinate's median at epsilon/d; rho-zCDP, each at
    sqrt(8 rho / d), by bounded range; with a delta, the better of both.
    [McSherry & Talwar 2007, Thm 6; Cesar & Rogers 2021, Lemma 3.4]

    >>> CoordinateMedian(center=0, radius=100).title
    'median of each of all numeric columns'
    """

    center: float | tuple[float, ...] = 0.0
    radius: float | tuple[float, ...] = 0.0
    columns: tuple[str, ...] | None = None

    weight: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        for name in ("center", "radius", "columns"):
            given = getattr(self, name)
            if hasattr(given, "__iter__") and not isinstance(given, str):
                object.__setattr__(self, name, tuple(given))
        assert self.box is not None  # noqa: S101

    @property
    def box(self) -> Box:
        """The box as bounds."""
        return Box.about(self.center, self.radius, self.columns)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"median of each of {', '.join(self.columns or ('all numeric columns',))}"

    def check(self, setting: Setting) -> None:
        """Refuse columns that are not there or hold no numbers."""
        self.box.region(setting)

    def prepare(self, setting: Setting, price: Cost) -> _Placed:
        """Fix the points and the choices."""
        region = self.box.region(setting)
        inside = _best(price, region.size)
        return _Placed(
            Medians(region.points(setting), region.moved(setting), inside), region, price
        )

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1."""
        region = self.box.region(setting)
        each = float(chosen_epsilon(_best(price, region.size), region.size))
        per_row = each / region.moved(setting)  # a cell one place further is e^-per_row as likely
        noise = sqrt(2) / per_row / rows * sqrt(2 * pi) / 2
        octaves = log(max(region.widths))
        error = sqrt(pi / 2 / rows + noise * noise)
        assumed = "normal points of deviation 1, sampling error counted"
        if per_row * rows / 2 < octaves / 2 + log(region.size) + 3:
            error = float(max(region.widths * region.steps))
            assumed = "too few points for these bounds"
        return Expected(error, 0.0, float(max(region.widths * region.steps)), assumed)


def _best(price: Cost, choices: int) -> Pure | ZCDP:
    """Return the currency in which each choice gets the most."""
    match price:
        case Pure() | ZCDP():
            return price
        case Approximate():
            pure = Pure(price.epsilon)
            if not price.delta:
                return pure
            zcdp = price.largest_zcdp()
            better = chosen_epsilon(zcdp, choices) > chosen_epsilon(pure, choices)
            return zcdp if better else pure
        case GDP():
            raise InvalidQuery("price: a choice has no proved price in mu; give epsilon or rho")
        case _:
            raise InvalidQuery(f"price: {price} given; give epsilon or rho")
