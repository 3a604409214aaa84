"""The SQLite file under a ledger: opening, locking, transactions, and errors in plain words.

Durability: write-ahead log with synchronous=FULL, so that a commit which returned survives a
power cut. Writers take the lock when they begin (BEGIN IMMEDIATE) and wait their turn.
Threads share one connection behind a lock. A connection must not cross a fork (the child would
believe in locks that only the parent holds), so before each fork every connection is closed, and
both sides open their own when they next need one.

A file that is deleted or replaced lives on under its open connections, and a charge to it would
be lost; so before each commit the name must still lead to the file that was opened.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from halfmask.errors import LedgerError

__all__ = ["Store"]

Fill = Callable[[sqlite3.Connection], None]
_Identity = tuple[int, int]  # device and inode

_APPLICATION = 0x68_6D_6C_31  # "hml1", in the header of the file

_SCHEMA = (
    """CREATE TABLE account (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        opened TEXT NOT NULL,
        budget_text TEXT NOT NULL,
        budget INTEGER NOT NULL,
        budget_delta INTEGER NOT NULL,
        spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND budget),
        spent_delta INTEGER NOT NULL CHECK (spent_delta BETWEEN 0 AND budget_delta),
        head_seq INTEGER NOT NULL,
        head_hash TEXT NOT NULL)""",
    """CREATE TABLE spend (
        seq INTEGER PRIMARY KEY,
        request_id TEXT UNIQUE,
        time TEXT NOT NULL,
        actor TEXT NOT NULL,
        query TEXT NOT NULL,
        price TEXT NOT NULL,
        amount INTEGER NOT NULL CHECK (amount >= 0),
        amount_delta INTEGER NOT NULL CHECK (amount_delta >= 0),
        total INTEGER NOT NULL,
        total_delta INTEGER NOT NULL,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL)""",
    """CREATE TABLE release (
        seq INTEGER PRIMARY KEY REFERENCES spend (seq),
        answer TEXT NOT NULL,
        hash TEXT NOT NULL)""",
)

_REASONS = {
    "SQLITE_BUSY": "is locked by another process; wait for it to finish, or find what holds it",
    "SQLITE_LOCKED": "is locked by another process; wait for it to finish, or find what holds it",
    "SQLITE_FULL": "cannot grow: the disk is full; free some space and ask again",
    "SQLITE_READONLY": "is read-only; make the file and its folder writable",
    "SQLITE_CANTOPEN": "cannot be opened; make the file and its folder readable and writable",
    "SQLITE_PERM": "may not be opened by you; make the file and its folder readable and writable",
    "SQLITE_IOERR": "cannot be written: the disk failed or is full; free some space or use another",
    "SQLITE_NOTADB": "is not a ledger; give another path (this file was left as it is)",
    "SQLITE_CONSTRAINT_CHECK": "is of an earlier version, where every row costs something, so it "
    "holds no series; open a new ledger for it",
    "SQLITE_CORRUPT": "is damaged; restore it from a copy you trust",
}

_opening = threading.RLock()  # one thread at a time makes files, or forks
_stores: "weakref.WeakSet[Store]" = weakref.WeakSet()


class Store:
    """One SQLite database, a file or in memory (path None), with transactions.

    `fill` writes the account of a new ledger; without it only an existing file is opened.
    `patience` is how many seconds to wait for a locked file.
    """

    def __init__(self, path: Path | None, fill: Fill | None, *, patience: float) -> None:
        self.path = path
        self._patience = patience
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._file: _Identity | None = None
        self._log: _Identity | None = None
        with _opening, self._plain_errors():
            if path is not None:
                self._open_file(path, fill)
            elif fill is not None:
                self._connection = self._connect(":memory:")
                _create(self._connection, fill)
            _stores.add(self)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction that sees one moment of the file."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that holds the write lock; on leaving, the change is durable.

        Any exception rolls back. If the commit itself fails the change may or may not be on disk:
        the caller must treat it as charged, and not go on.
        """
        if self.path is None and self._process != os.getpid():
            raise LedgerError(
                "ledger: this process is a fork, and a ledger in memory is not shared; "
                "open the ledger with a path, or spend in the process that opened it"
            )
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close the connection; a file is opened again when it is next needed."""
        with self._lock:
            if self._connection is not None and self.path is not None:
                self._connection.close()
                self._connection = self._log = None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._plain_errors():
            if self._connection is None:
                self._connection = self._connect(f"{_uri(self.path)}?mode=rw")
            connection = self._connection
            connection.execute(begin)
            try:
                yield connection
                self._check_file()
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connect(self, uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri,
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")  # macOS: past the disk's own cache
        return connection

    def _open_file(self, path: Path, fill: Fill | None) -> None:
        _check_place(path)
        if fill is not None and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            _flush_folder(path.parent)
        _check_access(path)
        self._file = _identity(path)
        if path.stat().st_size > 0:
            self._recognise(path)
        elif fill is None:
            raise LedgerError(f"ledger: {path} is an empty file; give a budget to make it a ledger")
        self._connection = self._connect(f"{_uri(path)}?mode=rw")
        if fill is not None:
            _create(self._connection, fill)
        self._connection.execute("PRAGMA journal_mode=WAL")

    def check_free_rows(self) -> None:
        """Refuse a file of an earlier version, in which every row costs something."""
        with self.reading() as connection:
            (made,) = connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'spend'"
            ).fetchone()
        if "amount > 0" in made:
            raise LedgerError(
                "ledger: of an earlier version, where every row costs something, so it holds no "
                "series; begin the series in a new ledger. Nothing was charged."
            )

    def _check_file(self) -> None:
        """Refuse to commit to a file, or a log beside it, that others no longer find."""
        if self.path is None:
            return
        log = _identity(f"{self.path}-wal")  # is there while any connection is
        self._log = self._log or log
        if (_identity(self.path), log) != (self._file, self._log):
            raise LedgerError(
                f"ledger: {self.path} or the log beside it was deleted, moved or replaced while in "
                "use, so charges may be missing; put the file back, or open the one that you trust "
                "anew. No row was read."
            )

    def _recognise(self, path: Path) -> None:
        """Look at the header through a read-only connection, which changes nothing."""
        glance = sqlite3.connect(f"{_uri(path)}?mode=ro", uri=True, timeout=self._patience)
        try:
            (application,) = glance.execute("PRAGMA application_id").fetchone()
        finally:
            glance.close()
        if application != _APPLICATION:
            raise LedgerError(f"ledger: {path} {_REASONS['SQLITE_NOTADB']}")

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(f"ledger: {self._name} {_reason(error)}. No row was read.") from None
        except OSError as error:
            raise LedgerError(
                f"ledger: {self._name} cannot be opened ({error.strerror}); "
                "make the file and its folder readable and writable"
            ) from None

    @property
    def _name(self) -> str:
        return "the ledger in memory" if self.path is None else str(self.path)


def _create(connection: sqlite3.Connection, fill: Fill) -> None:
    """Make the tables and the account in one transaction, unless another process just did."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            for statement in (*_SCHEMA, f"PRAGMA application_id={_APPLICATION}"):
                connection.execute(statement)
            fill(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise LedgerError(f"ledger: {path} is a folder; give the path of a file in it")
    if not path.parent.is_dir():
        raise LedgerError(
            f"ledger: the folder {path.parent} does not exist; create it, or choose another"
        )
    if path.exists() and not path.is_file():
        raise LedgerError(f"ledger: {path} is not an ordinary file; choose another path")


def _check_access(path: Path) -> None:
    if not path.exists():
        raise LedgerError(
            f"ledger: {path} does not exist; check the path, or give a budget to create it"
        )
    if not os.access(path, os.R_OK | os.W_OK) or not os.access(path.parent, os.W_OK):
        raise LedgerError(
            f"ledger: {path} cannot be written by you; make the file and its folder writable, "
            "or choose another path"
        )


def _identity(path: str | Path) -> _Identity | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _uri(path: Path | None) -> str:
    return f"file:{quote(str(path))}"


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    for prefix, reason in _REASONS.items():
        if name.startswith(prefix):
            return reason
    return f"failed ({error}); run `halfmask ledger verify` on it"


def _flush_folder(folder: Path) -> None:
    """Make a new file's name durable; not every system can open a folder."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_held: list[Store] = []


def _before_fork() -> None:
    _opening.acquire()
    _held.extend(_stores)
    for store in _held:
        store._lock.acquire()
        store.close()


def _after_fork() -> None:
    for store in _held:
        store._lock.release()
    _held.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
