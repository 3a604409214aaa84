"""Where rows, noise and a charged purse meet, for the time of one ask."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from halfmask.errors import LedgerError, ReleaseFailed
from halfmask.noise import Words
from halfmask.plan import Tally
from halfmask.privacy import Cost, PrivacyUnit, Purse, Receipt, Relation
from halfmask.queries import Estimate, Prepared
from halfmask.release import Provenance
from halfmask.sources import Source

__all__ = ["Replay", "Room", "recorded", "replayed"]

E = TypeVar("E", bound=Estimate)
Exact = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Room:
    """Takes each price from the purse, has exact integers computed, and adds the noise.

    tape: the noisy integers of each measurement, in order: what left the rows, and all that did.
    """

    source: Source = field(repr=False)
    words: Words = field(repr=False)
    purse: Purse
    laws: list[str] = field(default_factory=list)
    tape: list[list[tuple[int, ...]]] = field(default_factory=list)
    known: dict[Tally, Exact] = field(default_factory=dict, repr=False)

    def measure(self, prepared: Prepared[E]) -> tuple[E, ...]:
        """Answer one measurement of an ask; one estimate a public key."""
        if not prepared.is_public:
            self.purse.spend(prepared.cost)
        tally = prepared.tally
        if tally not in self.known:  # later parts of one ask often need the same exact sums
            self.known[tally] = self._tally(tally)
        outputs = prepared.vectors(self.known[tally])
        self.laws.extend(output.mechanism.law_in(output.step) for output, _ in outputs)
        noisy = [output.mechanism.release(vector, self.words) for output, vector in outputs]
        self.tape.append(noisy)
        return tuple(o.read(numbers) for (o, _), numbers in zip(outputs, noisy, strict=True))

    def _tally(self, tally: Tally) -> Exact:
        exact = None
        with suppress(Exception):
            exact = self.source.tally(tally)
        # Raised outside of the handler: no context, so no traceback that could show a row.
        if exact is None:
            raise ReleaseFailed(
                "the table could not be read after the price was charged; the charge stays, and "
                "why is not shown, since it may depend on the rows"
            )
        return exact


@dataclass(frozen=True)
class Replay:
    """Reads recorded noisy integers again: post-processing of what was already released."""

    tape: list[list[tuple[int, ...]]]

    def measure(self, prepared: Prepared[E]) -> tuple[E, ...]:
        """Answer as the first time."""
        noisy = self.tape.pop(0)
        outputs = prepared.outputs * (len(noisy) if len(prepared.outputs) == 1 else 1)
        return tuple(o.read(numbers) for o, numbers in zip(outputs, noisy, strict=True))


def recorded(room: Room, provenance: Provenance) -> str:
    """Write an ask for the ledger, so that a repeated request gets the same release."""
    made = {name: getattr(provenance, name) for name in _PLAIN}
    unit = provenance.unit
    made["unit"] = [unit.column, unit.rows, unit.groups, str(unit.relation)]
    made["cost"] = provenance.cost.to_dict()
    made["mechanism"] = list(provenance.mechanism)
    made["asked"] = list(provenance.asked)
    tape = [[[str(number) for number in vector] for vector in noisy] for noisy in room.tape]
    return json.dumps({"tape": tape, "made": made}, ensure_ascii=False)


def replayed(receipt: Receipt) -> tuple[Replay, Provenance]:
    """Read what `recorded` wrote."""
    try:
        answer: dict[str, Any] = json.loads(receipt.answer or "")
        tape = [[tuple(map(int, vector)) for vector in noisy] for noisy in answer["tape"]]
        made = answer["made"]
        column, rows, groups, relation = made["unit"]
        provenance = Provenance(
            cost=Cost.from_dict(made["cost"]),
            unit=PrivacyUnit(column, rows, groups, Relation.of(relation)),
            mechanism=tuple(made["mechanism"]),
            asked=tuple(made["asked"]),
            **{name: made[name] for name in _PLAIN},
        )
    except (ValueError, KeyError, TypeError):
        raise LedgerError(
            "ledger: the stored answer of this request is not of this version; use a new request_id"
        ) from None
    return Replay(tape), provenance


_PLAIN = ("where", "seeded", "time", "version", "ledger_entry", "ledger_head")
