"""A ledger in a schema of a PostgreSQL database: opening, locking, transactions, plain errors.

A writer locks the account's one row (SELECT ... FOR UPDATE, at READ COMMITTED: each statement after
it sees what the writer before had committed), and gives up after its patience. Writers queue for it
by an advisory lock, which lets one on at a time and in order; who waits for a row may find it taken
again, as each change makes it a new one. Durability is asked of each transaction
(synchronous_commit), and a server that never flushes (fsync=off) is refused.
All settings hold for one transaction alone, and no statement is prepared under a name, so a pool of
connections in between does no harm.

A server may go away at any moment. Before a transaction has begun, a lost connection is replaced;
within one, nothing was written; while it is committed, nobody knows, so it counts as charged.
"""

import hashlib
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from halfmask.errors import LedgerError
from halfmask.privacy.store.address import Address
from halfmask.privacy.store.base import Fill, Question, Session, Store
from halfmask.privacy.store.postgres_session import PostgresSession
from halfmask.privacy.store.refusals import FORBIDDEN, UNWRITTEN, reason
from halfmask.privacy.store.tables import tables

if TYPE_CHECKING:
    import psycopg

    _Connection = psycopg.Connection[tuple[Any, ...]]

__all__ = ["PostgresStore"]

_TABLES = {"account", "spend", "release"}
_MARK = "halfmask ledger 1"  # the comment on the table of the account
_LOCK = "SELECT pg_advisory_xact_lock({queue}); SELECT 1 FROM account FOR UPDATE"
_TIMELINE = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN '' "
    "ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END"
)
_CREATION = "SELECT pg_advisory_xact_lock(hashtext('halfmask ledger'))"

# A B-tree holds no text of over 2,700 bytes; a hash index does, and can keep such texts apart.
_SCHEMA = tables(
    whole="BIGINT", text='TEXT COLLATE "C"', once="EXCLUDE USING hash (request_id WITH =)"
)

_FOUND = """
SELECT c.relname, c.relkind = 'r' AND c.relpersistence = 'p', obj_description(c.oid, 'pg_class'),
    has_schema_privilege(n.oid, 'USAGE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ? AND c.relkind NOT IN ('i', 'I', 't')"""


class _Absent(LedgerError):
    """There is no ledger at an address."""


