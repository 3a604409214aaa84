"""Where a series is declared: the part of a curator that begins running totals, or goes on."""

from abc import ABC, abstractmethod
from typing import Any

from halfmask.arriving import Arriving
from halfmask.asking import refuse_found
from halfmask.errors import InvalidQuery
from halfmask.noise import Words
from halfmask.plan import Filters, Keys, Predicate, periods_of
from halfmask.privacy import Ledger
from halfmask.queries import Count, CountDistinct, Running, Setting, Sum, price_of
from halfmask.series import Series
from halfmask.sources import Growing, JoinedTable, Source

__all__ = ["Serial"]


class Serial(ABC):
    """The part of a curator that declares series."""

    _source: Source
    _words: Words
    _closed: bool
    _origin: str
    _opened: int
    _started: int
    _progress: bool

    @property
    @abstractmethod
    def ledger(self) -> Ledger:
        """The budget, and what was spent of it."""

    @abstractmethod
    def _setting(self, by: Keys | Filters | None, where: str | Predicate | None) -> Setting: ...

    def series(  # noqa: PLR0913
        self,
        name: str,
        query: Count | CountDistinct | Sum,
        *,
        periods: int,
        time: str | None = None,
        start: Any = None,
        every: Any = None,
        by: Keys | Filters | None = None,
        where: str | Predicate | None = None,
        table: str | None = None,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        actor: str | None = None,
    ) -> Series:
        """Declare running totals that are released again whenever a period closes, at one price.

        Spends and reads nothing: the first `release` of the series spends. Declared again under the
        same name, beside the same ledger and with the newest table, it goes on where it was.

        Args:
            name: the name of the series in the ledger.
            query: `Count()`, `CountDistinct()` or `Sum(...)`.
            periods: how many there will be, at most.
            time: the column of times, or of numbers, that says in which period a row is; then also
                `start` and `every`. None, of a folder of Parquet files: a period is what arrived
                since the last closing, and only new files are read. A unit is then held to its
                bound in each period on its own, for as many times the noise as there are periods
                (at a rho or mu the root of that).
            start: where the first period begins: a date, a datetime, an ISO text, or a number.
            every: "month", "quarter", "year", "week", "day", "hour", a timedelta, or a number.
            by: public groups; the price is that of one, where a row is the unit. Units must have
                `groups_per_unit` as many as there are groups: each is held to its bound in each.
            where: as for `ask`, and so the price, which is that of all releases together.
            table: a name for the one growing table of the series, where it is opened from memory:
                by it you say that a newer frame is the same table. A file is known by its path.
            epsilon: see `ask`.
            delta: see `ask`.
            rho: see `ask`.
            mu: see `ask`.
            actor: see `ask`.

        Raises:
            InvalidQuery: what the schema, the unit or the price already shows to be wrong.

        >>> import halfmask as hm
        >>> log = hm.open({"at": [3, 14, 15, 92, 65]}, budget=1)
        >>> digits = log.series("digits", hm.Count(), time="at", start=0, every=10, periods=10,
        ...     epsilon=1)
        >>> len(digits.release("20 to 30").value), digits.closed[-1], str(log.remaining)
        (3, '20 to 30', 'epsilon 0')

        """
        if self._closed:
            raise InvalidQuery("series: the table was closed; open it again")
        refuse_found(by)
        if isinstance(self._source, JoinedTable):
            raise InvalidQuery(
                "series: rows of a join change when rows are added to its tables, and a series is "
                "paid for rows that stay; declare it of one table"
            )
        when = periods_of(periods, time, start, every)
        arriving = self._arriving() if when.apart else None
        return Series(
            name,
            Running(query, time or "", when),
            self._setting(by, where),
            price_of(epsilon, delta, rho, mu),
            self._source,
            self.ledger,
            self._words,
            self._origin if table is None else f"the table {table!r}",
            self._opened,
            lambda: self._closed,
            actor,
            self._progress,
            arriving,
            self._started,
        )

    def _arriving(self) -> Arriving:
        if not isinstance(self._source, Growing):
            raise InvalidQuery(
                "time: without one, periods are of the files that arrive, and this table is no "
                "folder or pattern of Parquet files; give time=, start= and every="
            )
        return Arriving(self._source, self._opened)
