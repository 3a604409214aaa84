"""A session of our own beside that of a DataFrame: classic, or of Spark Connect."""

import warnings
from typing import Any

__all__ = ["beside", "is_remote", "let_go", "may_change"]

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


def beside(frame: Any, name: str) -> Any:
    """Return a session like the frame's, under our settings, that has the frame as a view."""
    theirs = frame.sparkSession
    # By position: names may be equal, differ in case alone, or hold dots and quotes.
    named = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
    ours = _cloned(theirs, named, name) if is_remote(frame) else _new(theirs, named, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Connect tells which settings are old
        for key, value in _SETTINGS.items():
            ours.conf.set(key, value)
    return ours


def _new(theirs: Any, named: Any, name: str) -> Any:
    """Make a session in the same Spark; the frame passes as a global view, for a moment."""
    ours = theirs.newSession()
    for key, value in theirs.conf.getAll.items():
        if ours.conf.get(key, None) != value and ours.conf.isModifiable(key):
            ours.conf.set(key, value)
    named.createGlobalTempView(name)
    place = ours.conf.get("spark.sql.globalTempDatabase", "global_temp")
    try:
        ours.table(f"{place}.{name}").createTempView(name)
    finally:
        _dropped(theirs, f"{place}.{name}")
    return ours


def _cloned(theirs: Any, named: Any, name: str) -> Any:
    """Have the server copy the session, with its settings, its files and the frame as a view."""
    named.createTempView(name)
    try:
        ours = theirs.cloneSession()
        _ = ours.table(name).schema  # which is when the server makes the copy
        return ours
    finally:
        _dropped(theirs, name)


def _dropped(session: Any, view: str) -> None:
    """Drop a view; the catalog's own call would uncache the frame that it is of, too."""
    session.sql(f"DROP VIEW {view}").collect()


def is_remote(frame: Any) -> bool:
    """Whether a frame, or a session, is of Spark Connect."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


def may_change(frame: Any, ours: Any, name: str) -> bool:
    """Whether Spark knows that the frame may have other rows each time it is computed.

    Connect keeps plans to itself; but a function over the view is, as Spark describes it, as
    deterministic as the plan. What is cached inside of the recipe alone is not seen there.
    """
    if not is_remote(frame):
        return not frame._jdf.queryExecution().withCachedData().deterministic()
    body = f"RETURNS TABLE (n BIGINT) RETURN SELECT COUNT(*) FROM {name}"
    ours.sql(f"CREATE TEMPORARY FUNCTION {name}_f() {body}").collect()
    lines = [row[0] for row in ours.sql(f"DESCRIBE FUNCTION EXTENDED {name}_f").collect()]
    ours.sql(f"DROP TEMPORARY FUNCTION {name}_f").collect()
    told = [line.split()[1] for line in lines if line.startswith("Deterministic:")]
    return told != ["true"] and not frame.is_cached


def let_go(ours: Any, name: str) -> None:
    """Drop the view; on Connect, the session too: classic ones end with their Spark."""
    _dropped(ours, name)
    if is_remote(ours):
        ours.client.release_session()  # and not stop, which would end a server on this machine
        ours.client.close()
