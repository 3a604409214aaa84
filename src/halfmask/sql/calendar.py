"""GROUP BY DATE_TRUNC('month', at): the public periods between the bounds of a column of times."""

from datetime import datetime, time, timedelta

from halfmask.plan import Filters, Periods, Predicate, col, instant
from halfmask.plan.filters import MOST_FILTERS
from halfmask.sql.functions import Known
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["is_period", "periods_of"]

_UNITS = ("year", "quarter", "month", "week", "day", "hour")
_TRUNCATED = ("datetrunc", "timestamptrunc")


def is_period(node: Node) -> bool:
    """Whether a node names the period of a moment, as DATE_TRUNC('month', at) does."""
    return node.key in _TRUNCATED or node.key == "year" or _is_day(node) or _is_year(node)


def _is_day(node: Node) -> bool:
    if node.key == "cast":
        return bool(node.args["to"].this.value == "DATE")
    return bool(node.key == "date")


def _is_year(node: Node) -> bool:
    return bool(node.key == "extract" and node.this.name.lower() == "year")


def periods_of(node: Node, known: Known) -> Filters:
    """One group for each period from the lower bound of the column to its upper one."""
    unit, of = _read(node)
    name = known.names.column(of)
    if unit not in _UNITS:
        refuse(node, f"periods are of one {', '.join(_UNITS[:-1])} or {_UNITS[-1]}")
    if known.names.schema.column(name).kind not in ("time", "unread"):
        refuse(node, f"{name!r} holds no times")
    bounds = known.bounds_of(name)
    if bounds in ((None, None), "private"):
        refuse(
            node,
            f"needs to know when periods begin and end, without looking at the rows; give "
            f"bounds={{{name!r}: ('2025-01-01', '2025-12-31')}}, or these in the schema",
        )
    lower, upper = (instant(bound, "bounds") for bound in bounds)
    if lower > upper:
        refuse(node, f"the bounds of {name!r} are in the wrong order; swap them")
    start, number = _truncated(lower, unit), 1
    while Periods(start, unit, number).edges[-1] <= upper:  # type: ignore[operator]
        number += 1
        if number > MOST_FILTERS:
            refuse(
                node,
                f"more than {MOST_FILTERS} periods lie between the bounds of {name!r}; give longer "
                "ones, or bounds that are closer",
            )
    periods = Periods(start, unit, number)
    edges = zip(periods.edges[:-1], periods.edges[1:], strict=True)
    groups: dict[str, Predicate] = {
        label: (col(name) >= begin) & (col(name) < end)
        for label, (begin, end) in zip(periods.labels, edges, strict=True)
    }
    return Filters(**groups)


def _read(node: Node) -> tuple[str, Node]:
    """The unit, in small letters, and what is truncated."""
    only(node, "times are compared as they stand", "this", "unit", "expression", "to", "_type")
    if node.key in _TRUNCATED:
        return str(node.args["unit"].name).lower(), node.this
    if node.key == "extract":
        return "year", node.expression
    return ("year" if node.key == "year" else "day"), node.this


def _truncated(moment: datetime, unit: str) -> datetime:
    """Where the period of a moment begins."""
    if unit == "hour":
        return moment.replace(minute=0, second=0, microsecond=0)
    day = datetime.combine(moment.date(), time())
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
    return day
