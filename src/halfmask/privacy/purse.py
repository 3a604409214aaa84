"""A purse: one price, already charged, that a procedure spends in parts."""

import os
import threading
from typing import NoReturn

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy.cost import Cost
from halfmask.privacy.currencies import GDP, Approximate

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
        self._kind = cost
        self._left = cost.amounts
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def remaining(self) -> Cost:
        """What is left, in the currency that the purse is spent in."""
        return self._kind.from_amounts(*self._left, up=False)

    def spend(self, part: Cost) -> None:
        """Take `part` out of the purse, or raise BudgetExhausted and take nothing.

        A part in another currency is converted upwards; InvalidQuery where that is not proved. An
        (epsilon, delta) of which nothing was spent is changed whole into the largest mu within it
        when the first part is a mu.
        Privacy: parts that come to that mu come to the (epsilon, delta). [Dong, Roth & Su 2022,
        Cor. 1 and 2; adaptively Smith & Thakurta 2022; the conversion is Balle & Wang 2018, Thm 8]
        """
        with self._lock:
            self._exchange(part)
            main, delta = part.in_measure(self._kind.measure).amounts
            if self._process != os.getpid():
                raise LedgerError("purse: this process is a fork; spend in the process that asked")
            left = self._left[0] - main, self._left[1] - delta
            if min(left) < 0:
                raise BudgetExhausted(
                    f"part: costs {part}, and {self.remaining} is left of a purse of {self.cost}; "
                    "ask for less. No row was read."
                )
            self._left = left

    def _exchange(self, part: Cost) -> None:
        unspent = self._kind is self.cost and self._left == self.cost.amounts
        if unspent and isinstance(part, GDP) and isinstance(self.cost, Approximate):
            self._kind = self.cost.largest_gdp()
            self._left = self._kind.amounts

    def __reduce__(self) -> NoReturn:
        raise LedgerError("purse: a copy could spend the same money twice; pass the purse itself")

    def __str__(self) -> str:
        return f"{self.remaining} left of {self.cost}"