class PostgresStore(Store):
    """The three tables in one schema, and one connection to them."""

    def __init__(
        self, place: str | os.PathLike[str] | None, fill: Fill | None, *, patience: float
    ) -> None:
        self._at = Address.of(str(place))
        self.place = self._at.shown
        self.address = self._at.without_secrets
        self._held = _Held()
        self._timeline, self._timed = "", False
        weakref.finalize(self, self._held.close)
        wait = max(1, round(patience * 1000))
        path = f'SET LOCAL search_path = "{self._at.schema}", pg_temp;'
        self._reads = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {path}"
        self._writes = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED; {path}"
            "SET LOCAL synchronous_commit = on; SET LOCAL statement_timeout = 0;"
            f"SET LOCAL lock_timeout = {wait};"
            f"SET LOCAL idle_in_transaction_session_timeout = {wait};"
        )
        self._lock_account = _LOCK.format(queue=_queue(self._at.schema))
        super().__init__(fill, patience=patience)

    @staticmethod
    def takes(place: object) -> bool:
        """Whether this is the address of a server, and not the path of a file."""
        return Address.is_one(place)

    @classmethod
    def is_there(cls, place: str | os.PathLike[str]) -> bool:
        """Whether there is a ledger at an address; LedgerError if the server does not tell."""
        try:
            cls(place, None, patience=10).close()
        except _Absent:
            return False
        return True

    @staticmethod
    def shown(place: str | os.PathLike[str]) -> str:
        """The address without user, password and options."""
        return Address.of(str(place)).shown

    def _open(self, fill: Fill | None) -> None:
        with self._transaction(write=False) as session:
            if self._is_ledger(session):
                return
        if fill is None:
            raise _Absent(
                f"ledger: {self.place} does not exist; check the address, or give a budget to "
                "create it"
            )
        with self._transaction(write=True, lock=_CREATION) as session:
            if not self._is_ledger(session):  # another process may just have made it
                self._create(session)
                fill(session)

    def _create(self, session: Session) -> None:
        schema = self._at.schema
        if not session.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = ?", (schema,)
        ).fetchone():
            session.execute(f'CREATE SCHEMA "{schema}"')
        for statement in (*_SCHEMA, f"COMMENT ON TABLE account IS '{_MARK}'"):
            session.execute(statement)

    def _is_ledger(self, session: Session) -> bool:
        """Whether the schema holds a ledger, not nothing; LedgerError if it holds anything else."""
        found = session.execute(_FOUND, (self._at.schema,)).fetchall()
        permanent = {name for name, is_permanent, *_ in found if is_permanent}
        marks = [mark for name, _, mark, _ in found if name == "account"]
        if found and not (permanent >= _TABLES and marks == [_MARK]):
            raise LedgerError(
                f"ledger: {self.place} is not a ledger: its schema holds other tables; "
                "give another name after the # (nothing was changed)"
            )
        if not all(may_use for *_, may_use in found):  # who may not would find no table in it
            raise LedgerError(f"ledger: {self.place} {FORBIDDEN}. No row was read.")
        return bool(found)

    def _close(self) -> None:
        self._held.close()

    @contextmanager
    def _transaction(
        self, ahead: Sequence[Question] = (), *, write: bool, lock: str | None = None
    ) -> Iterator[Session]:
        lock = lock or self._lock_account
        try:
            session = self._begin(lock if write else None, ahead)
            if write and self._timed:
                self._check_timeline(session.told)
            if write and not session.holds_lock:
                raise LedgerError(f"ledger: {self.place} {UNWRITTEN}. No row was read.")
            yield session
            if write:
                self._commit(session)
        finally:
            self._held.settle()

    def _begin(self, lock: str | None, ahead: Sequence[Question]) -> PostgresSession:
        """Begin on the connection at hand; if it was lost meanwhile, on a new one."""
        import psycopg

        old = self._held.connection
        if old is not None:
            try:
                return PostgresSession(old, self._beginning(lock), ahead)
            except psycopg.OperationalError:
                if not old.closed:
                    raise
                self._held.close()
        new = self._held.connection = self._connect()
        return PostgresSession(new, self._beginning(lock), ahead)

    def _beginning(self, lock: str | None) -> str:
        """Return the statements that begin to write, under a lock, or to read.

        A writer asks for the timeline each time: a standby keeps its connections when it takes
        over, and a pool of connections may turn to another server.
        """
        if lock is None:
            return self._reads
        return f"{self._writes}{f'{_TIMELINE};' if self._timed else ''}{lock}"

    def _commit(self, session: PostgresSession) -> None:
        import psycopg

        try:
            done = session.commit()
        except psycopg.Error:
            if not session.is_lost:
                raise
            done = False
        if not done:
            raise LedgerError(
                f"ledger: {self.place} lost its connection while a charge was written, so it may "
                "stand: count it as spent, and look with `halfmask ledger show`. No row was read."
            )
        if not session.wrote_all:
            raise LedgerError(f"ledger: {self.place} {UNWRITTEN}. No row was read.")

    def _connect(self) -> "_Connection":
        import psycopg

        seconds = max(2, round(self._patience))
        usual = {
            "connect_timeout": seconds,
            "keepalives_idle": seconds,
            "tcp_user_timeout": 1000 * seconds,
            "fallback_application_name": "halfmask",
        }
        options = {**usual, **self._at.options, "client_encoding": "UTF8"}
        try:
            connection = psycopg.connect(**options, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise LedgerError(
                f"ledger: {self.place} cannot be reached: {self._at.cleaned(str(error))}. "
                "Check the address, the server and your rights. No row was read."
            ) from None
        try:
            self._check_server(connection)
            self._learn_timeline(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_server(self, connection: "_Connection") -> None:
        """Refuse a server that may forget what it acknowledged, or cannot hold every text."""
        asked = b"SELECT current_setting('fsync'), current_setting('server_encoding')"
        fsync, encoding = connection.execute(asked).fetchone() or ("", "")
        if fsync != "on":
            raise LedgerError(
                f"ledger: {self.place} is on a server with fsync = {fsync}, which may forget "
                "charges when the power fails; turn it on, or use another. No row was read."
            )
        if encoding != "UTF8":
            raise LedgerError(
                f"ledger: {self.place} is in a database with the encoding {encoding}, which cannot "
                "hold every text; use one with UTF8. No row was read."
            )

    def _learn_timeline(self, connection: "_Connection") -> None:
        """Look at the timeline of a new connection, if this server tells it."""
        import psycopg

        self._timed = False
        with suppress(psycopg.Error):
            (found,) = connection.execute(_TIMELINE.encode()).fetchone() or ("",)
            self._timed = True
        if self._timed:
            self._timeline = self._timeline or found
            self._check_timeline(found)

    def _check_timeline(self, found: object) -> None:
        """Refuse a standby that took over, or a backup, since this object last looked.

        It may lack charges that this object never saw. One that still follows another tells no
        timeline: it can be read.
        """
        if found in ("", self._timeline):
            return
        before = self._timeline = self._timeline or "of a standby"
        raise LedgerError(
            f"ledger: {self.place} is now served by a standby that took over, or from a backup "
            f"(timeline {found}, before {before}), so the last charges may be missing; "
            "look with `halfmask ledger verify` for the head of the newest release, and then "
            "open it anew. No row was read."
        )

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise LedgerError(
                f"ledger: {self.place} {reason(error.sqlstate)}. No row was read."
            ) from None


def _queue(schema: str) -> int:
    """Return the number of the advisory lock for a ledger; ledgers that share one only wait."""
    digest = hashlib.sha256(f"halfmask ledger {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


class _Held:
    """The connection at hand, which outlives the store by the moment that it takes to close it."""

    def __init__(self) -> None:
        self.connection: _Connection | None = None

    def close(self) -> None:
        """Let the connection go; the server rolls back what was not committed."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    def settle(self) -> None:
        """Roll back what is still open, or let the connection go if it does not answer."""
        import psycopg

        if self.connection is None:
            return
        states = psycopg.pq.TransactionStatus
        if self.connection.info.transaction_status in (states.INTRANS, states.INERROR):
            with suppress(psycopg.Error):
                self.connection.execute(b"ROLLBACK")
        if self.connection.info.transaction_status != states.IDLE:
            self.close()
