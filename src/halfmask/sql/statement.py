"""A SELECT as one ask: what is asked, in which groups, of which rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Everything, Filters, Keys, Predicate, Schema, Sides
from halfmask.procedures import Filtered, Procedure
from halfmask.queries import Query
from halfmask.sql.arranged import Arrangement, arrangement
from halfmask.sql.filters import condition
from halfmask.sql.functions import Aggregate, Known, aggregate
from halfmask.sql.groups import Grouping, grouping
from halfmask.sql.names import Names
from halfmask.sql.nodes import Node, parsed, refuse, written
from halfmask.sql.tables import tables_of

__all__ = ["Statement", "names_in", "read_sql"]

_PARTS: Mapping[str, str] = {
    "distinct": "each group stands once by itself; leave DISTINCT out",
    "qualify": "window functions answer for single rows",
    "with_": "name the table in FROM, without WITH",
}
_READ = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")


@dataclass(frozen=True)
class Statement:
    """What a text asks: the arguments of `Curator.ask` and `Curator.preview`.

    query: one query, or several by the names that AS gives them, or by their text.
    arrangement: what is done to the released groups: HAVING, ORDER BY, LIMIT and OFFSET.
    """

    query: Query | Procedure | dict[str, Query | Procedure]
    by: Keys | Filters | str | None
    where: Predicate | None
    arrangement: Arrangement | None = None


def read_sql(
    text: str,
    schema: Schema,
    *,
    unit: str | None = None,
    sides: Sides | None = None,
    bounds: Mapping[str, Any] | None = None,
    keys: Mapping[str, Iterable[Any]] | None = None,
) -> Statement:
    """Read one SELECT of aggregates; InvalidQuery names the piece that is not answered, and why.

    unit: the column of the privacy unit; sides: where the columns of a joined table come from.
    bounds: by column, (lower, upper) or "private"; keys: by column: both before the schema's.

    >>> schema = Schema.of({"dept": "text", "pay": "real"})
    >>> asked = read_sql("SELECT dept, AVG(pay) FROM staff WHERE pay > 0 GROUP BY dept", schema,
    ...     bounds={"pay": (0, 100_000)}, keys={"dept": ["ops", "r&d"]})
    >>> asked.query, asked.by.values, str(asked.where)
    (Mean('pay', 0, 100000), ('ops', 'r&d'), 'pay > 0')
    """
    try:
        select = parsed(text)
        if select.key != "select":
            refuse(select, "not a SELECT of one table; nothing else is answered")
        _whole(select)
        names = Names(schema, tables_of(select, sides, schema))
        known = Known(names, unit, _bounds(bounds, schema), _keys(keys, schema))
        return _statement(select, known)
    except RecursionError:
        raise InvalidQuery("sql: the text is nested too deeply; write it flatter") from None


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of columns as they stand in a text, for a reader without a schema.

    What AS names is no column where it stands behind WHERE.

    >>> names_in("SELECT dept, AVG(pay) FROM staff WHERE pay > 0 GROUP BY dept")
    ('dept', 'pay')
    """
    try:
        select = parsed(text)
        named = {item.alias.casefold() for item in select.expressions if item.key == "alias"}
        late = (select.args.get(part) for part in ("group", "having", "order"))
        behind = {id(node) for part in late if part is not None for node in part.walk()}
        found = [
            node.name
            for node in select.walk()
            if node.key == "column" and not (id(node) in behind and node.name.casefold() in named)
        ]
    except RecursionError:
        raise InvalidQuery("sql: the text is nested too deeply; write it flatter") from None
    return tuple(sorted(filter(None, set(found))))


def _by_column(given: Mapping[str, Any] | None, schema: Schema) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidQuery(f"sql: {shown(given)} is no mapping; write {{'column': ...}}")
    return {schema.column(name).name: value for name, value in (given or {}).items()}


def _keys(given: Mapping[str, Any] | None, schema: Schema) -> dict[str, Any]:
    """Keep lists that can be read only once."""
    found = _by_column(given, schema)
    once = {name: keys for name, keys in found.items() if isinstance(keys, Iterator)}
    return found | {name: tuple(keys) for name, keys in once.items()}


def _bounds(given: Mapping[str, Any] | None, schema: Schema) -> dict[str, Any]:
    found = _by_column(given, schema)
    for name, value in found.items():
        if value != "private" and not (isinstance(value, tuple | list) and len(value) == 2):
            raise InvalidQuery(
                f"bounds: {shown(value)} is given for {name!r}; give two numbers, (lower, upper), "
                'or "private"'
            )
    return found


def _whole(select: Node) -> None:
    """Refuse the parts of a SELECT that are not answered."""
    for part, node in select.args.items():
        if node and part not in _READ:
            piece = node[0] if isinstance(node, list) else node
            refuse(
                piece if hasattr(piece, "args") else select,
                _PARTS.get(part, "this part of a SELECT is not answered"),
            )


def _statement(select: Node, known: Known) -> Statement:
    where = select.args.get("where")
    filtered = None if where is None else condition(where.this, known.names)
    groups = grouping(select, known)
    asked = _asked(select, groups, known)
    every = _of_all(asked.values())
    if every is not None:
        filtered = every if filtered is None else filtered & every
    if isinstance(filtered, Everything):
        filtered = None
    queries = {name: _query(one, every) for name, one in asked.items()}
    query = next(iter(queries.values())) if len(queries) == 1 else queries
    return Statement(query, groups.by, filtered, arrangement(select, groups, asked, known))


def _asked(select: Node, groups: Grouping, known: Known) -> dict[str, Aggregate]:
    """The aggregates of a SELECT, by name; keys of its groups stand beside them by themselves."""
    asked: dict[str, Aggregate] = {}
    for item in select.expressions:
        node = item.this if item.key == "alias" else item
        if groups.is_key(node, known):
            continue
        name = item.alias if item.key == "alias" else written(node)
        if name in asked:
            refuse(item, "this name stands twice; name each by AS")
        asked[name] = aggregate(node, known)
    if not asked:
        refuse(select, "no aggregate is asked; write one, such as COUNT(*)")
    return asked


def _of_all(asked: Iterable[Aggregate]) -> Predicate | None:
    """The rows that all aggregates are about, where these are not all that pass WHERE."""
    listed = list(asked)
    wanted = [one.where for one in listed if one.where is not None]
    if wanted and all(one.is_about(wanted[0]) for one in listed):
        return wanted[0]
    return None


def _query(one: Aggregate, every: Predicate | None) -> Query | Procedure:
    if one.where is None or one.where == every or isinstance(one.where, Everything):
        return one.query
    return Filtered(one.query, one.where)
