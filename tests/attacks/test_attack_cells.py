"""Attacks through single cells: 7 exceptions and schemas that depend on them, 22 text of CSV."""

import csv
import os
import signal
import subprocess
import sys
import warnings
from datetime import date

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfmask as hm


def outcome(open_table):
    try:
        curator = open_table()
    except Exception as error:
        return type(error).__name__, str(error)
    with curator:
        seen = [tuple(curator.schema)]
        for options in (
            {"query": hm.Count(), "where": "x is None"},
            {"query": hm.Count(), "where": "x > 1"},
            {"query": hm.Count(), "where": "x == 'a'"},
            {"query": hm.Count(), "where": "x > date('2000-01-01')"},
            {"query": hm.Count(), "by": hm.Keys("x", ["a", None])},
            {"query": hm.Count(), "by": hm.Keys("x", [1, None])},
            {"query": hm.Mean("x", 0, 1)},
        ):
            try:
                curator.ask(**options, epsilon=1)
                seen.append("answered")
            except hm.HalfmaskError as error:
                seen.append((type(error).__name__, str(error)))
        return seen


FAR = {"s": 2**52, "ms": 2**62, "us": 2**62, "ns": 2**62}


@pytest.mark.parametrize("unit", FAR)
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
@pytest.mark.parametrize("form", ["arrow", "pandas", "polars"])
def test_07_no_time_in_coarse_units_changes_what_succeeds(unit, zone, form):
    def opened(number):
        column = pa.array([number, None], pa.int64()).cast(pa.timestamp(unit, zone))
        if form == "pandas":
            given = pd.DataFrame({"x": pd.Series(column, dtype=pd.ArrowDtype(column.type))})
        else:
            table = pa.table({"x": column})
            given = table if form == "arrow" else pl.from_arrow(table)
        return lambda: hm.open(given, budget=99)

    usual = outcome(opened(0))
    for number in (FAR[unit], -FAR[unit]):
        assert outcome(opened(number)) == usual


def test_07_a_time_of_parquet_that_the_engine_cannot_say_fails_without_words(tmp_path):
    """The one cell known to fail; columns that nobody asks for are not read."""
    column = pa.array([2**62, None], pa.int64()).cast(pa.timestamp("ms"))
    pq.write_table(pa.table({"x": column, "y": [1, 2]}), tmp_path / "t.parquet")
    with hm.open(tmp_path / "t.parquet", budget=9) as curator:
        with pytest.raises(hm.ReleaseFailed) as caught:
            curator.ask(hm.Count(), where="x > date('2000-01-01')", epsilon=1)
        assert caught.value.__context__ is None
        assert curator.remaining == hm.Pure(8)
        curator.ask(hm.Sum("y", 0, 9), epsilon=1)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_07_no_text_in_another_encoding_changes_what_succeeds(form, tmp_path):
    def opened(first):
        sizes = np.array([0, len(first), len(first) + 1], "i4")
        buffers = [None, pa.py_buffer(sizes.tobytes()), pa.py_buffer(first + b"a")]
        table = pa.table({"x": pa.Array.from_buffers(pa.string(), 2, buffers)})
        if form == "arrow":
            return lambda: hm.open(table, budget=99)
        pq.write_table(table, tmp_path / "t.parquet")
        return lambda: hm.open(tmp_path / "t.parquet", budget=99)

    assert outcome(opened(b"\xff\xfe")) == outcome(opened(b"ab"))


def test_07_no_huge_unsigned_integer_changes_what_succeeds():
    def opened(cell):
        return lambda: hm.open(
            duckdb.connect().sql(f"SELECT CAST({cell} AS UHUGEINT) AS x"), budget=99
        )

    assert outcome(opened(2**128 - 1)) == outcome(opened(1))


def test_07_a_missing_time_of_pandas_changes_nothing():
    def opened(cell):
        return lambda: hm.open({"x": [date(2020, 1, 1), cell]}, schema={"x": "time"}, budget=99)

    assert outcome(opened(pd.NaT)) == outcome(opened(None))
    assert outcome(opened(np.datetime64("NaT"))) == outcome(opened(None))


