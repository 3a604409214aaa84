"""The door: rows go in, only releases come out."""

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, getpid
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import Any, NoReturn, Self

from halfmask.asking import (
    Question,
    Releases,
    in_words,
    preview_of,
    releases_of,
    setting_of,
    supposed,
    together,
    warn,
)
from halfmask.errors import HalfmaskError, Interrupted, InvalidQuery, shown
from halfmask.imagined import foreseen
from halfmask.noise import Words, secure_words
from halfmask.plan import Filters, Keys, Predicate, Schema
from halfmask.privacy import (
    Cost,
    Ledger,
    PrivacyUnit,
    Purse,
    Relation,
)
from halfmask.progress import showing
from halfmask.queries import Setting, price_of
from halfmask.room import Room, answer
from halfmask.serial import Serial
from halfmask.sources import Join, Source, open_source
from halfmask.spoken import Spoken

__all__ = ["Curator", "open"]

_STOPPED = (
    "Interrupted after the price was charged; the charge stays, since a refund would tell how far "
    "the rows were read. Ask anew, under a new request_id, and it is charged anew"
)


def open(  # noqa: PLR0913
    source: object,
    *,
    table: str | None = None,
    unit: str | None = None,
    rows_per_unit: int = 1,
    groups_per_unit: int | None = None,
    relation: str = "add_remove",
    budget: Any = None,
    ledger: str | PathLike[str] | Ledger | None = None,
    schema: Any = None,
    words: Words | None = None,
    progress: bool = False,
) -> "Curator":
    """Open a table about people, and get the one object that lets private numbers out of it.

    Args:
        source: a path to a .csv, .csv.gz or .parquet file or a folder of Parquet files, a pandas,
            polars or Arrow table, a NumPy array of shape (n,) or (n, d) (columns x0, x1, ...), a
            dict of columns, a DuckDB relation, a `Join` of two of these, a Spark DataFrame, or the
            address of a PostgreSQL database, such as postgresql://user@host/name. A CSV must quote
            as RFC 4180 says: where a writer does not quote line breaks, one person's text becomes
            rows of others; use Parquet then.
        table: the table or view of a database, such as "public.staff"; nothing else has one.
        unit: the column that says whom a row is about; None protects single rows.
        rows_per_unit: how many rows' worth one unit may add; what is beyond is scaled down.
        groups_per_unit: in how many groups of a `by=` one unit may count; None: its rows are
            spread over all of its groups.
        relation: `add_remove` (default) or `replace` (the number of units is public).
        budget: epsilon, or `Pure`, `Approximate`, `ZCDP`, `GDP`.
        ledger: what holds the budget durably, shared by processes: a file, or a schema of a
            PostgreSQL database, as postgresql://user@host/database#schema. None keeps it in memory.
        schema: column names and kinds ("integer", "real", "text", "time", "boolean"), where the
            file does not say them itself; or a `Public` of kind, bounds and keys, for `sql`.
        words: the source of random words, for tests and simulations; None is the secure one.
        progress: whether asks that take more than two seconds draw a bar on standard error, where
            that is a terminal: for you alone, since how fast rows are read may tell about them.

    Raises:
        SourceError, InvalidQuery, LedgerError: with what was wrong, given, and to do.

    >>> import halfmask as hm
    >>> staff = hm.open({"age": [31, 45, 52]}, budget=1)
    >>> staff.remaining
    Pure(epsilon=Fraction(1, 1))

    """
    protected = PrivacyUnit(unit, rows_per_unit, groups_per_unit, Relation.of(relation))
    if isinstance(ledger, Ledger):
        if budget is not None:
            raise InvalidQuery(
                "budget: given beside an open ledger, which has its own; leave it out"
            )
        book = ledger
    elif ledger is not None and not isinstance(ledger, str | PathLike):
        raise InvalidQuery(
            f"ledger: {shown(ledger)} is no file name, address or open ledger; give one"
        )
    else:
        if ledger is None and budget is None:
            raise InvalidQuery(
                "budget: none was given; say budget=1 (epsilon), or ledger='name.ledger' to use "
                "the budget in a file"
            )
        book = Ledger(ledger, budget=budget)
    started = time_ns()
    with showing(progress):
        opened = open_source(source, schema, table=table, unit=protected)
    if unit is not None:
        opened.schema.column(unit)
    origin = opened.origin or _origin(source)
    door = Curator(opened, protected, book, words or secure_words(), origin)
    door._started, door._progress = started, progress
    return door


def _origin(source: object) -> str:
    """Name the table so that a request is never answered from another one: a path, or a moment."""
    if isinstance(source, str | PathLike):
        return str(Path(source).resolve())
    if isinstance(source, Join):
        left, right = _origin(source.left), _origin(source.right)
        return f"{left}, {source.how} join on {source.on!r} with {right}"
    return f"a table in memory, opened {time_ns()} by process {getpid()}"


