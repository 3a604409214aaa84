"""Nasty rows, every kind of source of them, and what may be asked of them: for the laws."""

import csv
import random
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from halfmask.plan import Bins, Keys, OnGrid, col
from halfmask.sources import open_source

KINDS = {
    "u": "text",
    "n": "integer",
    "g": "text",
    "x": "real",
    "i": "integer",
    "b": "boolean",
    "t": "time",
    "s": "unread",
}
INF = float("inf")
CELLS = {
    "u": [
        "ann",
        "bob",
        "böb",
        "bo\u0308b",
        "",
        None,
        "o'brien",
        "a|b",
        "a",
        "\\",
        "user.of.15.byte",
        "user.of.16.bytes",
        "日本語日本",
        "ann@example.org",
        "robert@example.org",
    ],
    "n": [1, 2, 3, 4, None, -7, 2**62],
    "g": [
        "a",
        "A",
        "\u00e9",
        "e\u0301",
        "",
        None,
        " ",
        "a ",
        "\u200b",
        "日本",
        "🙂",
        "nan",
        "NULL",
        "o'brien",
        'x"y',
        '"',
        "back\\slash",
        "comma,",
        "tab\t",
        "; DROP TABLE held; --",
        "nul\0l",
    ],
    "x": [
        float("nan"),
        INF,
        -INF,
        -0.0,
        0.0,
        None,
        1e308,
        -1e308,
        5e-324,
        -5e-324,
        2.0**-1022,
        0.1,
        0.5,
        1.5,
        2.5,
        -0.5,
        9.999999999999998,
        10.0,
        10.000000000000002,
        -10.0,
        2.0**53 + 1,
        2.0**63,
        -(2.0**63),
        1e19,
        123456789.123456789,
        0.49999999999999994,
    ],
    "i": [None, 0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, 2**62, 42],
    "b": [None, True, False],
    "t": [
        None,
        datetime(1970, 1, 1),
        datetime(1900, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        datetime(2026, 3, 29, 2, 30),
        datetime(1, 1, 1),
        datetime(2024, 2, 29, 12, 0, 0, 1),
    ],
    "s": [
        None,
        "1",
        "1.5",
        "abc",
        "NaN",
        "inf",
        "-inf",
        "+Infinity",
        "1e400",
        "-1e400",
        "1e-400",
        " 7 ",
        "0x10",
        "١٢",
        "1_000",
        "1,5",
        "+3",
        ".5",
        "5.",
        ".",
        "1e5",
        "--1",
        "+-1",
        "\x01",
        "1 2",
        "\t8",
        "\v8",
        "true",
        "False",
        "TRUE",
        "t",
        "2024-02-29",
        "2023-02-29",
        "2024-02-29T12:00",
        "2024-02-29 12:00:00.5",
        "5e-324",
        "1e",
        "e5",
        "9" * 400,
        "-0",
        "infinite",
        "1e+5",
        "\u00a07",
        "1900-02-29",
        "2000-02-29\t",
        "0000-01-01",
        " true\t",
        "0." + "0" * 400 + "1e401",
        "-0e99999999999",
    ],
}


def nasty_rows(count=600, seed=7):
    rng = random.Random(seed)
    rows = [{name: rng.choice(cells) for name, cells in CELLS.items()} for _ in range(count)]
    for row in rows:
        if rng.random() < 0.5:
            row["x"] = rng.gauss(0, 6)
    return rows


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in KINDS}


def arrow_of(rows):
    types = {
        "text": pa.string(),
        "unread": pa.string(),
        "integer": pa.int64(),
        "real": pa.float64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("us"),
    }
    return pa.table(
        {name: pa.array(cells, types[KINDS[name]]) for name, cells in columns_of(rows).items()}
    )


def numpy_of(rows):
    fillers = {
        "integer": (0, "int64"),
        "boolean": (False, "bool"),
        "time": ("NaT", "datetime64[us]"),
    }
    arrays = {}
    for name, cells in columns_of(rows).items():
        if KINDS[name] == "real":
            arrays[name] = np.array([np.nan if cell is None else cell for cell in cells])
        elif KINDS[name] in fillers:
            filler, dtype = fillers[KINDS[name]]
            data = np.array([filler if cell is None else cell for cell in cells], dtype)
            arrays[name] = np.ma.array(data, mask=[cell is None for cell in cells])
        else:
            arrays[name] = np.array(cells, dtype=object)
    return arrays


def pandas_of(rows):
    dtypes = {"integer": "Int64", "boolean": "boolean", "real": "float64", "time": "datetime64[us]",
              "text": object, "unread": "str"}  # fmt: skip
    return pd.DataFrame(
        {
            name: pd.Series(cells, dtype=dtypes[KINDS[name]])
            for name, cells in columns_of(rows).items()
        }
    )


