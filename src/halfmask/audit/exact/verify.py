"""Verify a release on small tables: the exact integers of all neighbours, and their exact loss."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from halfmask.audit.exact.ask import Ask, Question
from halfmask.audit.exact.moved import Moved, Redrawn, moved_between
from halfmask.audit.exact.scripts import Script, scripts
from halfmask.audit.exact.spending import EVERYTHING, NOTHING, Spending
from halfmask.audit.exact.tables import Pair, Rows, Simulation
from halfmask.audit.exact.verification import Verification, Witness
from halfmask.audit.exact.worst import Worst
from halfmask.plan import Filters, Keys, Kind, Predicate, Request, Schema
from halfmask.privacy import Cost, PrivacyUnit
from halfmask.queries import Distributed, Measurement, Part

__all__ = ["verify", "verify_ask"]

Parts = tuple[Part, ...] | None
"""The law of a measurement on one table; None where that is not listed."""

Laws = list[Parts] | None
"""Those of a script's measurements; None where the table could not be read."""


def verify(  # noqa: PLR0913
    query: Question | Mapping[str, Question],
    *,
    schema: Schema | Mapping[str, Kind],
    unit: str | PrivacyUnit | None = None,
    relation: str = "add_remove",
    by: Keys | Filters | str | None = None,
    where: str | Predicate | None = None,
    price: Cost | float | str = 1,
    shares: Mapping[str, Any] | None = None,
    suppose: int = 1,
    seconds: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Verification:
    """Enumerate neighbours of small simulated tables and compute the exact loss of the release.

    The exact integers come from the real source, through the real query, to the noise that it would
    get; the loss of independent noises is added up in exact fractions, over all measurements of the
    ask and all groups, for the worst noisy answers in between.

    Args:
        query: as for `Curator.ask`.
        schema: names and kinds of the columns ("integer", "real", "text", "time", "boolean",
            "unread").
        unit: the unit column, or a whole `PrivacyUnit`.
        relation: `add_remove` or `replace`; unless `unit` says so itself.
        by: as for `ask`, and so `where` and `shares`.
        where: see `by`.
        shares: see `by`.
        price: a `Cost`; a number is an epsilon.
        suppose: take one person to be so many of the declared units (rows, without a unit), and
            see what the release costs them.
        seconds: stop after so long, and say so.
        progress: called with the number of pairs so far.

    Raises:
        InvalidQuery: what `ask` would refuse.

    >>> import halfmask as hm
    >>> found = verify(hm.Count(), schema={"age": "integer"}, where="age >= 18", price=0.5)
    >>> found.loss, found.holds
    (0.5, True)

    """
    ask = Ask.of(
        query,
        schema=schema,
        unit=unit,
        relation=relation,
        by=by,
        where=where,
        price=price,
        shares=shares,
    )
    return verify_ask(ask, suppose=suppose, seconds=seconds, progress=progress)


def verify_ask(
    ask: Ask,
    *,
    suppose: int = 1,
    seconds: float | None = None,
    progress: Callable[[int], object] | None = None,
) -> Verification:
    """Verify an ask that is already checked; see `verify`."""
    return _Search(ask, suppose).run(seconds, progress)


class _Search:
    """Goes through all pairs and keeps the worst."""

    def __init__(self, ask: Ask, suppose: int) -> None:
        self.ask, self.suppose = ask, suppose
        self.scripts = scripts(ask.asked, ask.setting, ask.price)
        requests = tuple(dict.fromkeys(r for script in self.scripts for r in script.requests))
        setting = ask.setting
        places = tuple(place for script in self.scripts for place in script.landmarks)
        self.simulation = Simulation(requests, setting.schema, setting.unit, suppose, places)
        self.known: dict[int, tuple[Rows, list[Laws]]] = {}
        self.unlisted: set[str] = set()
        self.worst = Worst(ask.price)
        self.witness: Witness | None = None

    def run(self, seconds: float | None, progress: Callable[[int], object] | None) -> Verification:
        """Try pair by pair until the end, or the end of the time."""
        start, complete, count = time.monotonic(), True, 0
        for count, pair in enumerate(self.simulation.pairs(), start=1):
            self._try(pair)
            if progress is not None:
                progress(count)
            if seconds is not None and time.monotonic() - start > seconds:
                complete = False
                break
        overspent = any(script.overspent for script in self.scripts)
        return Verification(
            title=self.ask.title,
            claimed=self.ask.price,
            loss=self.worst.amount,
            holds=not overspent and self.worst.is_within,
            witness=self.witness,
            unit=self.ask.setting.unit.describe(),
            pairs=count,
            tables=len(self.known),
            scripts=len(self.scripts),
            overspent=overspent,
            suppose=self.suppose,
            complete=complete,
            unlisted=tuple(sorted(self.unlisted)),
        )

    def _try(self, pair: Pair) -> None:
        one, other = self._laws(pair.one), self._laws(pair.other)
        for script, a, b in zip(self.scripts, one, other, strict=True):
            moved, spent = _compared(script, a, b)
            if self.worst.take(spent) or (self.witness is None and self.unlisted):
                self.witness = Witness(pair.one, pair.other, tuple(moved))

    def _laws(self, rows: Rows) -> list[Laws]:
        if id(rows) not in self.known:  # the rows are kept too, so that no id comes twice
            exact = self.simulation.exact(rows)
            self.known[id(rows)] = rows, [self._of_script(script, exact) for script in self.scripts]
        return self.known[id(rows)][1]

    def _of_script(self, script: Script, exact: Mapping[Request[Any], Any]) -> Laws:
        if any(exact[one.request] is None for one in script.coarse):
            return None
        return [self._of(one, exact[one.request]) for one in script.coarse]

    def _of(self, measurement: Measurement[Any], exact: Any) -> Parts:
        found = measurement.distribution(exact) if isinstance(measurement, Distributed) else None
        if found is None:
            self.unlisted.update(measurement.laws)
        return found


def _compared(script: Script, one: Laws, other: Laws) -> tuple[list[Moved | Redrawn], Spending]:
    """Return what moves between both neighbours, and what that costs."""
    if one is None or other is None:  # the rows decide whether there is an answer
        return [], NOTHING if one is other else EVERYTHING
    found = [
        moved
        for measurement, a, b in zip(script.coarse, one, other, strict=True)
        if a is not None and b is not None
        for moved in moved_between(a, b, "; ".join(measurement.laws), measurement.cost)
    ]
    return found, sum((moved.spent for moved in found), NOTHING)
