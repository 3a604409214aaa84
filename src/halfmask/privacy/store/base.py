"""What every store of a ledger has: one lock for its threads, transactions, and care at a fork.

A connection must not cross a fork: the child would believe in locks that only the parent holds, or
talk into its conversation. So before each fork every connection is closed, and both sides open
their own when they next need one.
"""

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Fill", "Question", "Rows", "Session", "Store"]


class Rows(Protocol):
    """What a statement returned."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Session(Protocol):
    """An open transaction."""

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Rows:
        """Run a statement, in which each `?` is one of the values."""


Fill = Callable[[Session], None]
Question = tuple[str, Sequence[object]]
"""A statement that reads, and its values."""

_opening = threading.RLock()  # one thread at a time opens stores, or forks
_stores: "weakref.WeakSet[Store]" = weakref.WeakSet()


class Store(ABC):
    """The rows of one ledger, with transactions.

    `fill` writes the account of a new ledger; without it only an existing one is opened.
    `patience` is how many seconds to wait for the lock.

    path: the file, if it is one.
    place: where the ledger is, for people; it tells no secret.
    address: by what another process opens the same; None if none can. It holds no password.
    """

    path: Path | None = None
    place: str
    address: Path | str | None = None

    def __init__(self, fill: Fill | None, *, patience: float) -> None:
        self._patience = patience
        self._lock = threading.RLock()
        with _opening, self._plain_errors():
            self._open(fill)
            _stores.add(self)

    @contextmanager
    def reading(self, *ahead: Question) -> Iterator[Session]:
        """Give a session that sees one moment of the ledger.

        ahead: what it will ask first; a server may answer it all at once.
        """
        with self._lock, self._plain_errors(), self._transaction(ahead, write=False) as session:
            yield session

    @contextmanager
    def writing(self, *ahead: Question) -> Iterator[Session]:
        """Give a session that holds the write lock; on leaving, the change is durable.

        ahead: as for `reading`; it is asked when the lock is held.

        Any exception rolls back. If the commit itself fails the change may or may not be kept:
        the caller must treat it as charged, and not go on.
        """
        with self._lock, self._plain_errors(), self._transaction(ahead, write=True) as session:
            yield session

    def close(self) -> None:
        """Close the connection; it is opened again when it is next needed."""
        with self._lock:
            self._close()

    def check_free_rows(self) -> None:
        """Refuse a store of an earlier version, in which every row costs something."""
        return

    @abstractmethod
    def _open(self, fill: Fill | None) -> None:
        """Find the ledger, or make it."""

    @abstractmethod
    def _close(self) -> None:
        """Close the connection, if it can be opened again."""

    @abstractmethod
    def _transaction(
        self, ahead: Sequence[Question] = (), *, write: bool
    ) -> AbstractContextManager[Session]:
        """Begin; commit on leaving, and roll back on leaving by an exception."""

    @abstractmethod
    def _plain_errors(self) -> AbstractContextManager[None]:
        """Turn the driver's errors into LedgerError, in plain words."""


_held: list[Store] = []


def _before_fork() -> None:
    _opening.acquire()
    _held.extend(_stores)
    for store in _held:
        store._lock.acquire()
        store._close()


def _after_fork() -> None:
    for store in _held:
        store._lock.release()
    _held.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
