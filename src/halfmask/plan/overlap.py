"""Whether a row could pass two filters: decided by trying one value between every two literals.

A filter asks of a column only where its value lies beside its literals. So the literals cut a
column into finitely many cells (points, gaps between them, missing), on each of which both filters
are constant; if no combination of cells passes both, no row does. Where columns are typed this is
exact; an unread column counts as one column for every way in which it is read, which can only find
more rows than there are.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import lru_cache, singledispatch
from itertools import pairwise, product
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from halfmask.errors import InvalidQuery
from halfmask.plan.predicates import (
    Among,
    And,
    Comparison,
    Everything,
    Missing,
    Not,
    Or,
    Predicate,
    links,
)
from halfmask.plan.reading import Reading, Scalar, instant, microseconds, reading
from halfmask.plan.schema import Schema

__all__ = ["TESTS", "overlap"]

MOST_CASES = 100_000

_PRESENT = "present"
"""Any value of a column of which only whether there is one is asked."""

Cell = tuple[str, Reading | None]
"""A column, and how it is read; None where only whether it is missing is asked."""
Row = Mapping[Cell, Any]

TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def overlap(one: Predicate, other: Predicate, schema: Schema, most: int = MOST_CASES) -> str | None:
    """Return a row that passes both filters, in words; None if there is none.

    Raises InvalidQuery where there are more than `most` cases to tell.

    >>> from halfmask.plan import where
    >>> schema = Schema.of({"age": "integer"})
    >>> overlap(where("age <= 30"), where("age >= 30"), schema)
    'age = 30'
    >>> overlap(where("age < 30"), where("age > 29"), schema) is None
    True
    """
    if Not(one) in links(And, other) or Not(other) in links(And, one):
        return None
    names = (*one.columns(), *other.columns())
    kinds = Schema.of({name: schema.column(name).kind for name in names})
    if math.prod(map(len, _tried(one, other, kinds).values())) > most:
        raise InvalidQuery(
            f"filters: {one} and {other} have too many cases to show that no row passes both; "
            "use fewer columns in each, or ask them one by one"
        )
    return _shared(one, other, kinds)


def _tried(one: Predicate, other: Predicate, schema: Schema) -> dict[Cell, list[Any]]:
    """List the values to try of each cell."""
    literals: dict[Cell, set[Any]] = {}
    for predicate in (one, other):
        for cell, value in _asked(predicate, schema):
            literals.setdefault(cell, set()).update(() if value is None else (value,))
    return {cell: [*_values(cell[1], found), None] for cell, found in literals.items()}


@lru_cache(maxsize=2**15)  # asked again at each step of an ask: all pairs of 200 filters
def _shared(one: Predicate, other: Predicate, schema: Schema) -> str | None:
    tried = _tried(one, other, schema)
    for values in product(*tried.values()):
        row = dict(zip(tried, values, strict=True))
        if _consistent(row) and _holds(one, row, schema) and _holds(other, row, schema):
            shown = (f"{name} {_shown(value, found)}" for (name, found), value in row.items())
            return ", ".join(shown) or "any"
    return None


def _shown(value: Any, found: Reading | None) -> str:
    if value is None:
        return "missing"
    if value == _PRESENT:
        return _PRESENT
    if found != "time":
        return f"= {value}"
    try:
        return f"= {datetime(1970, 1, 1) + timedelta(microseconds=value)}"
    except OverflowError:
        return f"= a time {'before the year 1' if value < 0 else 'after the year 9999'}"


def _consistent(row: Row) -> bool:
    """An empty cell of an unread column reads as nothing."""
    empty = {name for (name, found), value in row.items() if found is None and value is None}
    return not any(name in empty and value is not None for (name, _), value in row.items())


def _asked(predicate: Predicate, schema: Schema) -> Iterator[tuple[Cell, Any]]:
    """List what a filter compares: each cell beside each literal, as the reading makes it."""
    match predicate:
        case Comparison(column, _, value):
            yield _cell(column, value, schema)
        case Among(column, values):
            yield from (_cell(column, value, schema) for value in values)
        case Missing(column):
            kind = schema.column(column).kind
            yield (column, None if kind == "unread" else kind), None
    for part in predicate._parts():
        yield from _asked(part, schema)


def _cell(column: str, value: Scalar, schema: Schema) -> tuple[Cell, Any]:
    found = reading(schema.column(column), value, "where")
    literal: Any = value
    if found == "time":
        literal = microseconds(instant(value, "where"))  # tables hold times that no literal can say
    elif found == "real":
        literal = float(value)  # type: ignore[arg-type]
    return (column, found), literal


def _values(found: Reading | None, literals: set[Any]) -> list[Any]:
    """List the literals that a cell can hold, and a value in every gap that holds any."""
    if found is None:
        return [_PRESENT]
    if found == "boolean":
        return [False, True]
    if not literals:
        return [_PRESENT]
    ordered = sorted(literals)
    match found:
        case "integer" | "time":
            near = {step for x in ordered for step in (math.floor(x), math.ceil(x))}
            return sorted(near | {math.floor(x) + 1 for x in ordered} | {min(near) - 1})
        case "real":
            gaps = [(low / 2 + high / 2) for low, high in pairwise(ordered)]
            return [-math.inf, *ordered, *gaps, math.inf]
        case _:  # text: "" is below, and x followed by the least character comes next after x
            return ["", *ordered, *(f"{x}\x00" for x in ordered)]


@singledispatch
def _holds(predicate: Predicate, row: Row, schema: Schema) -> bool:
    raise TypeError(type(predicate).__name__)


@_holds.register
def _(predicate: Everything, row: Row, schema: Schema) -> bool:
    return True


@_holds.register
def _(predicate: Not, row: Row, schema: Schema) -> bool:
    return not _holds(predicate.inner, row, schema)


@_holds.register
def _(predicate: And, row: Row, schema: Schema) -> bool:
    return _holds(predicate.left, row, schema) and _holds(predicate.right, row, schema)


@_holds.register
def _(predicate: Or, row: Row, schema: Schema) -> bool:
    return _holds(predicate.left, row, schema) or _holds(predicate.right, row, schema)


@_holds.register
def _(predicate: Missing, row: Row, schema: Schema) -> bool:
    kind = schema.column(predicate.column).kind
    return row[predicate.column, None if kind == "unread" else kind] is None


@_holds.register
def _(predicate: Among, row: Row, schema: Schema) -> bool:
    cells = (_cell(predicate.column, value, schema) for value in predicate.values)
    return any(row[cell] is not None and row[cell] == literal for cell, literal in cells)


@_holds.register
def _(predicate: Comparison, row: Row, schema: Schema) -> bool:
    cell, literal = _cell(predicate.column, predicate.value, schema)
    return row[cell] is not None and TESTS[predicate.operator](row[cell], literal)
