"""FROM: the table that is open, under any one name, or the two tables that were joined."""

from collections.abc import Mapping

from halfmask.plan import Schema, Sides
from halfmask.sql.names import Names
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["tables_of"]

_TABLE = "FROM names one table, which is the one that is open"
_JOIN = "FROM says how two tables are joined: a JOIN b USING (column)"


def tables_of(select: Node, sides: Sides | None, schema: Schema) -> Mapping[str, tuple[str, ...]]:
    """Return the columns that may follow each name of FROM.

    A curator holds one table, so any one name stands for it. A join must be the one that was
    opened: its column, its kind, the left table first.
    """
    source = select.args.get("from_")
    if source is None:
        refuse(select, "FROM is missing; name the table")
    only(source, _TABLE, "this")
    first, joins = _name(source.this), select.args.get("joins") or []
    if not joins:
        return {first: schema.names}
    if sides is None:
        refuse(
            joins[0],
            "one table is open; to join two, open hm.Join(left, right, on=...) and ask of that",
        )
    if len(joins) > 1:
        refuse(joins[1], "two tables are joined, and no third one")
    second = _name(joins[0].this)
    if first.casefold() == second.casefold():
        refuse(joins[0], "both tables have one name; give each its own by AS")
    tables = {first: sides.left, second: sides.right}
    _same(joins[0], Names(schema, tables), sides, (first, second))
    return tables


def _name(table: Node) -> str:
    if table.key != "table" or table.this.key != "identifier":
        refuse(table, _TABLE)
    only(table, _TABLE, "this", "alias")
    alias = table.args.get("alias")
    if alias is not None:
        only(alias, "AS names a table, and no columns", "this")
    return str(table.alias or table.name)


def _same(join: Node, names: Names, sides: Sides, tables: tuple[str, str]) -> None:
    """Refuse a join that is not the one that was opened."""
    only(join, _JOIN, "this", "side", "kind", "using", "on")
    side, kind = str(join.side).upper(), str(join.kind).upper()
    how = {("", ""): "inner", ("", "INNER"): "inner", ("LEFT", ""): "left"}.get((side, kind))
    how = "left" if (side, kind) == ("LEFT", "OUTER") else how
    if how != sides.how:
        refuse(join, f"the tables were opened with how={sides.how!r}; write that join")
    on = f"the tables were joined on {sides.on!r}; write USING ({sides.on})"
    using, equal = join.args.get("using") or [], join.args.get("on")
    if len(using) == 1 and equal is None and using[0].key == "identifier":
        quoted = bool(using[0].args.get("quoted"))
        if names.known(using[0].this, names.schema.names, quoted=quoted) == sides.on:
            return
    if not using and equal is not None and equal.key == "eq":
        both = (equal.this, equal.expression)
        if _is_key(both, sides, tables):
            return
    refuse(join, on)


def _is_key(both: tuple[Node, Node], sides: Sides, tables: tuple[str, str]) -> bool:
    """Whether a = b are the column of the join, once of each table."""
    if any(one.key != "column" or one.args.get("table") is None for one in both):
        return False
    named = sorted(one.table.casefold() for one in both)
    columns = {one.name.casefold() for one in both}
    return named == sorted(map(str.casefold, tables)) and columns == {sides.on.casefold()}
