"""How a series was begun: what the ledger stores beside its price, and what stays the same."""

import json
from dataclasses import dataclass

from halfmask.errors import LedgerError
from halfmask.privacy import Cost, Ledger

__all__ = ["Begun", "is_begun", "place_of"]


def place_of(name: str) -> str:
    """Return the request by which the ledger knows a series."""
    return f"series {json.dumps(name)}"


def is_begun(name: str, ledger: Ledger) -> bool:
    """Whether a series of this name was paid for."""
    return ledger.stored(place_of(name)) is not None


@dataclass(frozen=True)
class Begun:
    """The words, the table and the noise of a series: the same at each of its closings."""

    name: str
    price: Cost
    query: str
    strategy: str
    fixed: str
    table: str

    @property
    def answer(self) -> str:
        """What is stored beside the price."""
        return json.dumps({"strategy": self.strategy, "fixed": self.fixed, "table": self.table})

    def check(self, ledger: Ledger) -> None:
        """Refuse other words, tables or noise than those of a series that was begun; reads only."""
        stored = ledger.stored(place_of(self.name), (self.price, self.query))
        if stored is not None:
            self.check_answer(stored)

    def check_answer(self, stored: str) -> None:
        """Refuse another table, or noise, than what was stored."""
        if stored == self.answer:
            return
        begun = json.loads(stored).get("table")
        if begun != self.table:
            raise LedgerError(
                f"series: {self.name!r} was begun with {begun}, and this is {self.table}; a "
                "series belongs to one table: go on with it, or name it by table= if it is the "
                "same one in memory, or begin a series of another name"
            )
        raise LedgerError(
            f"series: {self.name!r} was begun with other noise, by another version; go on with "
            "that one, or begin a series of another name"
        )
