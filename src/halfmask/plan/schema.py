"""The public schema: the names and kinds of a table's columns, and nothing about its rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from halfmask.errors import InvalidQuery, SourceError, shown

__all__ = ["Column", "Kind", "Schema"]

Kind = Literal["integer", "real", "text", "time", "boolean", "unread"]
"""``unread``: a cell of text, such as a CSV's, that each query reads as the kind it needs."""

_NUMERIC = ("integer", "real", "boolean", "unread")


@dataclass(frozen=True)
class Column:
    """One column: its name and kind."""

    name: str
    kind: Kind

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
