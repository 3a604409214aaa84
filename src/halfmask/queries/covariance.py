"""Covariance and correlation matrices of bounded columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import Points
from halfmask.privacy import Approximate, Cost, Pure
from halfmask.queries.covariance_body import CELLS, Body, body_of
from halfmask.queries.covariance_read import Correlations, Covariances
from halfmask.queries.distribution import Noisy
from halfmask.queries.grid import Range, lay_grid, to_float
from halfmask.queries.measurement import Record
from halfmask.queries.prepared import Expected
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.ratio import FIRST_ORDER
from halfmask.queries.setting import Setting
from halfmask.queries.supposed import Supposed

__all__ = ["Correlation", "Covariance", "Products"]

MOST = 50
"""Columns: 1225 pairs of them share the price."""

_ASSUMING = "values spread evenly over the bounds, independently"

LARGEST = 1e150
"""Of a bound: products of two stay finite."""

E = TypeVar("E", Covariances, Correlations)


@dataclass(frozen=True)
class Products(Generic[E]):
    """A measurement of the weighted sums of products of columns.

    Privacy: noise for the reach of the body; see `Body`. [Dwork, McSherry, Nissim & Smith 2006,
    Prop. 1; for Gaussian noise Canonne, Kamath & Steinke 2020, Thm 14]
    """

    points: Points
    body: Body
    mechanism: Additive
    form: type[E]

    @property
    def request(self) -> Points:
        """What is asked of the rows: points on the grids, a unit held to its rows."""
        return self.points

    @property
    def cost(self) -> Cost:
        """The price of the whole."""
        return self.mechanism.cost

    @property
    def is_public(self) -> bool:
        """Sums of products are never public."""
        return False

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise, in words."""
        own, _ = self.body.wholes
        law = self.mechanism.law_in(Fraction(1, own[0]))
        return (f"{law} of a row's parts in one column, on all sums of products",)

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the sums with their noise; see `Distributed`."""
        own, _ = self.body.wholes
        return (Noisy(self.mechanism, tuple(self.body.sums(exact)), Fraction(1, own[0])),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise to the exact sums."""
        return [self.mechanism.release(self.body.sums(exact), words)]

    def read(self, records: Sequence[Record]) -> tuple[E, ...]:
        """Read the matrix off the noisy sums."""
        return tuple(self._read(tuple(int(n or 0) for n in record)) for record in records)

    def _read(self, noisy: tuple[int, ...]) -> E:
        steps = [Fraction(2) ** grid.log2_step for grid in self.points.values]
        scales = tuple(to_float(w * s / 2) for w, s in zip(self.body.widths, steps, strict=True))
        names = tuple(grid.column for grid in self.points.values)
        found = Covariances(noisy, self.body, self.mechanism, names, scales)
        return found if self.form is Covariances else Correlations(found)  # type: ignore[return-value]


