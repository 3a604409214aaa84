"""The hash chain: each row of a ledger carries a digest of itself and of the row before.

A row's digest is the SHA-256 of its canonical JSON (sorted keys, no spaces, ASCII, integers and
texts only), so that any language can check it. The chain starts from a digest of the account: its
budget and day of opening. It shows edits, gaps, swaps and a cut tail. Who can rewrite the whole
file can rewrite the chain; the head that a release carries tells then (`Ledger.verify(head)`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from halfmask.errors import InvalidQuery, LedgerError
from halfmask.privacy.cost import Cost

__all__ = [
    "Account",
    "Entry",
    "Spend",
    "check_answer",
    "check_chain",
    "from_units",
    "read_price",
    "seal",
    "to_units",
]

_UNITS = (10**12, 10**18)  # units in 1 of the main amount, in 1 of delta
_ADVICE = "stop spending from it and restore a copy you trust"


def to_units(cost: Cost, *, up: bool) -> tuple[int, int]:
    """Return amounts in units of 1e-12 (delta: 1e-18); costs are rounded up, budgets down.

    >>> from halfmask.privacy import Pure
    >>> to_units(Pure("1/3"), up=True)
    (333333333334, 0)
    """
    sign = -1 if up else 1
    main, delta = (
        sign * (sign * amount * unit // 1)
        for amount, unit in zip(cost.amounts, _UNITS, strict=True)
    )
    return int(main), int(delta)


def from_units(kind: Cost, units: tuple[int, int], *, up: bool) -> Cost:
    """Return a cost in the same currency as `kind`."""
    main, delta = (Fraction(count, unit) for count, unit in zip(units, _UNITS, strict=True))
    return kind.from_amounts(main, delta, up=up)


def seal(row_hash: str, answer: str) -> str:
    """Return the digest that ties an answer to its charge."""
    return _digest({"row": row_hash, "answer": answer})


def _digest(content: Mapping[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Account:
    """The account row: what was opened and where the chain stands. Amounts are in units."""

    opened: str
    budget_text: str
    budget: int
    budget_delta: int
    spent: int
    spent_delta: int
    head_seq: int
    head_hash: str

    def __post_init__(self) -> None:
        counts = self.budget, self.budget_delta, self.spent, self.spent_delta, self.head_seq
        _refuse(any(type(count) is not int for count in counts), "the account row was changed")

    @classmethod
    def new(cls, budget: Cost, opened: str) -> "Account":
        """Return the account of a new ledger, of which nothing is spent."""
        main, delta = to_units(budget, up=False)
        if main <= 0:
            raise InvalidQuery(f"budget: {budget} is below one unit of 1e-12; give a larger one")
        text = json.dumps(budget.to_dict(), sort_keys=True)
        account = cls(opened, text, main, delta, 0, 0, 0, "")
        return replace(account, head_hash=account.genesis)

    @property
    def genesis(self) -> str:
        """The digest of what never changes; the first row links to it."""
        fixed = ("opened", "budget_text", "budget", "budget_delta")
        content = {name: getattr(self, name) for name in fixed}
        return _digest({"format": "halfmask ledger 1"} | content)

    @property
    def kind(self) -> Cost:
        """The budget as it was given."""
        return read_price(self.budget_text)


@dataclass(frozen=True)
class Spend:
    """One row of the table of spends, as stored. Amounts are in units."""

    seq: int
    request_id: str | None
    time: str
    actor: str
    query: str
    price: str
    amount: int
    amount_delta: int
    total: int
    total_delta: int
    previous: str
    hash: str

    def sealed(self) -> "Spend":
        """Return this row with the digest of all its other fields."""
        content = {name: value for name, value in vars(self).items() if name != "hash"}
        return replace(self, hash=_digest(content))


@dataclass(frozen=True)
class Entry:
    """One charge, for reading: `price` as asked, `cost` as charged, `total` spent after it."""

    seq: int
    time: str
    actor: str
    query: str
    price: Cost
    cost: Cost
    total: Cost
    request_id: str | None
    hash: str

    @classmethod
    def of(cls, row: Spend, budget: Cost) -> "Entry":
        """Read a stored row of a ledger with this budget."""
        return cls(
            seq=row.seq,
            time=row.time,
            actor=row.actor,
            query=row.query,
            price=read_price(row.price),
            cost=from_units(budget, (row.amount, row.amount_delta), up=True),
            total=from_units(budget, (row.total, row.total_delta), up=True),
            request_id=row.request_id,
            hash=row.hash,
        )


def read_price(text: str) -> Cost:
    """Read a stored price."""
    try:
        return Cost.from_dict(json.loads(text))
    except (ValueError, TypeError, AttributeError):
        raise LedgerError(f"ledger: a stored price cannot be read; {_ADVICE}") from None


def check_answer(row: Spend, answer: str, digest: str) -> str:
    """Return a stored answer; LedgerError if it, or the charge that bought it, was changed."""
    if row.hash != row.sealed().hash or digest != seal(row.hash, answer):
        raise LedgerError(
            f"ledger: the answer of row {row.seq} was changed, or the row was; do not use it, "
            "and restore a copy you trust"
        )
    return answer


def check_chain(account: Account, rows: Sequence[Spend]) -> None:
    """Raise LedgerError unless every row is whole and the account is where the chain ends."""
    total, total_delta, link = 0, 0, account.genesis
    for seq, row in enumerate(rows, start=1):
        _refuse(row.seq != seq, f"row {seq} is missing")
        _refuse(row.hash != row.sealed().hash, f"row {seq} was changed")
        _refuse(row.previous != link, f"row {seq} does not follow from what is before it")
        total, total_delta = total + row.amount, total_delta + row.amount_delta
        _refuse((row.total, row.total_delta) != (total, total_delta), f"row {seq} has a wrong sum")
        link = row.hash
    _refuse(account.head_seq > len(rows), f"rows after {len(rows)} are missing")
    head = account.head_seq, account.head_hash
    _refuse(head != (len(rows), link), "the account's last row or digest was changed")
    spent = account.spent, account.spent_delta
    _refuse(spent != (total, total_delta), "the account's sum was changed")
    units = to_units(account.kind, up=False)
    _refuse(units != (account.budget, account.budget_delta), "the budget was changed")
    _refuse(total > units[0] or total_delta > units[1], "more was spent than the budget")


def _refuse(found: bool, fault: str) -> None:
    if found:
        raise LedgerError(f"ledger: {fault}; {_ADVICE}")
