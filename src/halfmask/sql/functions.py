"""Aggregate functions as public queries, with the bounds and keys that are publicly known."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from halfmask.plan import Keys, Missing, Not, Predicate
from halfmask.procedures import Mean, Procedure
from halfmask.queries import (
    Count,
    CountDistinct,
    Median,
    MostCommon,
    Quantile,
    Query,
    StandardDeviation,
    Sum,
    Variance,
)
from halfmask.sql.cases import parted
from halfmask.sql.filters import condition, number
from halfmask.sql.names import Names
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["Aggregate", "Known", "aggregate", "is_aggregate"]

_PLAIN = "an aggregate takes one column, without DISTINCT or a condition of its own"
_KNOWN = (
    "not answered; there are COUNT, SUM, AVG, VAR_POP, STDDEV_POP, MEDIAN, QUANTILE, "
    "PERCENTILE_CONT, PERCENTILE_DISC and MODE, each of one column, and every question of "
    "Curator.ask"
)
_EXTREME = "the extreme value is one person's; ask for QUANTILE(column, 0.01) or 0.99"
_SAMPLE = "its divisor is n - 1, and halfmask's is n; write VAR_POP or STDDEV_POP"
_MATRIX = "ask hm.Covariance or hm.Correlation of the curator"
_RAW = "a value of a row never leaves the table; aggregate it, or put it in GROUP BY"
_FREE = "ask for the aggregates alone, and compute with what is released, which is free"
_ONE = "one row decides it; write COUNT(*) FILTER (WHERE ...)"
_DIFFERENT = "only privacy units are counted apart; write COUNT(DISTINCT ...) of the unit's column"
_REASONS: Mapping[str, str] = {
    "min": _EXTREME,
    "max": _EXTREME,
    "variance": _SAMPLE,
    "stddev": _SAMPLE,
    "stddevsamp": _SAMPLE,
    "corr": _MATRIX,
    "covarpop": _MATRIX,
    "covarsamp": _MATRIX,
    "anyvalue": _RAW,
    "first": _RAW,
    "last": _RAW,
    "groupconcat": _RAW,
    "arrayagg": _RAW,
    "logicaland": _ONE,
    "logicalor": _ONE,
    "approxdistinct": _DIFFERENT,
    "window": "a window function answers for single rows",
    "subquery": "a subquery is not answered; name the columns of one table",
    "column": _RAW,
    "star": _RAW,
}


@dataclass(frozen=True)
class Known:
    """The names of a statement, and what is publicly known of the columns.

    bounds: by column, (lower, upper) or "private", before those of the schema.
    keys: by column, before those of the schema.
    """

    names: Names
    unit: str | None
    bounds: Mapping[str, Any]
    keys: Mapping[str, Iterable[Any]]

    def bounds_of(self, column: str) -> Any:
        """Return (lower, upper), two None where none are known, or "private"."""
        return self.bounds.get(column, self.names.schema.column(column).public.bounds)

    def keys_of(self, column: str) -> Keys | None:
        """Return the public keys of a column, if any are known."""
        listed = self.keys.get(column, self.names.schema.column(column).public.keys)
        return None if listed is None else Keys(column, listed)

    def needed(self, node: Node, column: str) -> tuple[Any, Any]:
        """Return the bounds of an aggregate that cannot do without."""
        bounds = self.bounds_of(column)
        if bounds == (None, None) and self.names.schema.column(column).kind == "boolean":
            bounds = (0, 1)
        if bounds in ((None, None), "private"):
            bought = f", or bounds={{{column!r}: 'private'}}, which buys them" * (node.key == "avg")
            refuse(
                node,
                f"needs bounds of {column!r} that are known without looking at the rows; open the "
                f"table with schema={{{column!r}: hm.Public(lower=..., upper=...)}}, or give "
                f"bounds={{{column!r}: (lower, upper)}} here{bought}",
            )
        lower, upper = bounds
        return lower, upper


@dataclass(frozen=True)
class Aggregate:
    """A query, and which rows it is about.

    skips: the column whose missing values it leaves out by itself.
    where: the rows that it is about, where these are not all that pass WHERE.
    """

    query: Query | Procedure
    skips: str | None = None
    where: Predicate | None = None

    def among(self, rows: Predicate) -> "Aggregate":
        """The same of those rows alone that pass this too."""
        return replace(self, where=rows if self.where is None else rows & self.where)

    def is_about(self, rows: Predicate) -> bool:
        """Whether it stays the same where only these rows pass WHERE."""
        if self.where is None:
            return self.skips is not None and rows == Not(Missing(self.skips))
        return self.where == rows


def aggregate(node: Node, known: Known) -> Aggregate:
    """Return the query that an aggregate asks; InvalidQuery says why there is none."""
    split = parted(node)
    if split is not None:
        whole, rows, held = split
        rule = condition(rows, known.names)
        return aggregate(whole, known).among(rule if held else Not(rule))
    name = str(node.this).lower() if node.key == "anonymous" else node.key
    read = _READERS.get(name)
    if read is None:
        computed = any(one is not node and is_aggregate(one) for one in node.walk())
        refuse(node, _REASONS.get(node.key, _FREE if computed else _KNOWN))
    return read(node, known)


def is_aggregate(node: Node) -> bool:
    """Whether a node is an aggregate function, answered or not."""
    name = str(node.this).lower() if node.key == "anonymous" else node.key
    return name in _READERS or name in ("filter", "min", "max")


def _column(node: Node, known: Known) -> str:
    if node.key != "column":
        refuse(
            node,
            "an aggregate takes the name of one column; compute on the answer, or add the column "
            "to the table",
        )
    return known.names.column(node)


def _count(node: Node, known: Known) -> Aggregate:
    only(node, _PLAIN, "this", "big_int")
    of = node.this
    if of is None:
        refuse(node, "say what to count: COUNT(*)")
    if of.key == "star" or number(of) is not None:
        only(of, _PLAIN, "this", "is_string")
        return Aggregate(Count())
    if of.key == "distinct":
        return _units(node, of, known)
    name = _column(of, known)
    if name == known.unit:  # rows without a unit are nobody's, and count nowhere
        return Aggregate(Count(), skips=name)
    return Aggregate(Count(), skips=name, where=Not(Missing(name)))


def _count_if(node: Node, known: Known) -> Aggregate:
    only(node, _PLAIN, "this")
    return Aggregate(Count()).among(condition(node.this, known.names))


def _units(node: Node, distinct: Node, known: Known) -> Aggregate:
    only(distinct, _PLAIN, "expressions")
    named = [_column(one, known) for one in distinct.expressions]
    if named != [known.unit]:
        whom = "single rows" if known.unit is None else f"each {known.unit!r}"
        refuse(
            node,
            f"only privacy units are counted apart, and this table protects {whom}; count the "
            "unit's column, or group by the column for a delta",
        )
    return Aggregate(CountDistinct())


def _sum(node: Node, known: Known) -> Aggregate:
    only(node, _PLAIN, "this")
    if number(node.this) == 1:
        return Aggregate(Count())
    name = _column(node.this, known)
    return Aggregate(Sum(name, *known.needed(node, name)), skips=name)


def _mean(node: Node, known: Known) -> Aggregate:
    name = _only_column(node, known)
    if known.bounds_of(name) == "private":
        return Aggregate(Mean(name, bounds="private"), skips=name)
    return Aggregate(Mean(name, *known.needed(node, name)), skips=name)


def _variance(node: Node, known: Known) -> Aggregate:
    only(node, _PLAIN, "this")
    name = _column(node.this, known)
    return Aggregate(Variance(name, *known.needed(node, name)), skips=name)


def _deviation(node: Node, known: Known) -> Aggregate:
    only(node, _PLAIN, "this")
    name = _column(node.this, known)
    return Aggregate(StandardDeviation(name, *known.needed(node, name)), skips=name)


def _only_column(node: Node, known: Known) -> str:
    """The one argument of a function, whether the parser knows the function or not."""
    (of,) = _arguments(node, 1)
    return _column(of, known)


def _arguments(node: Node, number: int) -> list[Node]:
    if node.key == "anonymous":
        only(node, _PLAIN, "this", "expressions")
        given = list(node.expressions)
    else:
        only(node, _PLAIN, "this", "quantile", "expression")
        given = [node.args.get(part) for part in ("this", "quantile", "expression")]
        given = [one for one in given if one is not None]
    if len(given) != number:
        refuse(node, f"takes {number} argument{'s' * (number > 1)}")
    return given


def _median(node: Node, known: Known) -> Aggregate:
    name = _only_column(node, known)
    return Aggregate(Median(name, *_free(node, name, known)), skips=name)


def _quantile(node: Node, known: Known) -> Aggregate:
    of, q = _arguments(node, 2)
    return _ranked(node, of, q, known)


def _ranked(node: Node, of: Node, q: Node, known: Known) -> Aggregate:
    name = _column(of, known)
    listed = [number(one) for one in q.expressions] if q.key == "array" else [number(q)]
    parts = [one for one in listed if one is not None]
    if not parts or len(parts) < len(listed):
        refuse(q, "the part of the rows is a number from 0 to 1, such as 0.5")
    part: Any = parts if q.key == "array" else parts[0]
    return Aggregate(Quantile(name, part, *_free(node, name, known)), skips=name)


def _free(node: Node, name: str, known: Known) -> tuple[Any, Any]:
    """Bounds, which a quantile can do without."""
    bounds = known.bounds_of(name)
    if bounds == "private":
        refuse(node, "needs no bounds; leave 'private' out")
    lower, upper = bounds
    return lower, upper


def _within(node: Node, known: Known) -> Aggregate:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), and MODE() likewise."""
    only(node, _PLAIN, "this", "expression")
    function, order = node.this, node.expression
    listed = order.expressions if order.key == "order" else []
    if len(listed) != 1 or listed[0].args.get("desc"):
        refuse(node, "WITHIN GROUP orders by one column, ascending; write 1 - q for descending")
    of = listed[0].this
    if function.key == "mode":
        only(function, _PLAIN)
        return _commonest(_column(of, known), known)
    if function.key not in ("percentilecont", "percentiledisc"):
        refuse(node, _KNOWN)
    (q,) = _arguments(function, 1)
    return _ranked(node, of, q, known)


def _mode(node: Node, known: Known) -> Aggregate:
    return _commonest(_only_column(node, known), known)


def _commonest(name: str, known: Known) -> Aggregate:
    keys = known.keys_of(name)
    return Aggregate(MostCommon(name, None if keys is None else keys.values), skips=name)


_READERS: Mapping[str, Callable[[Node, Known], Aggregate]] = {
    "count": _count,
    "countif": _count_if,
    "sum": _sum,
    "avg": _mean,
    "mean": _mean,
    "variancepop": _variance,
    "stddevpop": _deviation,
    "median": _median,
    "quantile": _quantile,
    "approxquantile": _quantile,
    "approx_percentile": _quantile,
    "percentile": _quantile,
    "quantile_cont": _quantile,
    "quantile_disc": _quantile,
    "percentilecont": _quantile,
    "percentiledisc": _quantile,
    "withingroup": _within,
    "mode": _mode,
}
