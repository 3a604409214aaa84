"""Row filters as SQL, in negation normal form.

A condition that must hold is written so that it is true exactly where the plan's two-valued logic
says so, and false or null elsewhere; a negation is pushed down to the comparisons, where a missing
value makes it true. `AND` and `OR` keep that property (they are monotone), and a null top level
drops the row just as false does, so no COALESCE hides the columns' order from the engine.
"""

from datetime import datetime
from functools import singledispatch
from math import ceil, floor

from halfmask.plan import (
    Among,
    And,
    Comparison,
    Everything,
    Missing,
    Not,
    Or,
    Predicate,
    Reading,
    Scalar,
    instant,
    reading,
)
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect

__all__ = ["condition", "literal"]

_OPPOSITE = {"==": "<>", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_SPELLED = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@singledispatch
def condition(predicate: Predicate, wanted: bool, cells: Cells) -> str:
    """Write the condition that the predicate is true (`wanted`) or false."""
    raise TypeError(type(predicate).__name__)


@condition.register
def _everything(predicate: Everything, wanted: bool, cells: Cells) -> str:
    return "TRUE" if wanted else "FALSE"


@condition.register
def _not(predicate: Not, wanted: bool, cells: Cells) -> str:
    return condition(predicate.inner, not wanted, cells)


@condition.register
def _and(predicate: And, wanted: bool, cells: Cells) -> str:
    return _join(predicate, "AND" if wanted else "OR", wanted, cells)


@condition.register
def _or(predicate: Or, wanted: bool, cells: Cells) -> str:
    return _join(predicate, "OR" if wanted else "AND", wanted, cells)


def _join(predicate: And | Or, word: str, wanted: bool, cells: Cells) -> str:
    left = condition(predicate.left, wanted, cells)
    right = condition(predicate.right, wanted, cells)
    return f"({left} {word} {right})"


@condition.register
def _missing(predicate: Missing, wanted: bool, cells: Cells) -> str:
    missing = cells.is_missing(predicate.column)
    return missing if wanted else f"(NOT {missing})"


@condition.register
def _among(predicate: Among, wanted: bool, cells: Cells) -> str:
    name = predicate.column
    column = cells.schema.column(name)
    listed: dict[Reading, list[str]] = {}
    for value in predicate.values:
        found = reading(column, value, "where")
        if _is_possible(value, found, cells.dialect):
            listed.setdefault(found, []).append(literal(value, found, cells.dialect))
    tests = [_in(name, found, values, wanted, cells) for found, values in listed.items()]
    if not tests:
        return "FALSE" if wanted else "TRUE"
    return f"({(' OR ' if wanted else ' AND ').join(tests)})"


def _in(name: str, found: Reading, values: list[str], wanted: bool, cells: Cells) -> str:
    alias = cells.read(name, found)
    word = "IN" if wanted else "NOT IN"
    return _guarded(f"{alias} {word} ({', '.join(values)})", name, found, wanted, cells)


@condition.register
def _comparison(predicate: Comparison, wanted: bool, cells: Cells) -> str:
    name, operator, value = predicate.column, predicate.operator, predicate.value
    found = reading(cells.schema.column(name), value, "where")
    if operator in ("==", "!=") and not _is_possible(value, found, cells.dialect):
        missing = cells.is_missing(name)
        if operator == "==":
            return "FALSE" if wanted else "TRUE"
        return f"(NOT {missing})" if wanted else missing
    if found == "integer" and isinstance(value, float):
        value = ceil(value) if operator in ("<", ">=") else floor(value)
    if isinstance(value, str) and not cells.dialect.holds(value):
        # Texts without NUL are below "a NUL b" where they are "a" or below.
        value = value.partition("\0")[0]
        operator = "<=" if operator in ("<", "<=") else ">"
    spelled = _SPELLED[operator] if wanted else _OPPOSITE[operator]
    test = f"{cells.read(name, found)} {spelled} {literal(value, found, cells.dialect)}"
    return _guarded(test, name, found, wanted, cells)


def _is_possible(value: Scalar, found: Reading, dialect: Dialect) -> bool:
    """Whether any cell equals it: no integer equals a fraction."""
    if found == "integer":
        return value == floor(value)  # type: ignore[arg-type]
    return dialect.holds(value)


def _guarded(test: str, name: str, found: Reading, wanted: bool, cells: Cells) -> str:
    """Engines order NaN above all numbers; here it is missing, and equal to nothing."""
    missing = cells.is_missing(name, found)
    if not wanted:
        return f"({test} OR {missing})"
    if cells.schema.column(name).kind == "real":
        return f"({test} AND NOT {missing})"
    return f"({test})"


def literal(value: Scalar, found: Reading, dialect: Dialect) -> str:
    """Write a literal in the type of its reading."""
    if found == "time":
        return dialect.moment(instant(value, "where"))
    if found == "boolean":
        return "TRUE" if value else "FALSE"
    if found == "text" or isinstance(value, str | datetime):
        return dialect.string(str(value))
    return dialect.number(float(value)) if found == "real" else dialect.whole(int(value))
