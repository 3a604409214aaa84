"""CSV: one record is one row; none changes success, the schema or how another is read."""

import csv
import gzip
import io
import os
import re
import stat
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery, ReleaseFailed, SourceError
from halfmask.plan import Keys, OnGrid, Tally, col
from halfmask.sources import csvlines, open_source

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
        (b"cy,30\r\r\n", (1, 1, 30)),
        (b"c\rdee,1\ry,30\n", (1, 0, 0)),
        (b'"c\rdee,1\ry",30\n', (1, 1, 30)),
        (b"cy\n", (1, 0, 0)),
        (b"cy,30,40\n", (1, 0, 0)),
        (b"\n", (1, 0, 0)),
        (b"c\xff\xfe,30\n", (1, 0, 0)),
        (b"c\x00y,30\n", (1, 1, 30)),
        (b'"cy,30\n', (1, 0, 0)),
        (b'cy,"30\n', (1, 0, 0)),
        (b'"cy"x,30\n', (1, 0, 0)),
        (b"x" * 3_000_000 + b",30\n", (1, 0, 0)),
        (b"cy\x1fcy,30\n", (1, 0, 0)),
        (b"cy\x1ecy,30\n", (1, 0, 0)),
        (b'"c\ny, 5\n,6\r\n",30\n', (1, 1, 30)),
        (b'"' + b"a,1\n" * 300_000 + b'",30\n', (1, 0, 0)),
    ],
)
def test_a_line_moves_the_table_by_itself_alone(path, line, moved):
    for before in (0, 2000):
        filler = b"dee,1\n" * before
        names, (base,) = answer(path, GOOD + filler)
        assert names == ("name", "pay")
        for content in (
            GOOD + filler + line,
            b"name,pay\n" + line.removesuffix(b"\n") + b"\n" + GOOD[9:] + filler,
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
    """Fuzz: a line of any bytes succeeds, and adds a row, or one for each of its line ends."""
    path = tmp_path_factory.mktemp("fuzz") / "rows.csv"
    rows = [b"ann,10\n"] * 5000
    rows.insert(place, line + b"\n")
    _, ((n, p, s),) = answer(path, b"name,pay\n" + b"".join(rows), threads=threads)
    most = 1 + line.count(b"\n") + line.count(b"\r")
    assert 5000 < n <= 5000 + most
    assert 5000 <= p <= n
    assert 50_000 <= s <= 50_000 + 100 * most


def test_an_unbalanced_quote_far_from_the_end_takes_no_other_line(path):
    rows = [b"ann,10\n"] * 300_000
    rows.insert(100_000, b'"oops,10\n')
    assert answer(path, b"name,pay\n" + b"".join(rows))[1] == ((300_001, 300_000, 3_000_000),)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a,a\n1,2\n", b"a,,b\n1,2,3\n", b"\xff\n1\n", b"a,b\r1,2\r"]
)
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


def test_the_snapshot_is_taken_at_the_first_tally_private_and_goes_away(path):
    path.write_bytes(GOOD)
    source = open_source(path)
    folder = source._engine._folder.path
    assert [one.name for one in folder.iterdir()] == [".lock"]
    assert source.tally(PAY) == ((2, 2, 30),)
    assert {one.name for one in folder.iterdir()} == {".lock", "rows.parquet"}
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    path.write_bytes(b"name,pay\n")
    assert source.tally(PAY) == ((2, 2, 30),)
    source.close()
    assert not folder.exists()
    source.close()


@pytest.mark.parametrize("change", [lambda p: p.write_bytes(GOOD[:-1]), os.unlink])
def test_a_file_that_changed_since_it_was_opened_fails(path, change):
    path.write_bytes(GOOD)
    source = open_source(path)
    change(path)
    with pytest.raises(ReleaseFailed) as caught:
        source.tally(PAY)
    assert caught.value.__context__ is None


