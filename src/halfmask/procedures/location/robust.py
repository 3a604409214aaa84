"""A robust private centre: coordinate medians, scales, then noisy steps of a spatial sign."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import ClassVar

from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost, Relation
from halfmask.procedures.location.asked import Centre, counted_rows, inside_of
from halfmask.procedures.location.composite import Composite
from halfmask.procedures.location.stages import Place, RobustStages
from halfmask.queries import Expected, Setting, strength
from halfmask.queries.location import Region

__all__ = ["RobustLocation"]

INSTEAD = "a robust location", "BoxMedian, SpatialMedian or CoordinateMedian"


@dataclass(frozen=True)
class RobustLocation(Centre):
    """The centre of points, little moved by a quarter of outliers or by heavy tails.

    Coordinate medians find the points, median distances their scales; then Newton's steps of the
    mean direction, in which coordinates are held to 1.5 scales and far points do not count. How far
    a step goes is measured, so heavy tails and outliers do not make it too long. On normal data its
    own sampling error is 1 to 5 % above the mean's.
    What is estimated: the point where the mean direction vanishes: the centre of symmetric data;
    on skewed data a point between the coordinate medians and the spatial median.

    center, radius: the box in which the points' centre is sure to lie, from center - radius to
      center + radius: numbers, or one for each column. Points outside are moved to its edge.
    columns: names; None takes every numeric column.
    rows: how many there are, if that is known or supposed in public: then the price is split by it,
      and what cannot succeed is refused before it costs anything. None splits by a noisy count.
    plan: shares of the price for (location, scale, refinement), such as (0.7, 0.2, 0.1); None
      splits by public facts.
    whiten: whether the steps are taken in coordinates in which the points are round, told by a
      sign covariance for a fifth of refinement. The error along the short axes of correlated
      points is then small as they are, and no larger along the columns; for points that are round
      already it is 1 to 4 % more.

    Privacy: rho-zCDP or mu-GDP, the sum over the stages; an (epsilon, delta) buys the largest mu
    within it, which is exact: all but two choices of lengths, and of medians where there are rows
    enough, is Gaussian noise. [Dong, Roth & Su 2022, Cor. 1, adaptively Smith & Thakurta 2022;
    Canonne, Kamath & Steinke 2020, Thm 14; for choices Cesar & Rogers 2021 and `range_epsilon`]

    >>> RobustLocation(center=0, radius=100).title
    'robust centre of all numeric columns'
    """

    rows: int | None = None
    plan: tuple[float, float, float] | None = None
    whiten: bool = False

    tries: ClassVar[int] = 200
    what: ClassVar[str] = "robust centre of"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is not None:
            object.__setattr__(self, "rows", counted_rows(self.rows))
        if self.plan is None:
            return
        try:
            object.__setattr__(self, "plan", tuple(self.plan))
            shares = [Fraction(str(share)) for share in self.plan]
        except (TypeError, ValueError):
            shares = []
        if len(shares) != 3 or min(shares) <= 0 or sum(shares) != 1:
            raise InvalidQuery(
                f"plan: {self.plan} are no shares of location, scale and refinement; give three "
                "positive numbers that sum to 1, such as (0.7, 0.2, 0.1)"
            )

    def prepare(self, setting: Setting, price: Cost) -> Composite[Place]:
        """Fix the points and the stages."""
        region, inside = self.box.region(setting), inside_of(price, INSTEAD)
        stages = self._stages(region, setting)
        if self.rows is not None:
            budget = stages.budget(self.rows, inside)
            if not budget.feasible:
                raise InvalidQuery(
                    f"rows: {self.rows} points in {region.size} dimensions are too few for "
                    f"{price} within these bounds: about {budget.needed} are needed; ask with a "
                    "larger price, tighter bounds, or fewer columns. Nothing was charged."
                )
        stages.rehearse(inside)
        laws = ("Gaussian noise on comparisons, or choices by ranks, then on sums of directions",)
        return Composite(stages.points, stages, price, inside, laws)

    def _stages(self, region: Region, setting: Setting) -> RobustStages:
        replaced = setting.unit.relation is Relation.REPLACE
        request, moved = region.request(setting), region.moved(setting)
        return RobustStages(region, request, moved, replaced, self)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1."""
        region, inside = self.box.region(setting), inside_of(price, INSTEAD)
        stages = self._stages(region, setting)
        unsure = 0.0 if self.rows is not None else stages.unsure(inside)
        budget = stages.budget(rows - unsure, inside)
        feasible = stages.budget(rows - 2 * unsure, inside).feasible
        rho = strength(stages.left(budget, inside)) ** 2 / 2
        error = budget.error(rows, region.size, rho, stages.moved) / sqrt(region.size)
        expected = self.foreseen(error, region, feasible)
        width = 2 * NormalDist().inv_cdf(0.975) * error if feasible else expected.rmse
        return replace(expected, interval_width=width * (self.deviation or 1.0))
