"""The statements that read and write a ledger's rows; each runs inside an open transaction.

What a charge reads depends on nothing that it has yet to read (`ahead`), so a server may be asked
for all of it at once, when the transaction begins.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy.chain import Account, Spend, check_answer, from_units, read_price, seal
from halfmask.privacy.store import Question, Session
from halfmask.privacy.texts import brief

__all__ = [
    "Standing",
    "ahead",
    "append",
    "find_request",
    "insert_account",
    "read_account",
    "read_answer",
    "read_answers",
    "read_spends",
    "read_standing",
    "write_answer",
]

_ACCOUNT = ", ".join(field.name for field in fields(Account))
_SPEND = ", ".join(field.name for field in fields(Spend))
_MARKS = ", ".join("?" for _ in fields(Spend))
_READ_ACCOUNT = f"SELECT {_ACCOUNT} FROM account"
_FIND_REQUEST = f"SELECT {_SPEND} FROM spend WHERE request_id = ?"
_READ_ANSWER = "SELECT answer, hash FROM release WHERE seq = ?"


@dataclass(frozen=True)
class Standing:
    """The account, and some rows by their numbers: the first, the last, and those asked for."""

    account: Account
    rows: Mapping[int, Spend]

    def holds(self, head: tuple[int, str]) -> bool:
        """Whether a row is there, by its number and digest; the account itself is row 0."""
        seq, digest = head
        found = self.rows[seq].hash if seq in self.rows else None
        return digest == (found if seq else self.account.genesis)

    def check(self) -> None:
        """Refuse to go on from an account that does not fit the first and the last row.

        This takes the same time however long the chain is; `Ledger.verify` looks at what is
        between.
        """
        account, genesis = self.account, self.account.genesis
        stands = account.head_seq, account.head_hash, account.spent, account.spent_delta
        meant, begins = (0, genesis, 0, 0), genesis
        if self.rows:
            last = self.rows[max(self.rows)]
            meant = last.seq, last.sealed().hash, last.total, last.total_delta
            begins = self.rows[1].previous if 1 in self.rows else ""
        if stands != meant or begins != genesis:
            raise LedgerError(
                "ledger: was changed by hand; run `halfmask ledger verify` to see where, "
                "and restore a copy you trust"
            )


def ahead(*seqs: int, request_id: str | None = None, answered: int | None = None) -> list[Question]:
    """Return what `read_standing`, `find_request` and `read_answer` of a row will ask."""
    asked: list[Question] = [(_READ_ACCOUNT, ()), _read_rows(seqs)]
    if request_id is not None:
        asked.append((_FIND_REQUEST, (request_id,)))
    if answered is not None:
        asked.append((_READ_ANSWER, (answered,)))
    return asked


def insert_account(account: Account, session: Session) -> None:
    """Write the one account row of a new ledger."""
    session.execute(
        f"INSERT INTO account (id, {_ACCOUNT}) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        tuple(vars(account).values()),
    )


def read_account(session: Session) -> Account:
    """Return the account row."""
    found = session.execute(_READ_ACCOUNT).fetchone()
    if found is None:
        raise LedgerError("ledger: has no account row; restore the file from a copy you trust")
    return Account(*found)


def read_spends(session: Session) -> list[Spend]:
    """Return every spend in order."""
    return [Spend(*r) for r in session.execute(f"SELECT {_SPEND} FROM spend ORDER BY seq")]


def read_standing(session: Session, *seqs: int) -> Standing:
    """Return the account with its first row, its last, and those of these numbers that exist."""
    account = read_account(session)
    found = [Spend(*row) for row in session.execute(*_read_rows(seqs))]
    return Standing(account, {row.seq: row for row in found})


def _read_rows(seqs: tuple[int, ...]) -> Question:
    marks = ", ".join("?" for _ in seqs)
    last = "(SELECT max(seq) FROM spend)"
    return f"SELECT {_SPEND} FROM spend WHERE seq IN (1, {marks}, {last})", seqs


def find_request(session: Session, request_id: str) -> Spend | None:
    """Return the charge that a request made earlier."""
    found = session.execute(_FIND_REQUEST, (request_id,)).fetchone()
    return None if found is None else Spend(*found)


def append(session: Session, standing: Standing, draft: Spend) -> Spend:
    """Write a spend after the last one and move the account on; refuse what exceeds the budget."""
    standing.check()
    account = standing.account
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
    session.execute(f"INSERT INTO spend ({_SPEND}) VALUES ({_MARKS})", tuple(vars(row).values()))
    session.execute(
        "UPDATE account SET spent = ?, spent_delta = ?, head_seq = ?, head_hash = ?",
        (row.total, row.total_delta, row.seq, row.hash),
    )
    return row


def read_answer(session: Session, row: Spend) -> str | None:
    """Return the stored answer of a charge; LedgerError if it is not the one that was sealed."""
    found = session.execute(_READ_ANSWER, (row.seq,)).fetchone()
    return None if found is None else check_answer(row, *found)


def read_answers(session: Session) -> list[tuple[int, str, str]]:
    """Return (seq, answer, seal) of every stored answer."""
    return session.execute("SELECT seq, answer, hash FROM release ORDER BY seq").fetchall()


def write_answer(session: Session, row: Spend, answer: str) -> None:
    """Store the answer that a charge bought; the row has none yet."""
    session.execute(
        "INSERT INTO release (seq, answer, hash) VALUES (?, ?, ?)",
        (row.seq, answer, seal(row.hash, answer)),
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
