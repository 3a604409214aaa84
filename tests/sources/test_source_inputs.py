"""What can be opened, what is refused from public facts, and rows that never raise."""

import logging
import traceback
from datetime import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery, ReleaseFailed, SourceError
from halfmask.plan import Bins, Keys, OnGrid, Schema, Tally, UnitBound, col
from halfmask.sources import open_source

COUNT = ((1, 0, 0, 0),)
ALL = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))


def sums(source, column, lower=-100, upper=100, schema=None):
    return open_source(source, schema).tally(Tally(ALL, OnGrid(column, lower, upper, 0)))[0]


def test_nan_hidden_from_a_file_s_minimum_and_maximum_is_missing(tmp_path):
    """A writer leaves NaN out of the statistics, from which the engine would fold our tests."""
    table = pa.table({"x": [6.0, 7.0, float("nan"), 8.0]})
    pq.write_table(table, tmp_path / "rows.parquet")
    relation = duckdb.connect().sql(f"SELECT * FROM '{tmp_path / 'rows.parquet'}'")
    for source in (tmp_path / "rows.parquet", relation, table):
        assert sums(source, "x") == (4, 3, 21)
        opened = open_source(source)
        assert opened.tally(Tally(COUNT, where=col("x") >= 5)) == ((3,),)
        assert opened.tally(Tally(COUNT, where=~(col("x") >= 5))) == ((1,),)
        assert opened.tally(Tally(COUNT, None, (Bins("x", [5, 10, np.inf]),))) == ((3,), (0,))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([1.5, np.nan, np.inf]), (3, 2, 101)),
        (np.array([[1, 2], [3, 4]]), (2, 2, 4)),
        (np.array([[1.0, 2.0], [3.0, 4.0]], order="F")[::-1], (2, 2, 4)),
        (np.array([True, False, True]), (3, 3, 2)),
        (np.array([1.5, 2.5], "f2"), (2, 2, 3)),
        (np.array([1.5, 2.5], ">f8"), (2, 2, 3)),
        (np.array([2**63], "u8"), (1, 1, 100)),
        (np.array([], "f8"), (0, 0, 0)),
        (np.zeros((0, 3)), (0, 0, 0)),
        (np.longdouble([1.5, 2.5]), (2, 2, 3)),
    ],
)
def test_arrays(array, expected):
    assert sums(array, "x0") == expected


def test_a_structured_array_has_its_fields():
    array = np.array([(1, 2.5), (3, -1.0)], dtype=[("a", "i4"), ("b", "f8")])
    assert open_source(array).schema == Schema.of({"a": "integer", "b": "real"})
    assert sums(array, "b") == (2, 2, 1)


def test_objects_are_text_unless_declared():
    cells = np.array(
        ["7", 8, None, 9.9, Decimal("1.5"), 10**400, object(), b"3", True], dtype=object
    )
    frame = pd.DataFrame({"x": cells})
    for source in (frame, {"x": cells}):
        assert open_source(source).schema.column("x").kind == "text"
        with pytest.raises(InvalidQuery):
            sums(source, "x")
        assert sums(source, "x", schema={"x": "real"}) == (9, 6, 7 + 8 + 9 + 1 + 100 + 1)
        assert sums(source, "x", schema={"x": "integer"}) == (9, 3, 7 + 8 + 1)
    texts = open_source(frame).tally(Tally(COUNT, None, (Keys("x", ["7", None]),)))
    assert texts == ((1,), (8,))


class Hostile:
    """An object that raises, whatever is asked of it."""

    def __float__(self):
        raise RuntimeError("secret")

    def __eq__(self, other):
        raise RuntimeError("secret")

    __hash__ = None


def test_hostile_cells_are_missing():
    cells = np.empty(3, dtype=object)
    cells[:] = [Hostile(), "\ud800", float("nan")]
    for kind in ("real", "integer", "text", "boolean", "time", "unread"):
        found = open_source(pd.DataFrame({"x": cells}), {"x": kind})
        assert found.tally(Tally(COUNT, where=col("x").is_missing())) == ((3,),)


def test_categories_take_the_kind_of_their_labels():
    labels = pd.Series(["b", "a", None, "b"], dtype="category")
    numbers = pd.Series([3, 1, None, 3], dtype="category")
    frame = pd.DataFrame({"g": labels, "x": numbers})
    assert open_source(frame).tally(Tally(COUNT, None, (Keys("g", ["b", None]),))) == ((2,), (1,))
    assert sums(frame, "x") == (4, 3, 7)
    assert sums(
        pd.DataFrame({"x": pd.Categorical([None], categories=[])}), "x", schema={"x": "real"}
    ) == (1, 0, 0)


