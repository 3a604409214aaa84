"""GROUP BY: columns with public keys, one whose keys are to be found, periods, or a CASE."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from halfmask.plan import And, Comparison, Filters, Keys, Missing, Not, Predicate
from halfmask.plan.filters import MOST_FILTERS
from halfmask.plan.predicates import joined
from halfmask.sql.calendar import is_period, periods_of
from halfmask.sql.filters import condition, number
from halfmask.sql.functions import Known
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["Grouping", "grouping"]

_WHAT = "GROUP BY takes columns, one period such as DATE_TRUNC('month', at), or one CASE"
_CASE = "groups by CASE are WHEN condition THEN 'a name', and ELSE 'a name'"


@dataclass(frozen=True)
class Grouping:
    """The groups, and how they stand in SELECT: as columns, or as a period or CASE.

    parts: by the name of a group, its key of each column, where there are several columns.
    """

    by: Keys | Filters | str | None = None
    columns: tuple[str, ...] = ()
    node: Node = None
    parts: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def is_key(self, node: Node, known: Known) -> bool:
        """Tell whether an item of SELECT is the key of the groups."""
        return self.place(node, known) is not None

    def place(self, node: Node, known: Known) -> int | None:
        """Return which of the parts of a key a node names, counted from 0; None if it is none."""
        if node.key == "column" and self.columns:
            name = known.names.column(node)
            return self.columns.index(name) if name in self.columns else None
        return 0 if self.node is not None and bool(node == self.node) else None


def grouping(select: Node, known: Known) -> Grouping:
    """Return the groups of a SELECT."""
    group = select.args.get("group")
    if group is None:
        return Grouping()
    only(group, _WHAT, "expressions")
    nodes = [_meant(one, select, known) for one in group.expressions]
    if not nodes:
        refuse(group, _WHAT)
    if len(nodes) == 1 and nodes[0].key == "case":
        return Grouping(_cases(nodes[0], known), node=nodes[0])
    if len(nodes) == 1 and is_period(nodes[0]):
        return Grouping(periods_of(nodes[0], known), node=nodes[0])
    for node in nodes:
        if node.key != "column":
            refuse(node, _WHAT)
    names = tuple(known.names.column(node) for node in nodes)
    if len(names) == 1:
        return Grouping(known.keys_of(names[0]) or names[0], names)
    return _combined(group, names, known)


def _combined(group: Node, names: tuple[str, ...], known: Known) -> Grouping:
    """One group for each combination of public keys, named by them: "ops, 1"."""
    listed = [known.keys_of(name) for name in names]
    sizes = [0 if keys is None else keys.size for keys in listed]
    if not 0 < prod(sizes) <= MOST_FILTERS or len(set(names)) < len(names):
        refuse(
            group,
            f"several columns need public keys of each, {MOST_FILTERS} combinations at most; give "
            "keys={'column': [...]} of each, or group by one of them",
        )
    groups: dict[str, Predicate] = {}
    parts: dict[str, tuple[object, ...]] = {}
    for keys in product(*(one.values for one in listed if one is not None)):
        label = ", ".join("missing" if key is None else str(key) for key in keys)
        if label in groups:
            refuse(group, f"two combinations of keys are both called {label!r}; rename a key")
        pairs = zip(names, keys, strict=True)
        groups[label], parts[label] = joined(And, [_holding(*pair) for pair in pairs]), keys
    return Grouping(Filters(**groups), names, parts=parts)


def _holding(name: str, key: Any) -> Predicate:
    return Missing(name) if key is None else Comparison(name, "==", key)


def _meant(node: Node, select: Node, known: Known) -> Node:
    """A place in SELECT, or a name of AS that is no column's, stands for what is there."""
    place = number(node)
    if isinstance(place, int):
        if not 1 <= place <= len(select.expressions):
            refuse(node, f"SELECT has {len(select.expressions)} items")
        item = select.expressions[place - 1]
        return item.this if item.key == "alias" else item
    if node.key == "column" and node.args.get("table") is None:
        taken = {name.casefold() for name in known.names.schema.names}
        for item in select.expressions:
            named = item.key == "alias" and item.alias.casefold() == node.name.casefold()
            if named and node.name.casefold() not in taken:
                return item.this
    return node


def _cases(node: Node, known: Known) -> Filters:
    """Each case holds the rows that pass its condition and no earlier one.

    A condition that is not TRUE, but FALSE or NULL, goes on to the next: `Not` is true of both.
    """
    only(node, _CASE, "ifs", "default")
    earlier: list[Predicate] = []
    groups: dict[str, Predicate] = {}
    for case in node.args["ifs"]:
        held = condition(case.this, known.names)
        _add(groups, case.args["true"], joined(And, [held, *earlier]))
        earlier.append(Not(held))
    if node.args.get("default") is not None:
        _add(groups, node.args["default"], joined(And, earlier))
    return Filters(**groups)


def _add(groups: dict[str, Predicate], label: Node, held: Predicate) -> None:
    if label.key != "literal" or not label.args.get("is_string"):
        refuse(label, _CASE)
    name = str(label.this)
    groups[name] = groups[name] | held if name in groups else held