def test_a_damaged_archive_fails_at_the_tally_alone(tmp_path):
    content = gzip.compress(GOOD[:9] + b"".join(b"ann,%d\n" % i for i in range(9999)))
    (tmp_path / "rows.csv.gz").write_bytes(content[: len(content) // 2])
    source = open_source(tmp_path / "rows.csv.gz")
    with pytest.raises(ReleaseFailed):
        source.tally(PAY)


PIECES = [
    b'"',
    b'""',
    b'","',
    b",",
    b"a",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xff",
    "é".encode(),
    b"\x1e",
    b"\x1f",
]


def naive_records(content):
    """The definition, letter by letter: (text) of each record, None where it does not read."""
    text = re.sub(b"\r+\n", b"\n", content).partition(b"\n")[2]
    text = text.rstrip(b"\r")
    text += b"" if text.endswith(b"\n") or not text else b"\n"
    found = []
    while text:
        end = record_end(text)
        line, text = text[:end], text[end + 1 :]
        try:
            line = line.decode()
        except UnicodeDecodeError:
            line = ""
        found.append(None if not line or set(line) & set("\x1e\x1f") else line)
    return found


def record_end(text):
    """Where a record ends: quotes count odd before each line end in it, even before its own."""
    first = text.index(b"\n")
    if fields_of(text[:first]) is not None:
        return first
    for end in (i for i, letter in enumerate(text) if letter == 10):
        if text[:end].count(b'"') % 2 == 0:
            return end if end > first and fields_of(text[:end]) is not None else first
    return first


def fields_of(text):
    """The fields by RFC 4180; None where a quote is out of place."""
    fields = []
    while True:
        if text.startswith(b'"'):
            end = 1
            while text[end : end + 1] != b'"' or text[end : end + 2] == b'""':
                if end >= len(text):
                    return None
                end += 2 if text[end : end + 1] == b'"' else 1
            field, text = text[1:end].replace(b'""', b'"'), text[end + 1 :]
        else:
            field, _, _ = text.partition(b",")
            if b"\n" in field or b"\r" in field:
                return None
            text = text[len(field) :]
        fields.append(field)
        if not text:
            return fields
        if not text.startswith(b","):
            return None
        text = text[1:]


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), size=st.integers(1, 9))
def test_records_are_told_apart_as_letter_by_letter_in_blocks_of_any_size(body, size):
    content = b"h\n" + body
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvlines, "_BLOCK", size)
        lines = b"".join(csvlines.records(io.BytesIO(content))).decode().split("\n")
    assert lines.pop() == ""
    known = [line.replace(csvlines.BREAK, "\n") for line in lines]
    naive = ['"' if line is None else line for line in naive_records(content)]
    assert known == [line.replace("\r", "\n") for line in naive]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), columns=st.integers(1, 3))
def test_every_record_is_a_row_and_its_fields_are_as_read_letter_by_letter(
    tmp_path_factory, body, columns
):
    path = tmp_path_factory.mktemp("mess") / "rows.csv"
    path.write_bytes(b",".join(b"abc"[i : i + 1] for i in range(columns)) + b"\n" + body)
    rows = []
    for line in naive_records(path.read_bytes()):
        fields = None if line is None else fields_of(line.encode())
        if fields is None or len(fields) != columns:
            fields = [b""] * columns
        rows.append(tuple(field.decode().replace("\r", "\n") or None for field in fields))
    source = open_source(path)
    for i, name in enumerate("abc"[:columns]):
        keys = list(dict.fromkeys(row[i] for row in rows)) or ["a"]
        counted = tuple((sum(row[i] == key for row in rows),) for key in keys)
        assert source.tally(Tally(COUNT.features, None, (Keys(name, keys),))) == counted
    assert source.tally(COUNT) == ((len(rows),),)


@pytest.mark.parametrize("block", [10, 64, 4 << 20])
def test_a_quote_is_looked_for_within_reach_alone(monkeypatch, block):
    """However the blocks fall, and however long the lines are."""
    monkeypatch.setattr(csvlines, "_BLOCK", block)
    monkeypatch.setattr(csvlines, "_REACH", 30)
    monkeypatch.setattr(csvlines, "LONGEST", 50)

    def lines(body):
        found = b"".join(csvlines.records(io.BytesIO(b"h\n" + body)))
        return found.decode().replace(csvlines.BREAK, "|").splitlines()

    assert lines(b'"a\nb\n' + b"c" * 20 + b'"\nd\n') == ['"a|b|' + "c" * 20 + '"', "d"]
    assert lines(b'"a\nb\n' + b"c" * 30 + b'"\nd\n') == ['"a', "b", "c" * 30 + '"', "d"]
    assert lines(b'"a\n' + b"c" * 99 + b'"\n"d\ne"\n') == ['"a', '"', '"d|e"']
    assert lines(b"c" * 99 + b'\n",a"\nb"\nf') == ['"', '",a"', 'b"', "f"]


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    cells=st.lists(
        st.lists(st.text(st.sampled_from('a",\r\n é'), max_size=6), min_size=2, max_size=2)
    ),
    how=st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\n", csv.QUOTE_ALL)]),
)
def test_a_file_reads_as_its_writer_meant_it(tmp_path_factory, cells, how):
    lines, quoting = how
    path = tmp_path_factory.mktemp("written") / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=lines, quoting=quoting).writerows([["a", "b"], *cells])
    source = open_source(path)
    for i, name in enumerate("ab"):
        column = [re.sub("\r+\n", "\n", row[i]).replace("\r", "\n") or None for row in cells]
        keys = list(dict.fromkeys(column)) or ["a"]
        counted = tuple((column.count(key),) for key in keys)
        assert source.tally(Tally(COUNT.features, None, (Keys(name, keys),))) == counted
