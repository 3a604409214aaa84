"""Spark's own: settings, names, frames that change, failures that tell no row, Ctrl-C."""

import logging
import os
import re
import signal
import threading
import time
import traceback
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tables import KINDS, arrow_of

from halfmask.errors import ReleaseFailed, SourceError
from halfmask.plan import Bins, FoundKeys, Keys, OnGrid, Points, Schema, Tally, UnitBound, col
from halfmask.sources import open_source

COUNT = ((1, 0, 0, 0),)
ALL = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))


@pytest.fixture(scope="module")
def frame(rows, spark):
    return spark.createDataFrame(arrow_of(rows)).cache()


@pytest.fixture(params=["spark", "connect"])
def session(request):
    """A session of Spark itself, and of Spark Connect."""
    return request.getfixturevalue(request.param)


SETTINGS = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.ansi.relationPrecedence": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.legacy.integralDivide.returnBigint": "false",
    "spark.sql.legacy.interval.enabled": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.optimizer.inSetConversionThreshold": "0",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
LAX = {name: "false" for name in SETTINGS if ".ansi." in name}


@pytest.mark.filterwarnings("ignore:The SQL config")
@pytest.mark.parametrize("lax", [{}, LAX], ids=["strict", "lax"])
def test_no_setting_of_a_session_changes_an_integer(lax, frame, rows, twin, spark, session):
    """Theirs are left as they were, and so are their views."""
    theirs, settings = session.newSession(), SETTINGS | lax
    for name, value in settings.items():
        theirs.conf.set(name, value)
    frame.createOrReplaceGlobalTempView("handed_over")
    source = open_source(theirs.table("global_temp.handed_over"), {"s": "unread"})
    tallies = [
        Tally(ALL, OnGrid("s", -5, 5, 1), (Keys("g", ["a", "o'brien", "back\\slash", "${x}"]),)),
        Tally(ALL, OnGrid("x", -10, 10, -3), (Keys("b", [True, None]),),
              unit=UnitBound("u", 2**70 + 12345)),
        Tally(COUNT, None, (Bins("x", [-10, 0, 0.5, 10]),),
              where=(col("t") < datetime(2024, 2, 29, 12)) | (col("s") == datetime(2024, 2, 29))),
    ]  # fmt: skip
    for tally in tallies:
        assert source.tally(tally) == twin(tally, rows, KINDS)
    timed = Tally(COUNT, None, (Bins("t", [datetime(year, 1, 1) for year in (1, 2024, 2025)]),))
    assert source.tally(timed) == open_source(arrow_of(rows), {"s": "unread"}).tally(timed)
    source.close()
    spark.catalog.dropGlobalTempView("handed_over")
    assert {name: theirs.conf.get(name) for name in settings} == settings
    assert not [t for s in (theirs, spark) for t in s.catalog.listTables() if "half" in t.name]
    assert not spark.catalog.listTables("global_temp")


def test_units_of_every_discrete_kind_pick_the_same_groups_as_in_memory(frame, rows):
    """So do their texts agree: a hash of them picks."""
    near = open_source(arrow_of(rows), {"s": "unread"})
    source = open_source(frame, {"s": "unread"})
    for unit in ("t", "b", "i", "g", "s"):
        for groups in ((Bins("x", [-1, 0, 1, 2, 3]),), (Keys("n", [1, 2, 3, 4]),)):
            tally = Tally(COUNT, None, groups, unit=UnitBound(unit, 1, groups=1))
            assert source.tally(tally) == near.tally(tally)
    source.close()


def test_any_name_and_any_key_is_data(spark):
    """Dots, quotes, words of SQL, variables and names that differ in case alone."""
    names = ["a.b", "A.b", "`q`", "${x}", "select", "c1", "", "é'\"\\\n", "r0"]
    keys = ["", "${spark.app.name}", "\\", "\\'", "'; DROP VIEW x; --", "a\0b", "é\n", "%"]
    arrays = [[*keys, None] for _ in names]
    frame = spark.createDataFrame(list(zip(*arrays, strict=True)), ["x"] * len(names))
    source = open_source(frame.toDF(*names))
    assert source.schema.names == tuple(names)
    for name in names:
        assert source.tally(Tally(COUNT, None, (Keys(name, [*keys, None]),))) == ((1,),) * 9
    assert source.tally(Tally(COUNT, where=col("").is_in(keys[1:4]))) == ((3,),)
    found = source.found_keys(FoundKeys("r0", Tally(COUNT)))
    assert [key for key, _ in found] == [*sorted(keys), None]
    source.close()
    with pytest.raises(SourceError, match="two columns of DataFrame are named 'a'"):
        open_source(frame.toDF("a", "a", *names[2:]))


