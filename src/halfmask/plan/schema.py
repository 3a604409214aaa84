"""The public schema: names and kinds of columns, what is known of them, and nothing of rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from typing import Any, Literal, get_args

from halfmask.errors import InvalidQuery, SourceError, shown

__all__ = ["Column", "Kind", "Public", "Schema", "Sides"]

Kind = Literal["integer", "real", "text", "time", "boolean", "unread"]
"""``unread``: a cell of text, such as a CSV's, that each query reads as the kind it needs."""

_NUMERIC = ("integer", "real", "boolean", "unread")


@dataclass(frozen=True)
class Public:
    """What you declare of a column, known without looking at its rows: kind, bounds, keys.

    kind: "integer", "real", "text", "time" or "boolean"; None: as the table itself says.
    lower, upper: bounds that values are held to, numbers or, of a column of times, dates.
    keys: the values that `GROUP BY` this column answers for; None in the list: rows without one.

    >>> Public("real", lower=0, upper=100_000)
    Public(kind='real', lower=0, upper=100000, keys=None)
    >>> Public(keys=["ops", "r&d"]).keys
    ('ops', 'r&d')
    """

    kind: Kind | None = None
    lower: float | str | date | None = None
    upper: float | str | date | None = None
    keys: Iterable[Any] | None = None

    def __post_init__(self) -> None:
        if (self.lower is None) != (self.upper is None):
            given, other = ("lower", "upper") if self.upper is None else ("upper", "lower")
            raise InvalidQuery(f"schema: {given} is given without {other}; give both or none")
        if self.lower is not None and self.upper is not None and not _ordered(*self.bounds):
            raise InvalidQuery(
                f"schema: lower {shown(self.lower)} is not below upper {shown(self.upper)}; give "
                "two numbers, or two dates, in their order"
            )
        if isinstance(self.keys, str) or not isinstance(self.keys, Iterable | None):
            raise InvalidQuery(f"schema: keys {shown(self.keys)} are no list; write [...]")
        if self.keys is not None:
            object.__setattr__(self, "keys", tuple(self.keys))

    @property
    def bounds(self) -> tuple[Any, Any]:
        """Both bounds; two None where none are declared."""
        return self.lower, self.upper


def _ordered(lower: Any, upper: Any) -> bool:
    try:
        return bool(lower < upper)
    except TypeError:
        return False


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind, and what else is publicly known of it."""

    name: str
    kind: Kind
    public: Public = field(default=Public(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _is_unicode(self.name):
            raise SourceError(
                f"schema: a column is named {shown(self.name)}; give it a name in valid Unicode"
            )
        if self.kind not in get_args(Kind):
            raise SourceError(
                f"schema: column {self.name!r} has kind {shown(self.kind)}; "
                f"use one of {', '.join(get_args(Kind))}"
            )


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Sides:
    """From which of two joined tables a column is: public names alone.

    on: the column that rows of both are matched by, which stands once in the joined table.
    how: "inner", or "left" where rows of the left table without a match stay.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    on: str
    how: str


@dataclass(frozen=True)
class Schema:
    """The columns in their order; every name once."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for column in self.columns:
            if column.name in seen:
                raise SourceError(
                    f"schema: two columns are named {column.name!r}; rename one of them"
                )
            seen.add(column.name)

    @classmethod
    def of(cls, kinds: Mapping[str, Kind]) -> "Schema":
        """Build a schema from names and kinds.

        >>> Schema.of({"age": "integer", "dept": "text"}).names
        ('age', 'dept')
        """
        return cls(tuple(Column(name, kind) for name, kind in kinds.items()))

    def knowing(self, public: Mapping[str, Public]) -> "Schema":
        """Return the schema with what is publicly known of the columns of these names."""
        for name in public:
            self.column(name)
        return Schema(
            tuple(replace(one, public=public.get(one.name, one.public)) for one in self.columns)
        )

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in table order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the column of that name; InvalidQuery names the nearest ones if there is none."""
        if not isinstance(name, str):
            raise InvalidQuery(f"column: {shown(name)} where a name is needed; name a column")
        for column in self.columns:
            if column.name == name:
                return column
        near = get_close_matches(name, self.names, n=1)
        advice = (
            f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(self.names)}"
        )
        raise InvalidQuery(f"column: there is no {name!r}; {advice}")

    def numeric(self, name: str) -> Column:
        """Return the column if its values can be numbers; InvalidQuery if its kind says not."""
        column = self.column(name)
        if column.kind not in _NUMERIC:
            raise InvalidQuery(
                f"column: {name!r} holds {column.kind}, and a number is needed; name a numeric "
                f"column, or declare it in the schema as 'real' to read its text as numbers"
            )
        return column
