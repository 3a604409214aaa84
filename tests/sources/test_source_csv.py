"""CSV: one line is one record; no line changes success, the schema or how another is read."""

import gzip
import os
import stat
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery, SourceError
from halfmask.plan import Keys, OnGrid, Tally, col
from halfmask.sources import open_source

COUNT = Tally(((1, 0, 0, 0),))
PAY = Tally(((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)), OnGrid("pay", 0, 100, 0))
GOOD = b"name,pay\nann,10\nbob,20\n"


def answer(path, content, tally=PAY, **options):
    path.write_bytes(content)
    source = open_source(path, **options)
    try:
        return source.schema.names, source.tally(tally)
    finally:
        source.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        (b"cy,abc\n", (1, 0, 0)),
        (b"cy,\n", (1, 0, 0)),
        (b'"cy","30"\n', (1, 1, 30)),
        (b'"c, ""y""",30\n', (1, 1, 30)),
        (b'c"y,30\n', (1, 1, 30)),
        (b"cy,30", (1, 1, 30)),
        (b"cy,30\r\n", (1, 1, 30)),
        (b"cy\n", (0, 0, 0)),
        (b"cy,30,40\n", (0, 0, 0)),
        (b"\n", (0, 0, 0)),
        (b"c\xff\xfe,30\n", (0, 0, 0)),
        (b"c\x00y,30\n", (1, 1, 30)),
        (b'"cy,30\n', (0, 0, 0)),
        (b'cy,"30\n', (0, 0, 0)),
        (b'"cy"x,30\n', (0, 0, 0)),
        (b"x" * 3_000_000 + b",30\n", (0, 0, 0)),
        (b"cy\x1fcy,30\n", (0, 0, 0)),
    ],
)
def test_a_line_moves_the_table_by_itself_alone(path, line, moved):
    for before in (0, 2000):
        filler = b"dee,1\n" * before
        names, (base,) = answer(path, GOOD + filler)
        assert names == ("name", "pay")
        for content in (
            GOOD + filler + line,
            b"name,pay\n" + line.rstrip(b"\n") + b"\n" + GOOD[9:] + filler,
        ):
            names, (found,) = answer(path, content)
            assert names == ("name", "pay")
            assert tuple(a - b for a, b in zip(found, base, strict=True)) == moved


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    line=st.binary(max_size=60),
    place=st.sampled_from([0, 1, 5000]),
    threads=st.sampled_from([1, 2]),
)
def test_any_bytes_in_a_line_are_harmless(tmp_path_factory, line, place, threads):
    """Fuzz: a line of any bytes succeeds, and adds at most as many rows as it has line ends."""
    path = tmp_path_factory.mktemp("fuzz") / "rows.csv"
    rows = [b"ann,10\n"] * 5000
    rows.insert(place, line + b"\n")
    _, ((n, p, s),) = answer(path, b"name,pay\n" + b"".join(rows), threads=threads)
    most = 1 + line.count(b"\n") + line.count(b"\r")
    assert 5000 <= n <= 5000 + most
    assert 5000 <= p <= n
    assert 50_000 <= s <= 50_000 + 100 * most


def test_an_unbalanced_quote_far_from_the_end_takes_no_other_line(path):
    rows = [b"ann,10\n"] * 300_000
    rows.insert(100_000, b'"oops,10\n')
    assert answer(path, b"name,pay\n" + b"".join(rows))[1] == ((300_000, 300_000, 3_000_000),)


@pytest.mark.parametrize("content", [b"", b"\n", b"a,a\n1,2\n", b"a,,b\n1,2,3\n", b"\xff\n1\n"])
def test_a_bad_header_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(SourceError):
        open_source(path)


@pytest.mark.parametrize("content", [b"name,pay\n", b"name,pay", b"name,pay\r\n"])
def test_a_file_without_rows_is_an_empty_table(path, content):
    assert answer(path, content) == (("name", "pay"), ((0, 0, 0),))


def test_byte_order_mark_and_compression(path, tmp_path):
    assert answer(path, b"\xef\xbb\xbf" + GOOD) == (("name", "pay"), ((2, 2, 30),))
    zipped = tmp_path / "rows.csv.gz"
    with gzip.open(zipped, "wb") as file:
        file.write(GOOD)
    assert open_source(zipped).tally(PAY) == ((2, 2, 30),)


def test_names_with_quotes_and_other_scripts(path):
    header = '"a ""b""; DROP",naïve,Naïve,日本\n'.encode()
    path.write_bytes(header + b"1,2,3,4\n")
    source = open_source(path)
    assert source.schema.names == ('a "b"; DROP', "naïve", "Naïve", "日本")
    assert source.tally(Tally(((1, 0, 0, 0),), where=col('a "b"; DROP') == 1)) == ((1,),)
    assert source.tally(Tally(((0, 0, 1, 0),), OnGrid("Naïve", 0, 9, 0))) == ((3,),)


def test_declared_kinds_and_the_digest(path):
    path.write_bytes(b"id,ok,day,note\n01,True,2024-02-29,x\n2,false,2023-02-29,\n")
    kinds = {"id": "integer", "ok": "boolean", "day": "time"}
    source = open_source(path, kinds)
    assert [c.kind for c in source.schema] == ["integer", "boolean", "time", "unread"]
    assert source.digest == sha256(path.read_bytes()).hexdigest()
    grouped = Tally(((1, 0, 0, 0),), None, (Keys("id", [1, 2]), Keys("ok", [True])))
    assert source.tally(grouped) == ((1,), (0,))
    assert source.tally(Tally(COUNT.features, where=col("day") >= "2024-01-01")) == ((1,),)
    assert source.tally(Tally(COUNT.features, where=col("note").is_missing())) == ((1,),)
    with pytest.raises(InvalidQuery, match="did you mean 'note'"):
        open_source(path, {"notes": "text"})


def test_the_snapshot_is_private_and_goes_away(path):
    path.write_bytes(GOOD)
    source = open_source(path)
    folder = source._engine._folder.path
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    path.write_bytes(b"name,pay\n")
    assert source.tally(PAY) == ((2, 2, 30),)
    source.close()
    assert not folder.exists()
    source.close()
