"""What exact verification found: the worst pair, its loss, and the claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from halfmask.audit.exact.moved import Moved, Redrawn
from halfmask.privacy import Cost

__all__ = ["Verification", "Witness"]


@dataclass(frozen=True)
class Witness:
    """Two simulated neighbours, and the exact integers that their difference moves."""

    one: tuple[dict[str, object], ...]
    other: tuple[dict[str, object], ...]
    moved: tuple[Moved | Redrawn, ...]

    def __str__(self) -> str:
        gone, come = _only_in(self.one, self.other), _only_in(self.other, self.one)
        common = len(self.one) - len(gone)
        parts = [f"{common} common row{'' if common == 1 else 's'}"]
        parts += [f"only in the one: {_rows(gone)}"] if gone else []
        parts += [f"only in the other: {_rows(come)}"] if come else []
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return {
            "one": [{name: _plain(cell) for name, cell in row.items()} for row in self.one],
            "other": [{name: _plain(cell) for name, cell in row.items()} for row in self.other],
            "moved": [moved.to_dict() for moved in self.moved],
        }


@dataclass(frozen=True)
class Verification:
    """The exact loss of a release over enumerated neighbours, beside what is claimed.

    loss: the largest, in the claimed currency: epsilon, rho or mu; for (epsilon, delta) the epsilon
      at that delta; infinite where an answer moves that has no noise, or of a law that bounds
      nothing in that currency.
    holds: whether it is at most the claim.
    suppose: how many of the declared units one person was supposed to be.
    complete: False where time ran out before all pairs.
    unlisted: laws with too many answers to list, or in no closed form: not part of the loss.
    """

    title: str
    claimed: Cost
    loss: float
    holds: bool
    witness: Witness | None
    unit: str
    pairs: int
    tables: int
    scripts: int
    overspent: bool = False
    suppose: int = 1
    complete: bool = True
    unlisted: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The loss as a share of the claim: 1 where all of the price is used."""
        return self.loss / float(_main(self.claimed))

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "VIOLATED"
        supposed = f" where one person is {self.suppose} of them" if self.suppose > 1 else ""
        lines = [
            f"{self.title}: {verdict}",
            f"  claimed {self.claimed} for {self.unit}{supposed}",
            f"  exact loss {_number(self.loss)} {self._currency} on the worst of {self.pairs} pairs"
            f" of neighbours ({self.tables} simulated tables)",
        ]
        if not (self.loss or self.unlisted):
            lines.append("  none of the simulated rows moved an answer: the price was not tried")
        if self.overspent:
            lines.append(
                "  its measurements cost more than its price, or have none in that currency"
            )
        if self.witness is not None and not self.holds:
            lines.append(f"  witness: {self.witness}")
        lines += [f"  not listed, so not part of that loss: {law}" for law in self.unlisted]
        if not self.complete:
            lines.append("  time ran out before all pairs were tried")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return {
            "title": self.title,
            "claimed": self.claimed.to_dict(),
            "unit": self.unit,
            "suppose": self.suppose,
            "loss": self.loss,
            "holds": self.holds,
            "overspent": self.overspent,
            "pairs": self.pairs,
            "tables": self.tables,
            "scripts": self.scripts,
            "complete": self.complete,
            "unlisted": list(self.unlisted),
            "witness": None if self.witness is None else self.witness.to_dict(),
        }

    @property
    def _currency(self) -> str:
        return str(self.claimed).split()[0]


def _main(cost: Cost) -> Fraction:
    """The first number of a price, as a person writes it."""
    return Fraction(next(v for k, v in cost.to_dict().items() if k != "measure"))


def _number(loss: float) -> str:
    return "without bound, in" if loss == float("inf") else f"{loss:.12g}"


def _only_in(
    one: Sequence[dict[str, object]], other: Sequence[dict[str, object]]
) -> list[dict[str, object]]:
    left = [repr(row) for row in other]
    only = []
    for row in one:
        if repr(row) in left:
            left.remove(repr(row))
        else:
            only.append(row)
    return only


def _rows(rows: Sequence[dict[str, object]]) -> str:
    """Write rows, equal ones once: 3 x {'age': 18}."""
    counted: dict[str, int] = {}
    for row in rows:
        counted[repr(row)] = counted.get(repr(row), 0) + 1
    shown = [f"{count} x {row}" if count > 1 else row for row, count in counted.items()]
    more = f", and {len(shown) - 4} other kinds" if len(shown) > 4 else ""
    return ", ".join(shown[:4]) + more


def _plain(cell: object) -> object:
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float) and abs(cell) < float("inf"):
        return cell
    return str(cell)
