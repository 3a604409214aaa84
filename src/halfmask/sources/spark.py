"""Spark DataFrames: what is asked of them runs in Spark, and exact integers come back.

PySpark is spoken to through the frame that is given; it is never imported before there is one. A
frame is a recipe, not rows: Spark computes it anew for each question. So a recipe that may give
other rows each time is refused where Spark knows it (`rand`, `uuid`, `monotonically_increasing_id`,
user functions marked so), and is the owner's to avoid where it does not (`limit` without an order,
a file that is written over): cache or write such a frame first.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from re import fullmatch
from typing import Any, TypeVar

from numpy.typing import NDArray

from halfmask.errors import ReleaseFailed, SourceError
from halfmask.noise import secure_words
from halfmask.plan import Kind, Schema, Statistic
from halfmask.sources.columns import NULL, canonical, declared, kinds_of
from halfmask.sources.far import FAILED, Far
from halfmask.sources.spark_points import whole
from halfmask.sources.sql import SPARK
from halfmask.sources.table import Table

__all__ = ["SparkEngine", "open_spark"]

A = TypeVar("A")

_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.legacy.integralDivide.returnBigint": "true",
    "spark.sql.legacy.interval.enabled": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.variable.substitute": "false",
}
"""All that changes what our own SQL means. The frame's own meaning is fixed before: Spark keeps it
in the recipe. Every other setting (time zone, memory, partitions, readers) stays as in the frame's
session, for the recipe needs it, and our SQL asks for none of them."""

_DAYS = 10**8
"""Dates further from 1970 have no microsecond in 64 bits; they are missing."""

_DATE = (
    f"CASE WHEN ABS(CAST(unix_date({{0}}) AS BIGINT)) <= {_DAYS} THEN CAST(date_from_unix_date("
    f"LEAST(GREATEST(unix_date({{0}}), -{_DAYS}), {_DAYS})) AS TIMESTAMP_NTZ) END"
)
_REAL = "(CAST({0} AS DOUBLE) + CAST('0' AS DOUBLE))"  # negative zero as zero
_TEXT = "make_valid_utf8({0})"

_TYPES: tuple[tuple[str, str, str], ...] = (
    ("boolean", "BOOLEAN", "{0}"),
    ("tinyint|smallint|int|bigint", "BIGINT", "CAST({0} AS BIGINT)"),
    ("float|double", "DOUBLE", _REAL),
    ("decimal.*", "", "{0}"),
    ("string|(var)?char.*", "VARCHAR", _TEXT),
    ("string collate .*", "VARCHAR", _TEXT.format("COLLATE({0}, 'UTF8_BINARY')")),
    ("date", "TIMESTAMP", _DATE),
    ("timestamp", "TIMESTAMP", SPARK.utc),
    ("timestamp_ntz", "TIMESTAMP", "{0}"),
    ("void", NULL, "{0}"),
)
"""Spark's types, what other engines call them (empty: the same), and a cell of them so."""

_LOGGERS = (
    "py4j.clientserver",
    "py4j.java_gateway",
    "pyspark.sql.connect.client.logging",
    "DataFrameQueryContextLogger",
    "SQLQueryContextLogger",
)
"""Those that write down what Spark says of a failure, which may hold rows."""


def open_spark(frame: Any, schema: Schema | Mapping[str, Kind] | None) -> Table:
    """Open a DataFrame of PySpark 4; its types are the schema, and no row is read.

    SourceError if Spark knows that the frame changes from question to question, if it is a stream,
    or if Spark cannot be asked.
    """
    try:
        types = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
        why = _changes(frame)
    except Exception:
        types, why = [], "Spark does not answer; is its session stopped?"
    if why:
        raise SourceError(f"source: {why}")
    cells: dict[str, tuple[str, str]] = {}
    known = []
    for i, (name, spark_type) in enumerate(types):
        engine_type, cell = _typed(spark_type, f"c{i}")
        known.append((name, engine_type))
        cells.setdefault(name, (engine_type, cell))
    public = declared(kinds_of("DataFrame", known), schema)
    physical = {c.name: canonical(c.name, c.kind, *cells[c.name], SPARK) for c in public}
    engine = SparkEngine(frame)
    return Table("DataFrame", public, physical, engine.table, engine)


def _typed(spark_type: str, cell: str) -> tuple[str, str]:
    for pattern, engine_type, template in _TYPES:
        if fullmatch(pattern, spark_type):
            return engine_type or spark_type.upper(), template.format(cell)
    return "", cell


