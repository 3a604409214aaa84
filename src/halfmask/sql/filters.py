"""WHERE as a public row filter.

SQL's logic has three values, halfmask's filters two: of a missing value every comparison is false.
So a NOT is pushed down to the comparisons, where `NOT a < 5` becomes `a >= 5`, which is as false
for a missing a as SQL's NULL. AND and OR are monotone, so a row passes the filter exactly where SQL
says TRUE.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time

from halfmask.plan import Among, And, Comparison, Everything, Missing, Not, Or, Predicate, instant
from halfmask.plan.predicates import Operator, joined
from halfmask.sql.names import Names
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["condition", "number"]

_OPERATORS: Mapping[str, Operator] = {
    "eq": "==",
    "neq": "!=",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
}
_MIRROR: Mapping[Operator, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_OPPOSITE: Mapping[Operator, Operator] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}
_MOMENTS = ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME")
_WANTED = (
    "a filter compares a column with a number, a quoted text, TRUE, FALSE or DATE '2024-02-29', "
    "by =, <>, <, <=, >, >=, IN, BETWEEN, LIKE 'abc%' or IS NULL, joined by AND, OR and NOT"
)

_FINER = re.compile(r"[.,]\d{7}")

Literal = bool | int | float | str | datetime


def condition(node: Node, names: Names, wanted: bool = True) -> Predicate:
    """Return the filter of the rows for which SQL says TRUE (`wanted`), or FALSE."""
    read = _READERS.get(node.key)
    if read is not None:
        return read(node, names, wanted)
    if node.key in _OPERATORS:
        return _compared(node, names, wanted)
    return refuse(node, _WANTED)


def _paren(node: Node, names: Names, wanted: bool) -> Predicate:
    return condition(node.this, names, wanted)


def _not(node: Node, names: Names, wanted: bool) -> Predicate:
    return condition(node.this, names, not wanted)


def _links(node: Node, key: str) -> Iterator[Node]:
    """The parts of a chain of one word, however long."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.key == key:
            waiting += [one.expression, one.this]
        else:
            yield one


def _joined(node: Node, names: Names, wanted: bool) -> Predicate:
    kind = And if (node.key == "and") == wanted else Or
    return joined(kind, [condition(one, names, wanted) for one in _links(node, node.key)])


def _compared(node: Node, names: Names, wanted: bool) -> Predicate:
    only(node, _WANTED, "this", "expression")
    operator = _OPERATORS[node.key]
    left, right = node.this, node.expression
    if left.key != "column" and right.key == "column":
        left, right, operator = right, left, _MIRROR[operator]
    if left.key != "column":
        refuse(node, _WANTED)
    value = _literal(right)
    return Comparison(names.column(left), operator if wanted else _OPPOSITE[operator], value)


def _between(node: Node, names: Names, wanted: bool) -> Predicate:
    only(node, _WANTED, "this", "low", "high")
    name = names.column(node.this)
    low, high = _literal(node.args["low"]), _literal(node.args["high"])
    if wanted:
        return Comparison(name, ">=", low) & Comparison(name, "<=", high)
    return Comparison(name, "<", low) | Comparison(name, ">", high)


def _in(node: Node, names: Names, wanted: bool) -> Predicate:
    only(node, "IN takes a list of values", "this", "expressions")
    name = names.column(node.this)
    values = [_literal(one) for one in node.expressions]
    among = Among(name, tuple(values))
    if wanted:
        return among
    # NOT IN is no more true of a missing value than IN: `<>` of one value of each kind says so.
    present = {type(value): Comparison(name, "!=", value) for value in values}
    return joined(And, [Not(among), *present.values()])


def _like(node: Node, names: Names, wanted: bool) -> Predicate:
    """Texts that begin so: those from it on, and below the next one that does not begin so."""
    only(node, _WANTED, "this", "expression", "negate")
    wanted = wanted != bool(node.args.get("negate"))
    name, pattern = names.column(node.this), _literal(node.expression)
    if not isinstance(pattern, str) or names.schema.column(name).kind not in ("text", "unread"):
        refuse(node, "LIKE compares a column of text with a text in single quotes")
    begin = pattern.removesuffix("%")
    if set(begin) & set("%_\\"):
        refuse(node, "LIKE takes the beginning of a text, as 'abc%', and no other wildcard")
    if begin == pattern:
        return Comparison(name, "==" if wanted else "!=", pattern)
    end = _after(begin)
    if wanted:
        inside = Comparison(name, ">=", begin)
        return inside if end is None else inside & Comparison(name, "<", end)
    outside = Comparison(name, "<", begin)
    return outside if end is None else outside | Comparison(name, ">=", end)


def _after(begin: str) -> str | None:
    """The least text above all that begin so, by the order of code points; None where none is."""
    kept = begin.rstrip(chr(sys.maxunicode))
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)


def _is(node: Node, names: Names, wanted: bool) -> Predicate:
    only(node, _WANTED, "this", "expression")
    name, other = names.column(node.this), node.expression
    if other.key not in ("null", "boolean"):
        refuse(node, _WANTED)
    held = Missing(name) if other.key == "null" else Comparison(name, "==", bool(other.this))
    return held if wanted else Not(held)


def _boolean(node: Node, names: Names, wanted: bool) -> Predicate:
    return Everything() if bool(node.this) == wanted else Not(Everything())


def _column(node: Node, names: Names, wanted: bool) -> Predicate:
    return Comparison(names.column(node), "==", wanted)


_READERS: Mapping[str, Callable[[Node, Names, bool], Predicate]] = {
    "paren": _paren,
    "not": _not,
    "and": _joined,
    "or": _joined,
    "between": _between,
    "in": _in,
    "like": _like,
    "is": _is,
    "boolean": _boolean,
    "column": _column,
}


def number(node: Node) -> int | float | None:
    """Return a number as written, with its sign; None for what is none."""
    if node.key == "neg":
        inner = number(node.this)
        return None if inner is None else -inner
    if node.key == "paren":
        return number(node.this)
    if node.key != "literal" or node.args.get("is_string"):
        return None
    try:
        return int(node.this)
    except ValueError:
        pass
    try:
        return float(node.this)
    except ValueError:
        return None


def _literal(node: Node) -> Literal:
    found = number(node)
    if found is not None:
        return found
    if node.key == "null":
        refuse(node, "nothing equals NULL; write IS NULL or IS NOT NULL")
    if node.key == "column":
        refuse(node, f"a name where a value is needed; texts stand in single quotes, and {_WANTED}")
    if node.key == "boolean":
        return bool(node.this)
    if node.key == "literal":
        return str(node.this)
    if node.key == "cast" and node.this.key == "literal" and node.this.args.get("is_string"):
        only(node, _WANTED, "this", "to", "_type")
        kind = node.args["to"].this.value
        if kind in _MOMENTS:
            if node.args["to"].expressions or _FINER.search(str(node.this.this)):
                refuse(node, "times are compared to the microsecond; round it yourself")
            moment = instant(str(node.this.this), "sql")
            if kind == "DATE" and moment.time() != time():
                refuse(node, "a DATE has no time of day; write TIMESTAMP '2024-02-29 12:00'")
            return moment
    return refuse(node, _WANTED)
