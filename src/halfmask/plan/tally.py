"""A tally: the one shape in which exact integers leave a table.

Each row adds an integer vector (`features`) to its public group; the rows of one privacy unit are
summed first and scaled down to a bound; then all units are summed. Every part is public.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from itertools import pairwise
from math import isnan, prod
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.filters import Filters
from halfmask.plan.predicates import Everything, Predicate
from halfmask.plan.reading import instant, microseconds, reading, scalar
from halfmask.plan.schema import Schema

__all__ = ["OTHER", "Bins", "Features", "Groups", "Keys", "OnGrid", "Other", "Tally", "UnitBound"]

Features = tuple[tuple[int, int, int, int], ...]
"""Each feature of a row as integer coefficients over (1, p, v, v²).

p is 1 where the row has a value (not null, NaN or unreadable) and 0 where not; v is the value on
its grid less the origin, and 0 where p is 0.
"""

_WIDEST = 2**64
"""Features of one row, all together: so that 2^40 rows of one unit stay under 2^104."""

_MOST_GROUPS = 2**24


@dataclass(frozen=True)
class OnGrid:
    """A numeric column as integers: v = floor(clip(x, lower, upper) / step) - origin.

    step is 2**log2_step; lower, upper and origin are integers in steps. x is the double nearest
    to the cell; an infinite x counts as the bound on its side.
    """

    column: str
    lower: int
    upper: int
    log2_step: int
    origin: int = 0

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise InvalidQuery(f"bounds: lower {self.lower} is not below upper {self.upper}")
        if max(abs(self.lower), abs(self.upper), abs(self.origin)) > 2**53:
            raise InvalidQuery("bounds: a grid of more than 2^53 steps; use a coarser one")
        if not -1000 <= self.log2_step <= 960:
            raise InvalidQuery(
                f"bounds: a grid step of 2^{self.log2_step}; keep it between 2^-1000 and 2^960"
            )

    @property
    def reach(self) -> int:
        """The largest |v| of any row."""
        return max(abs(self.lower - self.origin), abs(self.upper - self.origin))

    def coarser(self, most: int) -> "OnGrid":
        """Return a grid over these bounds of at most so many cells, 3 at least.

        >>> OnGrid("pay", 0, 1000, 0).coarser(16)
        OnGrid(column='pay', lower=0, upper=15, log2_step=6, origin=0)
        """
        bits = 0
        while (self.upper >> bits) - (self.lower >> bits) >= max(most, 3):
            bits += 1
        return OnGrid(
            self.column,
            self.lower >> bits,
            self.upper >> bits,
            self.log2_step + bits,
            self.origin >> bits,
        )


class Other(Enum):
    """The label of the group of all other keys: no text, so that no key can be mistaken for it."""

    OTHER = "other"

    def __str__(self) -> str:
        return "other"

    def __repr__(self) -> str:
        return "OTHER"


OTHER = Other.OTHER


@dataclass(frozen=True)
class Keys:
    """Groups by public values of one column; None stands for a missing key.

    Values are all text, all integers or all truth values; one more may be None. An unread column
    is read as what they are, and a cell that does not read so is missing.
    other: one more group, labelled `OTHER`, of every row whose key is none of the values: a missing
    key too, unless None is one of them. Then each row is in exactly one group.

    >>> Keys("dept", ["ops", "r&d", None]).size
    3
    >>> Keys("dept", ["ops", "r&d"], other=True).labels
    ('ops', 'r&d', OTHER)
    """

    column: str
    values: tuple[object, ...] = field(default_factory=tuple)
    other: bool = False
    kinds: tuple[type, ...] = field(init=False, repr=False)  # True == 1, but not as a key

    def __init__(self, column: str, values: object, other: bool = False) -> None:
        if not isinstance(other, bool):
            raise InvalidQuery(f"other: {shown(other)} given; give True or False")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise InvalidQuery(f"keys: {shown(values)} is no list of values; write [...]")
        plain = tuple(None if value is None else scalar(value, "keys") for value in values)
        if not isinstance(column, str):
            raise InvalidQuery(f"keys: a column is named by text, not by {shown(column)}")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "values", plain)
        object.__setattr__(self, "other", other)
        self.__post_init__()

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(map(type, self.values)))
        if not self.values:
            raise InvalidQuery("keys: no values are given; list the public groups")
        types = {type(value) for value in self.values if value is not None}
        if not types <= {str, int, bool}:
            raise InvalidQuery(
                "keys: must be text, integers, truth values or None, given "
                f"{', '.join(sorted(kind.__name__ for kind in types))}; "
                "group other numbers by Bins"
            )
        if len(types) > 1:
            raise InvalidQuery("keys: the list mixes kinds; use one kind of value")
        if len(set(self.values)) < len(self.values):
            twice = next(v for v in self.values if self.values.count(v) > 1)
            raise InvalidQuery(f"keys: {shown(twice)} is listed twice; remove one")

    def columns(self) -> tuple[str, ...]:
        """Return the name of the column."""
        return (self.column,)

    @property
    def labels(self) -> tuple[object, ...]:
        """The keys of all groups, in order; that of all other keys comes last."""
        return (*self.values, OTHER) if self.other else self.values

    @property
    def size(self) -> int:
        """The number of groups."""
        return len(self.values) + self.other

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the column is missing or of a kind that the keys cannot match."""
        column = schema.column(self.column)
        for value in self.values:
            if value is None:
                continue
            assert isinstance(value, str | int)  # noqa: S101
            if reading(column, value, "keys") == "time":
                raise InvalidQuery(
                    f"keys: column {self.column!r} holds times, which are no keys; use where="
                )
            if column.kind in ("real", "unread") and isinstance(value, int) and abs(value) > 2**53:
                raise InvalidQuery(
                    f"keys: {value} is above 2^53 and column {self.column!r} is read as doubles; "
                    "declare it 'integer' in the schema"
                )


