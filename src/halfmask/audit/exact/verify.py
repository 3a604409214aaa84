"""Verify a release on small tables: the exact integers of all neighbours, and their exact loss."""

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from halfmask.audit.exact.ask import Ask, Question
from halfmask.audit.exact.scripts import scripts
from halfmask.audit.exact.spending import Exact, moves
from halfmask.audit.exact.tables import Pair, Rows, Simulation
from halfmask.audit.exact.verification import Verification, Witness
from halfmask.errors import InvalidQuery
from halfmask.plan import Filters, Keys, Kind, Predicate, Schema, Tally
from halfmask.privacy import GDP, Cost, PrivacyUnit

__all__ = ["verify", "verify_ask"]

SLACK = Fraction(1, 10**12)
"""Relative; what is not an exact fraction is rounded to twelve digits."""

Loss = Fraction | None


def verify(  # noqa: PLR0913
    query: Question | Mapping[str, Question],
    *,
    schema: Schema | Mapping[str, Kind],
    unit: str | PrivacyUnit | None = None,
    relation: str = "add_remove",
    by: Keys | Filters | None = None,
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
        if isinstance(suppose, bool) or not 1 <= suppose <= 1000:
            raise InvalidQuery(f"suppose: {suppose} units; suppose that one person is 1 to 1000")
        self.ask, self.claimed, self.suppose = ask, ask.price, suppose
        self.scripts = scripts(ask.asked, ask.setting, ask.price)
        tallies = tuple(dict.fromkeys(t for script in self.scripts for t in script.tallies))
        setting = ask.setting
        self.simulation = Simulation(tallies, setting.schema, setting.unit, suppose)
        self.known: dict[int, tuple[Rows, dict[Tally, Exact]]] = {}
        self.worst: Loss = Fraction(0)
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
            claimed=self.claimed,
            loss=self._in_unit(self.worst),
            holds=not overspent and _within(self.worst, self.claimed),
            witness=self.witness,
            unit=self.ask.setting.unit.describe(),
            pairs=count,
            tables=len(self.known),
            scripts=len(self.scripts),
            overspent=overspent,
            suppose=self.suppose,
            complete=complete,
        )

    def _try(self, pair: Pair) -> None:
        one, other = self._exact(pair.one), self._exact(pair.other)
        for script in self.scripts:
            moved, spent = moves(script, one, other)
            loss = spent.in_currency_of(self.claimed)
            if _above(loss, self.worst):
                self.worst = loss
                self.witness = Witness(pair.one, pair.other, tuple(moved))

    def _exact(self, rows: Rows) -> dict[Tally, Exact]:
        if id(rows) not in self.known:  # the rows are kept too, so that no id comes twice
            self.known[id(rows)] = rows, self.simulation.exact(rows)
        return self.known[id(rows)][1]

    def _in_unit(self, loss: Loss) -> float:
        if loss is None:
            return float("inf")
        return float(loss) ** 0.5 if isinstance(self.claimed, GDP) else float(loss)


def _above(loss: Loss, worst: Loss) -> bool:
    if worst is None:
        return False
    return loss is None or loss > worst


def _within(loss: Loss, claimed: Cost) -> bool:
    return loss is not None and loss <= claimed.amounts[0] * (1 + SLACK)