def csv_of(rows, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(KINDS)
        writer.writerows(row.values() for row in rows)
    return path


def sources_of(rows, folder, threads=None):
    """Every kind of source of the same rows, by name."""
    arrow, unread = arrow_of(rows), {"s": "unread"}
    pq.write_table(arrow, folder / "arrow.parquet", row_group_size=97)
    polars = pl.from_arrow(arrow)
    polars.write_parquet(folder / "polars.parquet")
    connection = duckdb.connect()
    connection.register("arrow", arrow)
    connection.execute(f"COPY arrow TO '{folder / 'duck.parquet'}' (FORMAT parquet)")
    given = {
        "arrow": arrow,
        "arrow file": folder / "arrow.parquet",
        "polars": polars,
        "polars file": folder / "polars.parquet",
        "relation": connection.sql("SELECT * FROM arrow"),
        "duckdb file": str(folder / "duck.parquet"),
        "pandas": pandas_of(rows),
        "numpy": numpy_of(rows),
    }
    opened = {name: open_source(x, unread, threads=threads) for name, x in given.items()}
    opened["lists"] = open_source(columns_of(rows), KINDS, threads=threads)
    return opened


def without_nul(rows):
    """What a server can hold whose texts have no NUL: rows with one are left out."""
    return [row for row in rows if not any("\0" in c for c in row.values() if isinstance(c, str))]


def in_csv(rows):
    """A CSV cannot tell an empty text from a missing one: both are missing."""
    return [{name: None if cell == "" else cell for name, cell in row.items()} for row in rows]


@st.composite
def grids(draw):
    column = draw(st.sampled_from(["x", "i", "b", "s"]))
    width = draw(st.sampled_from([2, 2**10, 2**30, 2**53]))
    lower = draw(st.integers(-width, width - 1))
    upper = draw(st.integers(lower + 1, width))
    origin = draw(st.sampled_from([0, lower, upper, (lower + upper) // 2]))
    return OnGrid(column, lower, upper, draw(st.sampled_from([-60, -20, -3, 0, 1, 7, 60])), origin)


conditions = st.deferred(
    lambda: st.one_of(
        comparisons,
        st.sampled_from([col(name).is_missing() for name in KINDS]),
        conditions.map(lambda p: ~p),
        st.tuples(conditions, conditions).map(lambda p: p[0] & p[1]),
        st.tuples(conditions, conditions).map(lambda p: p[0] | p[1]),
    )
)
LITERALS = {
    "x": [0, 0.5, -0.0, 1e308, -3],
    "i": [0, 0.5, -0.5, 2**62, -(2**63), 1e19, 42.0, 2**70],
    "s": [5, 1.5, "abc", "", True, datetime(2024, 2, 29), 0.0],
    "g": ["a", "\u00e9", "e\u0301", "", 'x"y', "b", "o'brien", "back\\slash", "nul\0l", "a\0"],
    "t": ["1970-01-01", datetime(2024, 2, 29, 12)],
    "n": [2, 3],
}
ORDERS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@st.composite
def compared(draw):
    name = draw(st.sampled_from(list(LITERALS)))
    literal = draw(st.sampled_from(LITERALS[name]))
    if literal is True:
        return col(name) == True  # noqa: E712
    if draw(st.booleans()):
        return col(name).is_in(draw(st.lists(st.sampled_from(LITERALS[name]), min_size=1)))
    return getattr(col(name), draw(st.sampled_from(ORDERS)))(literal)


comparisons = st.one_of(compared(), st.sampled_from([col("b") == True, col("b") != False]))  # noqa: E712
KEYS = {
    "g": CELLS["g"] + ["zzz"],
    "n": CELLS["n"] + [99, 2**64],
    "b": [True, False, None],
    "x": [0, 10, -10, None],
    "s": [None, "1", "abc", " 7 ", "inf", "zzz"],
}


@st.composite
def groupings(draw):
    if draw(st.booleans()):
        column = draw(st.sampled_from(["x", "i", "s"]))
        finite = st.lists(st.sampled_from([-10.0, -0.5, -0.0, 5e-324, 0.5, 1.5, 10.0, 1e19, 1e308]),
                          min_size=2, unique=True)  # fmt: skip
        edges = sorted(draw(finite))
        return Bins(column, [-INF] * draw(st.booleans()) + edges + [INF] * draw(st.booleans()))
    column = draw(st.sampled_from([*KEYS, "whole", "truth"]))
    if column == "whole":
        return Keys("s", draw(st.sampled_from([[1, 7, 5, None], [100000], [0, -1]])))
    if column == "truth":
        return Keys("s", [True, None, False])
    return Keys(column, draw(st.lists(st.sampled_from(KEYS[column]), min_size=1, unique=True)))
