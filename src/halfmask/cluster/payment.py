"""A price of (epsilon, delta), charged once to whoever pays, and spent by Gaussian stages."""

from dataclasses import dataclass
from typing import Self

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy import GDP, Approximate, Cost, Ledger, Measure, Number, Purse

__all__ = ["Payment"]


@dataclass(frozen=True)
class Payment:
    """What is charged (`cost`), what the stages may spend (`inside`), and who pays.

    Privacy: `inside` is the largest mu within (epsilon, delta). [Balle & Wang 2018, Thm 8]

    >>> payment = Payment.of(1, 1e-6, None)
    >>> print(payment.cost, "buys", payment.inside)
    epsilon 1, delta 1e-6 buys mu 0.236704380663
    """

    cost: Cost
    inside: GDP
    payer: Ledger | Purse | None

    @classmethod
    def of(cls, epsilon: Number, delta: Number, payer: object) -> Self:
        """Read a price; a ledger or purse of mu or rho is charged the mu, which is worth more."""
        price = Approximate(epsilon, delta)
        inside = price.largest_gdp()
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
        summed = budget.measure in (Measure.GDP, Measure.ZCDP)
        return cls(inside if summed else price, inside, payer)

    def pay(self, query: str) -> Purse:
        """Charge, and return the purse that the stages spend. No row may be looked at before."""
        match self.payer:
            case Ledger():
                self.payer.charge(self.cost, query=query)
            case Purse():
                self.payer.spend(self.cost)
        return Purse(self.inside)