class Curator(Serial, Spoken):
    """The trusted curator: it holds the rows and lets numbers out by `ask`, `sql` and `series`.

    Privacy: every ask is charged, durably, before a row is read; the sum of all charges never
    exceeds the budget, whatever is asked after seeing whatever answers (privacy filters, see
    halfmask.privacy). In one process this is a convention, not a wall: who can run Python beside
    the rows can read them.
    """

    def __init__(
        self, source: Source, unit: PrivacyUnit, ledger: Ledger, words: Words, origin: str = ""
    ) -> None:
        self._source = source
        self._origin = origin or source.name
        self._opened = self._started = time_ns()
        self._words = words
        self._unit = unit
        self._ledger = ledger
        self._closed = False
        self._progress = False

    @property
    def table(self) -> str:
        """The public name of the table."""
        return self._source.name

    @property
    def schema(self) -> Schema:
        """The public names and kinds of the columns."""
        return self._source.schema

    @property
    def unit(self) -> PrivacyUnit:
        """Whom the promise protects."""
        return self._unit

    @property
    def ledger(self) -> Ledger:
        """The budget, and what was spent of it."""
        return self._ledger

    @property
    def remaining(self) -> Cost:
        """What is left of the budget."""
        return self.ledger.remaining

    def ask(  # noqa: PLR0913
        self,
        query: Question | Mapping[str, Question],
        *,
        by: Keys | Filters | str | None = None,
        where: str | Predicate | None = None,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        shares: Mapping[str, Any] | None = None,
        actor: str | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Spend, then read, then answer.

        Args:
            query: one query, or several by name; several split one price so that their relative
                errors are alike, and those that can be read off the same sums share it.
            by: public group keys, or `Filters` that exclude each other; the answer is then one
                release a group, each at the whole price. Or the name of a column:
                its keys are found in the rows for a delta, and only those that many units share.
            where: a public row filter, such as "age >= 18 and dept in ['ops', 'r&d']".
            epsilon: the price of pure differential privacy (with `delta`: approximate).
            delta: see epsilon.
            rho: the price in zero-concentrated differential privacy; Gaussian noise.
            mu: the price in Gaussian differential privacy; Gaussian noise.
            shares: each named query's part of the price, summing to 1, in place of the split; of
                a column's keys "by", where no count is asked that finds them.
            actor: who asks, for the ledger; None is the login name.
            request_id: a name for this request: asked again under the same name, the same query is
                answered with the same release, free of charge.

        Raises:
            InvalidQuery: what the schema, the unit or the price already shows to be wrong; nothing
                was charged.
            BudgetExhausted: the price is more than what is left; nothing was charged.
            LedgerError: the charge could not be written; no row was read.
            ReleaseFailed: charged, then the engine failed.
            Interrupted: charged, then stopped by Ctrl-C; the table can be asked again. The same
                `request_id` is refused then, unless its answer was stored before the stop.

        """
        if self._closed:
            raise InvalidQuery("ask: the table was closed; open it again. Nothing was charged.")
        price = price_of(epsilon, delta, rho, mu)
        setting = self._setting(by, where)
        asked = together(query, shares, by)
        asked.check(setting)
        asked.rehearse(setting, price)
        warn(price)
        text = in_words(query, setting, shares, self._origin, by)
        receipt = self.ledger.charge(price, query=text, actor=actor, request_id=request_id)
        answered = None
        with suppress(KeyboardInterrupt), showing(self._progress):
            room = Room(self._source, self._words, Purse(price))
            answered = answer(asked, setting, room, self.ledger, receipt)
        if answered is None:  # outside of the handler: no traceback that could show a row
            raise Interrupted(_STOPPED)
        answers, provenance = answered
        releases = releases_of(asked, setting, price, answers, provenance)
        return Releases(releases) if isinstance(query, Mapping) else releases[""]

    def preview(  # noqa: PLR0913
        self,
        query: Question | Mapping[str, Question],
        *,
        rows: int,
        by: Keys | Filters | str | None = None,
        where: str | Predicate | None = None,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        shares: Mapping[str, Any] | None = None,
    ) -> Any:
        """Predict the error of an ask from public facts: reads no row, spends nothing.

        Args:
            query: as for `ask`, and so `by`, `where` and the price.
            rows: how many rows you suppose there are (in each group): your guess, not the table's.
            by: as for `ask`.
            where: as for `ask`.
            epsilon: as for `ask`.
            delta: as for `ask`.
            rho: as for `ask`.
            mu: as for `ask`.
            shares: as for `ask`.

        """
        supposed(rows)
        price = price_of(epsilon, delta, rho, mu)
        setting = self._setting(by, where)
        asked = together(query, shares, by)
        asked.check(setting)
        asked.rehearse(setting, price)
        warn(price, rows)
        previews = {
            name: preview_of(expected, price, how)
            for name, (expected, how) in foreseen(asked, setting, price, rows).items()
        }
        return previews if isinstance(query, Mapping) else previews[""]

    def close(self) -> None:
        """Let go of the table and its snapshot."""
        self._closed = True
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _setting(self, by: Keys | Filters | str | None, where: str | Predicate | None) -> Setting:
        near = getattr(self._source, "near", True)  # a source of someone's own may not say
        return setting_of(self.schema, self.unit, by, where, near)

    def with_ledger(self, ledger: Ledger) -> "Curator":
        """The same table beside another ledger: as if it were opened again with that one."""
        other = Curator(self._source, self._unit, ledger, self._words, self._origin)
        other._opened, other._started = self._opened, self._started
        other._progress = self._progress
        return other

    def __repr__(self) -> str:
        return f"Curator({self.table!r}, {self.unit.describe()!r}, {self.remaining})"

    def __copy__(self) -> "Curator":
        return self.with_ledger(self._ledger)

    def __reduce__(self) -> NoReturn:
        raise HalfmaskError(
            "curator: a copy could spend the same budget twice; open the table there, with the "
            "same ledger file"
        )
