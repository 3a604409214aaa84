"""Verify a series: what all of its closings together tell of one unit, over histories of tables."""

import time as clock
from collections.abc import Mapping
from typing import Any

from halfmask.asking import refuse_found, setting_of
from halfmask.audit.exact.histories import Histories
from halfmask.audit.exact.moved import Moved
from halfmask.audit.exact.spending import EVERYTHING, NOTHING
from halfmask.audit.exact.tables import Pair, Rows, Simulation
from halfmask.audit.exact.verification import Verification, Witness
from halfmask.audit.exact.worst import Worst
from halfmask.plan import Filters, Keys, Kind, Predicate, Schema, periods_of
from halfmask.privacy import Cost, PrivacyUnit, Pure, Relation
from halfmask.queries import Closings, Count, CountDistinct, Running, Setting, Sum

__all__ = ["verify_closings", "verify_series"]

_ARRIVALS = 16
"""Periods by arrival that are tried."""

Answers = tuple[int, ...] | None
"""The exact sums of a history's closings; None where a table could not be read."""


def verify_series(  # noqa: PLR0913
    query: Count | CountDistinct | Sum,
    *,
    schema: Schema | Mapping[str, Kind],
    periods: int,
    time: str | None = None,
    start: Any = None,
    every: Any = None,
    unit: str | PrivacyUnit | None = None,
    relation: str = "add_remove",
    by: Keys | Filters | None = None,
    where: str | Predicate | None = None,
    price: Cost | float | str = 1,
    suppose: int = 1,
    seconds: float | None = None,
) -> Verification:
    """Enumerate neighbouring histories of small tables and compute the exact loss of a series.

    At up to four closings the table is another one: rows of a unit come at any of them, on time or
    late; where a row is the unit it also goes, comes back and changes within its period. The exact
    integers of all closings come from the real source; their loss is added up in exact fractions.
    By arrival, where each period is closed alone, the first 16 are tried.

    Args:
        query: as for `Curator.series`, and so `periods`, `time` (None: by arrival), `start`,
            `every`, `by` and `where`.
        schema: as for `verify`, and so `unit`, `relation`, `price`, `suppose` and `seconds`.
        periods: see `query`.
        time: see `query`.
        start: see `query`.
        every: see `query`.
        by: see `query`.
        where: see `query`.
        unit: see `schema`.
        relation: see `schema`.
        price: see `schema`.
        suppose: see `schema`.
        seconds: see `schema`.

    Raises:
        InvalidQuery: what `Curator.series` would refuse.

    >>> import halfmask as hm
    >>> found = verify_series(hm.Count(), schema={"at": "integer"}, time="at", start=0, every=10,
    ...     periods=12, price=0.5)
    >>> found.loss, found.holds
    (0.5, True)

    """
    public = schema if isinstance(schema, Schema) else Schema.of(dict(schema))
    if not isinstance(unit, PrivacyUnit):
        unit = PrivacyUnit(unit, 1, None, Relation(relation))
    question = Running(query, time or "", periods_of(periods, time, start, every))
    refuse_found(by)
    setting = setting_of(public, unit, by, where)
    if unit.column is not None:
        public.column(unit.column)
    question.check(setting)
    closings = question.lay(setting, price if isinstance(price, Cost) else Pure(price))
    return verify_closings(closings, setting, suppose=suppose, seconds=seconds)


def verify_closings(
    closings: Closings, setting: Setting, *, suppose: int = 1, seconds: float | None = None
) -> Verification:
    """Verify closings that are laid already; see `verify_series`."""
    return _Search(closings, setting, suppose).run(seconds)


class _Search:
    """Goes through all pairs of histories and keeps the worst."""

    def __init__(self, closings: Closings, setting: Setting, suppose: int) -> None:
        question = closings.question
        periods, unit = question.periods, setting.unit
        number = periods.number
        firsts = list(range(1, min(number, _ARRIVALS) + 1))  # by arrival each closes on its own
        ends = firsts
        if not periods.apart:
            firsts = sorted({1, min(2, number), number // 2 + 1, number})
            ends = [*(first - 1 for first in firsts[1:]), number]
        self.closings, self.setting = closings, setting
        spans = zip(firsts, ends, strict=True)
        self.stages = {
            periods.labels[last - 1]: closings.closing(first, last) for first, last in spans
        }
        requests = tuple(one.request for one in self.stages.values())
        simulation = Simulation(requests, setting.schema, unit, suppose)
        starts = () if periods.apart else tuple(periods.edges[first - 1] for first in firsts)
        self.histories = Histories(simulation, tuple(self.stages), question.time, starts)
        self.known: dict[tuple[str, str], Answers] = {}
        self.worst = Worst(closings.price)
        self.witness: Witness | None = None

    def run(self, seconds: float | None) -> Verification:
        """Try pair by pair until the end, or the end of the time."""
        start, complete, pairs = clock.monotonic(), True, 0
        for pair in self.histories.pairs():
            self._try(pair)
            pairs += 1
            if seconds is not None and clock.monotonic() - start > seconds:
                complete = False
                break
        return Verification(
            title=self.closings.question.title,
            claimed=self.closings.price,
            loss=self.worst.amount,
            holds=self.worst.is_within,
            witness=self.witness,
            unit=self.setting.unit.describe(),
            pairs=pairs,
            tables=len(self.known),
            scripts=1,
            suppose=self.histories.simulation.suppose,
            complete=complete,
        )

    def _try(self, pair: Pair) -> None:
        """Compare the sums of all closings; each answer is as possible on both, so none matters."""
        one, other = self._sums(pair.one), self._sums(pair.other)
        moved: tuple[Moved, ...] = ()
        spent = NOTHING
        if one is None or other is None:  # the rows decide whether there is an answer
            spent = NOTHING if one is other else EVERYTHING
        elif one != other:
            moved = (Moved(self.closings.mechanism, one, other, self.closings.step),)
            spent = moved[0].spent
        if self.worst.take(spent):
            self.witness = Witness(pair.one, pair.other, moved)

    def _sums(self, rows: Rows) -> Answers:
        found = [self._at(stage, self.histories.at(rows, stage)) for stage in self.stages]
        if any(sums is None for sums in found):
            return None
        return tuple(one for sums in found for one in sums or ())

    def _at(self, stage: str, table: Rows) -> Answers:
        """Have the real source compute what a closing measures."""
        key = (stage, repr(table))
        if key not in self.known:
            closing = self.stages[stage]
            exact = self.histories.simulation.answer(table, closing.request)
            self.known[key] = None if exact is None else tuple(closing.exact(exact))
        return self.known[key]
