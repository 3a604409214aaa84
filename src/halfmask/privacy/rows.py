"""The statements that read and write a ledger's rows; each runs inside an open transaction."""

from dataclasses import fields, replace

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy.chain import Account, Spend, check_answer, from_units, read_price, seal
from halfmask.privacy.store import Session
from halfmask.privacy.texts import brief

__all__ = [
    "append",
    "find_request",
    "in_chain",
    "insert_account",
    "read_account",
    "read_answer",
    "read_answers",
    "read_spends",
    "write_answer",
]

_ACCOUNT = ", ".join(field.name for field in fields(Account))
_SPEND = ", ".join(field.name for field in fields(Spend))
_MARKS = ", ".join("?" for _ in fields(Spend))


def insert_account(account: Account, session: Session) -> None:
    """Write the one account row of a new ledger."""
    session.execute(
        f"INSERT INTO account (id, {_ACCOUNT}) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
        tuple(vars(account).values()),
    )


def read_account(session: Session) -> Account:
    """Return the account row."""
    found = session.execute(f"SELECT {_ACCOUNT} FROM account").fetchone()
    if found is None:
        raise LedgerError("ledger: has no account row; restore the file from a copy you trust")
    return Account(*found)


def read_spends(session: Session) -> list[Spend]:
    """Return every spend in order."""
    return [Spend(*r) for r in session.execute(f"SELECT {_SPEND} FROM spend ORDER BY seq")]


def in_chain(session: Session, account: Account, *heads: tuple[int, str]) -> list[bool]:
    """Whether each row is there, by its number and digest; the account itself is row 0."""
    marks = ", ".join("?" for _ in heads)
    seqs = [seq for seq, _ in heads]
    found = session.execute(f"SELECT seq, hash FROM spend WHERE seq IN ({marks})", seqs)
    known = {(0, account.genesis), *found}
    return [head in known for head in heads]


def find_request(session: Session, request_id: str) -> Spend | None:
    """Return the charge that a request made earlier."""
    found = session.execute(
        f"SELECT {_SPEND} FROM spend WHERE request_id = ?", (request_id,)
    ).fetchone()
    return None if found is None else Spend(*found)


def append(session: Session, account: Account, draft: Spend) -> Spend:
    """Write a spend after the last one and move the account on; refuse what exceeds the budget."""
    _check_ends(session, account)
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


def _check_ends(session: Session, account: Account) -> None:
    """Refuse to go on from an account that does not fit the first and the last row.

    This takes the same time however long the chain is; `Ledger.verify` looks at what is between.
    """
    ends = "(SELECT min(seq) FROM spend), (SELECT max(seq) FROM spend)"
    found = session.execute(f"SELECT {_SPEND} FROM spend WHERE seq IN ({ends}) ORDER BY seq")
    rows = [Spend(*row) for row in found]
    stands = account.head_seq, account.head_hash, account.spent, account.spent_delta
    meant = (
        (rows[-1].seq, rows[-1].sealed().hash, rows[-1].total, rows[-1].total_delta)
        if rows
        else (0, account.genesis, 0, 0)
    )
    if stands != meant or (rows and rows[0].previous != account.genesis):
        raise LedgerError(
            "ledger: was changed by hand; run `halfmask ledger verify` to see where, "
            "and restore a copy you trust"
        )


def read_answer(session: Session, row: Spend) -> str | None:
    """Return the stored answer of a charge; LedgerError if it is not the one that was sealed."""
    found = session.execute("SELECT answer, hash FROM release WHERE seq = ?", (row.seq,)).fetchone()
    return None if found is None else check_answer(row, *found)


def read_answers(session: Session) -> list[tuple[int, str, str]]:
    """Return (seq, answer, seal) of every stored answer."""
    return session.execute("SELECT seq, answer, hash FROM release ORDER BY seq").fetchall()


def write_answer(session: Session, seq: int, row_hash: str, answer: str) -> None:
    """Store the answer that a charge bought; once."""
    known = session.execute("SELECT hash FROM spend WHERE seq = ?", (seq,)).fetchone()
    if known != (row_hash,):
        raise LedgerError("receipt: is not of this ledger; record it where it was charged")
    if session.execute("SELECT 1 FROM release WHERE seq = ?", (seq,)).fetchone():
        raise LedgerError(f"receipt: row {seq} has its answer already; an answer is final")
    session.execute(
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
