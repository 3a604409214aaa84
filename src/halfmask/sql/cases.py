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


def parted(node: Node) -> tuple[Node, Node] | None:
    """Return the same aggregate of all rows, and the condition of those it is about; or None."""
    if node.key == "filter":
        only(node, _FILTER, "this", "expression")
        return node.this, node.expression.this
    case = _cased(node)
    if case is None:
        return None
    whole = node.copy()
    _cased(whole).replace(_chosen(node, case))
    return whole, _first(case).this


def _cased(node: Node) -> Node:
    """The CASE, or IF, that an aggregate takes in place of a column; None where it takes none."""
    argument = node.args.get("this")
    if getattr(argument, "key", "") == "distinct" and len(argument.expressions) == 1:
        argument = argument.expressions[0]
    return argument if getattr(argument, "key", "") in ("case", "if") else None


def _first(case: Node) -> Node:
    """Its one condition, and what it gives then."""
    return case.args["ifs"][0] if case.key == "case" else case


def _chosen(node: Node, case: Node) -> Node:
    """What a CASE of one condition gives, where it gives nothing to all other rows: NULL, or 0."""
    if case.key == "case":
        only(case, _CHOSEN, "ifs", "default")
        if len(case.args["ifs"]) != 1:
            refuse(node, _CHOSEN)
    other = case.args.get("default" if case.key == "case" else "false")
    nothing = other is None or other.key == "null" or (node.key == "sum" and number(other) == 0)
    if not nothing:
        refuse(node, _SHARE if node.key == "avg" else _CHOSEN)
    return _first(case).args["true"]
