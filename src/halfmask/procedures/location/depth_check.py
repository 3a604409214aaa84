"""A check of a point that was released: how deep it lies among the rows."""

from dataclasses import dataclass, replace
from typing import ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy import Cost, Relation
from halfmask.procedures.location.asked import Reading
from halfmask.procedures.location.publics import along, read_points, read_rays
from halfmask.queries import Expected, Ratio, Setting
from halfmask.queries.location import Box, DepthShare

__all__ = ["CheckedDepth", "DepthCheck"]


@dataclass(frozen=True)
class CheckedDepth:
    """The share of the rows on the emptiest side of a point: noisy, and what it tells."""

    share: Ratio
    least: float

    @property
    def value(self) -> float:
        """The share, held between 0 and 1."""
        return self.share.value

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the exact share with at least this confidence."""
        return self.share.interval(confidence)

    @property
    def ok(self) -> bool:
        """Whether it is sure, at 95 %, that the point is as deep as was asked."""
        deep = self.share.terms[0].noisy  # none at all, and the share is that of noise
        return deep > 0 and self.interval()[0] >= self.least

    @property
    def statement(self) -> str:
        """What the depth tells, in words."""
        if self.ok:
            return "the point lies amid the rows"
        if self.interval()[1] < self.least:
            return "the point does not lie amid the rows: do not use it"
        return "the noise is too large to tell whether the point lies amid the rows"

    @property
    def doubt(self) -> str:
        """The same, where it is a warning: it then stands in the release's own statement."""
        return "" if self.ok else self.statement

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy counts."""
        return self.share.post_processing


@dataclass(frozen=True)
class DepthCheck:
    """The share of the rows on the emptiest side of a point, which tells a failed centre.

    It is near a half at a centre, and near 0 far outside. `release.estimate.ok` is true where at
    least `least` of the rows is there at 95 % confidence; `.statement` says it in words, and where
    it is false the release says so too.

    point: a coordinate for each column, such as the value of a centre that was released.
    radius: how far from the point rows count as they are: a number, or one for each column. Those
      outside are moved to its edge, on their own side of the point in each column.
    columns: names; None takes every numeric column.
    directions: as for `DepthMedian`.
    least: a share between 0 and a half; a quarter is passed by a centre among a quarter of
      outliers.

    Privacy: epsilon-DP, rho-zCDP or mu-GDP, by noise on two counts of which one row moves one, by
    1; see `DepthShare`. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1; for Gaussian noise Canonne,
    Kamath & Steinke 2020, Thm 14]

    >>> DepthCheck((4.0, 4.1), radius=100).title
    'depth of a point of 2 coordinates'
    """

    point: tuple[float, ...]
    radius: float | tuple[float, ...]
    columns: tuple[str, ...] | None = None
    directions: tuple[tuple[float, ...], ...] | None = None
    least: float = 0.25

    weight: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        (point,) = read_points([self.point], "point", "(4.0, 4.1)")
        object.__setattr__(self, "point", point)
        object.__setattr__(self, "directions", read_rays(self.directions))
        if not isinstance(self.least, int | float) or not 0 < self.least < 0.5:
            raise InvalidQuery(
                f"least: {shown(self.least)} is no share between 0 and 0.5; a quarter is usual"
            )
        assert self.box is not None  # noqa: S101

    @property
    def box(self) -> Box:
        """The bounds within which rows count as they are."""
        return Box.about(self.point, self.radius, self.columns)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"depth of a point of {len(self.point)} coordinates"

    def check(self, setting: Setting) -> None:
        """Refuse a point and directions of another number of columns."""
        along(self.box.region(setting), self.directions)

    def _counts(self, setting: Setting, price: Cost) -> DepthShare:
        region = self.box.region(setting)
        return DepthShare(
            region.request(setting),
            region.moved(setting),
            price,
            along(region, self.directions),
            region.cells(self.point),
            setting.unit.relation is Relation.REPLACE,
        )

    def prepare(self, setting: Setting, price: Cost) -> Reading[CheckedDepth]:
        """Fix the counts and the noise; see `Query`."""

        def read(share: Ratio) -> CheckedDepth:
            return CheckedDepth(share, self.least)

        return Reading(self._counts(setting, price), price, read)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of the share at a centre."""
        (share,) = self._counts(setting, price).read([(rows - rows // 2, rows // 2)])
        return replace(share.expected(), assuming="a point with half of the rows on each side")
