"""Where a ledger's rows are: memory, a SQLite file, or a schema of a PostgreSQL database.

Both kinds run the same statements (`halfmask.privacy.rows`) inside transactions of one meaning:
`reading` sees one moment; `writing` holds the ledger's one lock, and on leaving what was written
is durable.
"""

import os

from halfmask.privacy.store.base import Fill, Question, Session, Store
from halfmask.privacy.store.postgres import PostgresStore
from halfmask.privacy.store.sqlite import SqliteStore

__all__ = ["Fill", "Question", "Session", "Store", "is_stored", "open_store", "shown_place"]

Place = str | os.PathLike[str] | None


def open_store(place: Place, fill: Fill | None, *, patience: float) -> Store:
    """Open what is at a path or an address; `fill` writes the account of a new one."""
    return _kind(place)(place, fill, patience=patience)


def is_stored(place: str | os.PathLike[str]) -> bool:
    """Whether something is at a path, or a ledger at an address; LedgerError if none can tell."""
    return _kind(place).is_there(place)


def shown_place(place: str | os.PathLike[str]) -> str:
    """Return a path as it is, and of an address only what is no secret.

    >>> shown_place("pay.ledger")
    'pay.ledger'
    """
    return _kind(place).shown(place)


def _kind(place: Place) -> type[PostgresStore] | type[SqliteStore]:
    return PostgresStore if PostgresStore.takes(place) else SqliteStore
