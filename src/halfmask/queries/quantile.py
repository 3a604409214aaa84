"""Quantiles and the median of a column."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import GridCounts
from halfmask.privacy import Cost, Relation, exact
from halfmask.queries.grid import Range, native, written
from halfmask.queries.prepared import Expected
from halfmask.queries.quantile_chosen import Quantiles
from halfmask.queries.quantile_grid import Bound, QuantileGrid, micros
from halfmask.queries.quantile_plan import QuantilePlan
from halfmask.queries.setting import Setting

__all__ = ["Asked", "Median", "Quantile"]

_PARTS = 2**10
"""Parts of a row, where the rows of a unit are scaled down to so many rows' worth."""

_DENOMINATOR = 10**6


@dataclass(frozen=True)
class Asked:
    """What quantiles share. Values are held to the bounds, where given; missing ones do not count.

    Privacy: the price; each is chosen by the exponential mechanism on its exact rank, see `Line`
    and `QuantilePlan`.
    """

    weight: ClassVar[float] = 1.0

    column: str

    def _bounds(self) -> tuple[Bound, Bound]:
        raise NotImplementedError

    def _quantiles(self) -> tuple[Fraction, ...]:
        raise NotImplementedError

    def _is_alone(self) -> bool:
        raise NotImplementedError

    def _grid(self, setting: Setting) -> QuantileGrid:
        kind = setting.schema.column(self.column).kind
        return QuantileGrid.lay(self.column, kind, *self._bounds())

    def _held(self) -> str:
        lower, upper = self._bounds()
        if lower is None or upper is None:
            return ""
        low, high = (
            written(bound) if isinstance(bound, int | float) else str(bound)
            for bound in (lower, upper)
        )
        return f", held to {low} to {high}"

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there, holds text, or does not fit the bounds."""
        self._request(setting).check(setting.schema)

    def _request(self, setting: Setting) -> GridCounts:
        parts = _PARTS if setting.unit.column is not None else 1
        return GridCounts(
            self._grid(setting).grid, parts, setting.groups, setting.where, setting.bound(parts)
        )

    def prepare(self, setting: Setting, price: Cost) -> Quantiles:
        """Fix the grid and the choices; see `Query`."""
        request = self._request(setting)
        plan = QuantilePlan.best(
            self._quantiles(),
            price,
            setting.rows * request.weight,
            moves=setting.unit.relation is Relation.REPLACE,
            split=setting.by is not None,
        )
        grid = self._grid(setting)
        return Quantiles(request, price, grid, plan, self._quantiles(), self._is_alone())

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error for values spread evenly between the bounds, or else in ranks."""
        asked = self.prepare(setting, price)
        variances = asked.plan.variances()
        ranks = math.sqrt(math.fsum(variances) / len(variances)) / asked.request.weight
        reach = 2.0 * max(asked.rank_error(0.95))
        width = asked.grid.width
        if width is None:
            return Expected(ranks, 0.0, reach, "nothing of the values: errors are counted in ranks")
        scale = width / max(rows, 1)
        unit = ", in seconds" if asked.grid.kind == "time" else ""
        return Expected(
            min(ranks * scale, width),
            0.0,
            min(reach * scale, width),
            f"values spread evenly between the bounds{unit}",
        )


