"""The ledger: what was spent, by whom, on which question, and how much is left."""

import getpass
import json
import os
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path

from halfmask.errors import InvalidQuery, LedgerError, shown
from halfmask.privacy import rows
from halfmask.privacy.chain import (
    Account,
    Entry,
    Spend,
    check_answer,
    check_chain,
    from_units,
    to_units,
)
from halfmask.privacy.cost import Cost, Measure
from halfmask.privacy.currencies import Pure
from halfmask.privacy.exact import Number
from halfmask.privacy.receipt import Receipt, repeated
from halfmask.privacy.report import Report
from halfmask.privacy.store import Question, Session, open_store
from halfmask.privacy.texts import stored_query, stored_text

__all__ = ["Ledger"]

_PATIENCE = 30.0  # seconds to wait for a locked file


class Ledger:
    """A budget and every charge against it: in memory, or kept where many processes share it.

    `path` is a file, or `postgresql://user@host/database#name` for a ledger on a PostgreSQL server:
    `name`, "halfmask" if left out, is the schema that holds it, so a database can hold many. None
    keeps the ledger in memory. A missing one is created and needs a `budget` (a number means
    `Pure`); an existing one keeps its own, and a different one is refused. `patience` is how many
    seconds to wait for others' lock. Raises LedgerError when it cannot be used, and says what to
    do: also when it was deleted, replaced or put back to an older copy while in use, when a
    standby took over from its server, and when a server went away amid a charge, which then counts
    as spent.

    Privacy: prices chosen adaptively and stopped at the budget compose to it. [see currencies]

    >>> ledger = Ledger(budget=1)
    >>> receipt = ledger.charge(Pure(0.4), query="Count()")
    >>> print(ledger.remaining)
    epsilon 0.6
    >>> ledger.verify()
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        budget: Cost | Number | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        wanted = budget if isinstance(budget, Cost) or budget is None else Pure(budget)
        if path is None and wanted is None:
            raise InvalidQuery("budget: a new ledger needs one; give a number (epsilon) or a cost")
        if not isinstance(path, str | os.PathLike | None):
            raise InvalidQuery(f"path: must be the path of a file, given {shown(path)}; name one")
        fill = None if wanted is None else partial(rows.insert_account, Account.new(wanted, _now()))
        self._store = open_store(path, fill, patience=patience)
        self._seen: tuple[int, str] | None = None
        self.budget = self._account().kind
        if wanted not in (None, self.budget):
            raise LedgerError(
                f"budget: {self.place} was opened with {self.budget}, given {wanted}; "
                "leave the budget out, or use another ledger"
            )

    @property
    def path(self) -> Path | None:
        """The file, or None in memory and on a server."""
        return self._store.path

    @property
    def place(self) -> str:
        """Where it is, for people: a file, a server without user and password, or in memory."""
        return self._store.place

    @property
    def measure(self) -> Measure:
        """The currency in which prices add up."""
        return self.budget.measure

    @property
    def spent(self) -> Cost:
        """The sum of all charges; may be zero."""
        account = self._account()
        return from_units(self.budget, (account.spent, account.spent_delta), up=True)

    @property
    def remaining(self) -> Cost:
        """What is left to spend; may be zero."""
        return self._left(self._account())

    @property
    def head(self) -> str:
        """The digest of the last row, which fixes all rows before it."""
        return self._account().head_hash

    def charge(
        self,
        cost: Cost,
        *,
        query: str,
        actor: str | None = None,
        request_id: str | None = None,
        answer: str | None = None,
    ) -> Receipt:
        """Charge a price, durably, before any row is read.

        `request_id` makes a retry safe: the same request again is not charged, and its receipt
        carries the stored answer. If no answer was stored it is refused, since nobody knows
        whether one was shown. `answer` is one that no row is in: it is stored with the charge. A
        query of more than 100,000 characters is kept as its beginning
        and the SHA-256 of the whole. `actor` defaults to the login name.

        Raises BudgetExhausted when less is left, InvalidQuery when the price has no proved
        conversion into this currency, LedgerError when the file cannot be written: then nothing
        may be read.
        """
        draft = self._draft(cost, query, actor, request_id)
        if draft.amount <= 0:
            raise InvalidQuery(f"cost: {cost} is nothing; a charge must be above 0")
        with self._store.writing(*self._ahead(request_id=draft.request_id)) as session:
            standing = self._look(session)
            earlier = draft.request_id and rows.find_request(session, draft.request_id)
            if earlier:
                return repeated(cost, draft, earlier, rows.read_answer(session, earlier))
            row = rows.append(session, standing, draft)
            if answer is not None:
                rows.write_answer(session, row, answer)
        self._seen = row.seq, row.hash  # of two threads the older may be last: it is in the chain
        return Receipt(row.seq, cost, row.hash, row.request_id, answer=answer)

    def follow(
        self,
        paid: Receipt,
        *,
        query: str,
        request_id: str,
        answer: Callable[[Receipt], str],
        actor: str | None = None,
    ) -> Receipt:
        """Store an answer that an earlier charge paid for: a row of no cost, and all at once.

        Only what is stored may be shown. If the request was answered meanwhile, by whomever, its
        stored answer is returned, and the one given must be forgotten; so a crash, a retry or a
        race leaves one answer, and a noise that was drawn twice is seen once. `answer` is asked
        for the text when the row is known, under the lock.
        """
        free = self.budget.from_amounts(Fraction(0), Fraction(0), up=True)
        draft = self._draft(free, query, actor, request_id)
        with self._store.writing(*self._ahead(paid.seq, request_id=draft.request_id)) as session:
            standing = self._look(session, paid.seq)
            if not standing.holds((paid.seq, paid.hash)):
                raise LedgerError("receipt: is not of this ledger; go on where it was charged")
            earlier = rows.find_request(session, request_id)
            if earlier:
                return repeated(free, draft, earlier, rows.read_answer(session, earlier))
            row = rows.append(session, standing, draft)
            receipt = Receipt(row.seq, free, row.hash, row.request_id)
            receipt = replace(receipt, answer=answer(receipt))
            rows.write_answer(session, row, str(receipt.answer))
        self._seen = row.seq, row.hash
        return receipt

    def check_free_rows(self) -> None:
        """Refuse a ledger of an earlier version, in which every row costs something."""
        self._store.check_free_rows()

    def record(self, receipt: Receipt, answer: str) -> None:
        """Store the answer (a text, such as JSON) that a charge bought; once for each charge."""
        seq = receipt.seq
        with self._store.writing(*self._ahead(seq, answered=seq)) as session:
            standing = self._look(session, seq)
            if not (seq and standing.holds((seq, receipt.hash))):
                raise LedgerError("receipt: is not of this ledger; record it where it was charged")
            row = standing.rows[seq]
            if rows.read_answer(session, row) is not None:
                raise LedgerError(f"receipt: row {seq} has its answer already; an answer is final")
            rows.write_answer(session, row, answer)

    def stored(self, request_id: str, made: tuple[Cost, str] | None = None) -> str | None:
        """Return the stored answer of a request, or None; refuse another price or query of it."""
        request_id = stored_text(request_id, "request_id")
        with self._store.reading(*self._ahead(request_id=request_id)) as session:
            self._look(session)
            row = rows.find_request(session, request_id)
            if row is not None and made is not None:
                repeated(made[0], self._draft(*made, None, request_id), row, "")
            return None if row is None else rows.read_answer(session, row)

    def entries(self) -> list[Entry]:
        """Return every charge, oldest first."""
        with self._store.reading(*self._ahead()) as session:
            self._look(session)
            spends = rows.read_spends(session)
        return [Entry.of(row, self.budget) for row in spends]

    def report(self, delta: Number = "1e-6") -> Report:
        """Return what was spent so far under every definition; delta is for conversions."""
        prices = [entry.price for entry in self.entries() if any(entry.price.amounts)]
        return Report(self.budget, prices, delta)

    def verify(self, head: str | None = None) -> None:
        """Check every row, sum and link; raise LedgerError that says which row broke and how.

        `head`, as carried by a release, must be in this chain: a ledger that was rewritten, or
        restored from before that release, does not contain it. So must the last head that this
        object saw.
        """
        with self._store.reading() as session:
            account = rows.read_account(session)
            spends = rows.read_spends(session)
            answers = rows.read_answers(session)
        check_chain(account, spends)
        known = {row.seq: row for row in spends}
        for seq, answer, digest in answers:
            if seq not in known:
                raise LedgerError(
                    f"ledger: the answer of row {seq} was never bought; do not use it"
                )
            check_answer(known[seq], answer, digest)
        heads = {head, self._seen[1] if self._seen else None} - {None}
        if not heads <= {account.genesis, *(row.hash for row in spends)}:
            raise LedgerError(
                "ledger: does not contain the given head, or the last one seen, so it was "
                "rewritten or restored from an older copy; charges may be missing: stop spending "
                "from it"
            )

    def close(self) -> None:
        """Close the connection; it is opened again when next needed. In memory, nothing is done."""
        self._store.close()

    def _account(self) -> Account:
        with self._store.reading(*self._ahead()) as session:
            return self._look(session).account

    def _ahead(
        self, *seqs: int, request_id: str | None = None, answered: int | None = None
    ) -> list[Question]:
        """What `_look` will ask, and then a charge or an answer."""
        return rows.ahead(_number(self._seen), *seqs, request_id=request_id, answered=answered)

    def _look(self, session: Session, *seqs: int) -> rows.Standing:
        """Return the account, which must stand on what this object saw before, and these rows."""
        seen = self._seen
        standing = rows.read_standing(session, _number(seen), *seqs)
        if seen is not None and not standing.holds(seen):
            raise LedgerError(
                "ledger: was rewritten or put back to an older copy while in use, so charges are "
                "missing; restore the newest copy, or open the one that you trust anew. "
                "No row was read."
            )
        head = standing.account.head_seq, standing.account.head_hash
        if standing.holds(head):
            self._seen = head
        return standing

    def _left(self, account: Account) -> Cost:
        units = (account.budget - account.spent, account.budget_delta - account.spent_delta)
        return from_units(self.budget, units, up=False)

    def _draft(self, cost: Cost, query: str, actor: str | None, request_id: str | None) -> Spend:
        amount, amount_delta = to_units(cost.in_measure(self.measure), up=True)
        return Spend(
            seq=0,
            request_id=None if request_id is None else stored_text(request_id, "request_id"),
            time=_now(),
            actor=_login() if actor is None else stored_text(actor, "actor"),
            query=stored_query(query),
            price=json.dumps(cost.to_dict(), sort_keys=True),
            amount=amount,
            amount_delta=amount_delta,
            total=0,
            total_delta=0,
            previous="",
            hash="",
        )

    def __str__(self) -> str:
        account = self._account()
        count = "1 charge" if account.head_seq == 1 else f"{account.head_seq} charges"
        return f"ledger {self.place}: {self._left(account)} left of {self.budget}, {count}"

    def __copy__(self) -> "Ledger":
        self.__reduce__()  # refuses where a copy would be another budget
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Ledger":
        return copy(self)

    def __reduce__(self) -> tuple[type["Ledger"], tuple[str | Path]]:
        if self._store.address is None:
            raise LedgerError(
                "ledger: a copy of a ledger in memory could spend its budget twice; "
                "pass the ledger itself, or open one with a path"
            )
        return Ledger, (self._store.address,)


def _number(head: tuple[int, str] | None) -> int:
    return head[0] if head else 0


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
