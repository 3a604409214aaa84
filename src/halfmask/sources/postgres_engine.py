"""PostgreSQL, held still: each request is one read-only transaction, and so sees one snapshot."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import HalfmaskError, ReleaseFailed, SourceError
from halfmask.plan import Statistic, added
from halfmask.sources.far import FAILED, Far
from halfmask.sources.sql import POSTGRES

__all__ = ["PostgresEngine", "driver"]

A = TypeVar("A")
Types = tuple[tuple[str, int], ...]
Connection = Any

_BEGIN = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL standard_conforming_strings = on;
SET LOCAL extra_float_digits = 1;
SET LOCAL datestyle = 'ISO, YMD';
SET LOCAL jit = off;
"""
"""The dialect is written for these; compiling a query would take longer than running it. No schema
is on the path where others could put an operator that fits our types better than the server's."""

_BATCH = 2**20
"""Numbers of points that are looked at together."""

_PATIENCE = 5.0
"""Seconds that a server has to answer that it cancels."""


def driver() -> Any:
    """Return psycopg, or raise SourceError."""
    try:
        import psycopg
    except ImportError:
        pass
    else:
        return psycopg
    raise SourceError(
        "source: reading PostgreSQL needs psycopg; install it: pip install 'halfmask[postgres]'"
    )


class PostgresEngine:
    """One connection, used by one thread at a time; made again where it was lost.

    address: a URL; what it leaves out comes from PG* variables and the password file, as always.
    expected: a query of no rows, and the names and types of its columns, without which no other
      query is run. It also keeps the table from being altered until the transaction ends.
    denied: whether a server was there and wanted another password.
    """

    dialect = POSTGRES
    near = False

    def __init__(self, address: str, threads: int | None = None) -> None:
        self._address = address
        self._workers = "" if threads is None else _workers(threads)
        self._lock = threading.Lock()
        self._connection: Connection = None
        self._cancel: Callable[[], None] = lambda: None
        self._owner = os.getpid()
        self.expected: tuple[str, Types] | None = None
        self.denied = False

    def __del__(self) -> None:
        if vars(self).get("_connection") is not None and self._owner == os.getpid():
            self._connection.close()

    def __repr__(self) -> str:
        return "<PostgreSQL>"  # an address may hold a password

    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]:
        """Return the rows of a query, whole numbers as int; or raise `error` alone."""

        def read(connection: Connection) -> list[tuple[Any, ...]]:
            return [tuple(map(_plain, row)) for row in connection.execute(sql).fetchall()]

        return self.run(read, error)

    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]:
        """Return the columns of a query of integers without nulls; errors as in `rows`."""
        return self.run(lambda connection: _copied(connection, sql), error)

    def cloud(self, sql: str, size: int) -> Far:
        """Return points that are added up in batches, as the server sends them: none is kept."""

        def summed(statistic: Statistic) -> NDArray[Any]:
            return self.run(
                lambda connection: added(statistic, _batches(connection, sql, size), size),
                ReleaseFailed(FAILED),
            )

        return Far(self, sql, size, summed)

    def run(self, ask: Callable[[Connection], A], error: Exception) -> A:
        """Run what asks in one transaction, or raise `error` alone: an engine's words hold rows."""
        with self._lock:
            try:
                connection = self._begun()
                answer = ask(connection)
                connection.execute("COMMIT")
                return answer
            except HalfmaskError as problem:
                self._drop()
                error = problem
            except Exception:
                self._drop()
            except BaseException:  # Ctrl-C: what the server does for us ends as well
                self._drop()
                with suppress(Exception):
                    self._cancel()  # again: a server that has not yet begun passes over the first
                raise
        error.__context__ = None
        raise error

    def close(self) -> None:
        """Let go of the connection; a second call does nothing."""
        with self._lock:
            self._drop()

    def _begun(self) -> Connection:
        """Begin a transaction; a connection that was lost meanwhile is made again, once."""
        if self._owner != os.getpid():  # forked: the connection is the parent's
            self._connection, self._owner = None, os.getpid()
            self._cancel = lambda: None
        connection = self._connection
        if connection is not None:
            try:
                connection.execute(_BEGIN + self._workers)
            except Exception:  # no row has been read for it yet
                self._drop()
        if self._connection is None:
            self._connection = connection = self._connected()
            connection.execute(_BEGIN + self._workers)
        if self.expected is not None:
            probe, types = self.expected
            if types_of(connection, probe) != types:
                raise ReleaseFailed("the columns are not those that the table was opened with")
        return connection

    def _connected(self) -> Connection:
        psycopg = driver()
        try:
            made = psycopg.connect(
                self._address,
                autocommit=True,
                prepare_threshold=None,
                client_encoding="UTF8",
                fallback_application_name="halfmask",
            )
        except psycopg.OperationalError as problem:
            asked = problem.pgconn is not None and (
                problem.pgconn.needs_password or problem.pgconn.used_password
            )
            self.denied = bool(asked)
            raise
        self._cancel = made.pgconn.get_cancel().cancel
        return made

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if connection.info.transaction_status == 1:  # it is still busy
                connection.cancel_safe(timeout=_PATIENCE)
        except Exception:  # noqa: S110
            pass  # the server is gone, or will see that we are
        connection.close()


def types_of(connection: Connection, probe: str) -> Types:
    """Return the names and types of the columns of a query of no rows."""
    return tuple((c.name, c.type_code) for c in connection.execute(probe).description or ())


def _workers(threads: int) -> str:
    return f"SET LOCAL max_parallel_workers_per_gather = {threads - 1};"


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) else value


def _copied(connection: Connection, sql: str) -> dict[str, NDArray[np.int64]]:
    """Copy columns in the binary format: so many records of equal length, big end first."""
    names = [name for name, _ in types_of(connection, f"SELECT * FROM ({sql}) q LIMIT 0")]
    held = bytearray()
    for part in _parts(connection, sql, names):
        held += part
    record = _record(len(names))
    records = np.frombuffer(held, record, (len(held) - _AROUND) // record.itemsize, _HEAD)
    return {name: records["fields"]["value"][:, i].astype(np.int64) for i, name in enumerate(names)}


def _batches(connection: Connection, sql: str, size: int) -> Iterator[NDArray[np.int64]]:
    """Copy points likewise, and yield them in batches."""
    record = _record(size)
    held, skip, enough = bytearray(), _HEAD, max(1, _BATCH // size) * record.itemsize
    for part in chain(_parts(connection, sql, [f"v{j}" for j in range(size)]), [None]):
        held += part or b""
        if part is None or len(held) >= enough + _AROUND:
            rows = (len(held) - _AROUND) // record.itemsize
            records = np.frombuffer(bytes(held), record, rows, skip)
            yield records["fields"]["value"].astype(np.int64)
            del held[skip : skip + rows * record.itemsize]


def _parts(connection: Connection, sql: str, names: list[str]) -> Iterator[Any]:
    listed = ", ".join(f"CAST({name} AS BIGINT)" for name in names)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY (SELECT {listed} FROM ({sql}) q) TO STDOUT (FORMAT BINARY)") as copy,
    ):
        yield from copy


def _record(size: int) -> np.dtype[Any]:
    field = np.dtype([("length", ">i4"), ("value", ">i8")])
    return np.dtype([("count", ">i2"), ("fields", field, (size,))])


_HEAD = 19
_AROUND = _HEAD + 2
