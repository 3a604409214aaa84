"""How many rows fall in each public bin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Bins, Tally
from halfmask.privacy import Cost
from halfmask.queries.count import fine
from halfmask.queries.grid import written
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.scaled import ScaledVector, expected_noise
from halfmask.queries.setting import Setting

__all__ = ["Histogram", "between"]


@dataclass(frozen=True)
class Histogram:
    """Counts between public edges: [e0, e1), [e1, e2), ..., the last bin closed on the right.

    Values outside the edges, and missing ones, fall in no bin; let the outer edges be -inf and inf
    to hold them. With a unit column, a unit of more than `rows_per_unit` rows counts as so many,
    spread as its own rows are.
    Privacy: epsilon-DP; one unit moves the counts by rows_per_unit in L1 in all, whatever the
    number of bins (add/remove), by twice that when replaced: bins are disjoint, so they compose in
    parallel. [McSherry 2009, Thm 4]

    >>> Histogram("age", [0, 18, 65, float("inf")]).edges
    (0.0, 18.0, 65.0, inf)
    """

    column: str
    edges: tuple[float, ...]

    def __init__(self, column: str, edges: Sequence[float]) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "edges", _edges(edges))
        Bins(self.column, self.edges)

    def __repr__(self) -> str:
        return f"Histogram({self.column!r}, {list(self.edges)!r})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"number of rows by {self.column}"

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins in words."""
        return tuple(between(low, high) for low, high in pairwise(self.edges))

    @property
    def weight(self) -> float:
        """Rows spread evenly put 1/bins of themselves in each."""
        return float(len(self.edges) - 1)

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or holds no numbers."""
        setting.schema.numeric(self.column)

    def prepare(self, setting: Setting, price: Cost) -> Prepared[ScaledVector]:
        """Fix the bins and the noise; see `Query`."""
        parts = fine(setting, cells=True)
        mechanism = mechanism_for(setting.reach(parts, spread=True), price)
        tally = Tally(
            ((parts, 0, 0, 0),),
            groups=(*setting.groups, Bins(self.column, self.edges)),
            where=setting.where,
            unit=setting.spread_bound(parts),
        )
        step = Fraction(1, parts)
        output = Output(mechanism, lambda noisy: ScaledVector(noisy, mechanism, step), step)
        return Prepared(tally, (output,), cells=len(self.edges) - 1)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of each bin: that of the noise alone."""
        parts = fine(setting, cells=True)
        return expected_noise(
            mechanism_for(setting.reach(parts, spread=True), price), Fraction(1, parts)
        )


def between(low: float, high: float) -> str:
    """A bin in words."""
    if low == -math.inf:
        return "all" if high == math.inf else f"below {written(high)}"
    return f"{written(low)} or more" if high == math.inf else f"{written(low)} to {written(high)}"


def _edges(edges: Sequence[float]) -> tuple[float, ...]:
    try:
        numbers = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(
            f"edges: {shown(edges)} where numbers are needed; give a list like [0, 10, 20]"
        ) from None
    if any(math.isnan(edge) for edge in numbers):
        raise InvalidQuery("edges: one is NaN; give rising numbers")
    return numbers
