"""One transaction on a connection to PostgreSQL, in as few journeys as it can be had."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halfmask.privacy.store.base import Question, Rows

if TYPE_CHECKING:
    import psycopg

    _Connection = psycopg.Connection[tuple[Any, ...]]

__all__ = ["PostgresSession"]


class PostgresSession:
    """A connection inside a transaction, begun by some statements.

    Every journey takes time while others wait for the lock: so what is to be asked first travels
    with the beginning, and statements that return nothing wait, and travel together with the
    commit, or before the next that returns something.

    holds_lock: whether the last of the statements that began it returned a row.
    told: the first cell that they returned.
    """

    def __init__(
        self, connection: "_Connection", statements: str, ahead: Sequence[Question]
    ) -> None:
        import psycopg

        self._connection = connection
        self._writer = psycopg.ClientCursor(connection)
        self._waiting = [statements.encode()]
        self._said: list[str] = []
        answers = self._send(*(self._text(*question) for question in ahead))
        begun = len(answers) - len(ahead)
        self.holds_lock = begun > 0 and bool(answers[begun - 1])
        self.told = answers[0][0][0] if begun and answers[0] else None
        asked = [(statement, tuple(values)) for statement, values in ahead]
        self._known = dict(zip(asked, answers[begun:], strict=True))

    @property
    def is_lost(self) -> bool:
        """Whether the server was lost."""
        return self._connection.closed

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Rows:
        """Run a statement, in which each `?` is one of the values."""
        if not statement.lstrip().startswith("SELECT"):
            self._waiting.append(self._text(statement, values))
            self._known.clear()
            return _Rows()
        known = self._known.get((statement, tuple(values)))
        return self._send(self._text(statement, values))[-1] if known is None else known

    def commit(self) -> bool:
        """Make it durable; whether the server says that it is."""
        self._send(b"COMMIT")
        return self._said[-1] == "COMMIT"

    @property
    def wrote_all(self) -> bool:
        """Whether each statement that was to write a row wrote one."""
        written = [said for said in self._said if said.startswith(("INSERT", "UPDATE"))]
        return all(said.endswith(" 1") for said in written)

    def _text(self, statement: str, values: Sequence[object]) -> bytes:
        if not values:
            return statement.encode()
        return self._writer.mogrify(statement.replace("?", "%s").encode(), values).encode()

    def _send(self, *last: bytes) -> list["_Rows"]:
        """Send what waits, and these; return the rows of those that return some."""
        texts = b"; ".join([*self._waiting, *last])
        self._waiting.clear()
        cursor = self._connection.execute(texts)
        found = []
        while True:
            if cursor.rownumber is not None:  # it returns rows
                found.append(_Rows(cursor.fetchall()))
            self._said.append(cursor.statusmessage or "")
            if not cursor.nextset():
                return found


class _Rows(list[Any]):
    """What a statement returned."""

    def fetchone(self) -> Any:
        """Return the first row, or None."""
        return self[0] if self else None

    def fetchall(self) -> list[Any]:
        """Return all rows."""
        return self