def test_times_are_instants_to_the_microsecond():
    noon = pd.Timestamp("2024-01-01 12:00", tz="Europe/Paris")
    frames = [
        pd.DataFrame({"t": [noon, None]}),
        pl.DataFrame({"t": [noon.to_pydatetime(), None]}),
        pa.table({"t": pa.array([noon.to_pydatetime(), None], pa.timestamp("ns", "Europe/Paris"))}),
        {"t": np.array(["2024-01-01T11", "NaT"], "datetime64[h]")},
    ]
    for frame in frames:
        source = open_source(frame)
        for literal in ("2024-01-01T11:00", noon.to_pydatetime(), datetime(2024, 1, 1, 11)):
            assert source.tally(Tally(COUNT, where=col("t") == literal)) == ((1,),)


def test_wide_integers_and_decimals_from_a_relation():
    relation = duckdb.connect().sql(
        "SELECT * FROM (VALUES"
        " (170141183460469231731687303715884105727::HUGEINT, 0.1::DECIMAL(30, 20)),"
        " (-5, -7.25), (NULL, NULL)) t(big, small)"
    )
    assert sums(relation, "big") == (3, 2, 95)
    assert sums(relation, "small") == (3, 2, -8)
    assert open_source(relation).tally(Tally(COUNT, None, (Keys("big", [-5, None]),))) == (
        (1,),
        (1,),
    )


def test_real_keys_and_units_have_no_nan_and_one_zero():
    x = np.array([0.0, -0.0, np.nan, -np.nan, 1.0, 2.0**60])
    for source in map(open_source, ({"x": x}, pa.table({"x": x}))):
        grouped = Tally(COUNT, None, (Keys("x", [0, 1, None]),))
        assert source.tally(grouped) == ((2,), (1,), (2,))
        assert source.tally(Tally(COUNT, unit=UnitBound("x", 1))) == ((3,),)


@pytest.mark.parametrize(
    ("kind", "cells", "found"),
    [
        (pa.timestamp("s"), [0, 10**10, 2**52], 1),
        (pa.timestamp("ms", "Europe/Paris"), [0, 10**12, 2**62], 1),
        (pa.timestamp("us", "UTC"), [0, 10**15, 2**62], 2),
        (pa.date32(), [0, 20_000, 2**31 - 2], 1),
        (pa.date64(), [0, 20_000 * 86_400_000, 2**62], 1),
    ],
    ids=str,
)
def test_times_of_arrow_by_hand_and_by_pandas(kind, cells, found):
    """After 2000: those that microseconds can say."""
    ints = pa.array([*cells, None], pa.int32() if kind == pa.date32() else pa.int64())
    column = ints.cast(kind)
    after = Tally(COUNT, where=col("t") > datetime(2000, 1, 1))
    frame = pd.DataFrame({"t": pd.Series(column, dtype=pd.ArrowDtype(kind))})
    for table in (pa.table({"t": column}), frame):
        source = open_source(table)
        assert source.schema.column("t").kind == "time"
        assert source.tally(after) == ((found,),)


def test_arrow_types_that_the_engine_does_not_take():
    halves = pa.array([np.float16(1.5), None], pa.float16())
    wide = pa.array([Decimal("7.25"), None], pa.decimal256(50, 2))
    labels = pa.array(["7", None]).dictionary_encode()
    table = pa.table({"h": halves, "w": wide, "l": labels, "list": [[1], []], "n": pa.nulls(2)})
    source = open_source(table)
    assert source.schema == Schema.of({"h": "real", "w": "real", "l": "text", "n": "unread"})
    assert sums(table, "h") == (2, 1, 1)
    assert sums(table, "w") == (2, 1, 7)
    assert sums(table, "l", schema={"l": "integer"}) == (2, 1, 7)
    assert sums(table, "n") == (2, 0, 0)


def test_text_of_arrow_that_is_not_utf_8_is_missing():
    sizes = np.array([0, 2, 3], "i4")
    buffers = [None, pa.py_buffer(sizes.tobytes()), pa.py_buffer(b"\xff\xfea")]
    table = pa.table({"x": pa.Array.from_buffers(pa.string(), 2, buffers)})
    keys = Tally(COUNT, None, (Keys("x", ["a", None]),))
    assert open_source(table).tally(keys) == ((1,), (1,))
    twice = pa.chunked_array([table["x"].chunk(0), pa.array(["a", None])])
    assert open_source(pa.table({"x": twice})).tally(keys) == ((2,), (2,))


def test_subarrays_are_left_out_and_a_file_s_own_columns_win_over_its_folder(tmp_path):
    array = np.zeros(2, dtype=[("a", "f8"), ("b", "f8", (3,)), ("c", "O", (2,))])
    assert open_source(array).schema.names == ("a",)
    (tmp_path / "x=secret").mkdir()
    pq.write_table(pa.table({"x": ["own"], "y": [1]}), tmp_path / "x=secret" / "0.parquet")
    source = open_source(tmp_path)
    assert source.schema.names == ("x", "y")
    assert source.tally(Tally(COUNT, None, (Keys("x", ["own", "secret"]),))) == ((1,), (0,))


