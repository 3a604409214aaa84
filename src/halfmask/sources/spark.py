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
from halfmask.sources.spark_beside import beside, is_remote, let_go, may_change
from halfmask.sources.spark_points import whole
from halfmask.sources.sql import SPARK
from halfmask.sources.table import Table

__all__ = ["SparkEngine", "open_spark"]

A = TypeVar("A")

_DAYS = 10**8
"""Dates further from 1970 have no microsecond in 64 bits; they are missing."""

_DATE = (
    f"CASE WHEN ABS(CAST(unix_date({{0}}) AS BIGINT)) <= {_DAYS} THEN CAST(date_from_unix_date("
    f"LEAST(GREATEST(unix_date({{0}}), -{_DAYS}), {_DAYS})) AS TIMESTAMP_NTZ) END"
)
_REAL = "(CAST({0} AS DOUBLE) + CAST('0' AS DOUBLE))"  # negative zero as zero
_TEXT = "try_validate_utf8({0})"  # made valid, two broken ones could be one unit

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

_STREAM = "a stream has no fixed rows; write it to a table, and open that"
_OLD = "this PySpark cannot clone a session of Spark Connect; install 4.3 or newer"
_CHANGES = (
    "Spark computes this DataFrame anew for each question, with other rows each time "
    "(rand, uuid or the like); .cache() it, or write it and open what was written"
)

_LOGGERS = (
    "py4j.clientserver",
    "py4j.java_gateway",
    "pyspark.sql.connect.logging",
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
        old = is_remote(frame) and not hasattr(frame.sparkSession, "cloneSession")
        why = _STREAM if frame.isStreaming else _OLD if old else ""
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
    if engine.may_change:
        engine.close()
        raise SourceError(f"source: {_CHANGES}")
    return Table("DataFrame", public, physical, engine.table, engine)


def _typed(spark_type: str, cell: str) -> tuple[str, str]:
    for pattern, engine_type, template in _TYPES:
        if fullmatch(pattern, spark_type):
            return engine_type or spark_type.upper(), template.format(cell)
    return "", cell


class SparkEngine:
    """A session of our own beside the frame's, with the frame in it as the view `table`.

    Both share Spark's context, caches and executors. The frame passes from one session to the other
    as a view, under a name of 128 random bits, which is dropped at once.

    may_change: whether Spark knows that its rows may be others each time.
    """

    dialect = SPARK
    near = False

    def __init__(self, frame: Any) -> None:
        self.table = "halfmask_" + "".join(f"{word:016x}" for word in secure_words().words(2))
        self._closed = False
        failure = SourceError("source: Spark cannot open the DataFrame; its reason is not shown")
        self._session: Any = self._guarded(failure, lambda: beside(frame, self.table))
        self.may_change = self._guarded(
            failure, lambda: may_change(frame, self._session, self.table)
        )

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
                let_go(self._session, self.table)


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
        own = not name.startswith("py4j")
        (PySparkLogger.getLogger if own else logging.getLogger)(name).addFilter(_filter)
    _silent.now = True
    try:
        yield
    finally:
        _silent.now = False
