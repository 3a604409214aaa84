"""Public row filters as inert data: ``(col("age") >= 18) & ~col("dept").is_in(["ops"])``.

Logic is two-valued: a comparison with a missing value (null, NaN, or text that does not read as
what is asked) is false, and so its negation ``~`` is true, on every engine.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from keyword import iskeyword
from typing import Literal, get_args

from halfmask.errors import InvalidQuery
from halfmask.plan.reading import Scalar, reading, scalar
from halfmask.plan.schema import Schema

__all__ = [
    "Among",
    "And",
    "Comparison",
    "Everything",
    "Missing",
    "Not",
    "Operator",
    "Or",
    "Predicate",
    "col",
]

Operator = Literal["==", "!=", "<", "<=", ">", ">="]


class Predicate:
    """A public condition on a row; combine with ``&``, ``|`` and ``~``."""

    def __and__(self, other: "Predicate") -> "Predicate":
        return And(self, _predicate(other))

    def __or__(self, other: "Predicate") -> "Predicate":
        return Or(self, _predicate(other))

    def __invert__(self) -> "Predicate":
        return Not(self)

    def __bool__(self) -> bool:
        raise InvalidQuery(
            "where: a condition has no truth value before it meets rows; join conditions with "
            "&, | and ~, each in brackets, not with and, or, not or a chain of comparisons"
        )

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that the condition reads, each once, in order."""
        return tuple(dict.fromkeys(self._columns()))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if a column is missing or cannot be compared with its literal."""
        for part in self._parts():
            part.check(schema)

    def _columns(self) -> Iterable[str]:
        return (name for part in self._parts() for name in part.columns())

    def _parts(self) -> tuple["Predicate", ...]:
        return ()


def _predicate(value: object) -> Predicate:
    if not isinstance(value, Predicate):
        raise InvalidQuery(
            f"where: {value!r} is no condition; write each side like (col('age') >= 18), in "
            "brackets"
        )
    return value


@dataclass(frozen=True)
class Everything(Predicate):
    """All rows."""

    def __str__(self) -> str:
        return "True"


@dataclass(frozen=True)
class Comparison(Predicate):
    """A column beside one literal."""

    column: str
    operator: Operator
    value: Scalar

    def __post_init__(self) -> None:
        if self.operator not in get_args(Operator):
            raise InvalidQuery(
                f"where: {self.operator!r} is no comparison; use {', '.join(get_args(Operator))}"
            )
        object.__setattr__(self, "value", scalar(self.value, "where"))

    def __str__(self) -> str:
        return f"{_name(self.column)} {self.operator} {_literal(self.value)}"

    def __eq__(self, other: object) -> bool:  # True == 1 in Python, but not beside a column
        return isinstance(other, Comparison) and _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the column is missing or of another kind than the literal."""
        column = schema.column(self.column)
        found = reading(column, self.value, "where")
        if found == "boolean" and self.operator not in ("==", "!="):
            raise InvalidQuery(
                f"where: {self} orders truth values; use == or != with column {self.column!r}"
            )

    def _columns(self) -> Iterable[str]:
        return (self.column,)


def _identity(comparison: Comparison) -> tuple[str, str, type, Scalar]:
    return (
        comparison.column,
        comparison.operator,
        type(comparison.value),
        comparison.value,
    )


@dataclass(frozen=True)
class Among(Predicate):
    """A column whose value is one of a public list."""

    column: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise InvalidQuery(f"where: is_in needs a list of values, not {self.values!r}")
        values = tuple(scalar(value, "where") for value in self.values)
        if not values:
            raise InvalidQuery("where: is_in has an empty list, which no row can match")
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        return f"{_name(self.column)} in [{', '.join(map(_literal, self.values))}]"

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the column is missing or of another kind than a literal."""
        for value in self.values:
            reading(schema.column(self.column), value, "where")

    def _columns(self) -> Iterable[str]:
        return (self.column,)


@dataclass(frozen=True)
class Missing(Predicate):
    """A column whose value is null or NaN (of an unread column: an empty cell)."""

    column: str

    def __str__(self) -> str:
        return f"{_name(self.column)} is None"

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery if the column is missing."""
        schema.column(self.column)

    def _columns(self) -> Iterable[str]:
        return (self.column,)


@dataclass(frozen=True)
class Not(Predicate):
    """The rows that a condition leaves out."""

    inner: Predicate

    def __str__(self) -> str:
        return f"not ({self.inner})"

    def _parts(self) -> tuple[Predicate, ...]:
        return (self.inner,)


@dataclass(frozen=True)
class And(Predicate):
    """Both conditions."""

    left: Predicate
    right: Predicate

    def __str__(self) -> str:
        return f"({self.left}) and ({self.right})"

    def _parts(self) -> tuple[Predicate, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Or(Predicate):
    """At least one of two conditions."""

    left: Predicate
    right: Predicate

    def __str__(self) -> str:
        return f"({self.left}) or ({self.right})"

    def _parts(self) -> tuple[Predicate, ...]:
        return (self.left, self.right)


def _name(column: str) -> str:
    plain = column.isidentifier() and column.isascii() and not iskeyword(column)
    return column if plain else f"col({column!r})"


def _literal(value: Scalar) -> str:
    if isinstance(value, datetime):
        return f"datetime({value.isoformat()!r})"
    return repr(value)


class _Ref:
    """A column's name, waiting for a comparison."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise InvalidQuery(f"where: a column is named by text, not by {name!r}")
        self.name = name

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return Comparison(self.name, "==", value)  # type: ignore[arg-type]

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return Comparison(self.name, "!=", value)  # type: ignore[arg-type]

    def __lt__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, "<", value)

    def __le__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, "<=", value)

    def __gt__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, ">", value)

    def __ge__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, ">=", value)

    def is_in(self, values: Iterable[Scalar]) -> Predicate:
        """Match the rows whose value is in a public list."""
        return Among(self.name, values)  # type: ignore[arg-type]

    def is_missing(self) -> Predicate:
        """Match the rows whose value is null or NaN."""
        return Missing(self.name)


def col(name: str) -> _Ref:
    """Name a column in a condition.

    >>> str((col("age") >= 18) & ~col("dept").is_in(["ops", "r&d"]))
    "(age >= 18) and (not (dept in ['ops', 'r&d']))"
    """
    return _Ref(name)
