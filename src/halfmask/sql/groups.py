"""GROUP BY: one column with public keys, one whose keys are to be found, or the cases of a CASE."""

from dataclasses import dataclass

from halfmask.plan import And, Filters, Keys, Not, Predicate
from halfmask.plan.predicates import joined
from halfmask.sql.filters import condition, number
from halfmask.sql.functions import Known
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["Grouping", "grouping"]

_CASE = "groups by CASE are WHEN condition THEN 'a name', and ELSE 'a name'"


@dataclass(frozen=True)
class Grouping:
    """The groups, and how they stand in SELECT: as a column, or as a CASE."""

    by: Keys | Filters | str | None = None
    column: str | None = None
    case: Node = None

    def is_key(self, node: Node, known: Known) -> bool:
        """Tell whether an item of SELECT is the key of the groups."""
        if node.key == "column" and self.column is not None:
            return known.names.column(node) == self.column
        return self.case is not None and bool(node == self.case)


def grouping(select: Node, known: Known) -> Grouping:
    """Return the groups of a SELECT."""
    group = select.args.get("group")
    if group is None:
        return Grouping()
    only(group, "GROUP BY takes one column or CASE", "expressions")
    if len(group.expressions) != 1:
        refuse(
            group,
            "groups are told apart by one column; ask by hm.Filters for combinations, or add a "
            "column that holds them",
        )
    node = _meant(group.expressions[0], select, known)
    if node.key == "case":
        return Grouping(_cases(node, known), case=node)
    name = known.names.column(node)
    return Grouping(known.keys_of(name) or name, column=name)


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