def _changes(frame: Any) -> str:
    """Say why a frame has no fixed rows, as far as Spark knows; empty if it has."""
    if frame.isStreaming:
        return "a stream has no fixed rows; write it to a table, and open that"
    plan = getattr(frame, "_jdf", None)  # Connect keeps plans to itself
    if plan is not None and not plan.queryExecution().withCachedData().deterministic():
        return (
            "Spark computes this DataFrame anew for each question, with other rows each time "
            "(rand, uuid or the like); .cache() it, or write it and open what was written"
        )
    return ""


class SparkEngine:
    """A session of our own beside the frame's, with the frame in it as the view `table`.

    Both share Spark's context, caches and executors. The frame passes from one session to the other
    as a global view, under a name of 128 random bits, which is dropped at once.
    """

    dialect = SPARK
    near = False

    def __init__(self, frame: Any) -> None:
        self.table = "halfmask_" + "".join(f"{word:016x}" for word in secure_words().words(2))
        self._closed = False
        failure = SourceError("source: Spark cannot open the DataFrame; its reason is not shown")
        self._session: Any = self._guarded(failure, lambda: _beside(frame, self.table))

    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]:
        """Return the rows of a query, or raise `error` alone: an engine's words may hold rows."""
        return self._guarded(error, lambda: list(map(_plain, self._session.sql(sql).collect())))

    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]:
        """Return the columns of a query that has no nulls, as arrays; errors as in `rows`."""
        found = self._guarded(error, lambda: self._session.sql(sql).toArrow())
        return {name: found.column(name).to_numpy() for name in found.column_names}

    def cloud(self, sql: str, size: int) -> Far:
        """Return points whose sums are made in Spark, by Python workers that know halfmask."""

        def summed(statistic: Statistic) -> NDArray[Any]:
            return self.guarded(lambda: whole(statistic, self._session.sql(sql), size))

        return Far(self, sql, size, summed)

    def guarded(self, work: Callable[[], A]) -> A:
        """Do work in Spark; it fails as ReleaseFailed alone, and Ctrl-C ends its jobs."""
        return self._guarded(ReleaseFailed(FAILED), work)

    def _guarded(self, error: Exception, work: Callable[[], A]) -> A:
        interrupted = False
        try:
            with _silence():
                return self._tagged(work)
        except KeyboardInterrupt:
            interrupted = True
        except Exception:  # noqa: S110
            pass
        raise KeyboardInterrupt if interrupted else error  # outside: no __context__, no cause

    def _tagged(self, work: Callable[[], A]) -> A:
        session = getattr(self, "_session", None)
        if session is None:
            return work()
        session.addTag(self.table)
        try:
            return work()
        except KeyboardInterrupt:
            with suppress(Exception):
                session.interruptTag(self.table)
            raise
        finally:
            with suppress(Exception):
                session.removeTag(self.table)

    def close(self) -> None:
        """Drop the view; the frame and its session are their owner's."""
        if not self._closed:
            self._closed = True
            with suppress(Exception), _silence():  # Spark may be stopped already
                self._session.catalog.dropTempView(self.table)


def _beside(frame: Any, name: str) -> Any:
    """Return a session like the frame's, under our settings, that has the frame as a view."""
    theirs = frame.sparkSession
    ours = theirs.newSession()
    for key, value in theirs.conf.getAll.items():
        if ours.conf.get(key, None) != value and ours.conf.isModifiable(key):
            ours.conf.set(key, value)
    for key, value in _SETTINGS.items():
        ours.conf.set(key, value)
    # By position: names may be equal, differ in case alone, or hold dots and quotes.
    frame.toDF(*(f"c{i}" for i in range(len(frame.columns)))).createGlobalTempView(name)
    try:
        place = ours.conf.get("spark.sql.globalTempDatabase", "global_temp")
        ours.table(f"{place}.{name}").createTempView(name)
    finally:
        theirs.catalog.dropGlobalTempView(name)
    return ours


def _plain(row: Any) -> tuple[Any, ...]:
    return tuple(int(cell) if isinstance(cell, Decimal) else cell for cell in row)


_silent = threading.local()


class _Silent(logging.Filter):
    """Drops what is logged while this thread is asking."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_silent, "now", False)


_filter = _Silent()


@contextmanager
def _silence() -> Iterator[None]:
    from pyspark.logger import PySparkLogger  # its loggers must be of its own class

    for name in _LOGGERS:
        own = name.endswith("ContextLogger")
        (PySparkLogger.getLogger if own else logging.getLogger)(name).addFilter(_filter)
    _silent.now = True
    try:
        yield
    finally:
        _silent.now = False