TYPES = """
SELECT CAST(1.5 AS FLOAT) AS f, CAST('0.1' AS DECIMAL(30, 20)) AS d,
  CAST('9007199254740993' AS DECIMAL(38, 0)) AS w, CAST(-128 AS TINYINT) AS i,
  DATE '2024-02-29' AS day, TIMESTAMP_LTZ '2024-02-29 12:00:00 UTC' AS at,
  TIMESTAMP_NTZ '2024-02-29 12:00:00' AS local, date_from_unix_date(2147483647) AS never,
  timestamp_micros(9223372036854775807) AS last, NULL AS nothing,
  COLLATE('Abc', 'UTF8_LCASE') AS folded, CAST(X'61FF62' AS STRING) AS broken,
  ARRAY(1) AS list, X'00' AS bytes, INTERVAL '1' DAY AS span, MAP(1, 2) AS map
"""


def test_types_alone_make_the_schema_and_odd_cells_raise_nothing(session):
    source = open_source(session.sql(TYPES))
    times = dict.fromkeys(("day", "at", "local", "never", "last"), "time")
    assert source.schema == Schema.of({
        "f": "real", "d": "real", "w": "integer", "i": "integer", **times,
        "nothing": "unread", "folded": "text", "broken": "text",
    })  # fmt: skip
    noon, text = datetime(2024, 2, 29, 12), FoundKeys("broken", Tally(COUNT))
    tests = [
        col("f") == 1.5, col("d") == 0.1, col("w") == 2**53 + 1, col("i") == -128,
        col("day") == datetime(2024, 2, 29), col("at") == noon, col("local") == noon,
        col("never").is_missing(), col("last") > noon, col("nothing").is_missing(),
        col("folded") == "Abc", col("folded") != "abc",
    ]  # fmt: skip
    where = tests[0]
    for test in tests[1:]:
        where = where & test
    assert source.tally(Tally(COUNT, where=where)) == ((1,),)
    assert source.found_keys(text) == ((None, (1,)),)
    source.close()


def test_declared_kinds_are_read_as_elsewhere(spark):
    cells = [2.0**63, -(2.0**63), 1.5, 7.0, float("nan"), float("inf"), None]
    frame = spark.createDataFrame([(x, repr(x)) for x in cells], "x double, s string")
    near = open_source(pa.table({"x": cells, "s": [repr(x) for x in cells]}), {"x": "integer"})
    source = open_source(frame, {"x": "integer", "s": "integer"})
    tally = Tally(COUNT, None, (Keys("x", [7, 1, 2**63, 2**63 - 1, -(2**63), None]),))
    assert source.tally(tally) == near.tally(tally) == ((1,), (0,), (0,), (0,), (1,), (5,))
    assert source.tally(Tally(COUNT, where=col("s").is_missing())) == ((7,),)
    source.close()
    with pytest.raises(SourceError, match="cannot be read as time"):
        open_source(frame, {"x": "time"})


def test_decimals_that_are_declared_integers_are_read_to_the_last_digit(spark):
    frame = spark.createDataFrame(WIDE, "w decimal(38,2)")
    near = open_source(frame.toArrow(), {"w": "integer"})
    source = open_source(frame, {"w": "integer"})
    found = source.found_keys(FoundKeys("w", Tally(COUNT)))
    assert found == near.found_keys(FoundKeys("w", Tally(COUNT)))
    assert dict(found) == {2**53: (1,), 2**53 + 1: (1,), 2**63 - 1: (1,), None: (3,)}
    source.close()


WIDE = [(Decimal(x),) for x in (2**53, 2**53 + 1, 2**63 - 1, 2**63, "1.50", "-0.01")]


def test_a_long_cell_that_is_no_number_takes_no_time(spark):
    """By backtracking it took the square of its length: six minutes, and of a megabyte hours."""
    frame = spark.range(1).selectExpr("CONCAT(REPEAT('1', 200000 + INT(id)), 'x') AS s")
    source = open_source(frame, {"s": "real"})
    start = time.monotonic()
    assert source.tally(Tally(ALL, OnGrid("s", 0, 10, 0))) == ((1, 0, 0),)
    assert time.monotonic() - start < 40
    source.close()