@pytest.mark.parametrize("kind", ["unread", "integer", "real"])
def test_07_no_cell_takes_for_ever(kind):
    code = (
        "import halfmask as hm; from decimal import Decimal\n"
        f"hm.open({{'x': [Decimal('1e9999999')]}}, schema={{'x': {kind!r}}}, budget=1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


@pytest.mark.parametrize("form", ["arrow", "polars", "parquet"])
def test_07_a_declared_column_of_nulls_alone_is_as_declared(form, tmp_path):
    """Writers type a column of nulls 'null', which depends on rows; what is declared must not."""

    def opened(cells):
        table = pa.table({"x": cells, "y": [1, 2]})
        pq.write_table(table, tmp_path / "t.parquet")
        given = {"arrow": table, "polars": pl.from_arrow(table), "parquet": tmp_path / "t.parquet"}
        return lambda: hm.open(given[form], schema={"x": "text"}, budget=99)

    assert outcome(opened([None, None])) == outcome(opened([None, "a"]))


def test_07_a_category_without_labels_is_text_like_others():
    def opened(cells):
        return lambda: hm.open(pd.DataFrame({"x": pd.Categorical(cells)}), budget=99)

    assert outcome(opened([None, None])) == outcome(opened([None, "a"]))


BREAKING = """
import duckdb
import halfmask as hm
other = hm.open({"x": [1]}, budget=9)
broken = duckdb.connect().sql(f"SELECT CAST({-(2**127)} AS HUGEINT) AS x").to_arrow_table()
try:  # 39 digits in a decimal of 38: the engine calls it fatal
    hm.open(broken, budget=9).ask(hm.Mean("x", 0, 1), epsilon=1)
except hm.HalfmaskError:
    pass
other.ask(hm.Count(), epsilon=1)
hm.open({"x": [1]}, budget=9).ask(hm.Count(), epsilon=1)
"""


def test_07_a_table_that_breaks_the_engine_breaks_no_other():
    subprocess.run([sys.executable, "-c", BREAKING], check=True, capture_output=True)


@pytest.mark.parametrize("cell", [np.longdouble("1e4000"), np.complex128(1 + 2j)])
def test_07_no_cell_makes_a_warning(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if isinstance(cell, np.longdouble):
            hm.open({"x": np.array([cell, 1])}, budget=1)
        else:
            hm.open({"x": [cell, 1]}, budget=1)


def test_22_a_line_that_does_not_read_does_not_show_in_an_exact_count(tmp_path):
    """Under `replace` the number of rows is public, so no content may change it."""
    exact = []
    for line in (b"2,b", b'2,"b', b"", b"2", b"2,b,c", b"\xff,b", b'"2"b,c', b"2" * 3_000_000):
        (tmp_path / "t.csv").write_bytes(b"id,x\n1,a\n" + line + b"\n3,c\n")
        with hm.open(tmp_path / "t.csv", relation="replace", budget=9) as curator:
            exact.append({curator.ask(hm.Count(), epsilon="1e-3").value for _ in range(9)})
    assert exact == [{3}] * len(exact)


def test_22_one_persons_text_does_not_become_rows_of_other_people(tmp_path):
    """A standard CSV writer quotes a line break; here each line is a record of its own."""
    evil = 'x\n\r"' + "".join(f"{i},forged,1\n" for i in range(100, 200))
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "note", "x"], [1, "a", 1], [2, evil, 1], [3, "c", 1]])
    with hm.open(tmp_path / "t.csv", unit="id", budget=99) as curator:
        assert curator.ask(hm.CountDistinct(), epsilon=20).value < 10


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import halfmask as hm
table = {"x": np.zeros(3_000_000), "u": np.arange(3_000_000) % 10**6}
curator = hm.open(table, unit="u", budget=999)
def kick():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=kick).start()
try:
    for asked in range(999):
        curator.ask(hm.Mean("x", 0, 1), epsilon=1)
except KeyboardInterrupt:
    assert curator.ledger.spent.epsilon in (asked, asked + 1)
    print("interrupted")
"""


def test_07_ctrl_c_while_rows_are_read_is_ctrl_c():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted\n"


KILLED = """
import sys, time
import halfmask as hm
curator = hm.open(sys.argv[1], budget=9)
curator.ask(hm.Count(), epsilon=1)
print("open", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of whole files")
def test_34_rows_of_a_killed_process_are_swept_and_those_of_a_living_one_stay(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1815\n", encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (temporary / f"halfmask-{os.getuid()}-link").symlink_to(tmp_path)
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def started(seconds):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, tmp_path / "t.csv", seconds],
            env=environment, stdout=subprocess.PIPE,
        )  # fmt: skip
        process.stdout.readline()
        return process

    def ended(process):
        process.wait()
        process.stdout.close()

    def left():
        return len(list(temporary.glob("halfmask-*/rows.parquet")))

    living, killed = started("60"), started("60")
    assert left() == 2
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    assert left() == 2
    ended(started("0"))
    assert left() == 1
    assert (tmp_path / "t.csv").exists()
    living.kill()
    ended(living)
