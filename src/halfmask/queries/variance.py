"""Variance and standard deviation of a bounded column."""

from dataclasses import dataclass

from halfmask.privacy import Cost
from halfmask.queries.grid import Range, written
from halfmask.queries.moments import Moments, MomentSums
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.setting import Setting
from halfmask.queries.spread import Spread
from halfmask.queries.supposed import Supposed

__all__ = ["StandardDeviation", "Variance"]


@dataclass(frozen=True, repr=False)
class Variance:
    """The population variance (divisor n) of a column whose values are clipped to the bounds.

    Privacy: epsilon-DP; Bernstein sums of degree 2, see `Moments`; the rest is post-processing.

    >>> Variance("salary", 0, 100_000)
    Variance('salary', 0, 100000)
    """

    column: str
    lower: float
    upper: float

    root = False

    def __post_init__(self) -> None:
        Range(self.lower, self.upper)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.column!r}, {self.lower!r}, {self.upper!r})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        name = "standard deviation" if self.root else "variance"
        return f"{name} of {self.column}, held to {written(self.lower)} to {written(self.upper)}"

    @property
    def weight(self) -> float:
        """Three parts share the rows, and their errors add up to about this many rows."""
        return 2.0

    def body(self) -> Moments:
        """The sums that this is read off."""
        return Moments(self.column, Range(self.lower, self.upper), degree=2)

    def read(self, sums: MomentSums) -> Spread:
        """Read the answer off the noisy sums."""
        return sums.spread(root=self.root)

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or holds no numbers."""
        setting.schema.numeric(self.column)

    def prepare(self, setting: Setting, price: Cost) -> Prepared[Spread]:
        """Fix the tally and the noise; see `Query`."""
        prepared = self.body().prepare(setting, price)
        (output,) = prepared.outputs
        reading = Output(output.mechanism, lambda noisy: self.read(output.read(noisy)), output.step)
        return Prepared(prepared.tally, (reading,))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error for values spread evenly over the bounds, to first order."""
        return self.read(self.body().as_if(setting, price, rows)).expected()

    def supposed(self, setting: Setting) -> Supposed:
        """Return the rows of `expected`; see `Supposes`."""
        words = "values spread evenly over the bounds"
        return Supposed(words, even={self.column: (self.lower, self.upper)})


@dataclass(frozen=True, repr=False)
class StandardDeviation(Variance):
    """The population standard deviation (divisor n) of a column clipped to the bounds.

    Privacy: epsilon-DP; the square root of `Variance` is post-processing.

    >>> StandardDeviation("salary", 0, 100_000)
    StandardDeviation('salary', 0, 100000)
    """

    root = True
