"""HAVING, ORDER BY and LIMIT: which of the released groups are shown, and in which order.

All of it is done to numbers that were released, of all groups, at the price of all of them: it is
post-processing. So nothing may be named here but what SELECT releases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from halfmask.plan import Everything, Predicate, Schema
from halfmask.procedures import Filtered, Mean
from halfmask.queries import (
    Count,
    CountDistinct,
    Median,
    Quantile,
    StandardDeviation,
    Sum,
    Variance,
)
from halfmask.sql.filters import condition, number
from halfmask.sql.functions import Aggregate, Known, aggregate, is_aggregate
from halfmask.sql.groups import Grouping
from halfmask.sql.holding import holds
from halfmask.sql.names import Names, matching
from halfmask.sql.nodes import Node, naming, only, refuse, written

__all__ = ["Arrangement", "arrangement"]

_NUMBERS = (Count, CountDistinct, Sum, Mean, Variance, StandardDeviation)
_HAVING = "HAVING compares what SELECT releases with numbers; conditions on rows stand in WHERE"
_TWICE = "is a column too, and SQL means that one behind HAVING; choose another name with AS"
_ORDER = "ORDER BY takes keys, and numbers that SELECT releases: by their names or places"
_LIMIT = "LIMIT and OFFSET are whole numbers, LIMIT from 1 and OFFSET from 0 on"
_PICKED = "picked by noisy numbers, which intervals do not count"

Values = Mapping[str, Mapping[Any, Any]]
"""What was released: by the name of an aggregate, the value for each key."""


@dataclass(frozen=True)
class Order:
    """One of the things by which groups are ordered: a released number, or a part of their key.

    name: of the number; None for the key.
    """

    name: str | None
    part: int
    falling: bool
    missing_first: bool


@dataclass(frozen=True)
class Arrangement:
    """What is done to the released groups of a statement.

    Privacy: none is spent: a function of released values and public words. [Dwork & Roth 2014,
    Prop. 2.1]

    names: those of all aggregates, in the order of SELECT.
    kept: of a group's released numbers, by these names.
    steps: the same in words, as a release tells them.
    """

    names: tuple[str, ...]
    kept: Predicate = field(default_factory=Everything)
    order: tuple[Order, ...] = ()
    first: int | None = None
    after: int = 0
    parts: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    steps: tuple[str, ...] = ()

    def keys(self, values: Values) -> tuple[Any, ...]:
        """Return the keys of the groups that are shown, in their order; never raises."""
        known = next(iter(values.values()), {})
        keys = [
            key
            for key in known
            if holds(self.kept, {name: one.get(key) for name, one in values.items()})
        ]
        for one in reversed(self.order):  # each sort leaves ties as they were
            keys = self._sorted(keys, one, values)
        last = None if self.first is None else self.after + self.first
        return tuple(keys[self.after : last])

    def _sorted(self, keys: Sequence[Any], by: Order, values: Values) -> list[Any]:
        def place(key: Any) -> Any:
            if by.name is not None:
                return values.get(by.name, {}).get(key)
            parts = self.parts.get(key, (key,)) if isinstance(key, str) else (key,)
            return parts[by.part]

        missing = [key for key in keys if place(key) is None]
        there = [key for key in keys if place(key) is not None]
        there.sort(key=place, reverse=by.falling)  # ties stay in their order
        return missing + there if by.missing_first else there + missing


def arrangement(
    select: Node, groups: Grouping, asked: Mapping[str, Aggregate], known: Known
) -> Arrangement | None:
    """Read HAVING, ORDER BY, LIMIT and OFFSET; None where nothing is to be done."""
    having, order = select.args.get("having"), select.args.get("order")
    first, after = _whole(select, "limit", 1), _whole(select, "offset", 0) or 0
    if groups.by is None:
        if having is not None or order is not None or after:
            refuse(having or order or select.args["offset"], "there are no groups; add GROUP BY")
        return None
    released = _Released(select, groups, asked, known)
    rules = Everything() if having is None else released.rule(having.this)
    orders = [] if order is None else [released.order(one) for one in order.expressions]
    steps = [
        "" if having is None else f"kept where {written(having.this)}",
        "" if order is None else f"in the order of {', '.join(map(written, order.expressions))}",
        f"the first {after} left out" if after else "",
        "" if first is None else f"the first {first} shown",
        _PICKED if having or ((first or after) and any(one.name for one in orders)) else "",
    ]
    told = tuple(filter(None, steps))
    if not told:
        return None
    return Arrangement(tuple(asked), rules, tuple(orders), first, after, groups.parts, told)


def _whole(select: Node, part: str, least: int) -> int | None:
    """The number of LIMIT, FETCH or OFFSET."""
    node = select.args.get(part)
    if node is None:
        return None
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        refuse(node, _LIMIT)
    only(node, _LIMIT, "expression", "count", "direction", "limit_options")
    given = node.args.get("count") or node.args.get("expression")
    found = 1 if given is None else number(given)  # FETCH FIRST ROW ONLY
    if not isinstance(found, int) or found < least:
        refuse(node, _LIMIT)
    return found


@dataclass(frozen=True)
class _Released:
    """The names of what a SELECT releases, and by which of them a piece of the text goes."""

    select: Node
    groups: Grouping
    asked: Mapping[str, Aggregate]
    known: Known

    def rule(self, having: Node) -> Predicate:
        """Read HAVING as a filter of released numbers."""
        named = having.copy().transform(self._renamed)
        schema = Schema.of(dict.fromkeys(self.asked, "real"))
        found = condition(named, Names(schema, {}))
        found.check(schema)
        return found

    def _renamed(self, node: Node) -> Node:
        if node.key == "column":
            name = self._alias(node)
            if name is None:
                refuse(node, _HAVING)
            if self._is_column(node):
                refuse(node, _TWICE)
        elif is_aggregate(node):
            name = self._asked(node)
        else:
            return node
        return naming(self._number(node, name))

    def _is_column(self, node: Node) -> bool:
        """Whether a name is one of the table's too, which SQL means first behind HAVING."""
        return any(node.name.casefold() == one.casefold() for one in self.known.names.schema.names)

    def order(self, node: Node) -> Order:
        """Read one of the things in ORDER BY."""
        only(node, _ORDER, "this", "desc", "nulls_first")
        falling, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        meant = self._meant(node.this)
        alias = self._alias(meant)
        if alias is not None or is_aggregate(meant):
            name = self._asked(meant) if alias is None else alias
            return Order(self._number(meant, name), 0, falling, first)
        part = self.groups.place(meant, self.known)
        if part is None:
            refuse(meant, _ORDER)
        return Order(None, part, falling, first)

    def _meant(self, node: Node) -> Node:
        """A place in SELECT, or the name of a key, stands for what is there."""
        items = self.select.expressions
        place = number(node)
        if place is not None:
            if not isinstance(place, int) or not 1 <= place <= len(items):
                refuse(node, _ORDER)
            return items[place - 1].this if items[place - 1].key == "alias" else items[place - 1]
        for item in items:
            named = item.key == "alias" and node.key == "column" and not node.args.get("table")
            if named and item.alias == node.name and item.alias not in self.asked:
                return item.this
        return node

    def _alias(self, node: Node) -> str | None:
        """The name of an aggregate that a bare name means."""
        if node.key != "column" or node.args.get("table") is not None:
            return None
        return matching(node.name, tuple(self.asked), quoted=bool(node.this.args.get("quoted")))

    def _asked(self, node: Node) -> str:
        """The name under which SELECT asks for this aggregate."""
        wanted = aggregate(node, self.known)
        for name, one in self.asked.items():
            if one == wanted:
                return name
        return refuse(node, "SELECT does not ask for it; what decides is released: add it there")

    def _number(self, node: Node, name: str) -> str:
        query: Any = self.asked[name].query
        inner = query.question if isinstance(query, Filtered) else query
        if isinstance(inner, Median | Quantile):
            timed = self.known.names.schema.column(inner.column).kind == "time"
            many = isinstance(getattr(inner, "q", None), tuple)
            ranked = not timed and not many and not isinstance(inner.lower, str | date)
        else:
            ranked = isinstance(inner, _NUMBERS)
        if not ranked:
            refuse(node, "is released as no single number; order or keep what is released yourself")
        return name
