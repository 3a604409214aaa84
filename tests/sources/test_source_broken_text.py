"""Texts in Parquet files whose bytes are no UTF-8: missing, as in every other source."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfmask.plan import Everything, FoundKeys, Keys, OnGrid, Points, Tally, UnitBound, col
from halfmask.privacy import PrivacyUnit
from halfmask.sources import Join, open_source

COUNT = ((1, 0, 0, 0),)
BYTES = [
    b"\xe9ric", b"\xe8ric", b"??ic", b"?ric", b"ric", b"why?", b"\xed\xa0\x80", b"\xc0\x80",
    b"\xf4\x90\x80\x80", b"nul\0?", "é?".encode(), b"\xff", b"?", b"",
]  # fmt: skip


def texts_of(listed):
    """An Arrow column of texts as they came, whether they are UTF-8 or not."""
    return pa.Array.from_buffers(pa.string(), len(listed), pa.array(listed, pa.binary()).buffers())


def parquet_of(folder, files, listed):
    """Files of texts of every kind, with columns that are called like the engine's own."""
    folder.mkdir()
    for i in range(files):
        some = listed[i::files]
        columns = {"u": texts_of(some), "file_row_number": [7] * len(some), "X": some[::-1]}
        columns |= {"x": [2.0 * (-1) ** j for j in range(len(some))], "v": texts_of(some[::-1])}
        pq.write_table(pa.table(columns), folder / f"{i}.parquet", row_group_size=5)
    return folder


@pytest.mark.parametrize("files", [1, 3])
def test_text_of_parquet_that_is_not_utf_8_is_missing(tmp_path, files):
    """Two such identifiers read as one, `??ic`: as units, one person could move twice the bound."""
    folder = parquet_of(tmp_path / "f", files, BYTES * 9)
    table = pq.read_table(folder, use_threads=False)
    bound = UnitBound("u", 3, 2)
    keys = (Keys("v", ["??ic", "?ric", "?", "é?", "", None]),)
    asked = [
        Tally(((1, 0, 0, 0), (0, 0, 1, 0)), OnGrid("x", -2, 2, 0), groups, where, unit)
        for groups in ((), keys)
        for unit in (None, bound)
        for where in (Everything(), col("v") != "why?", col("u") == "??ic")
    ]
    found = FoundKeys("v", Tally(COUNT, unit=bound))
    points = Points((OnGrid("x", -2, 2, 0),), unit="u", rows=3)
    near, far = open_source(table), open_source(folder)
    for tally in asked:
        assert far.tally(tally) == near.tally(tally)
    assert far.found_keys(found) == near.found_keys(found)
    assert sorted(far.points(points)[:, 0]) == sorted(near.points(points)[:, 0])
    one = far.only(["0.parquet"])
    assert one.tally(Tally(COUNT, None, (Keys("u", ["??ic", None]),)))[0] == (
        9 if files == 1 else 3,
    )
    assert far.only([]).tally(asked[0]) == ((0, 0),)


def test_a_file_of_question_marks_alone_is_read_once(tmp_path):
    folder = parquet_of(tmp_path / "f", 1, [b"why?", b"who?", b"ok"])
    source = open_source(folder)
    assert source.reading(["u", "x", "v"]) == source._table
    broken = open_source(parquet_of(tmp_path / "g", 1, [b"why?", b"\xff"]))
    assert broken.reading(["x"]) == broken._table
    assert broken.reading(["u"]) != broken._table


def test_a_join_on_text_that_is_not_utf_8_matches_nothing(tmp_path):
    for name, texts in (("a", [b"\xe9ric", b"??ic", b"ann"]), ("b", [b"\xe8ric", b"??ic", b"bob"])):
        pq.write_table(pa.table({"u": texts_of(texts), name: [1, 1, 1]}), tmp_path / name)
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.rename(path.with_suffix(".parquet"))
    both = Join(*(path.with_suffix(".parquet") for path in paths), "u")
    source = open_source(both, unit=PrivacyUnit("u"))
    assert source.tally(Tally(COUNT)) == ((1,),)
    source.close()


def test_text_that_is_no_json_fails_nowhere(tmp_path):
    """In Parquet one such cell failed each question that read its column, after the charge."""
    cells = texts_of([b"{bad", b"\xff\xfe", b"{}", b""])
    table = pa.table({"x": pa.ExtensionArray.from_storage(pa.json_(), cells), "y": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "rows.parquet")
    assert open_source(tmp_path / "rows.parquet").schema.names == ("y",)
    source = open_source(table)
    assert source.tally(Tally(COUNT, where=col("x") == "{bad")) == ((1,),)
    assert source.tally(Tally(COUNT, where=col("x").is_missing())) == ((1,),)
    held = pa.table({"x": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{bad", "{}"]))})
    relation = duckdb.connect().from_arrow(held)
    assert open_source(relation).tally(Tally(COUNT, where=col("x") == "{bad")) == ((1,),)
