"""Which column a name means: exactly the one, or the only one that differs by capitals alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from halfmask.errors import InvalidQuery
from halfmask.plan import Schema
from halfmask.sql.nodes import Node, only, refuse

__all__ = ["Names", "matching"]


def matching(name: str, known: tuple[str, ...], *, quoted: bool) -> str | None:
    """Return the known name that is meant; None where there is none.

    The same name is meant before one that differs by capitals, which no name in quotes means.
    InvalidQuery where several names differ from it by capitals alone.
    """
    if name in known:
        return name
    near = [one for one in known if one.casefold() == name.casefold()] if not quoted else []
    if len(near) > 1:
        raise InvalidQuery(
            f"sql: {name} may be {' or '.join(map(repr, near))}; put the one that you mean in "
            "double quotes"
        )
    return near[0] if near else None


@dataclass(frozen=True)
class Names:
    """The columns of a table, and by which names before a dot they may be called.

    tables: the columns that may follow each name.
    """

    schema: Schema
    tables: Mapping[str, tuple[str, ...]]

    def column(self, node: Node) -> str:
        """Return the column that a name means; InvalidQuery for what is none."""
        if node.key != "column" or node.this.key != "identifier":
            refuse(node, "a column's name is needed here")
        only(node, "a column has at most one name before its dot", "this", "table")
        known = self.schema.names
        if node.args.get("table") is not None:
            known = self._of_table(node.args["table"], node)
        return self.known(node.this.this, known, quoted=bool(node.this.args.get("quoted")))

    def known(self, name: str, known: tuple[str, ...], *, quoted: bool) -> str:
        """Return the one of these columns that a name means; InvalidQuery if it is none."""
        found = matching(name, known, quoted=quoted)
        if found is None and name in self.schema.names:
            raise InvalidQuery(
                f"sql: {name!r} is no column of that table, which has {', '.join(known)}"
            )
        return self.schema.column(name if found is None else found).name

    def _of_table(self, name: Node, node: Node) -> tuple[str, ...]:
        quoted = bool(name.args.get("quoted"))
        table = matching(name.this, tuple(self.tables), quoted=quoted)
        if table is None:
            refuse(node, f"FROM names no table {name.this!r}, but {', '.join(self.tables)}")
        return self.tables[table]
