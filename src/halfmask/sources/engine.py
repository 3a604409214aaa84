"""DuckDB, held still: settings that keep it quiet, private and inside the machine."""

import os
import threading
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from numpy.typing import NDArray

from halfmask.errors import SourceError
from halfmask.progress import watched
from halfmask.sources.folder import PrivateFolder
from halfmask.sources.snapshot import Snapshot
from halfmask.sources.sql import DUCKDB

__all__ = ["Engine", "files_engine", "memory_engine"]

A = TypeVar("A")

_MEMORY = "1980MB"
"""Measured: 20 million units of 100 million rows peak at 1.3 GB where they are summed, and at 2.0
where their rows are picked; a limit of 1800MB spills the first too."""


_numbers = count()
_INTERRUPTED = "Query interrupted"
"""What the engine makes of Ctrl-C."""


class Engine:
    """One connection, used by one thread at a time; its errors carry no word of the engine's."""

    dialect = DUCKDB
    near = True

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, folder: PrivateFolder | None = None
    ) -> None:
        self.connection = connection
        self._lock = threading.Lock()
        self._folder = folder
        self._discarded: list[str] = []

    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]:
        """Return the rows of a query, or raise `error` alone: an engine's words may hold rows."""
        return self._run(sql, error, lambda answer: answer.fetchall())

    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]:
        """Return the columns of a query that has no nulls, as arrays; errors as in `rows`."""
        return self._run(sql, error, lambda answer: answer.fetchnumpy())

    def _run(
        self, sql: str, error: Exception, fetch: Callable[[duckdb.DuckDBPyConnection], A]
    ) -> A:
        with self._lock:
            try:
                while self._discarded:
                    self.connection.execute(f"DROP TABLE IF EXISTS {self._discarded.pop()}")
                with watched(self.connection.query_progress):
                    return fetch(self.connection.execute(sql))
            except Exception as problem:
                interrupted = isinstance(problem, RuntimeError) and str(problem) == _INTERRUPTED
        raise KeyboardInterrupt if interrupted else error  # outside: no __context__, no cause

    def cloud(self, sql: str, size: int) -> Snapshot:
        """Return points that are put on the grid once, and then read some at a time."""
        return Snapshot(self, sql, size)

    def discarded(self, table: str) -> None:
        """Drop a temporary table before the next query: this is called by a collector of garbage.

        It may come in the midst of a query, so it takes no lock.
        """
        self._discarded.append(table)

    def register(self, parts: Any, error: Exception) -> None:
        """Let queries read columns in memory as the table `given`, without a copy."""
        with self._lock:
            try:
                self.connection.register("given", parts)
                return
            except Exception:  # noqa: S110
                pass
        raise error

    def unregister(self) -> None:
        """Let go of the columns in memory."""
        self.connection.unregister("given")

    def types(self, table: str, error: Exception) -> list[tuple[str, str]]:
        """Return the names and engine types of a table's columns; reads no row."""
        return [(str(row[0]), str(row[1])) for row in self.rows(f"DESCRIBE FROM {table}", error)]

    def room(self, error: Exception) -> Path:
        """Return the private folder in which this engine may write and read."""
        ((path,),) = self.rows("SELECT current_setting('temp_directory')", error)
        return Path(path)

    def written(self, sql: str, error: Exception) -> Path:
        """Write the rows of a query to a new Parquet file of the private folder."""
        path = self.room(error) / f"rows{next(_numbers)}.parquet"
        self.rows(f"COPY ({sql}) TO {DUCKDB.string(str(path))} (FORMAT parquet)", error)
        return path

    def close(self) -> None:
        """Close the connection and remove what belongs to it."""
        with self._lock:
            self.connection.close()
            if self._folder is not None:
                self._folder.close()


def files_engine(paths: Sequence[Path], folder: PrivateFolder, threads: int | None) -> Engine:
    """Return an engine that can open these files and its private folder, and nothing else."""
    connection = _connect(folder, threads)
    listed = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    connection.execute(f"SET allowed_paths = [{listed}]")
    _shut(connection, folder)
    connection.execute("SET lock_configuration = true")
    return Engine(connection, folder)


_shared: dict[tuple[int, int | None], tuple[duckdb.DuckDBPyConnection, PrivateFolder]] = {}
_sharing = threading.Lock()


def memory_engine(threads: int | None, *, alone: bool = False) -> Engine:
    """Return a connection to this process's engine for tables in memory, or to one `alone`.

    One engine for all (it takes 30 ms to start); each connection sees its own tables only.
    """
    if alone:
        return Engine(*_closed(threads))
    key = (os.getpid(), threads)
    with _sharing:
        for _ in range(2):
            if key not in _shared:
                _shared[key] = _closed(threads)
            try:
                cursor = _shared[key][0].cursor()
                _quiet(cursor)
                return Engine(cursor)
            except duckdb.Error:  # broken: a fatal error ends an engine, and all its tables
                del _shared[key]
    raise SourceError("source: the engine for tables in memory does not start")


def _closed(threads: int | None) -> tuple[duckdb.DuckDBPyConnection, PrivateFolder]:
    folder = PrivateFolder()
    connection = _connect(folder, threads)
    _shut(connection, folder)
    return connection, folder


def _shut(connection: duckdb.DuckDBPyConnection, folder: PrivateFolder) -> None:
    """Leave the engine nothing of the machine but its private folder, and what is listed so far."""
    directory = str(folder.path).replace("'", "''")
    connection.execute(f"SET allowed_directories = ['{directory}']")
    connection.execute("SET enable_external_access = false")


def _connect(folder: PrivateFolder, threads: int | None) -> duckdb.DuckDBPyConnection:
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": _MEMORY,
        "preserve_insertion_order": False,
        "temp_directory": str(folder.path),
    }
    if threads is not None:
        settings["threads"] = threads
    connection = duckdb.connect(config=settings)
    _quiet(connection)
    connection.execute("SET pandas_analyze_sample = 0")
    return connection


def _quiet(connection: duckdb.DuckDBPyConnection) -> None:
    """Let it say how far it is when it is asked to (`watched`), and print nothing by itself."""
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
