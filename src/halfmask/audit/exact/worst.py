"""The largest loss that was found so far, beside the claim."""

from fractions import Fraction

from halfmask.audit.exact.spending import Spending
from halfmask.privacy import GDP, Cost

__all__ = ["Worst"]

SLACK = Fraction(1, 10**12)
"""Relative; what is not an exact fraction is rounded to twelve digits."""


class Worst:
    """Keeps the largest loss, in the claimed currency; that without bound is above all."""

    def __init__(self, claimed: Cost) -> None:
        self._claimed = claimed
        self._loss: Fraction | None = Fraction(0)

    def take(self, spent: Spending) -> bool:
        """Keep a loss if it is more than all before; return whether it is."""
        loss = spent.in_currency_of(self._claimed)
        if self._loss is None or (loss is not None and loss <= self._loss):
            return False
        self._loss = loss
        return True

    @property
    def amount(self) -> float:
        """The loss: an epsilon, a rho or a mu."""
        if self._loss is None:
            return float("inf")
        return float(self._loss) ** 0.5 if isinstance(self._claimed, GDP) else float(self._loss)

    @property
    def is_within(self) -> bool:
        """Whether it is at most the claim."""
        return self._loss is not None and self._loss <= self._claimed.amounts[0] * (1 + SLACK)
