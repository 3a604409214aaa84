"""Public periods: edges of months, days or steps of a number, one period after the other."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.naming import col
from halfmask.plan.predicates import Predicate
from halfmask.plan.reading import Scalar, instant, scalar

__all__ = ["Periods"]

MOST = 2048

_AHEAD, _BEHIND = timedelta(hours=14), timedelta(hours=12)
"""So far some clocks are ahead of UTC, and others behind it."""

_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_STEPS = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
}


@dataclass(frozen=True)
class Periods:
    """So many public periods from `start` on, each up to the start of the next, which is its end.

    start: a date, a datetime, an ISO text, or a number. A moment with a zone counts by the calendar
      and clock of that zone and is compared in UTC; one without is compared as it stands.
    every: "year", "quarter", "month", "week", "day", "hour", or a timedelta; of a number a number.

    >>> Periods("2026-01-01", "month", 3).labels
    ('2026-01', '2026-02', '2026-03')
    >>> Periods(0, 500, 2).edges
    (0, 500, 1000)
    """

    start: Any
    every: Any
    number: int
    apart = False

    def __post_init__(self) -> None:
        if type(self.number) is not int or not 1 <= self.number <= MOST:
            raise InvalidQuery(
                f"periods: {shown(self.number)} given; give a whole number from 1 to {MOST}"
            )
        edges = self.edges
        if not all(left < right for left, right in pairwise(edges)):  # type: ignore[operator]
            raise InvalidQuery(f"every: {shown(self.every)} does not move on; give a step above 0")

    @property
    def timed(self) -> bool:
        """Whether the periods are of time, not of a number."""
        return isinstance(self.start, str | date)

    @cached_property
    def edges(self) -> tuple[Scalar, ...]:
        """The starts of all periods, and the end of the last one."""
        try:
            return tuple(scalar(self._edge(i), "start") for i in range(self.number + 1))
        except (TypeError, OverflowError):
            raise InvalidQuery(
                f"every: {shown(self.every)} does not go with start {shown(self.start)}; give "
                "'month', 'day' or a timedelta beside a date, a number beside a number"
            ) from None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The periods in words: 2026-01 for a month, 2026-01-31 for a day, 0 to 500 for numbers."""
        return tuple(map(self._label, range(self.number)))

    def over(self, now: datetime, *, everywhere: bool) -> int:
        """Return how many periods are over at a moment of UTC: on every clock, or on some.

        From a start with a zone on, all clocks agree; which clock others mean, nobody says. None of
        numbers is known to be over.

        >>> months = Periods("2026-01-01", "month", 3)
        >>> months.over(datetime(2026, 2, 1), everywhere=True)
        0
        """
        apart = -_BEHIND if everywhere else _AHEAD
        if self.timed and self._first.tzinfo is not None:
            apart = timedelta()
        ends = self.edges[1:] if self.timed else ()
        return sum(isinstance(end, datetime) and end <= now + apart for end in ends)

    def until(self, column: str, end: int) -> Predicate:
        """Return the filter of the rows of the first `end` periods."""
        return (col(column) >= self.edges[0]) & (col(column) < self.edges[end])

    def find(self, period: object) -> int:
        """Return how many periods there are up to this one: a label, or a moment that is in it."""
        if isinstance(period, str) and period in self.labels:
            return self.labels.index(period) + 1
        known = f"the first is {self.labels[0]}, the last {self.labels[-1]}"
        try:
            if isinstance(period, bool):
                raise TypeError
            moment: Any = scalar(period, "period")
            moment = instant(moment, "period") if self.timed else moment
            place = sum(int(edge <= moment) for edge in self.edges)
        except (InvalidQuery, TypeError):
            raise InvalidQuery(f"period: {shown(period)} is none; {known}") from None
        if not 1 <= place <= self.number:
            raise InvalidQuery(f"period: {shown(period)} is in none; {known}")
        return place

    @cached_property
    def _first(self) -> Any:
        """The start, as a moment of its own clock or as a number."""
        start = self.start
        if isinstance(start, str):
            try:
                start = datetime.fromisoformat(start)
            except ValueError:
                instant(start, "start")  # which refuses it in plain words
        if isinstance(start, date) and not isinstance(start, datetime):
            return datetime(start.year, start.month, start.day)
        return start if isinstance(start, datetime) else scalar(start, "start")

    def _edge(self, i: int) -> Any:
        first, every = self._first, self.every
        if not isinstance(first, datetime):
            if isinstance(every, bool | str):
                raise TypeError
            return first + i * every
        if isinstance(every, str) and every in _MONTHS:
            return _months_on(first, i * _MONTHS[every])
        step = _STEPS[every] if isinstance(every, str) and every in _STEPS else every
        if not isinstance(step, timedelta):
            raise TypeError
        if step % timedelta(days=1) and first.tzinfo is not None:  # an hour is one on every clock
            return first.astimezone(UTC) + i * step
        return first + i * step

    def _label(self, i: int) -> str:
        moment = self._edge(i)
        if not isinstance(moment, datetime):
            return f"{moment} to {self._edge(i + 1)}"
        midnight = moment == moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight and moment.day == 1 and self.every == "month":
            return f"{moment:%Y-%m}"
        if midnight and (moment.month, moment.day) == (1, 1) and self.every == "year":
            return f"{moment:%Y}"
        return f"{moment:%Y-%m-%d}" if midnight else moment.isoformat()


def _months_on(first: datetime, months: int) -> datetime:
    if first.day > 28:
        raise InvalidQuery(
            f"start: not every month has a day {first.day}; start on day 28 or before"
        )
    years, month = divmod(first.month - 1 + months, 12)
    try:
        return first.replace(year=first.year + years, month=month + 1)
    except ValueError:
        raise InvalidQuery("periods: they pass the year 9999; give fewer") from None
