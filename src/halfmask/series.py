"""A series: running totals of a table that grows, released when each period closes, paid for once.

The ledger is all that lasts. One row of it pays for the series; each closing is a row of no cost
that holds the noisy sums of its period, written in one piece. So whoever opens the series again, in
whatever process, reads the same sums, and no noise needs to be kept secret for later.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from halfmask.arriving import Arriving, Read
from halfmask.asking import preview_of, warn
from halfmask.begun import Begun, place_of
from halfmask.errors import Interrupted, InvalidQuery, LedgerError
from halfmask.noise import Words, secure_words
from halfmask.plan import Everything
from halfmask.privacy import Cost, Ledger, Purse, Receipt
from halfmask.progress import showing
from halfmask.queries import (
    Closings,
    Record,
    Running,
    Setting,
)
from halfmask.release import GroupedRelease, Preview, Provenance, Release
from halfmask.room import Room, recorded, replayed
from halfmask.sources import Source
from halfmask.version import __version__

__all__ = ["Series"]

_STOPPED = (
    "Interrupted after the price was charged; the charge stays. What is not stored was not shown: "
    "release it again, free of charge"
)


@dataclass(frozen=True, repr=False)
class Series:
    """Running totals, released again and again at one price for all periods; see `Serial.series`.

    Privacy: that of `Closings`: the price, once, for every unit whose rows are only added to the
    one table of the series, whatever is asked and whenever. The noisy sums of a period are drawn
    once: what is drawn again, after a crash or by another process, is shown to nobody. No period is
    closed from a table that was opened before that of an earlier closing.

    table: which table it is: the same name, or path, at every closing.
    opened, started: when the table at hand was open, and when its opening began, in nanoseconds:
      some are copied meanwhile.
    arriving: its files, where periods are by arrival: none is read at two closings.
    """

    name: str
    question: Running
    setting: Setting
    price: Cost
    source: Source = field(compare=False)
    ledger: Ledger = field(compare=False)
    words: Words = field(compare=False)
    table: str
    opened: int = field(compare=False)
    is_closed: Callable[[], bool] = field(compare=False)
    actor: str | None = None
    progress: bool = field(default=False, compare=False)
    arriving: Arriving | None = field(default=None, compare=False)
    started: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name != self.name.strip():
            raise InvalidQuery("series: give it a name, such as 'logins', that stays the same")
        self.question.check(self.setting)
        self.closings.closing(1, 1).request.check(self.setting.schema)

    @cached_property
    def closings(self) -> Closings:
        """The strategy and the noise of all closings: as begun, or chosen by public facts."""
        begun = self.ledger.stored(self._id)
        strategy = json.loads(begun).get("strategy") if begun else None
        return self.question.lay(self.setting, self.price, strategy)

    @property
    def periods(self) -> tuple[str, ...]:
        """All periods, by their labels."""
        return self.question.periods.labels

    @property
    def ready(self) -> tuple[str, ...]:
        """The periods that may be released now, as far as is known without reading a row.

        Of time: those that are over everywhere; by arrival: one more where new files are there; of
        numbers: those that were closed, since nothing tells which are over.
        """
        known = self._known()
        if self.arriving is not None:
            return self.periods[: known + bool(known < len(self.periods) and self._fresh())]
        return self.periods[: max(known, self.question.periods.over(_now(), everywhere=True))]

    @property
    def closed(self) -> tuple[str, ...]:
        """The periods that were closed so far, in this process or in another."""
        return self.periods[: self._known()]

    def preview(self) -> Preview:
        """Predict the error of the totals: reads no row, spends nothing."""
        return preview_of(self.closings.blank().expected(), self.price)

    def check_begun(self) -> None:
        """Refuse other words, or another table, than the series was begun with."""
        self._begun().check(self.ledger)

    def check(self, through: object) -> int:
        """Refuse what `release` would before it charges; tell how many periods there are so far."""
        self.check_begun()
        periods = self.question.periods.find(through)
        self._check_over(periods)
        if self._known() < periods:
            self._check_table()
            self._check_next(periods)
        return periods

    def release(self, through: object) -> Any:
        """Return the running totals at the ends of all periods up to this one, of each group.

        The first release of a series spends its price; later ones are free. Periods that are not
        closed yet are measured in the table at hand and so closed: rows that come later are not
        counted in them. Periods that were closed before are read from the ledger, never from rows.

        Args:
            through: the last period: its label, as "2026-01", or a moment in it.

        Raises:
            InvalidQuery: no such period, or it is not over; nothing was read.
            BudgetExhausted, LedgerError, ReleaseFailed, Interrupted: as for `Curator.ask`. After a
                failure ask again: the price stays paid; whatever was not stored is measured anew.

        """
        return self._released(through, single=False)

    def counts(self, through: object) -> Any:
        """Return the numbers of each period alone, up to this one; otherwise as `release`."""
        return self._released(through, single=True)

    def _released(self, through: object, *, single: bool) -> Release | GroupedRelease:
        periods = self.check(through)
        paid, done = self._pay(), False
        with suppress(KeyboardInterrupt), showing(self.progress):
            while (known := self._known()) < periods:
                self._close(paid, known + 1, periods)
            done = True
        if not done:
            raise Interrupted(_STOPPED)
        stored = [self._stored(period) for period in range(1, periods + 1)]
        records = [record for record, _ in stored]
        estimates = self.closings.read(records, periods, single=single)
        seeded = any(made.seeded for _, made in stored)
        title, made = replace(self.question, single=single), replace(stored[-1][1], seeded=seeded)
        by = self.setting.by
        if by is None:
            return Release(title, estimates[0], made)
        keyed = zip(self.setting.keys, estimates, strict=True)
        releases = tuple(Release(title, one, made, key) for key, one in keyed)
        return GroupedRelease(title, by.column, releases, made)

    def _pay(self) -> Receipt:
        """Charge the price, or find that it was: one row, with all that fixes the noise to come."""
        warn(self.price)
        begun = self._begun()
        paid = self.ledger.charge(
            self.price,
            query=begun.query,
            actor=self.actor,
            request_id=self._id,
            answer=begun.answer,
        )
        begun.check_answer(str(paid.answer))
        return paid

    def _begun(self) -> Begun:
        """What must be the same as when the series was begun."""
        where, strategy = self.setting.where, self.closings.strategy.text
        filtered = "" if isinstance(where, Everything) else f" where {where}"
        groups = "" if self.setting.by is None else f" by {self.setting.by!r}"
        text = f"{self.question!r}{groups}{filtered}; for {self.setting.unit.describe()}"
        return Begun(self.name, self.price, text, strategy, self.closings.fixed, self.table)

    def _close(self, paid: Receipt, first: int, last: int) -> None:
        """Measure periods and store each, as far as nobody else does so meanwhile.

        After a race the rest is dropped, and measured anew if the table is not too old by then.
        """
        self._check_table()
        files = self._fresh()
        table = self.arriving.alone(files) if self.arriving else self.source
        room = Room(table, self.words, Purse(self.price))
        room.measure(self.closings.closing(first, last))
        ((*records,),) = room.tape
        for period, record in enumerate(records, start=first):
            if self._follow(paid, period, partial(self._written, room, record, files)).repeated:
                return

    def _fresh(self) -> tuple[str, ...]:
        """The files that no closing has read, where periods are by arrival."""
        if self.arriving is None:
            return ()
        answers = map(self._answer, range(1, self._known() + 1))
        read = (
            Read(label, answer["opened"], answer["files"])
            for label, answer in zip(self.periods, answers, strict=False)
        )
        return self.arriving.fresh(tuple(read))

    def _check_next(self, periods: int) -> None:
        """Refuse what is amiss with files, and to close more than what has arrived."""
        self._fresh()
        if self.arriving and periods > self._known() + 1:
            raise InvalidQuery(
                f"period: what has arrived is {self.periods[self._known()]}; close one at a time. "
                "No row was read."
            )

    def _follow(self, paid: Receipt, period: int, written: Callable[[Receipt], str]) -> Receipt:
        """Store a closing."""
        try:
            return self.ledger.follow(
                paid,
                query=f"series {self.name!r}, paid in row {paid.seq}: {self.periods[period - 1]}",
                request_id=f"{self._id}: {period}",
                answer=written,
                actor=self.actor,
            )
        except LedgerError as problem:
            reason = str(problem).removesuffix(" No row was read.")
            raise LedgerError(
                f"series: {self.periods[period - 1]} could not be stored: {reason} The table was "
                "read, but nothing was shown or stored; ask again, the price stays paid."
            ) from None

    def _check_table(self) -> None:
        """Refuse a table that cannot be read, or is older than one of an earlier closing.

        `Closings` needs that rows are only added from one closing to the next.
        """
        if self.is_closed():
            raise InvalidQuery("series: the table was closed; open it again. Nothing was charged.")
        self.ledger.check_free_rows()
        known = self._known()
        before = self._answer(known)["opened"] if known else 0
        if before > self.started and before != self.opened:
            raise InvalidQuery(
                f"series: the table was opened before the one from which {self.periods[known - 1]} "
                "was closed, so it may lack rows; open it again. No row was read."
            )

    def _written(self, room: Room, record: Record, files: Sequence[str], row: Receipt) -> str:
        where = self.setting.where
        provenance = Provenance(
            cost=self.price,
            unit=self.setting.unit,
            mechanism=tuple(dict.fromkeys(room.laws)),
            where="" if isinstance(where, Everything) else str(where),
            seeded=self.words is not secure_words(),
            time=datetime.now(UTC).isoformat(timespec="seconds"),
            version=__version__,
            ledger_entry=row.seq,
            ledger_head=row.hash,
        )
        release = recorded(replace(room, tape=[[record]]), provenance)
        read = {"files": self.arriving.marks(files)} if self.arriving else {}
        return json.dumps({"opened": self.opened, "closing": release} | read)

    def _answer(self, period: int) -> dict[str, Any]:
        """Return what a closing stored; LedgerError where its place holds something else."""
        answer = json.loads(self.ledger.stored(f"{self._id}: {period}") or "{}")
        expected = {"opened", "closing"} | ({"files"} if self.arriving else set())
        if not isinstance(answer, dict) or set(answer) != expected:
            raise LedgerError(
                f"series: the ledger holds another answer in the place of {self.name!r}, period "
                f"{period}; begin a series of another name"
            )
        return answer

    def _stored(self, period: int) -> tuple[Record, Provenance]:
        answer = self._answer(period)["closing"]
        replay, provenance = replayed(Receipt(0, self.price, "", answer=answer))
        ((record,),) = replay.tape
        return record, provenance

    def _known(self) -> int:
        """How many periods are closed: they close in order."""
        low, high = 0, len(self.periods)
        while low < high:
            middle = (low + high + 1) // 2
            if self.ledger.stored(f"{self._id}: {middle}") is None:
                high = middle - 1
            else:
                low = middle
        return low

    def _check_over(self, periods: int) -> None:
        """Refuse to close what is over on no clock: later rows would be counted in no period."""
        end = self.question.periods.edges[periods]
        over = self.question.periods.over(_now(), everywhere=False)
        if isinstance(end, datetime) and periods > over:
            raise InvalidQuery(
                f"period: {self.periods[periods - 1]} ends at {end} and is not over; release it "
                "then, since rows that come later would not be counted"
            )

    @property
    def _id(self) -> str:
        return place_of(self.name)

    def __repr__(self) -> str:
        return f"<series {self.name!r}: {self.question.title}, {len(self.closed)} closed>"


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
