"""PostgreSQL tables and views, asked where they are: exact integers alone leave the server.

What is assumed: the server and the owner of the table are trusted, as the file of another source
would be. Each row of a view comes from rows of the one unit that it names, and from public facts: a
view that ranks, averages or cuts off over other people's rows would let one of them move rows of
another. A view may call any function, and policies of row security may hide rows; the table is
what this role then sees. Each request sees one snapshot. The stages of one ask may see different
ones; each keeps its own promise about the rows that a person has at that time, and their prices
add up.
"""

import re
from collections.abc import Mapping
from typing import Any

from halfmask.errors import SourceError, shown
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import declared
from halfmask.sources.postgres_columns import PostgresColumn
from halfmask.sources.postgres_engine import PostgresEngine, driver, types_of
from halfmask.sources.sql import POSTGRES
from halfmask.sources.table import Table

__all__ = ["is_address", "open_postgres"]

_PREFIXES = ("postgresql://", "postgres://")
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_OLDEST = 140000
"""The first version with infinite decimals, and exact times."""

_FIND = """
SELECT c.oid, n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
"""
"""A temporary table is another's, whose connection a pool has handed on: it is gone in a moment."""
_COLUMNS = """
WITH RECURSIVE held AS (
  SELECT attnum, attname, atttypid, atttypmod FROM pg_catalog.pg_attribute
  WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped
    AND pg_catalog.has_column_privilege(attrelid, attnum, 'SELECT')
  UNION ALL
  SELECT h.attnum, h.attname, t.typbasetype, t.typtypmod FROM held h
  JOIN pg_catalog.pg_type t ON t.oid = h.atttypid WHERE t.typtype = 'd')
SELECT h.attname, t.typname, t.typtype, h.atttypmod FROM held h
JOIN pg_catalog.pg_type t ON t.oid = h.atttypid WHERE t.typtype <> 'd' ORDER BY h.attnum
"""


def is_address(source: object) -> bool:
    """Whether a source is an address, and no path: it may hold a password, however mistyped."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def open_postgres(
    address: str,
    table: str | None,
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Table:
    """Open a table or view; its columns' names and types come from the catalogue, never from rows.

    SourceError if psycopg is missing, no server answers, it lets us in nowhere, or there is no
    such table or none that we may read. No message holds any part of the address.
    """
    if not address.startswith(_PREFIXES):
        raise SourceError(
            "source: an address of this kind cannot be opened; that of a database begins with "
            "postgresql:// in small letters, and files are given by their paths"
        )
    if not table or not isinstance(table, str):
        raise SourceError(
            f"table: {shown(table)} given, and a database holds many; "
            'name one table or view, such as table="public.staff"'
        )
    driver()
    engine = PostgresEngine(address, threads)
    try:
        return _opened(engine, table, schema)
    except BaseException:
        engine.close()
        raise


def _opened(
    engine: PostgresEngine, table: str, schema: Schema | Mapping[str, Kind] | None
) -> Table:
    place = _place(engine)
    number, *names = engine.run(lambda connection: _find(connection, table), _missing(table))
    columns = engine.run(lambda connection: _columns(connection, number), _missing(table))
    useful = {column.name: column for column in columns if column.kind is not None}
    if not useful:
        raise SourceError(
            f"table: no column of {table!r} that this user may read holds numbers, text, truth "
            "values or times; GRANT SELECT on it, or name another one"
        )
    public = declared({n: c.kind for n, c in useful.items() if c.kind is not None}, schema)
    physical = {c.name: useful[c.name].canonical(c.kind) for c in public}
    written = ".".join(map(POSTGRES.identifier, names))
    listed = ", ".join(map(POSTGRES.identifier, useful))
    probe = f"SELECT {listed} FROM {written} LIMIT 0"
    types = engine.run(lambda connection: types_of(connection, probe), _unreadable(table))
    engine.expected = (probe, types)
    opened = Table(".".join(names), public, physical, written, engine)
    opened.origin = f"{place} {written}"
    return opened


def _place(engine: PostgresEngine) -> str:
    try:
        return engine.run(
            _server,
            SourceError(
                "source: no database answers at this address: check its host, port, name and "
                "user, and that the server runs"
            ),
        )
    except SourceError as problem:
        refused = problem
    if engine.denied:
        refused = SourceError(
            "source: the server refuses this user with this password; give the right one in "
            "PGPASSWORD, in the password file, or in the address"
        )
    raise refused


def _server(connection: Any) -> str:
    """Return where the server is, without user and password."""
    info = connection.info
    if info.server_version < _OLDEST:
        raise SourceError(
            f"source: the server is PostgreSQL {info.server_version // 10000}; "
            f"{_OLDEST // 10000} or newer is needed"
        )
    ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
    if encoding != "UTF8":
        raise SourceError(
            f"source: the database holds text in {encoding}; UTF8 is needed, since units are "
            "picked by the bytes of their names"
        )
    return f"postgresql://{info.host}:{info.port}/{info.dbname}"


def _find(connection: Any, table: str) -> tuple[Any, ...]:
    """Find a relation as SQL reads its name, and else as it is written, with its capitals."""
    quoted = ".".join(map(POSTGRES.identifier, table.split(".", 1)))
    for name in (table, quoted, POSTGRES.identifier(table)):
        try:
            with connection.transaction():
                found = connection.execute(_FIND, (_number(connection, name),)).fetchall()
        except driver().Error:  # no name in SQL's eyes
            continue
        if found:
            return tuple(found[0])
    raise _missing(table)


def _number(connection: Any, name: str) -> int | None:
    """Look for a name where this user's own path leads, which holds for nothing else we run."""
    connection.execute("SET LOCAL search_path = DEFAULT")
    ask = "SELECT pg_catalog.to_regclass(%s)::pg_catalog.oid"
    ((number,),) = connection.execute(ask, (name,)).fetchall()
    connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
    return None if number is None else int(number)


def _columns(connection: Any, number: int) -> list[PostgresColumn]:
    return [PostgresColumn(*row) for row in connection.execute(_COLUMNS, (number,)).fetchall()]


def _missing(table: str) -> SourceError:
    return SourceError(
        f"table: there is no table or view {table!r} in the database that this user can see; "
        "check its name and schema"
    )


def _unreadable(table: str) -> SourceError:
    return SourceError(
        f"table: {table!r} cannot be read: GRANT SELECT on it to this user; and if it is a view, "
        "let its functions name the schemas of what they use (ALTER FUNCTION ... SET search_path)"
    )