@dataclass(frozen=True)
class Bins:
    """Groups by public edges: [e0, e1), [e1, e2), ..., and the last bin closed on the right.

    The first edge may be -inf and the last inf. Values outside, and missing ones, fall in no bin.
    An infinite value falls in the outer bin whose edge is that infinity. Values are not put on a
    grid: the double nearest to the cell is compared with the edges.
    Edges may be dates, datetimes or ISO texts: then `timed`, and the column is one of times; edges
    are kept as microseconds since 1970, which doubles hold exactly.

    >>> Bins("age", [0, 18, 65, float("inf")]).edges
    (0.0, 18.0, 65.0, inf)
    """

    column: str
    edges: tuple[float, ...]
    timed: bool = False

    def __post_init__(self) -> None:
        try:
            given: list[Any] = list(self.edges)
            if given and all(isinstance(edge, str | date) for edge in given):
                given = [microseconds(instant(scalar(edge, "edges"), "edges")) for edge in given]
                object.__setattr__(self, "timed", True)
            edges = tuple(float(edge) for edge in given)
        except (TypeError, ValueError, OverflowError):
            raise InvalidQuery(
                f"edges: {shown(self.edges)} is no list of numbers, or of dates such as 2024-02-29"
            ) from None
        if len(edges) < 2:
            raise InvalidQuery(f"edges: {len(edges)} of them make no bin; give at least two edges")
        if any(map(isnan, edges)):
            raise InvalidQuery("edges: one edge is NaN; leave it out")
        for left, right in pairwise(edges):
            if not left < right:
                raise InvalidQuery(f"edges: {right} follows {left}; sort them, each once")
        object.__setattr__(self, "edges", edges)

    @property
    def size(self) -> int:
        """The number of groups."""
        return len(self.edges) - 1

    def columns(self) -> tuple[str, ...]:
        """Return the name of the column."""
        return (self.column,)

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the column is missing or not of the edges' kind."""
        if self.timed:
            reading(schema.column(self.column), datetime.min, "edges")
        else:
            schema.numeric(self.column)


Groups = tuple[Keys | Bins | Filters, ...]
"""Public groups, crossed: a row is counted where all of them put it."""


@dataclass(frozen=True)
class UnitBound:
    """What one privacy unit may add.

    column: the unit's column; rows whose unit is missing are dropped.
    norm: the L1 norm, over all features of one group (or over all groups, where groups is None),
      to which the unit's summed vector is scaled down, each entry rounded towards zero.
    groups: where given, the unit keeps at most so many of its groups, those that draw its smallest
      lots, computed from the unit and the group; each is then scaled to the norm on its own.
    once: the rows of a unit in a group count as a single row with the coefficient of 1 alone.
    """

    column: str
    norm: int
    groups: int | None = None
    once: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.norm <= 2**96:
            raise InvalidQuery(f"unit: a norm of {self.norm}; keep it between 1 and 2^96")
        if self.groups is not None and self.groups < 1:
            raise InvalidQuery(f"unit: {self.groups} groups per unit; allow at least 1")


@dataclass(frozen=True)
class Tally:
    """Exact integer sums of row vectors, by public group, each unit bounded.

    Without `unit` each row is a unit of its own and needs no bounding.

    >>> Tally(((0, 1, 0, 0), (0, 0, 1, 0)), OnGrid("pay", 0, 1000, 0)).reach
    1001
    """

    features: Features
    value: OnGrid | None = None
    groups: Groups = ()
    where: Predicate = field(default_factory=Everything)
    unit: UnitBound | None = None

    def __post_init__(self) -> None:
        if not self.features:
            raise InvalidQuery("tally: no features are asked; name at least one")
        if self.value is None and any(any(feature[1:]) for feature in self.features):
            raise InvalidQuery("tally: a feature needs a value, and no column is given")
        if self.reach > _WIDEST:
            raise InvalidQuery(
                f"tally: one row may add {self.reach}, above 2^64; use a coarser grid"
            )
        if self.size > _MOST_GROUPS:
            raise InvalidQuery(f"groups: {self.size} groups, above 2^24; use fewer keys or bins")

    @property
    def reach(self) -> int:
        """The largest L1 norm of the features of one row."""
        v = self.value.reach if self.value else 0
        return sum(
            abs(one) + abs(p) + abs(linear) * v + abs(square) * v * v
            for one, p, linear, square in self.features
        )

    @property
    def size(self) -> int:
        """The number of groups: 1 where rows are not grouped."""
        return prod(group.size for group in self.groups)

    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns that the tally reads, each once."""
        return tuple(dict.fromkeys(self._columns()))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the schema cannot serve the tally; reads no row."""
        if self.value is not None:
            schema.numeric(self.value.column)
        for group in self.groups:
            group.check(schema)
        self.where.check(schema)
        if self.unit is not None:
            schema.column(self.unit.column)

    def answered_by(self, source: Any) -> Any:
        """Return the source's `tally`; called behind the door alone."""
        return source.tally(self)

    def _columns(self) -> Iterator[str]:
        if self.unit is not None:
            yield self.unit.column
        for group in self.groups:
            yield from group.columns()
        if self.value is not None:
            yield self.value.column
        yield from self.where.columns()
