"""The median of each coordinate, and a point deep in all of them at once."""

from dataclasses import dataclass
from math import pi, sqrt
from typing import ClassVar

from halfmask.privacy import Cost
from halfmask.procedures.location.asked import (
    Centre,
    Placed,
    Reading,
    best_for_choices,
    placed,
)
from halfmask.procedures.location.feasible import finds, finds_box
from halfmask.queries import Expected, Setting, range_epsilon
from halfmask.queries.location import BoxPoint, Medians

__all__ = ["BoxMedian", "CoordinateMedian"]


@dataclass(frozen=True)
class CoordinateMedian(Centre):
    """The point whose coordinates are the medians of the columns.

    center, radius, columns: see `RobustLocation`.

    Privacy: epsilon-DP, each coordinate's median at epsilon/d; rho-zCDP, each at
    sqrt(8 rho / d), by bounded range; with a delta, the better of both.
    [McSherry & Talwar 2007, Thm 6; Cesar & Rogers 2021, Lemma 3.4]

    >>> CoordinateMedian(center=0, radius=100).title
    'median of each of all numeric columns'
    """

    what: ClassVar[str] = "median of each of"

    def prepare(self, setting: Setting, price: Cost) -> Reading[Placed]:
        """Fix the points and the choices."""
        region = self.box.region(setting)
        inside = best_for_choices(price, region.size)
        choice = Medians(region.request(setting), region.moved(setting), inside)
        _ = choice.mechanism  # refused here where the price is too small, before it is charged
        return Reading(choice, price, placed(region))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1."""
        region = self.box.region(setting)
        d = region.size
        inside = best_for_choices(price, d)
        each = float(range_epsilon(inside, d)) / region.moved(setting)
        # each rank further is exp(-each) as likely on both sides; a rank is sqrt(2 pi)/n wide
        noise = 2 * sqrt(2) / each / 2 * sqrt(2 * pi) / rows
        error = sqrt(pi / 2 / rows + noise * noise)
        return self.foreseen(error, region, finds(each * rows / 2, self.octaves(region), d))


@dataclass(frozen=True)
class BoxMedian(Centre):
    """A point near the median of every coordinate: deep in nested boxes along the axes.

    Pure epsilon in any dimension, and the least error there is at delta 0 up to ten dimensions or
    so. It estimates the coordinate medians.
    center, radius, columns: see `RobustLocation`.

    Privacy: epsilon-DP, by the exponential mechanism on the depth of the shallowest coordinate;
    epsilon^2/8-zCDP. [McSherry & Talwar 2007, Thm 6; Cesar & Rogers 2021, Lemma 3.4]

    >>> BoxMedian(center=0, radius=100, columns=["x", "y"]).title
    'box median of x, y'
    """

    what: ClassVar[str] = "box median of"

    def prepare(self, setting: Setting, price: Cost) -> Reading[Placed]:
        """Fix the points and the choice."""
        self.held(setting)
        region = self.box.region(setting)
        choice = BoxPoint(
            region.request(setting), region.moved(setting), best_for_choices(price, 1)
        )
        return Reading(choice, price, placed(region))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1.

        The level m of the box has density m^(d-1) exp(-m epsilon / (2 moved)), so it is about
        2 d moved / epsilon, and the point lies uniformly in the box of half-width m sqrt(pi/2)/n.
        """
        region = self.box.region(setting)
        d = region.size
        rate = float(range_epsilon(best_for_choices(price, 1))) / 2 / region.moved(setting)
        half = sqrt(d * (d + 1)) / rate / rows * sqrt(2 * pi) / 2
        noise = half / sqrt(3) * sqrt((d + 2) / d)  # a shell lies further out than its box
        error = sqrt(pi / 2 / rows + noise * noise)
        return self.foreseen(error, region, finds_box(rate * rows, self.octaves(region), d))
