"""A price of (epsilon, delta), charged once to whoever pays, and spent by Gaussian stages."""

from dataclasses import dataclass
from typing import Self

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Ledger, Measure, Purse

__all__ = ["Payment"]


@dataclass(frozen=True)
class Payment:
    """What is charged (`cost`), what the stages may spend (`inside`), and who pays.

    Privacy: `inside` is the largest mu or rho that (epsilon, delta) allows, and composes what the
    stages spend. [Balle & Wang 2018, Thm 8; Canonne, Kamath & Steinke 2020, Prop. 12]

    >>> price = Approximate(1, 1e-6)
    >>> payment = Payment.of(price, price.largest_gdp(), None)
    >>> print(payment.cost, "buys", payment.inside)
    epsilon 1, delta 1e-6 buys mu 0.236704380663
    """

    cost: Cost
    inside: GDP | ZCDP
    payer: Ledger | Purse | None

    @classmethod
    def of(cls, price: Approximate, inside: GDP | ZCDP, payer: object) -> Self:
        """Read who pays: a ledger or purse whose currency holds `inside` is charged only that."""
        match payer:
            case None:
                return cls(price, inside, None)
            case Ledger():
                budget = payer.budget
            case Purse():
                budget = payer.remaining
            case _:
                raise InvalidQuery(
                    f"ledger: {shown(payer)} given; give a halfmask.Ledger, a Purse, or nothing"
                )
        summed = budget.measure in (inside.measure, Measure.ZCDP)
        return cls(inside if summed else price, inside, payer)

    def pay(self, query: str) -> Purse:
        """Charge, and return the purse that the stages spend. No row may be looked at before."""
        match self.payer:
            case Ledger():
                self.payer.charge(self.cost, query=query)
            case Purse():
                self.payer.spend(self.cost)
        return Purse(self.inside)
