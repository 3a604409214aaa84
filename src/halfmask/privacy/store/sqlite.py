"""The SQLite file under a ledger: opening, locking, transactions, and errors in plain words.

Durability: write-ahead log with synchronous=FULL, so that a commit which returned survives a
power cut. Writers take the lock when they begin (BEGIN IMMEDIATE) and wait their turn.

A file that is deleted or replaced lives on under its open connections, and a charge to it would
be lost; so before each commit the name must still lead to the file that was opened, and be its only
one: the log is found by the file's name, and each name would have charges of its own.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote as quoted
from urllib.parse import quote

from halfmask.errors import LedgerError
from halfmask.privacy.store.base import Fill, Question, Session, Store
from halfmask.privacy.store.mounts import is_mounted, network_kind
from halfmask.privacy.store.tables import DAMAGED, FULL, LOCKED, tables

__all__ = ["SqliteStore"]

_Identity = tuple[int, int]  # device and inode

_APPLICATION = 0x68_6D_6C_31  # "hml1", in the header of the file

_SCHEMA = tables(whole="INTEGER", text="TEXT", once="UNIQUE (request_id)")

_REASONS = {
    "SQLITE_BUSY": LOCKED,
    "SQLITE_LOCKED": LOCKED,
    "SQLITE_FULL": FULL,
    "SQLITE_READONLY": "is read-only; make the file and its folder writable",
    "SQLITE_CANTOPEN": "cannot be opened; make the file and its folder readable and writable",
    "SQLITE_PERM": "may not be opened by you; make the file and its folder readable and writable",
    "SQLITE_IOERR": "cannot be written: the disk failed or is full; free some space or use another",
    "SQLITE_NOTADB": "is not a ledger; give another path (this file was left as it is)",
    "SQLITE_CONSTRAINT_CHECK": "is of an earlier version, where every row costs something, so it "
    "holds no series; open a new ledger for it",
    "SQLITE_CORRUPT": DAMAGED,
}


class SqliteStore(Store):
    """One SQLite database: a file, or in memory (place None)."""

    def __init__(
        self, place: str | os.PathLike[str] | None, fill: Fill | None, *, patience: float
    ) -> None:
        self.path = self.address = None if place is None else Path(os.path.abspath(place))
        self.place = "in memory" if self.path is None else str(self.path)
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._file: _Identity | None = None
        self._log: _Identity | None = None
        super().__init__(fill, patience=patience)

    @staticmethod
    def is_there(place: str | os.PathLike[str]) -> bool:
        """Whether there is a file."""
        return Path(place).exists()

    @staticmethod
    def shown(place: str | os.PathLike[str]) -> str:
        """The path as it was given."""
        return str(place)

    def _open(self, fill: Fill | None) -> None:
        if self.path is not None:
            self._open_file(self.path, fill)
        elif fill is not None:
            self._connection = self._connect(":memory:")
            _create(self._connection, fill)

    def _close(self) -> None:
        if self._connection is not None and self.path is not None:
            self._connection.close()
            self._connection = self._log = None

    @contextmanager
    def _transaction(self, ahead: Sequence[Question] = (), *, write: bool) -> Iterator[Session]:
        if write and self.path is None and self._process != os.getpid():
            raise LedgerError(
                "ledger: this process is a fork, and a ledger in memory is not shared; "
                "open the ledger with a path, or spend in the process that opened it"
            )
        if self._connection is None:
            self._connection = self._connect(f"{_uri(self.path)}?mode=rw")
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
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
        _check_mount(path)
        _check_name(path)
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
        log = _identity(f"{os.path.realpath(self.path)}-wal")  # is there while any connection is
        self._log = self._log or log
        if (_identity(self.path), log) != (self._file, self._log):
            raise LedgerError(
                f"ledger: {self.path} or the log beside it was deleted, moved or replaced while in "
                "use, so charges may be missing; put the file back, or open the one that you trust "
                "anew. No row was read."
            )
        _check_name(self.path)

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
            raise LedgerError(f"ledger: {self.place} {_reason(error)}. No row was read.") from None
        except OSError as error:
            raise LedgerError(
                f"ledger: {self.place} cannot be opened ({error.strerror}); "
                "make the file and its folder readable and writable"
            ) from None


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
    kind = _network_kind(path)
    if kind is not None:
        raise LedgerError(
            f"ledger: {path} is on a network's file system ({kind}), where two machines would not "
            "see each other's charges; keep it on a disk of the one machine that spends from it, "
            "or on a PostgreSQL server"
        )
    if path.exists() and not path.is_file():
        raise LedgerError(f"ledger: {path} is not an ordinary file; choose another path")


def _network_kind(path: Path) -> str | None:
    """Look at the folder that a link leads to, where the log will be, and at a file put in it."""
    found = Path(os.path.realpath(path))
    return network_kind(found.parent) or (network_kind(found) if found.exists() else None)


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


def _check_mount(path: Path) -> None:
    """Refuse a file that has another name where it was mounted from, as in a container."""
    if is_mounted(Path(os.path.realpath(path))):
        raise LedgerError(
            f"ledger: {path} is mounted by itself, without the log beside it, so the charges of "
            "others would not be seen; mount its folder"
        )


def _check_name(path: Path) -> None:
    """Refuse a file of two names [SQLite, "How To Corrupt An SQLite Database File", 2.5]."""
    if os.stat(path).st_nlink > 1:
        raise LedgerError(
            f"ledger: {path} has a second name (a hard link), under which other charges would not "
            f"be seen; find it (find / -samefile {quoted(str(path))}), keep the name that has a "
            "log (-wal) beside it, and remove the other; a backup must be a copy. No row was read."
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
