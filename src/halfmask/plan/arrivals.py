"""Public periods by arrival: what came since the last closing is the next period."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.periods import MOST, Periods
from halfmask.plan.predicates import Everything, Predicate

__all__ = ["Arrivals", "periods_of"]


@dataclass(frozen=True)
class Arrivals:
    """So many periods, each of the rows that came after the last one was closed.

    apart: a period's rows are read when it closes, and at no other time.

    >>> Arrivals(3).labels
    ('arrival 1', 'arrival 2', 'arrival 3')
    """

    number: int
    apart = True

    def __post_init__(self) -> None:
        if type(self.number) is not int or not 1 <= self.number <= MOST:
            raise InvalidQuery(
                f"periods: {shown(self.number)} given; give a whole number from 1 to {MOST}"
            )

    @property
    def edges(self) -> range:
        """How many periods there are up to each edge: no moments, since all are over at once."""
        return range(self.number + 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """The periods in words."""
        return tuple(f"arrival {i}" for i in range(1, self.number + 1))

    def over(self, now: datetime, *, everywhere: bool) -> int:
        """Return how many periods are known to be over: none, before files are looked for."""
        return 0

    def until(self, column: str, end: int) -> Predicate:
        """Return the filter of the rows at hand that are of the first `end` periods: none."""
        return Everything()

    def find(self, period: object) -> int:
        """Return how many periods there are up to this one: its label, or its number."""
        if isinstance(period, str) and period in self.labels:
            return self.labels.index(period) + 1
        if type(period) is not int or not 1 <= period <= self.number:
            raise InvalidQuery(
                f"period: {shown(period)} is none; give a number from 1 to {self.number}"
            )
        return period


def periods_of(number: int, time: str | None, start: Any, every: Any) -> Periods | Arrivals:
    """Return public periods of a column of times or numbers, or by arrival where none is given."""
    if (time, start, every) == (None, None, None):
        return Arrivals(number)
    if time is None:
        raise InvalidQuery("time: none is given beside start= or every=; name the column")
    return Periods(start, every, number)
