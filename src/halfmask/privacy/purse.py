"""A purse: one price, already charged, that a procedure spends in parts."""

import os
import threading
from typing import NoReturn

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy.cost import Cost

__all__ = ["Purse"]


class Purse:
    """A sub-budget that never overspends and never touches the ledger.

    The whole price is charged before the purse is made, so what is left in it is lost: a refund
    would need to know that nothing was read. Sums are exact fractions.

    >>> from halfmask.privacy import Pure
    >>> purse = Purse(Pure(1))
    >>> purse.spend(Pure("1/3"))
    >>> print(purse.remaining)
    epsilon 2/3
    """

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        self._left = cost.amounts
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def remaining(self) -> Cost:
        """What is left, in the purse's own currency."""
        return self.cost.from_amounts(*self._left, up=False)

    def spend(self, part: Cost) -> None:
        """Take `part` out of the purse, or raise BudgetExhausted and take nothing.

        A part in another currency is converted upwards; InvalidQuery where that is not proved.
        """
        main, delta = part.in_measure(self.cost.measure).amounts
        with self._lock:
            if self._process != os.getpid():
                raise LedgerError("purse: this process is a fork; spend in the process that asked")
            left = self._left[0] - main, self._left[1] - delta
            if min(left) < 0:
                raise BudgetExhausted(
                    f"part: costs {part}, and {self.remaining} is left of a purse of {self.cost}; "
                    "ask for less. No row was read."
                )
            self._left = left

    def __reduce__(self) -> NoReturn:
        raise LedgerError("purse: a copy could spend the same money twice; pass the purse itself")

    def __str__(self) -> str:
        return f"{self.remaining} left of {self.cost}"