@dataclass(frozen=True, repr=False)
class Quantile(Asked):
    """Quantiles of a column: q of the rows lie below (q = 0.5 is the median).

    q: a number from 0 to 1, or several. lower, upper: public bounds to which values are held; dates
    or ISO texts for a column of times. Without bounds: whole numbers within 2^50, other numbers
    within 2^40 in steps of 2^-12, times from 1900 to 2200.

    The answer is a value of the column's grid: a whole number of an integer column, a time in ISO
    text of a column of times. A value that many rows share is answered as such.
    Privacy: the price; the exponential mechanism on exact ranks; several quantiles choose the
    better of recursive splitting and of a share for each. [McSherry & Talwar 2007, Thm 6; Kaplan,
    Schnapp & Stemmer 2022; proofs: `Line`, `QuantilePlan`]

    >>> Quantile("salary", [0.25, 0.5, 0.75], 0, 400_000)
    Quantile('salary', (0.25, 0.5, 0.75), 0, 400000)
    """

    q: float | tuple[float, ...]
    lower: Bound = None
    upper: Bound = None

    def __init__(
        self, column: str, q: float | Sequence[float], lower: Bound = None, upper: Bound = None
    ) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "q", _plain(q))
        object.__setattr__(self, "lower", native(lower))
        object.__setattr__(self, "upper", native(upper))
        check_bounds(self.lower, self.upper)
        quantiles = self._quantiles()
        if not quantiles:
            raise InvalidQuery("q: none are given; give a number from 0 to 1, or several")
        if len(set(quantiles)) < len(quantiles):
            raise InvalidQuery(f"q: {shown(q)} names a quantile twice; remove one")

    def __repr__(self) -> str:
        return f"Quantile({_arguments(self.column, self.q, self.lower, self.upper)})"

    def _bounds(self) -> tuple[Bound, Bound]:
        return self.lower, self.upper

    def _is_alone(self) -> bool:
        return not isinstance(self.q, tuple)

    def _quantiles(self) -> tuple[Fraction, ...]:
        listed = self.q if isinstance(self.q, tuple) else (self.q,)
        return tuple(_quantile(one) for one in listed)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        listed = ", ".join(f"{float(q):.6g}" for q in self._quantiles())
        plural = "quantile" if self._is_alone() else "quantiles"
        return f"{plural} {listed} of {self.column}{self._held()}"


@dataclass(frozen=True, repr=False)
class Median(Asked):
    """The median of a column: half of the rows lie below; see `Quantile`.

    Privacy: the price, as for `Quantile`.

    >>> Median("salary", 0, 400_000)
    Median('salary', 0, 400000)
    """

    lower: Bound = None
    upper: Bound = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", native(self.lower))
        object.__setattr__(self, "upper", native(self.upper))
        check_bounds(self.lower, self.upper)

    def __repr__(self) -> str:
        return f"Median({_arguments(self.column, self.lower, self.upper)})"

    def _bounds(self) -> tuple[Bound, Bound]:
        return self.lower, self.upper

    def _is_alone(self) -> bool:
        return True

    def _quantiles(self) -> tuple[Fraction, ...]:
        return (Fraction(1, 2),)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"median of {self.column}{self._held()}"


def _plain(q: Any) -> Any:
    """Return a number, or a tuple of plain numbers."""
    if isinstance(q, str) or not hasattr(q, "__len__"):
        return native(q)
    return tuple(map(native, q))


def _arguments(*given: Any) -> str:
    while given and given[-1] is None:
        given = given[:-1]
    return ", ".join(map(repr, given))


def _quantile(q: object) -> Fraction:
    zero = isinstance(q, int | float) and not isinstance(q, bool) and q == 0
    try:
        number = Fraction(0) if zero else exact(q, "q", smallest=Fraction(0), largest=Fraction(1))
    except InvalidQuery:
        raise InvalidQuery(
            f"q: {shown(q)} is no number from 0 to 1; give one such as 0.5 for the median"
        ) from None
    if number.denominator > _DENOMINATOR:
        raise InvalidQuery(f"q: {shown(q)} has more than 6 decimals; round it")
    return number


def check_bounds(lower: Bound, upper: Bound) -> None:
    """Refuse bounds of which one is missing, or that are no bounds of one kind."""
    if (lower is None) != (upper is None):
        raise InvalidQuery(
            "bounds: one of lower and upper is given; give both, or none to search everywhere"
        )
    if lower is None:
        return
    if isinstance(lower, int | float) or isinstance(upper, int | float):
        Range(lower, upper)
    elif not micros(lower) < micros(upper):
        raise InvalidQuery(f"bounds: lower {lower} is not before upper {upper}; swap them")
