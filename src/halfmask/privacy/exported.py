"""A ledger exported as JSON, as MATLAB's and Octave's `halfmask.Budget` keeps it, and its check.

The file holds the account and the spends that the SQLite file of `Ledger` holds, under the same
hash chain: {"format": "halfmask ledger 1", "account": {...}, "spend": [{...}, ...]}.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from halfmask.errors import LedgerError
from halfmask.privacy.chain import Account, Entry, Spend, check_chain, from_units
from halfmask.privacy.cost import Cost

__all__ = ["ExportedLedger"]

FORMAT = "halfmask ledger 1"
_COUNTS = ("seq", "amount", "amount_delta", "total", "total_delta")


@dataclass(frozen=True)
class ExportedLedger:
    """What an exported ledger says: only read, checked on opening from end to end."""

    budget: Cost
    spent: Cost
    remaining: Cost
    entries: tuple[Entry, ...]
    head: str

    @classmethod
    def read(cls, path: str | os.PathLike[str], head: str | None = None) -> "ExportedLedger":
        """Read a file; LedgerError if it is none, or any row, sum or link of it is not whole.

        head: one that was published earlier, which must be in the chain.
        """
        account, rows = _parsed(Path(path))
        check_chain(account, rows)
        if head not in (None, account.genesis, *(row.hash for row in rows)):
            raise LedgerError(
                "ledger: does not contain the given head, so it was rewritten or is an older copy; "
                "stop spending from it"
            )
        budget, spent = account.kind, (account.spent, account.spent_delta)
        left = (account.budget - account.spent, account.budget_delta - account.spent_delta)
        return cls(
            budget,
            from_units(budget, spent, up=True),
            from_units(budget, left, up=False),
            tuple(Entry.of(row, budget) for row in rows),
            account.head_hash,
        )


def _parsed(path: Path) -> tuple[Account, list[Spend]]:
    fault = LedgerError(f"ledger: {path} is no exported ledger; give another path")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise fault
        account = Account(**content["account"])
        return account, [_spend(row) for row in content["spend"]]
    except OSError as error:
        raise LedgerError(f"ledger: {path} cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise fault from None


def _spend(row: Mapping[str, Any]) -> Spend:
    """One row; what SQLite's own checks refuse is refused here."""
    texts = (field.name for field in fields(Spend) if field.name not in (*_COUNTS, "request_id"))
    whole = all(type(row[name]) is int for name in _COUNTS)
    whole = whole and all(type(row[name]) is str for name in texts)
    if not whole or row["amount"] <= 0 or row["amount_delta"] < 0:
        raise ValueError("a row with a wrong kind of value, or a charge of nothing")
    return Spend(**row)
