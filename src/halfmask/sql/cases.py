"""Aggregates of some of the rows: FILTER (WHERE ...), and a CASE or IF inside of an aggregate."""

from halfmask.sql.filters import number
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["parted"]

_FILTER = "an aggregate takes one FILTER (WHERE condition)"
_SHARE = "a share is COUNT(*) FILTER (WHERE condition) beside COUNT(*); divide what is released"
_CHOSEN = (
    "a CASE inside of an aggregate is CASE WHEN condition THEN column END, or SUM(CASE WHEN "
    "condition THEN 1 ELSE 0 END); or write COUNT(*) FILTER (WHERE condition)"
)


def parted(node: Node) -> tuple[Node, Node, bool] | None:
    """Return the same aggregate of all rows, and which it is about; None where it is about all.

    Those are the rows for which a condition is TRUE, or, behind ELSE, for which it is not.
    """
    if node.key == "filter":
        only(node, _FILTER, "this", "expression")
        return node.this, node.expression.this, True
    case = _cased(node)
    if case is None:
        return None
    chosen, held = _chosen(node, case)
    whole = node.copy()
    _cased(whole).replace(chosen)
    return whole, _first(case).this, held


def _cased(node: Node) -> Node:
    """The CASE, or IF, that an aggregate takes in place of a column; None where it takes none."""
    argument = node.args.get("this")
    if getattr(argument, "key", "") == "distinct" and len(argument.expressions) == 1:
        argument = argument.expressions[0]
    return argument if getattr(argument, "key", "") in ("case", "if") else None


def _first(case: Node) -> Node:
    """Its one condition, and what it gives then."""
    return case.args["ifs"][0] if case.key == "case" else case


def _chosen(node: Node, case: Node) -> tuple[Node, bool]:
    """What a CASE of one condition gives to some rows, and whether to those that it holds for.

    To all others it gives nothing: NULL, or 0 where it is summed.
    """
    if case.key == "case":
        only(case, _CHOSEN, "ifs", "default")
        if len(case.args["ifs"]) != 1:
            refuse(node, _CHOSEN)
    then = _first(case).args["true"]
    other = case.args.get("default" if case.key == "case" else "false")
    if _nothing(node, other):
        return then, True
    if _nothing(node, then):
        return other, False
    return refuse(node, _SHARE if node.key == "avg" else _CHOSEN)


def _nothing(node: Node, given: Node) -> bool:
    return given is None or given.key == "null" or (node.key == "sum" and number(given) == 0)
