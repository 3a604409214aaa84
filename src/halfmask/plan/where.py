"""The text form of a row filter: ``where("age >= 18 and dept in ['ops', 'r&d']")``.

Python's own grammar in eval mode, of which only comparisons of columns with literals are kept;
nothing is ever evaluated.
"""

import ast
from datetime import datetime
from itertools import pairwise

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.predicates import (
    Among,
    And,
    Comparison,
    Everything,
    Missing,
    Not,
    Operator,
    Or,
    Predicate,
    joined,
)
from halfmask.plan.reading import Scalar, instant

__all__ = ["where"]

_LONGEST = 10_000
_OPERATORS: dict[type[ast.cmpop], Operator] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_MIRROR: dict[Operator, Operator] = {
    "==": "==",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}


def where(text: str) -> Predicate:
    """Parse a row filter; InvalidQuery says which part is not understood.

    Columns are bare names, or ``col('odd name')``; literals are numbers, quoted text, True, False,
    ``date('2024-02-29')`` and ``datetime('2024-02-29T12:00')``. Comparisons may be chained; joined
    by ``and``, ``or``, ``not``; ``in [...]``, ``not in [...]``, ``is None``, ``is not None``.

    >>> str(where("18 <= age < 65 and col('job title') != 'cook'"))
    "((age >= 18) and (age < 65)) and (col('job title') != 'cook')"
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(f'where: {shown(text)} is no condition; write one like "age >= 18"')
    if len(text) > _LONGEST:
        raise InvalidQuery(f"where: the condition has more than {_LONGEST} characters; shorten it")
    try:
        return _condition(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError) as problem:
        if isinstance(problem, InvalidQuery):
            raise
        raise InvalidQuery(
            f"where: {shown(text)} does not read as a condition; {problem}"
        ) from None
    except (RecursionError, MemoryError):
        raise InvalidQuery("where: the condition is nested too deeply; use in [...]") from None


def _condition(node: ast.expr) -> Predicate:
    match node:
        case ast.BoolOp(op=op, values=values):
            return joined(And if isinstance(op, ast.And) else Or, map(_condition, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return Not(_condition(operand))
        case ast.Compare():
            return _chain(node)
        case ast.Constant(value=True):
            return Everything()
        case ast.Constant(value=False):
            return Not(Everything())
        case ast.Name() | ast.Call() if (name := _column(node)) is not None:
            return Comparison(name, "==", True)
    raise _refusal(node, "a condition like age >= 18")


def _chain(node: ast.Compare) -> Predicate:
    links = zip(pairwise([node.left, *node.comparators]), node.ops, strict=True)
    return joined(And, (_link(left, op, right) for (left, right), op in links))


def _link(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Predicate:
    name = _column(left)
    if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
        if name is None:
            raise _refusal(left, "a column")
        found = _among(name, right) if isinstance(op, ast.In | ast.NotIn) else _is(name, right)
        return Not(found) if isinstance(op, ast.NotIn | ast.IsNot) else found
    operator = _OPERATORS[type(op)]
    if name is not None:
        return Comparison(name, operator, _literal(right))
    name = _column(right)
    if name is None:
        raise _refusal(right, "a column on one side of the comparison")
    return Comparison(name, _MIRROR[operator], _literal(left))


def _among(name: str, node: ast.expr) -> Predicate:
    if not isinstance(node, ast.List | ast.Tuple | ast.Set):
        raise _refusal(node, "a list like ['ops', 'r&d'] after in")
    return Among(name, tuple(map(_literal, node.elts)))


def _is(name: str, node: ast.expr) -> Predicate:
    if not (isinstance(node, ast.Constant) and node.value is None):
        raise _refusal(node, "None after is")
    return Missing(name)


def _column(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="col"), args=[ast.Constant(value=str(name))], keywords=[]):
            return name
    return None


def _literal(node: ast.expr) -> Scalar:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if (
            not isinstance(value, bool)
        ):
            return -value
        case ast.Call(
            func=ast.Name(id="date" | "datetime"),
            args=[ast.Constant(value=str(value))],
            keywords=[],
        ):
            moment: datetime = instant(value, "where")
            return moment
        case ast.Constant(value=None):
            raise InvalidQuery("where: nothing equals None; write `is None` or `is not None`")
    raise _refusal(node, "a number, quoted text, True, False or date('2024-02-29')")


def _refusal(node: ast.expr, wanted: str) -> InvalidQuery:
    return InvalidQuery(f"where: {shown(ast.unparse(node))} is not understood; write {wanted}")