def test_frames_that_change_are_refused_where_spark_knows(session):
    rows = session.range(5)
    for change in ("rand()", "uuid()", "monotonically_increasing_id()"):
        with pytest.raises(SourceError, match=r"other rows each time .*\.cache\(\) it"):
            open_source(rows.selectExpr("id", f"{change} AS r").filter("r IS NOT NULL"))
    kept = open_source(rows.selectExpr("id", "rand(7) AS r").cache())
    tally = Tally(ALL, OnGrid("r", 0, 2**30, -30))
    assert kept.tally(tally) == kept.tally(tally)
    kept.close()
    with pytest.raises(SourceError, match="a stream has no fixed rows"):
        open_source(session.readStream.format("rate").load())
    with pytest.raises(SourceError, match="no column of DataFrame holds"):
        open_source(rows.selectExpr("X'00' AS bytes"))
    assert not [t for t in session.catalog.listTables() if "half" in t.name]
    assert not [f for f in session.catalog.listFunctions() if "half" in f.name]


def test_a_connect_that_cannot_clone_sessions_is_refused(connect, monkeypatch):
    monkeypatch.delattr(type(connect), "cloneSession")
    with pytest.raises(SourceError, match=r"cannot clone a session of Spark Connect; install 4\.3"):
        open_source(connect.range(3))


def test_what_its_owner_cached_stays_cached(session, capsys):
    """To drop a view by the catalog's own call uncaches what it is of."""
    frame = session.range(5).selectExpr("id", "id * 2 AS x").cache()
    source = open_source(frame)
    for work in (lambda: source.tally(Tally(COUNT)), source.close):
        frame.selectExpr("x").explain()
        assert "InMemoryTableScan" in capsys.readouterr().out
        work()
    frame.selectExpr("x").explain()
    assert "InMemoryTableScan" in capsys.readouterr().out


def test_a_failing_frame_tells_no_row(session, caplog, capsys):
    """Audit class 21: a canary in the rows is in no error, log, traceback or output of Python's."""
    frame = session.createDataFrame([("canary-4711",)] * 9, "g string").selectExpr("INT(g) AS x")
    source = open_source(frame)
    asked = [
        lambda: source.tally(Tally(ALL, OnGrid("x", 0, 10, 0))),
        lambda: source.points(Points((OnGrid("x", 0, 10, 0),))),
        lambda: source._engine.guarded(
            source._engine._session.sql(f"FROM {source._table}").collect
        ),
    ]
    for ask in asked:
        with caplog.at_level(logging.DEBUG), pytest.raises(ReleaseFailed) as caught:
            ask()
        assert caught.value.__context__ is caught.value.__cause__ is None
        frames = traceback.walk_tb(caught.value.__traceback__.tb_next)
        told = "".join(traceback.StackSummary.extract(frames, capture_locals=True).format())
        for text in (told, caplog.text, *capsys.readouterr(), repr(source), str(caught.value)):
            assert "4711" not in text
    source.close()
    source.close()


def test_points_are_a_frame_for_sums_inside_spark(session):
    from halfmask.sources.sql import emit_points

    data = np.arange(12.0).reshape(6, 2)
    source = open_source(session.createDataFrame(data.tolist(), "x0 double, x1 double"))
    points = Points((OnGrid("x0", -8, 8, -1), OnGrid("x1", -8, 8, -1)))
    frame = source._engine._session.sql(emit_points(points, source._cells(points), source._table))
    assert frame.dtypes == [("v0", "bigint"), ("v1", "bigint")]
    assert sorted(map(tuple, frame.collect())) == sorted(map(tuple, source.points(points).tolist()))
    source.close()


def test_python_about_spark_runs(spark, tmp_path, capsys):
    """The page's own, on a file of its columns."""
    page = (Path(__file__).parents[2] / "docs" / "databases.md").read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Spark" in b)
    table = {"person": [1, 2, 3, 3], "minutes": [5.0, 70.0, 20.0, 8.0], "city": ["Bern"] * 4}
    pq.write_table(pa.table(table), tmp_path / "visits.parquet")
    exec(block.replace('"visits.parquet"', repr(str(tmp_path / "visits.parquet"))), {})
    assert "Genf" in capsys.readouterr().out


def slow(batches):
    import time

    time.sleep(60)
    yield from batches


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_an_interrupt_ends_the_work_in_spark(session, spark):
    source = open_source(session.range(2).mapInArrow(slow, "id long"))
    context = spark.sparkContext
    asked, ended = threading.Event(), threading.Event()

    def stop():
        while not context.statusTracker().getActiveJobsIds() and not asked.wait(0.1):
            pass
        if not asked.is_set():  # else it would end the tests
            os.kill(os.getpid(), signal.SIGINT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            source.tally(Tally(COUNT))
    finally:
        asked.set()
        stopper.join()
    for _ in range(200):
        if not context.statusTracker().getActiveJobsIds():
            break
        ended.wait(0.05)
    assert not context.statusTracker().getActiveJobsIds()
    source.close()
