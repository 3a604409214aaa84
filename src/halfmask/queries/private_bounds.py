"""Bounds that are bought: a range that holds most values of a column, wherever they lie."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import OnGrid
from halfmask.privacy import Cost, exact
from halfmask.queries.pricing import strength
from halfmask.queries.quantile import Asked
from halfmask.queries.quantile_chosen import Quantiles
from halfmask.queries.quantile_grid import REAL_STEP, Bound, QuantileGrid
from halfmask.queries.setting import Setting

__all__ = ["Bounds", "Tails", "apart"]

OWN = 0.5
"""How far beyond the outermost rows a bound is aimed, in scales of rank; measured: 0.5 to 1."""

FALL = 2
"""How much less likely far octaves are: 1/2^FALL of the one before, beside their width."""


@dataclass(frozen=True, repr=False)
class Bounds(Asked):
    """A range that holds about `coverage` of the values: as many rows lie below as above it.

    No bounds are needed: values are sought by octaves around zero, see `Quantile`.
    Privacy: the price; two quantiles, see `Quantile`.

    >>> Bounds("salary", coverage=0.95)
    Bounds('salary', coverage=0.95)
    """

    coverage: float = 0.95

    def __post_init__(self) -> None:
        try:
            exact(self.coverage, "coverage", largest=Fraction(999_999, 10**6))
        except InvalidQuery:
            raise InvalidQuery(
                f"coverage: {shown(self.coverage)} is no share of the rows below 1; give 0.95"
            ) from None

    def __repr__(self) -> str:
        return f"Bounds({self.column!r}, coverage={self.coverage!r})"

    def _bounds(self) -> tuple[Bound, Bound]:
        return None, None

    def _is_alone(self) -> bool:
        return False

    def _quantiles(self) -> tuple[Fraction, ...]:
        side = ((1 - exact(self.coverage, "coverage")) / 2).limit_denominator(10**6)
        return side, 1 - side

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"bounds of {self.column} for {100 * float(self.coverage):.6g} % of the rows"


@dataclass(frozen=True, repr=False)
class Tails(Asked):
    """The values with `rows` rows below, and above: the best clip bounds for noise of that size.

    Clipping at u takes the sum of (x - u) over the larger values away, and the noise grows with u:
    bias + noise is least where as many rows lie above u as the noise of a sum spans times u.
    Privacy: the price; ranks 0 and 1 with a public offset, see `Line`.
    """

    rows: int = 0

    def __repr__(self) -> str:
        return f"Tails({self.column!r}, rows={self.rows})"

    @classmethod
    def least(cls, column: str, setting: Setting, price: Cost, rest: Cost) -> "Tails":
        """Minimise bias + noise of a sum at `rest`, with bounds that are bought at `price`.

        As many rows are beyond each bound as the noise of the sum spans, sqrt(2)/epsilon, and the
        choice itself errs by.
        """
        plain = cls(column).prepare(setting, price)
        rate = min(node.rate for level in plain.plan.levels for node in level)
        own = OWN / (float(rate) * plain.request.weight)
        return cls(column, math.ceil(math.sqrt(2) * setting.rows / strength(rest) + own))

    def finds(self, setting: Setting, price: Cost, rows: int) -> bool:
        """Whether so many rows outweigh the octaves nearer to zero, as values of 2^20 need."""
        plan = self.prepare(setting, price).plan
        rate = min(node.rate for level in plan.levels for node in level)
        parts = self._request(setting).weight
        return float(rate) * parts * (rows - self.rows) > FALL * (20 - REAL_STEP) * math.log(2)

    def _bounds(self) -> tuple[Bound, Bound]:
        return None, None

    def _is_alone(self) -> bool:
        return False

    def _quantiles(self) -> tuple[Fraction, ...]:
        return Fraction(0), Fraction(1)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"values of {self.column} with {self.rows} rows beyond"

    def _grid(self, setting: Setting) -> QuantileGrid:
        """Take the whole line, far octaves less likely; refuse times, of which there is no mean.

        A bound 2^i too far has 2^i times the noise, and the octave 1/4^i of the weight: so hardly
        any octave adds to the mean square of the error, while a far bound is still found.
        """
        setting.schema.numeric(self.column)
        return replace(super()._grid(setting), fall=FALL)

    def prepare(self, setting: Setting, price: Cost) -> Quantiles:
        """Fix the grid and the choices; see `Query`."""
        prepared = super().prepare(setting, price)
        offset = self.rows * prepared.request.weight
        return replace(prepared, plan=prepared.plan.shifted((offset, -offset)))


def apart(found: tuple[float, float], grid: OnGrid) -> tuple[float, float]:
    """Order two bounds, and widen them where they are too close to lay a grid between them."""
    lower, upper = sorted(found)
    least = max(2.0**grid.log2_step, max(abs(lower), abs(upper)) * 2.0**-30)
    return lower, max(upper, lower + least)
