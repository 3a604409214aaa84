"""How a number was made, and what a reader should know before trusting the promise."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from halfmask.privacy import Approximate, Cost, PrivacyUnit, at_most, plain

__all__ = ["Finding", "Provenance", "caution", "facts_of", "told_of"]

LARGEST_DELTA = Fraction(1, 10**6)
"""A larger one is worth a word, whatever the table."""


def caution(cost: Cost, rows: int = 0) -> str:
    """Say where a delta is no small chance: beside 1/n, or for any table; else nothing.

    rows: how many rows one supposes, if one does.
    """
    if not isinstance(cost, Approximate):
        return ""
    if cost.delta <= LARGEST_DELTA and cost.delta * rows * 100 <= 1:
        return ""
    chance = f"{round(1 / cost.delta):,}".replace(",", " ")
    supposed = f" ({rows:,} rows are supposed)".replace(",", " ") if rows else ""
    return (
        f"delta {plain(cost.delta)} is a chance of 1 in {chance} to lose a unit's privacy "
        f"altogether: it means little for {chance} units, or a hundredth of that{supposed}; a "
        "delta should be far below 1/n"
    )


class Finding(Protocol):
    """How keys were found in the rows: what a reader needs to know of those that are missed."""

    @property
    def delta(self) -> Fraction:
        """The probability that a key of one unit is shown, in all the keys that it has, at most."""
        ...

    @property
    def likely(self) -> int:
        """The count from which a key is shown more often than not."""
        ...

    @property
    def law(self) -> str:
        """The law in words."""
        ...

    def chance(self, count: int) -> float:
        """Return the probability that a key of this count is shown."""
        ...


def told_of(found: Finding | None) -> str:
    """Say what is known of the keys that are not shown; how many they are is not."""
    if found is None:
        return ""
    return (
        f"The keys were found in the rows: one of a count of {found.likely} is shown more often "
        "than not, smaller ones are mostly missed, and one that a single unit holds is shown with "
        f"a probability of at most {at_most(found.delta)}."
    )


def facts_of(found: Finding | None) -> dict[str, Any]:
    """The same as plain values for JSON."""
    if found is None:
        return {}
    delta = plain(found.delta)
    return {"keys_found": {"law": found.law, "delta": delta, "shown_mostly_from": found.likely}}


@dataclass(frozen=True)
class Provenance:
    """How a number was made: shared by all the numbers of one ask."""

    cost: Cost
    unit: PrivacyUnit
    mechanism: tuple[str, ...]
    where: str
    seeded: bool
    time: str
    version: str
    ledger_entry: int
    ledger_head: str
    asked: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return {
            "cost": self.cost.to_dict(),
            "asked_together": list(self.asked),
            "unit": self.unit.describe(),
            "relation": str(self.unit.relation),
            "mechanism": list(self.mechanism),
            "where": self.where,
            "seeded": self.seeded,
            "private": not self.seeded,
            "time": self.time,
            "version": self.version,
            "ledger": {"entry": self.ledger_entry, "head": self.ledger_head},
        }
