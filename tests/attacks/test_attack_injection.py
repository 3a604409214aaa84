"""Attacks through names and literals: 31 SQL in column names, keys, filters, file names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfmask as hm
from halfmask.plan import where

NAMES = [
    'a"b',
    "a'b",
    '"; DROP TABLE held; --',
    "x) FROM held; --",
    "col\nnew",
    "-- comment",
    "/* c */",
    "\u00e9",
    "e\u0301",
    "{0}",
    "%s",
    "a\\b",
    "?",
    "$1",
    "SELECT",
    "*",
    '""',
    "\x00z",
    "\U0001f600",
    # the aliases of our own queries
    *("r0", "r1", "k0", "v", "u", "g", "n", "f0", "t", "w", "d0", "m0", "c0", "held", "given"),
]
TEXTS = [
    "x' OR 1=1 --",
    "'); DROP TABLE held; --",
    "\x00' OR TRUE --",
    "\\'",
    "''",
    '"',
    "%",
    "_",
    "a\nb",
    "\u202e",
    "E'\\x41'",
    "$$x$$",
    "{0}",
]


def table(form, columns, folder):
    arrow = pa.table({name: pa.array(cells) for name, cells in columns.items()})
    if form == "parquet":
        pq.write_table(arrow, folder / "t.parquet")
        return folder / "t.parquet"
    forms = {"arrow": lambda c: arrow, "dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame}
    return forms[form](columns)


FORMS = ["dict", "pandas", "polars", "arrow", "parquet"]


@pytest.mark.parametrize("form", FORMS)
def test_31_a_column_is_its_name_and_nothing_else(record, form, tmp_path):
    columns = {name: np.array([float(i), 1e6]) for i, name in enumerate(NAMES)}
    with hm.open(table(form, columns, tmp_path), budget=999) as curator:
        assert curator.schema.names == tuple(NAMES)
        for i, name in enumerate(NAMES):
            tapes = [
                record(curator, hm.Count(), where=hm.col(name) <= i, epsilon=1),
                record(curator, hm.Count(), by=hm.Keys(name, [i]), epsilon=1),
                record(curator, hm.Count(), where=where(f"col({name!r}) == {i}"), epsilon=1),
            ]
            assert [tape.calls[0][1] for tape in tapes] == [(1,)] * 3, name
            bins = record(curator, hm.Histogram(name, [i, i + 0.5]), epsilon=1)
            assert bins.calls[0][1] == (1,), name


@pytest.mark.parametrize("form", ["dict", "parquet"])
def test_31_a_unit_column_is_its_name_and_nothing_else(record, form, tmp_path):
    columns = {name: np.array([1, 1, 2]) for name in NAMES}
    opened = table(form, columns, tmp_path)
    for name in NAMES[::2]:
        with hm.open(opened, unit=name, budget=9) as curator:
            assert record(curator, hm.Count(), epsilon=1).calls[0][1] == (2,), name


@pytest.mark.parametrize("form", FORMS)
def test_31_a_text_matches_itself_alone(record, form, tmp_path):
    columns = {"s": [*TEXTS, "other"], "x": [1.0] * (len(TEXTS) + 1)}
    with hm.open(table(form, columns, tmp_path), budget=999) as curator:
        for text in TEXTS:
            tapes = [
                record(curator, hm.Count(), where=hm.col("s") == text, epsilon=1),
                record(curator, hm.Count(), where=hm.col("s").is_in([text, "absent"]), epsilon=1),
                record(curator, hm.Count(), where=f"s == {text!r}", epsilon=1),
                record(curator, hm.Count(), by=hm.Keys("s", [text]), epsilon=1),
            ]
            assert [tape.calls[0][1] for tape in tapes] == [(1,)] * 4, text
        every = record(curator, hm.Count(), by=hm.Keys("s", TEXTS), epsilon=1)
        assert [call[1] for call in every.calls] == [(1,)] * len(TEXTS)
        assert record(curator, hm.Count(), epsilon=1).calls[0][1] == (len(TEXTS) + 1,)
    pasted = f"SELECT count(*) WHERE s = '{TEXTS[0]}'"  # what an emitter that does not quote sends
    assert pasted.endswith("OR 1=1 --'")


@pytest.mark.parametrize(
    "name", ["a'b.csv", "a; DROP.csv", "a\nb.csv", "\u00e9.csv", "--.csv", "a b.csv", "%.csv"]
)
def test_31_a_file_is_its_name_and_nothing_else(record, name, tmp_path):
    (tmp_path / name).write_text("x\n1\n", encoding="utf-8")
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / name.replace(".csv", ".parquet"))
    for path in (tmp_path / name, tmp_path / name.replace(".csv", ".parquet")):
        with hm.open(path, budget=9) as curator:
            assert record(curator, hm.Count(), epsilon=1).calls[0][1] == (1,)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_31_a_star_in_a_file_name_opens_no_other_file(record, ending, tmp_path):
    for name, rows in (("a*", 1), ("a1", 5), ("ab", 7)):
        path = tmp_path / (name + ending)
        if ending == ".csv":
            path.write_text("x\n" + "1\n" * rows, encoding="utf-8")
        else:
            pq.write_table(pa.table({"x": [1.0] * rows}), path)
    try:
        curator = hm.open(tmp_path / f"a*{ending}", budget=9)
    except hm.SourceError:
        return  # refused: no other file was opened
    assert record(curator, hm.Count(), epsilon=1).calls[0][1] == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "1=1; DROP TABLE held",
        "x == (SELECT 1)",
        "x == y or exists(x)",
        "col('x').__class__ == 1",
        "__import__('os').system('true') == 0",
        "x == open('/etc/passwd')",
        "lambda: 1",
        "[x for x in y]",
        "x == f'{y}'",
        "x == b'a'",
        "x := 1",
        "x == 'a' 'b' if 1 else 2",
        "x.y == 1",
        "x[0] == 1",
        "random() < 0.5",
        "x == 1j",
        "x == ...",
    ],
)
def test_31_a_filter_is_a_condition_and_nothing_else(text):
    with hm.open({"x": [1], "y": [1]}, budget=1) as curator:
        with pytest.raises(hm.InvalidQuery):
            curator.ask(hm.Count(), where=text, epsilon=1)
        assert curator.ledger.entries() == []


def test_31_what_an_analyst_writes_does_not_run_in_a_page_or_a_ledger(tmp_path):
    evil = "<script>alert(1)</script>"
    with hm.open({evil: ["a"], "x": [1]}, budget=9, ledger=tmp_path / "l.ledger") as curator:
        grouped = curator.ask(hm.Count(), by=hm.Keys(evil, [evil]), epsilon=1, actor="'); DROP--")
        release = curator.ask(hm.Mean("x", 0, 1), where=hm.col(evil) == evil, epsilon=1)
        assert "<script" not in grouped._repr_html_() + release._repr_html_()
        assert curator.ledger.entries()[0].actor == "'); DROP--"
        curator.ledger.verify()
