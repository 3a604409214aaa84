"""What may be asked of rows beside a tally: counts by what the rows themselves hold, and points.

The answers are exact integers like those of a tally, but their shape depends on the rows. So they
meet a mechanism that chooses or thresholds, never a reader.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from halfmask.errors import InvalidQuery
from halfmask.plan.predicates import Everything, Predicate
from halfmask.plan.schema import Schema
from halfmask.plan.tally import Groups, OnGrid, Tally, UnitBound

__all__ = ["FoundKeys", "GridCounts", "Points", "Request", "Tallies"]

A = TypeVar("A", covariant=True)


class Request(Protocol[A]):
    """A question to a source, and which of its methods answers it."""

    def answered_by(self, source: Any) -> A:
        """Return the exact integers; called behind the door alone."""
        ...

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve it; reads no row."""
        ...

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that are read, each once."""
        ...


@dataclass(frozen=True)
class GridCounts:
    """How much weight of rows lies in each cell of a fine public grid, by public group.

    The answer, for each group in the product order of `groups`: (cells, weights), two equally long
    int64 arrays of cells in rising order (as in `OnGrid`, less the origin) and positive weights.
    Times count as microseconds since 1970. Rows whose value is missing are dropped. Each row weighs
    `weight`; with `unit`, the weights of one unit are scaled down so that they sum to at most
    `unit.norm` in each public group that it keeps (`unit.groups` of them), or over all groups where
    that is None, rounded towards zero.

    >>> GridCounts(OnGrid("pay", 0, 1000, 0)).weight
    1
    """

    value: OnGrid
    weight: int = 1
    groups: Groups = ()
    where: Predicate = field(default_factory=Everything)
    unit: UnitBound | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.weight <= 2**20:
            raise InvalidQuery(f"weight: {self.weight} of a row; keep it between 1 and 2^20")

    @property
    def tally(self) -> Tally:
        """The tally of the same rows and bounds, without the cells."""
        return Tally(((0, self.weight, 0, 0),), self.value, self.groups, self.where, self.unit)

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that are read, each once."""
        return self.tally.columns()

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve it; reads no row."""
        if schema.column(self.value.column).kind != "time":
            schema.numeric(self.value.column)
        Tally(((1, 0, 0, 0),), None, self.groups, self.where, self.unit).check(schema)

    def answered_by(self, source: Any) -> Any:
        """Return the source's `grid_counts`."""
        return source.grid_counts(self)


@dataclass(frozen=True)
class FoundKeys:
    """A tally by the keys that the rows of a column hold: text, integers or truth values.

    The answer: ((key, features), ...) in the order of the keys, a missing key as None and last.
    With `tally.unit`, a unit keeps at most `unit.groups` of its keys, those that draw its smallest
    lots, and is scaled to the norm in each; `unit.groups` None scales it over all.
    The tally has no groups of its own.

    >>> FoundKeys("city", Tally(((1, 0, 0, 0),))).column
    'city'
    """

    column: str
    tally: Tally

    def __post_init__(self) -> None:
        if self.tally.groups:
            raise InvalidQuery("keys: found keys go with no public groups; ask one or the other")

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that are read, each once."""
        return tuple(dict.fromkeys((self.column, *self.tally.columns())))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve it; reads no row."""
        self.tally.check(schema)
        kind = schema.column(self.column).kind
        if kind in ("real", "time"):
            raise InvalidQuery(
                f"keys: column {self.column!r} is of kind {kind!r}, which makes no keys; group it "
                "by Histogram's edges, or declare it 'text' in the schema"
            )

    def answered_by(self, source: Any) -> Any:
        """Return the source's `found_keys`."""
        return source.found_keys(self)


@dataclass(frozen=True)
class Points:
    """Rows as points on a public grid: a `Cloud`, each column as in `OnGrid`.

    A row with any missing coordinate is dropped. With `unit` (a column), a unit keeps at most
    `rows` of its rows, those that draw its smallest lots: numbers computed from the unit and the
    row's own points. Rows of a missing unit are dropped. The order of the rows means nothing: a
    mechanism must not use it.

    >>> Points((OnGrid("x0", -8, 8, 0), OnGrid("x1", -8, 8, 0))).size
    2
    """

    values: tuple[OnGrid, ...]
    where: Predicate = field(default_factory=Everything)
    unit: str | None = None
    rows: int = 1

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidQuery("columns: none are given; name at least one")
        if self.rows < 1:
            raise InvalidQuery(f"unit: {self.rows} rows per unit; allow at least 1")

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.values)

    def coarser(self, most: int) -> "Points":
        """Return the same points on grids of at most so many cells a coordinate."""
        return replace(self, values=tuple(value.coarser(most) for value in self.values))

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that are read, each once."""
        unit = (self.unit,) if self.unit is not None else ()
        values = (value.column for value in self.values)
        return tuple(dict.fromkeys((*unit, *values, *self.where.columns())))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve it; reads no row."""
        for value in self.values:
            schema.numeric(value.column)
        self.where.check(schema)
        if self.unit is not None:
            schema.column(self.unit)

    def answered_by(self, source: Any) -> Any:
        """Return the source's `cloud`."""
        return source.cloud(self)


@dataclass(frozen=True)
class Tallies:
    """Several tallies of the same public groups, one a candidate; the answer is one of each.

    >>> Tallies((Tally(((1, 0, 0, 0),)),)).columns()
    ()
    """

    tallies: tuple[Tally, ...]

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that are read, each once."""
        return tuple(dict.fromkeys(name for tally in self.tallies for name in tally.columns()))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve one of them; reads no row."""
        for tally in self.tallies:
            tally.check(schema)

    def answered_by(self, source: Any) -> tuple[Any, ...]:
        """Return the source's `tally` of each."""
        return tuple(source.tally(tally) for tally in self.tallies)
