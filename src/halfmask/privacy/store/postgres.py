"""A ledger in a schema of a PostgreSQL database: opening, locking, transactions, plain errors.

A writer locks the account's one row (SELECT ... FOR UPDATE, at READ COMMITTED: each statement after
it sees what the writer before had committed), and gives up after its patience. Durability is asked
of each transaction (synchronous_commit), and a server that never flushes (fsync=off) is refused.
All settings hold for one transaction alone, and no statement is prepared under a name, so a pool of
connections in between does no harm.

A server may go away at any moment. Before a transaction has begun, a lost connection is replaced;
within one, nothing was written; while it is committed, nobody knows, so it counts as charged.
"""

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from halfmask.errors import LedgerError
from halfmask.privacy.store.address import Address
from halfmask.privacy.store.base import Fill, Rows, Session, Store
from halfmask.privacy.store.refusals import FORBIDDEN, reason
from halfmask.privacy.store.tables import tables

if TYPE_CHECKING:
    import psycopg

    _Connection = psycopg.Connection[tuple[Any, ...]]

__all__ = ["PostgresStore"]

_TABLES = {"account", "spend", "release"}
_MARK = "halfmask ledger 1"  # the comment on the table of the account
_ACCOUNT = "SELECT 1 FROM account FOR UPDATE"
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
    def _transaction(self, *, write: bool, lock: str = _ACCOUNT) -> Iterator[Session]:
        try:
            connection = self._begin(f"{self._writes}{lock}" if write else self._reads)
            session = _Session(connection)
            yield session
            self._commit(session)
        finally:
            self._held.settle()

    def _begin(self, statements: str) -> "_Connection":
        """Begin on the connection at hand; if it was lost meanwhile, on a new one."""
        import psycopg

        old = self._held.connection
        if old is not None:
            try:
                old.execute(statements.encode())
            except psycopg.OperationalError:
                if not old.closed:
                    raise
                self._held.close()
            else:
                return old
        new = self._held.connection = self._connect()
        new.execute(statements.encode())
        return new

    def _commit(self, session: "_Session") -> None:
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

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise LedgerError(
                f"ledger: {self.place} {reason(error.sqlstate)}. No row was read."
            ) from None


class _Session:
    """A connection inside a transaction.

    Statements that return nothing wait, and travel together with the commit, or before the next
    that returns something: the lock is held for fewer journeys.
    """

    def __init__(self, connection: "_Connection") -> None:
        self._connection = connection
        self._waiting: list[tuple[bytes, Sequence[object] | None]] = []

    @property
    def is_lost(self) -> bool:
        """Whether the server was lost."""
        return self._connection.closed

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Rows:
        """Run a statement, in which each `?` is one of the values."""
        given = statement.replace("?", "%s").encode(), values or None
        if not statement.lstrip().startswith("SELECT"):
            self._waiting.append(given)
            return _Nothing()
        if self._waiting:
            with self._connection.pipeline():
                self._send()
        return self._connection.execute(*given)

    def commit(self) -> bool:
        """Make it durable; whether the server says that it is."""
        with self._connection.pipeline():
            self._send()
            done = self._connection.execute(b"COMMIT")
        return done.statusmessage == "COMMIT"

    def _send(self) -> None:
        for statement, values in self._waiting:
            self._connection.execute(statement, values)
        self._waiting.clear()


class _Nothing(tuple[()]):
    """What a statement without an answer returned."""

    def fetchone(self) -> None:
        """Return None."""

    def fetchall(self) -> list[Any]:
        """Return no rows."""
        return []


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
