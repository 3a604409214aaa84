"""The statements that read and write a ledger's rows; each runs inside an open transaction."""

from dataclasses import fields, replace
from sqlite3 import Connection

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy.chain import Account, Spend, check_answer, from_units, read_price, seal
from halfmask.privacy.texts import brief

__all__ = [
    "append",
    "find_request",
    "insert_account",
    "read_account",
    "read_answer",
    "read_answers",
    "read_hash",
    "read_spends",
    "write_answer",
]

_ACCOUNT = ", ".join(field.name for field in fields(Account))
_SPEND = ", ".join(field.name for field in fields(Spend))
_MARKS = ", ".join("?" for _ in fields(Spend))


def insert_account(account: Account, connection: Connection) -> None:
    """Write the one account row of a new ledger."""
    connection.execute(
        f"INSERT INTO account (id, {_ACCOUNT}) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        tuple(vars(account).values()),
    )


def read_account(connection: Connection) -> Account:
    """Return the account row."""
    found = connection.execute(f"SELECT {_ACCOUNT} FROM account").fetchone()
    if found is None:
        raise LedgerError("ledger: has no account row; restore the file from a copy you trust")
    return Account(*found)


def read_spends(connection: Connection) -> list[Spend]:
    """Return every spend in order."""
    return [Spend(*r) for r in connection.execute(f"SELECT {_SPEND} FROM spend ORDER BY seq")]


def read_hash(connection: Connection, account: Account, seq: int) -> str | None:
    """Return the digest of a row, or of the account for row 0; None if there is no such row."""
    if seq == 0:
        return account.genesis
    found = connection.execute("SELECT hash FROM spend WHERE seq = ?", (seq,)).fetchone()
    return None if found is None else str(found[0])


def find_request(connection: Connection, request_id: str) -> Spend | None:
    """Return the charge that a request made earlier."""
    found = connection.execute(
        f"SELECT {_SPEND} FROM spend WHERE request_id = ?", (request_id,)
    ).fetchone()
    return None if found is None else Spend(*found)


def append(connection: Connection, account: Account, draft: Spend) -> Spend:
    """Write a spend after the last one and move the account on; refuse what exceeds the budget."""
    _check_ends(connection, account)
    total = account.spent + draft.amount
    total_delta = account.spent_delta + draft.amount_delta
    if total > account.budget or total_delta > account.budget_delta:
        raise BudgetExhausted(_exhausted(account, draft))
    row = replace(
        draft,
        seq=account.head_seq + 1,
        total=total,
        total_delta=total_delta,
        previous=account.head_hash,
    ).sealed()
    connection.execute(f"INSERT INTO spend ({_SPEND}) VALUES ({_MARKS})", tuple(vars(row).values()))
    connection.execute(
        "UPDATE account SET spent = ?, spent_delta = ?, head_seq = ?, head_hash = ?",
        (row.total, row.total_delta, row.seq, row.hash),
    )
    return row


def _check_ends(connection: Connection, account: Account) -> None:
    """Refuse to go on from an account that does not fit the first and the last row.

    This takes the same time however long the chain is; `Ledger.verify` looks at what is between.
    """
    found = connection.execute(f"SELECT {_SPEND} FROM spend ORDER BY seq DESC LIMIT 1").fetchone()
    last = None if found is None else Spend(*found)
    first = connection.execute("SELECT previous FROM spend ORDER BY seq LIMIT 1").fetchone()
    stands = account.head_seq, account.head_hash, account.spent, account.spent_delta
    meant = (
        (0, account.genesis, 0, 0)
        if last is None
        else (last.seq, last.sealed().hash, last.total, last.total_delta)
    )
    if stands != meant or first not in (None, (account.genesis,)):
        raise LedgerError(
            "ledger: was changed by hand; run `halfmask ledger verify` to see where, "
            "and restore a copy you trust"
        )


def read_answer(connection: Connection, row: Spend) -> str | None:
    """Return the stored answer of a charge; LedgerError if it is not the one that was sealed."""
    found = connection.execute(
        "SELECT answer, hash FROM release WHERE seq = ?", (row.seq,)
    ).fetchone()
    return None if found is None else check_answer(row, *found)


def read_answers(connection: Connection) -> list[tuple[int, str, str]]:
    """Return (seq, answer, seal) of every stored answer."""
    return connection.execute("SELECT seq, answer, hash FROM release ORDER BY seq").fetchall()


def write_answer(connection: Connection, seq: int, row_hash: str, answer: str) -> None:
    """Store the answer that a charge bought; once."""
    known = connection.execute("SELECT hash FROM spend WHERE seq = ?", (seq,)).fetchone()
    if known != (row_hash,):
        raise LedgerError("receipt: is not of this ledger; record it where it was charged")
    if connection.execute("SELECT 1 FROM release WHERE seq = ?", (seq,)).fetchone():
        raise LedgerError(f"receipt: row {seq} has its answer already; an answer is final")
    connection.execute(
        "INSERT INTO release (seq, answer, hash) VALUES (?, ?, ?)",
        (seq, answer, seal(row_hash, answer)),
    )


def _exhausted(account: Account, draft: Spend) -> str:
    budget = account.kind
    units = (account.budget - account.spent, account.budget_delta - account.spent_delta)
    left = from_units(budget, units, up=False)
    price = read_price(draft.price)
    charged = from_units(budget, (draft.amount, draft.amount_delta), up=True)
    worth = "" if price.measure == budget.measure else f" ({charged} here)"
    return (
        f"{brief(draft.query)}: costs {price}{worth}, and {left} is left of {budget}; "
        "ask for less, or open a ledger with a larger budget. No row was read."
    )
