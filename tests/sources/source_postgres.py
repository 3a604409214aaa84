"""Rows in a throwaway PostgreSQL."""

from contextlib import closing

from source_tables import KINDS, columns_of

from halfmask.sources import open_source

TYPES = {
    "text": "text",
    "unread": "text",
    "integer": "bigint",
    "real": "double precision",
    "boolean": "boolean",
    "time": "timestamp",
}


def connected(url):
    import psycopg

    return closing(psycopg.connect(url, autocommit=True))


def fill(url, types, columns, name="held"):
    """Make a table of columns, given by name: of types and of cells."""
    listed = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
    with connected(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(f"CREATE TABLE {name} ({listed})")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*columns.values(), strict=True):
                copy.write_row(row)


def in_postgres(url, rows, threads=None):
    """The nasty rows as a table of a server, opened."""
    fill(url, {name: TYPES[kind] for name, kind in KINDS.items()}, columns_of(rows))
    return open_source(url, {"s": "unread"}, table="held", threads=threads)