@dataclass(frozen=True)
class Covariance:
    """The covariance matrix (divisor n) of up to 50 columns, each held inside its bounds.

    columns: {name: (lower, upper)}. A row with any of them missing is left out.
    The sums that it needs are one body: every column's number, sum and sum of squares as parts that
    add up to one row, and every pair's product, weighted for the least error of the whole matrix.
    Privacy: the price of the whole, unsplit; see `Body`.

    >>> Covariance({"age": (0, 100), "pay": (0, 1000)}).columns["age"]
    (0, 100)
    """

    columns: Mapping[str, tuple[float, float]] = field(hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping):
            raise InvalidQuery(
                f"columns: {shown(self.columns)} given; write {{'age': (0, 100), 'pay': (0, 9e4)}}"
            )
        if not 1 <= len(self.columns) <= MOST:
            raise InvalidQuery(
                f"columns: {len(self.columns)} of them; give between 1 and {MOST}, each with bounds"
            )
        for name, pair in self.columns.items():
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise InvalidQuery(
                    f"columns: {name!r} needs its lower and upper bound, such as (0, 100)"
                )
            bounds = Range(*pair)
            if max(abs(bounds.lower), abs(bounds.upper)) > LARGEST:
                raise InvalidQuery(
                    f"columns: bounds of {name!r} beyond 1e150, whose products overflow; use "
                    "another unit"
                )
        object.__setattr__(self, "columns", {name: tuple(p) for name, p in self.columns.items()})

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"covariances of {', '.join(self.columns)}"

    @property
    def weight(self) -> float:
        """More columns share the noise."""
        return float(len(self.columns))

    def check(self, setting: Setting) -> None:
        """Refuse groups, and columns that are not there or hold no numbers."""
        if setting.by is not None:
            raise InvalidQuery("by: a matrix is asked of one group at a time; filter it by where=")
        for name in self.columns:
            setting.schema.numeric(name)

    def prepare(self, setting: Setting, price: Cost) -> Products[Covariances]:
        """Fix the grids, the weights and the noise; see `Query`."""
        return _products(self.columns, setting, price, Covariances)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error over all entries, for values spread evenly over their bounds."""
        return _expected(self.prepare(setting, price), rows)

    def supposed(self, setting: Setting) -> Supposed:
        """Return the rows of `expected`; see `Supposes`."""
        return _supposed(self.columns, Covariances)


@dataclass(frozen=True)
class Correlation:
    """The correlation matrix of up to 50 columns, each held inside its bounds; as `Covariance`.

    Privacy: post-processing of the sums of `Covariance`. [Dwork & Roth 2014, Prop. 2.1]

    >>> Correlation({"age": (0, 100), "pay": (0, 1000)}).title
    'correlations of age, pay'
    """

    columns: Mapping[str, tuple[float, float]] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", Covariance(self.columns).columns)
        if len(self.columns) < 2:
            raise InvalidQuery("columns: only one is given; a correlation is of two at least")

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"correlations of {', '.join(self.columns)}"

    @property
    def weight(self) -> float:
        """As the covariances'."""
        return float(len(self.columns))

    def check(self, setting: Setting) -> None:
        """Refuse what `Covariance` refuses."""
        Covariance(self.columns).check(setting)

    def prepare(self, setting: Setting, price: Cost) -> Products[Correlations]:
        """Fix the grids, the weights and the noise; see `Query`."""
        return _products(self.columns, setting, price, Correlations)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error over all entries, for independent values spread evenly."""
        return _expected(self.prepare(setting, price), rows)

    def supposed(self, setting: Setting) -> Supposed:
        """Return the rows of `expected`; see `Supposes`."""
        return _supposed(self.columns, Correlations)


def _products(
    columns: Mapping[str, tuple[float, float]], setting: Setting, price: Cost, form: type[E]
) -> Products[E]:
    laid = [lay_grid(name, Range(*pair), Fraction(CELLS)) for name, pair in columns.items()]
    grids = tuple(type(g)(g.column, g.lower, g.upper, g.log2_step, origin=g.lower) for g in laid)
    points = Points(grids, setting.where, setting.unit.column, setting.unit.rows)
    kinds = {Pure: (False,), Approximate: (False, True)}.get(type(price), (True,))
    made = []
    for gaussian in kinds:
        body = body_of(grids, gaussian=gaussian)
        reach = body.reach(setting.unit.relation, setting.unit.rows)
        made.append(Products(points, body, mechanism_for(reach, price), form))
    return min(made, key=_squared)


def _squared(made: Products[Any]) -> float:
    """The expected squared error of all entries, for columns in [-1, 1], times rows squared."""
    spread, (own, pairs) = made.mechanism.standard_deviation, made.body.wholes
    diagonal = sum(8 / 3 * (spread / whole) ** 2 for whole in own)
    return diagonal + sum(2 * (spread / whole) ** 2 for whole in pairs)


def _expected(made: Products[Any], rows: int) -> Expected:
    """Read sums of so many rows, spread evenly, as if they were exact."""
    own, pairs = made.body.wholes
    noisy = [whole * rows // 3 for whole in own for _ in range(3)] + [0] * len(pairs)
    read = made._read(tuple(noisy))
    spread, d = made.mechanism.standard_deviation / max(rows, 1), len(own)
    one = read if isinstance(read, Covariances) else read.covariances
    s = one.scales if one is read else (3**0.5,) * d
    errors = {(i, i): (8 / 3) ** 0.5 * spread / own[i] for i in range(d) if one is read}
    errors |= {place: spread / whole for place, whole in zip(made.body.places, pairs, strict=True)}
    total = sum((1 + (i != j)) * (e * s[i] * s[j]) ** 2 for (i, j), e in errors.items())
    entries = d * d if one is read else d * (d - 1)
    widths = [high - low for _, _, low, high in read.cells()]
    width = sum(widths) / max(len(widths), 1)
    rough = spread > FIRST_ORDER * min(own)
    return Expected((total / entries) ** 0.5, 0.0, width, _ASSUMING, rough)


def _supposed(columns: Mapping[str, tuple[float, float]], form: type[Any]) -> Supposed:
    return Supposed(_ASSUMING, even=columns, paired=form is Correlations)
