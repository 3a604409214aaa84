"""Public row filters as inert data: ``(col("age") >= 18) & ~col("dept").is_in(["ops"])``.

Logic is two-valued: a comparison with a missing value (null, NaN, or text that does not read as
what is asked) is false, and so its negation ``~`` is true, on every engine.

A filter holds at most `MOST_CONDITIONS` comparisons, nested `DEEPEST` deep; a long list belongs in
``is_in``, which counts as one. Chains of one word are balanced, so all of them fit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from keyword import iskeyword
from typing import ClassVar, Literal, get_args

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.reading import Scalar, reading, scalar
from halfmask.plan.schema import Schema

__all__ = [
    "DEEPEST",
    "MOST_CONDITIONS",
    "Among",
    "And",
    "Comparison",
    "Everything",
    "Missing",
    "Not",
    "Operator",
    "Or",
    "Predicate",
    "joined",
    "links",
]

MOST_CONDITIONS = 500
"""How many comparisons a filter may join."""
DEEPEST = 100
"""How deep conditions may stand in each other: each reader of a filter recurses."""

Operator = Literal["==", "!=", "<", "<=", ">", ">="]


class Predicate:
    """A public condition on a row; combine with ``&``, ``|`` and ``~``."""

    conditions: ClassVar[int] = 1
    depth: ClassVar[int] = 0

    def __and__(self, other: "Predicate") -> "Predicate":
        return joined(And, (self, _predicate(other)))

    def __or__(self, other: "Predicate") -> "Predicate":
        return joined(Or, (self, _predicate(other)))

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
            f"where: {shown(value)} is no condition; write each side like (col('age') >= 18), in "
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
        if not isinstance(self.operator, str) or self.operator not in get_args(Operator):
            raise InvalidQuery(
                f"where: {shown(self.operator)} is no comparison; "
                f"use {', '.join(get_args(Operator))}"
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
    kinds: tuple[type, ...] = field(init=False, repr=False)  # True == 1, but not beside a column

    def __post_init__(self) -> None:
        if isinstance(self.values, str) or not isinstance(self.values, Iterable):
            raise InvalidQuery(f"where: is_in needs a list of values, not {shown(self.values)}")
        values = tuple(scalar(value, "where") for value in self.values)
        if not values:
            raise InvalidQuery("where: is_in has an empty list, which no row can match")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "kinds", tuple(map(type, values)))

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

    def __post_init__(self) -> None:
        _limit(self, self.inner)

    def __str__(self) -> str:
        return f"not ({self.inner})"

    def _parts(self) -> tuple[Predicate, ...]:
        return (self.inner,)


@dataclass(frozen=True)
class _Join(Predicate):
    left: Predicate
    right: Predicate
    word: ClassVar[str]

    def __post_init__(self) -> None:
        _limit(self, self.left, self.right)

    def __str__(self) -> str:
        return f"({self.left}) {self.word} ({self.right})"

    def _parts(self) -> tuple[Predicate, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class And(_Join):
    """Both conditions."""

    word = "and"


@dataclass(frozen=True)
class Or(_Join):
    """At least one of two conditions."""

    word = "or"


def joined(kind: type[_Join], conditions: Iterable[Predicate]) -> Predicate:
    """Join conditions by one word, as a tree of least depth: however they were grouped, the same.

    >>> from halfmask.plan import col
    >>> str(joined(Or, [col("a") == number for number in (1, 2, 3)]))
    '((a == 1) or (a == 2)) or (a == 3)'
    """
    chain = [part for condition in conditions for part in links(kind, condition)]
    _refuse_more(sum(part.conditions for part in chain))
    return _balanced(kind, chain)


def links(kind: type[_Join], condition: Predicate) -> Iterator[Predicate]:
    """List the conditions that one word joins, however they were grouped."""
    if not isinstance(condition, kind):
        yield condition
        return
    for part in condition._parts():
        yield from links(kind, part)


def _balanced(kind: type[_Join], chain: Sequence[Predicate]) -> Predicate:
    middle = (len(chain) + 1) // 2
    if middle == len(chain):
        return chain[0]
    return kind(_balanced(kind, chain[:middle]), _balanced(kind, chain[middle:]))


def _limit(outer: Predicate, *parts: Predicate) -> None:
    """Count what a condition is made of, and refuse what would exhaust a stack further on."""
    for part in parts:
        _predicate(part)
    conditions = sum(part.conditions for part in parts)
    depth = 1 + max(part.depth for part in parts)
    _refuse_more(conditions)
    if depth > DEEPEST:
        raise InvalidQuery(
            f"where: conditions are nested more than {DEEPEST} deep; join fewer, or use "
            "is_in([...])"
        )
    object.__setattr__(outer, "conditions", conditions)
    object.__setattr__(outer, "depth", depth)


def _refuse_more(conditions: int) -> None:
    if conditions > MOST_CONDITIONS:
        raise InvalidQuery(
            f"where: more than {MOST_CONDITIONS} conditions are joined; ask for many values of one "
            "column by is_in([...]), which counts as one"
        )


def _name(column: str) -> str:
    plain = column.isidentifier() and column.isascii() and not iskeyword(column)
    return column if plain else f"col({column!r})"


def _literal(value: Scalar) -> str:
    if isinstance(value, datetime):
        return f"datetime({value.isoformat()!r})"
    return repr(value)