def test_columns_of_other_types_are_left_out():
    table = pa.table({"a": [1], "b": [[1, 2]], "c": [b"x"]})
    assert open_source(table).schema.names == ("a",)
    assert open_source(pl.DataFrame({"a": [1], "b": [[1, 2]]})).schema.names == ("a",)


def test_a_folder_and_a_pattern_of_files(tmp_path):
    for i in range(3):
        pq.write_table(pa.table({"x": [float(i)]}), tmp_path / f"{i}.parquet")
    for source in (tmp_path, tmp_path / "*.parquet", str(tmp_path / "[0-2].parquet")):
        assert sums(source, "x") == (3, 3, 3)


def refused_sources(folder):
    (folder / "rows.txt").write_text("a\n1\n")
    (folder / "broken.parquet").write_bytes(b"PAR1 no file PAR1")
    twice = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(twice, folder / "twice.parquet")
    return [
        folder / "none.csv",
        folder / "rows.txt",
        folder / "broken.parquet",
        folder / "twice.parquet",
        folder / "*.nothing",
        twice,
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        duckdb.connect().sql("SELECT 1 AS a, 2 AS a"),
        {"a": np.zeros(2), "b": np.zeros(3)},
        {"a": 5},
        {},
        np.zeros((2, 2, 2)),
        np.array([b"x"]),
        pl.LazyFrame({"a": [1]}),
        42,
        None,
    ]


@pytest.mark.parametrize("which", range(16))
def test_refusals_come_from_public_facts(which, tmp_path):
    with pytest.raises(SourceError) as caught:
        open_source(refused_sources(tmp_path)[which])
    assert caught.value.__context__ is None


def test_declared_kinds_that_no_type_can_take_are_refused():
    with pytest.raises(SourceError, match="cannot be read as time"):
        open_source(np.zeros(3), {"x0": "time"})
    with pytest.raises(SourceError, match="kind 'float'"):
        open_source(np.zeros(3), {"x0": "float"})
    with pytest.raises(InvalidQuery, match="did you mean 'x0'"):
        open_source(np.zeros(3), {"x00": "real"})


def test_an_engine_failure_tells_no_row(tmp_path, caplog, capfd):
    """Audit class 21: a canary in the rows appears in no error, log or traceback."""
    canary = "canary-4711"
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"g": [canary] * 50_000, "x": [4711.25] * 50_000}), path)
    source = open_source(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with caplog.at_level(logging.DEBUG), pytest.raises(ReleaseFailed) as caught:
        source.tally(Tally(ALL, OnGrid("x", 0, 10, 0), (Keys("g", ["a"]),)))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    frames = traceback.StackSummary.extract(
        traceback.walk_tb(caught.value.__traceback__.tb_next), capture_locals=True
    )
    told = "".join(frames.format()) + str(caught.value)
    for text in (told, caplog.text, *capfd.readouterr(), repr(source), str(source)):
        assert canary not in text
        assert "4711" not in text


numbers = st.floats().map(str) | st.integers().map(str)
written = st.none() | st.text(max_size=12) | numbers | st.datetimes().map(str)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cells=st.lists(written, min_size=1, max_size=8))
def test_fuzzed_text_never_raises_and_reads_as_in_python(cells, twin):
    """Whatever text a column holds, each reading of it works, and equals the exact twin's."""
    kinds = {"s": "unread"}
    rows = [{"s": cell} for cell in cells]
    source = open_source({"s": cells})
    valid = [c for c in cells if c is not None]
    keys = list(dict.fromkeys([*valid, "7", None]))
    tallies = [
        Tally(ALL, OnGrid("s", -5, 5, -4)),
        Tally(COUNT, None, (Keys("s", keys),)),
        Tally(COUNT, None, (Keys("s", [True, False, None]),)),
        Tally(COUNT, None, (Bins("s", [-np.inf, 0, 1e300, np.inf]),)),
        Tally(COUNT, where=col("s") < datetime(2000, 1, 1)),
        Tally(COUNT, unit=UnitBound("s", 1, once=True)),
    ]
    for tally in tallies:
        assert source.tally(tally) == twin(tally, rows, kinds)
    source.close()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3, unique=True),
       keys=st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True))  # fmt: skip
def test_names_and_keys_cannot_carry_sql(names, keys, tmp_path_factory):
    """Audit class 31: any name and any key is data: in memory and in a file."""
    try:
        [name.encode() for name in names + keys]
    except UnicodeEncodeError:
        return
    frame = {name: np.array([*keys, None], dtype=object) for name in names}
    path = tmp_path_factory.mktemp("names") / "rows.parquet"
    pq.write_table(pa.table({name: pa.array([*keys, None], pa.string()) for name in names}), path)
    for source in map(open_source, (frame, path)):
        assert source.schema.names == tuple(names)
        for name in names:
            grouped = Tally(COUNT, None, (Keys(name, [*keys, None]),))
            assert source.tally(grouped) == ((1,),) * (len(keys) + 1)
            assert source.tally(Tally(COUNT, where=col(name) == keys[0])) == ((1,),)
        source.close()
