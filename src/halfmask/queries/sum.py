"""The sum of a bounded column."""

from dataclasses import dataclass
from fractions import Fraction

from halfmask.plan import OnGrid, Tally
from halfmask.privacy import Cost
from halfmask.queries.grid import Range, cells_against_noise, lay_grid, written
from halfmask.queries.moments import Moments, MomentSums
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.pricing import mechanism_for, strength
from halfmask.queries.ratio import Linear
from halfmask.queries.scaled import Scaled, expected_noise
from halfmask.queries.setting import Reach, Setting

__all__ = ["Sum"]


@dataclass(frozen=True, repr=False)
class Sum:
    """The sum of a column, each value clipped to [lower, upper]; missing values add nothing.

    With a unit column, the sum of each unit is clipped to `rows_per_unit` rows' worth.
    Privacy: epsilon-DP; one row moves the sum by at most max(|lower|, |upper|) when added or
    removed, upper - lower (or the farther bound, as a value may be missing) when replaced.
    [Dwork, McSherry, Nissim & Smith 2006, Prop. 1]

    >>> Sum("salary", 0, 100_000)
    Sum('salary', 0, 100000)
    """

    column: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        Range(self.lower, self.upper)

    def __repr__(self) -> str:
        return f"Sum({self.column!r}, {self.lower!r}, {self.upper!r})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"sum of {self.column}, held to {written(self.lower)} to {written(self.upper)}"

    @property
    def weight(self) -> float:
        """One row moves the sum by as much as the largest value adds."""
        return 1.0

    def body(self) -> Moments:
        """The two-sided sums that this is read off when other moments are asked with it."""
        return Moments(self.column, Range(self.lower, self.upper))

    def read(self, sums: MomentSums) -> Linear:
        """Read the answer off the noisy sums."""
        return sums.sum()

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or holds no numbers."""
        setting.schema.numeric(self.column)

    def _lay(self, setting: Setting, price: Cost) -> tuple[OnGrid, Reach, Fraction]:
        cells = cells_against_noise(strength(price), setting.rows)
        grid = lay_grid(self.column, Range(self.lower, self.upper), cells)
        farther = max(abs(grid.lower), abs(grid.upper))
        one_sided = max(grid.upper, 0) - min(grid.lower, 0)
        # A unit of many rows may reach the norm on both sides of zero, whatever the bounds.
        many = 2 * farther if grid.lower < 0 < grid.upper else farther
        swing = one_sided if setting.unit.column is None else many
        return grid, setting.reach(farther, swing=swing), Fraction(2) ** grid.log2_step

    def prepare(self, setting: Setting, price: Cost) -> Prepared[Scaled]:
        """Fix the grid, the tally and the noise; see `Query`."""
        grid, reach, step = self._lay(setting, price)
        mechanism = mechanism_for(reach, price)
        tally = Tally(
            ((0, 0, 1, 0),),
            value=grid,
            groups=setting.groups,
            where=setting.where,
            unit=setting.bound(max(abs(grid.lower), abs(grid.upper))),
        )
        output = Output(mechanism, lambda noisy: Scaled(noisy[0], mechanism, step), step)
        return Prepared(tally, (output,))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error: that of the noise alone (clipping is not counted)."""
        _, reach, step = self._lay(setting, price)
        return expected_noise(mechanism_for(reach, price), step)
