"""Where rows, noise and a charged purse meet, for the time of one ask."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np

from halfmask.errors import LedgerError, ReleaseFailed
from halfmask.noise import Words, secure_words
from halfmask.plan import Everything, Request
from halfmask.privacy import Cost, Ledger, PrivacyUnit, Purse, Receipt, Relation
from halfmask.procedures import Together, UnknownKeys
from halfmask.queries import Estimate, Measurement, Record, Scalar, Setting
from halfmask.release import Provenance
from halfmask.sources import Source
from halfmask.version import __version__

__all__ = ["Replay", "Room", "answer", "recorded", "replayed"]

_UNREAD = (
    "the table could not be read after the price was charged; the charge stays, and why is not "
    "shown, since it may depend on the rows"
)

_OTHERS = "ledger: the stored answer of this request is not of this version; use a new request_id"

E = TypeVar("E", bound=Estimate)
A = TypeVar("A")


@dataclass(frozen=True)
class Room:
    """Takes each price from the purse, has exact integers computed, and adds the noise.

    tape: the records of each measurement, in order: what left the rows, and all that did.
    """

    source: Source = field(repr=False)
    words: Words = field(repr=False)
    purse: Purse
    laws: list[str] = field(default_factory=list)
    tape: list[list[Record]] = field(default_factory=list)
    known: dict[Request[Any], Any] = field(default_factory=dict, repr=False)

    def measure(self, measurement: Measurement[E]) -> tuple[E, ...]:
        """Answer one measurement of an ask; one estimate a public key."""
        if not measurement.is_public:
            self.purse.spend(measurement.cost)
        request = measurement.request
        self.laws.extend(measurement.laws)
        with np.errstate(all="ignore"):  # where a caller has NumPy raise, rows would decide
            if request not in self.known:  # later parts of one ask often need the same exact sums
                self.known[request] = self._exact(request)
            records = self._released(measurement, self.known[request])
        self.tape.append(records)
        return measurement.read(records)

    def _exact(self, request: Request[A]) -> A:
        exact: list[A] = []
        with suppress(Exception):
            exact.append(request.answered_by(self.source))
        # Raised outside of the handler: no context, so no traceback that could show a row.
        if not exact:
            raise ReleaseFailed(_UNREAD)
        return exact[0]

    def _released(self, measurement: Measurement[Any], exact: Any) -> list[Record]:
        """Add the noise; a cloud asks for its sums only now, and memory may run out under them."""
        with suppress(MemoryError):
            return measurement.release(exact, self.words)
        raise ReleaseFailed(_UNREAD)


@dataclass(frozen=True)
class Replay:
    """Reads recorded answers again: post-processing of what was already released."""

    tape: list[list[Record]]

    def measure(self, measurement: Measurement[E]) -> tuple[E, ...]:
        """Answer as the first time."""
        if not self.tape:
            raise LedgerError(_OTHERS)
        return measurement.read(self.tape.pop(0))

    def check_read(self) -> None:
        """Refuse records that are left over: what is measured together changes with versions."""
        if self.tape:
            raise LedgerError(_OTHERS)


def answer(
    asked: Together | UnknownKeys, setting: Setting, room: Room, ledger: Ledger, receipt: Receipt
) -> tuple[dict[str, Any], Provenance]:
    """Answer from the rows what was charged, or from the ledger what was answered before."""
    price = receipt.cost
    if receipt.answer is not None:
        replay, provenance = replayed(receipt)
        answers = asked.run(setting, price, replay.measure)
        replay.check_read()
        return answers, provenance
    answers = asked.run(setting, price, room.measure)
    provenance = Provenance(
        cost=price,
        unit=setting.unit,
        mechanism=tuple(dict.fromkeys(room.laws)),
        where="" if isinstance(setting.where, Everything) else str(setting.where),
        seeded=room.words is not secure_words(),  # not ours, so not known to be secret
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        ledger_entry=receipt.seq,
        ledger_head=receipt.hash,
        asked=tuple(filter(None, answers)),
    )
    _record(ledger, receipt, recorded(room, provenance))
    return answers, provenance


def _record(ledger: Ledger, receipt: Receipt, answer: str) -> None:
    """Store an answer; what is said of a failure is not what is said of a charge that failed."""
    with suppress(LedgerError):
        ledger.record(receipt, answer)
        return
    raise LedgerError(
        f"ledger: the answer could not be stored, so it is not shown, and the charge of row "
        f"{receipt.seq} stays; look with `halfmask ledger verify`, and ask anew, under a new "
        "request_id"
    )


def recorded(room: Room, provenance: Provenance) -> str:
    """Write an ask for the ledger, so that a repeated request gets the same release."""
    made = {name: getattr(provenance, name) for name in _PLAIN}
    unit = provenance.unit
    made["unit"] = [unit.column, unit.rows, unit.groups, str(unit.relation)]
    made["cost"] = provenance.cost.to_dict()
    made["mechanism"] = list(provenance.mechanism)
    made["asked"] = list(provenance.asked)
    tape = [[[_written(item) for item in record] for record in records] for records in room.tape]
    return json.dumps({"tape": tape, "made": made}, ensure_ascii=False)


def replayed(receipt: Receipt) -> tuple[Replay, Provenance]:
    """Read what `recorded` wrote."""
    try:
        answer: dict[str, Any] = json.loads(receipt.answer or "")
        tape = [[tuple(map(_read, record)) for record in records] for records in answer["tape"]]
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
        raise LedgerError(_OTHERS) from None
    return Replay(tape), provenance


def _written(item: Scalar) -> object:
    """Write integers as text, since JSON's may be cut to doubles, and text in a list."""
    if isinstance(item, str):
        return [item]
    return item if item is None or isinstance(item, bool) else str(item)


def _read(item: Any) -> Scalar:
    if isinstance(item, list):
        (text,) = item
        return str(text)
    return int(item) if isinstance(item, str) else item


_PLAIN = ("where", "seeded", "time", "version", "ledger_entry", "ledger_head")
