"""The spatial median, chosen over the whole grid at delta 0."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost
from halfmask.procedures.location.asked import (
    Centre,
    Placed,
    Reading,
    best_for_choices,
    placed,
)
from halfmask.procedures.location.feasible import enough, finds_spatial
from halfmask.procedures.location.normal import middle_radius, tuning
from halfmask.queries import Expected, Setting, range_epsilon
from halfmask.queries.location import SpatialPoint

__all__ = ["SpatialMedian"]

WORK = 2.0**36
"""Of rows times columns squared: minutes."""


@dataclass(frozen=True)
class SpatialMedian(Centre):
    """The point with the least sum of distances to all others, at delta 0 in any dimension.

    Distances are in radii: with one radius for all columns they are plain ones, with one for each
    the columns count alike, whatever their units. It estimates the centre of symmetric data, on
    normal points with an error that is hardly above the mean's; a quarter of gross outliers moves
    it by about a third of the other points' usual distance from their centre. With so many, about
    twice the rows are needed that its preview asks for, and more where points are stretched.

    The draw is exact and takes as long as the rows make it: milliseconds to seconds up to three
    columns, up to many minutes with four. With more columns it takes milliseconds where points
    spread alike in all directions, seconds where one direction is ten times as wide as others, and
    may not end in any reasonable time where most points lie near one line or plane, are in two
    distant clumps, or have one column a thousand times as wide as others under the same radius:
    give each column a radius of its own, or ask a `BoxMedian`, which never takes long. Whoever
    stops it shows that it took long, and the price stays charged.

    center, radius, columns: see `RobustLocation`.
    rows: how many points there are, if that is known or supposed in public: then too few or too
      many are refused before they cost anything.

    Privacy: epsilon-DP, by the exponential mechanism on the length of the sum of directions, which
    a row changes by at most 1; epsilon^2/8-zCDP.
    [McSherry & Talwar 2007, Thm 6; Cesar & Rogers 2021, Lemma 3.4]

    >>> SpatialMedian(center=0, radius=100, columns=["x", "y"]).title
    'spatial median of x, y'
    """

    rows: int | None = None

    what: ClassVar[str] = "spatial median of"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows is not None and (
            isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1
        ):
            raise InvalidQuery(f"rows: {self.rows!r} is no number of points; give one, or None")

    def prepare(self, setting: Setting, price: Cost) -> Reading[Placed]:
        """Fix the points and the choice."""
        self.held(setting)
        if self.rows is not None:
            self._refuse(setting, price, self.rows)
        region, inside = self.box.region(setting), best_for_choices(price, 1)
        moved, request = region.moved(setting), region.request(setting)
        choice = SpatialPoint(request, moved, inside, region.lengths)
        return Reading(choice, price, placed(region))

    def _refuse(self, setting: Setting, price: Cost, rows: int) -> None:
        d = self.box.region(setting).size
        if not self._finds(setting, price, rows):
            would = enough(lambda n: self._finds(setting, price, n))
            raise InvalidQuery(
                f"rows: {rows} points in {d} dimensions are too few for {price} within these "
                f"bounds: {would}; ask with a larger price, tighter bounds, or fewer columns. "
                "Nothing was charged."
            )
        if rows * d * d > WORK:
            raise InvalidQuery(
                f"rows: {rows} points in {d} dimensions would take hours; ask a RobustLocation, "
                "or at delta 0 a BoxMedian or CoordinateMedian. Nothing was charged."
            )

    def _rate(self, setting: Setting, price: Cost) -> float:
        region = self.box.region(setting)
        return float(range_epsilon(best_for_choices(price, 1))) / 2 / region.moved(setting)

    @staticmethod
    def _slope(d: int) -> float:
        """By how much the mean direction of standard normal points rises about their centre."""
        return 1 / tuning(d, 0.0).step / middle_radius(d)

    def _finds(self, setting: Setting, price: Cost, rows: int) -> bool:
        region = self.box.region(setting)
        pull = self._rate(setting, price) * rows
        return finds_spatial(pull, self.octaves(region), region.size, self._slope(region.size))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a coordinate for normal data of deviation 1.

        At a distance t from the centre the score is rows * slope * t, so the choice lies at a
        distance of density t^(d-1) exp(-rate rows slope t), whose mean square is d (d+1) scales^2.
        """
        region = self.box.region(setting)
        d = region.size
        noise = sqrt(d + 1) / (self._rate(setting, price) * rows * self._slope(d))
        error = sqrt(tuning(d, 0.0).variance / rows + noise * noise)
        expected = self.foreseen(error, region, self._finds(setting, price, rows))
        return replace(expected, rough=False)  # a tenth of a second each: too slow to try often
