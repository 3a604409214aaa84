"""Attacks through what rows do to success, schema, words and shape:
7 exceptions, 9 number of rows, 11 keys, 21 errors and copies, 22 CSV, 34 logs."""

import copy
import gzip
import logging
import math
import pickle
import random
import subprocess
import sys
import traceback
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfmask as hm

CANARY = "Ada-Lovelace-1815"
KINDS = ("integer", "real", "text", "time", "boolean", "unread")


class Hostile:
    """A cell that fails whatever is done to it."""

    def _fail(self, *_):
        raise KeyError(CANARY)

    __float__ = __int__ = __index__ = __str__ = __repr__ = __eq__ = __bool__ = __len__ = _fail
    __hash__ = None


CELLS = [
    "abc",
    CANARY,
    "",
    "'; --",
    "\x00",
    "\ud800",
    "e\u0301",
    "9" * 5000,
    " 7 ",
    b"bytes",
    10**400,
    -(2**63),
    2**64,
    True,
    Decimal("sNaN"),
    Decimal("1e400"),
    Fraction(10**400),
    date(1, 1, 1),
    datetime(9999, 12, 31, tzinfo=UTC),
    timedelta(1),
    math.nan,
    math.inf,
    [1, 2],
    {"a": 1},
    Hostile(),
    object(),
]


def asks(name):
    """One ask of each way to read a column."""
    return [
        {"query": hm.Count(), "where": f"{name} is None"},
        {"query": hm.Count(), "where": f"{name} > 1"},
        {"query": hm.Count(), "where": f"not ({name} == 'abc')"},
        {"query": hm.Count(), "where": f"{name} > date('2000-01-01')"},
        {"query": hm.Count(), "by": hm.Keys(name, ["abc", "", None])},
        {"query": hm.Count(), "by": hm.Keys(name, [1, None])},
        {"query": hm.Count(), "by": hm.Keys(name, [True, None])},
        {"query": hm.Mean(name, 0, 1)},
        {"query": hm.Variance(name, 0, 1)},
        {"query": hm.Histogram(name, [-math.inf, 0, math.inf])},
    ]


def outcome(open_table, every=1):
    """All that an analyst sees of success and failure, before and after paying."""
    try:
        curator = open_table()
    except Exception as error:
        return type(error).__name__, str(error)
    with curator:
        seen = [tuple(curator.schema)]
        for options in asks("x")[::every]:
            try:
                curator.ask(**options, epsilon=1)
                seen.append("answered")
            except hm.HalfmaskError as error:
                seen.append((type(error).__name__, str(error)))
        seen.append(curator.remaining)
    return seen


# 7. Exceptions that depend on data: at opening as well as at asking.


@pytest.mark.parametrize("kind", KINDS)
def test_07_no_cell_of_a_list_changes_what_succeeds(kind):
    ordinary = {"text": "a", "time": date(2020, 1, 1), "boolean": True}.get(kind, 1)

    def opened(cells):
        return lambda: hm.open({"x": cells}, schema={"x": kind}, budget=99)

    usual = outcome(opened([ordinary, ordinary]), 3)
    for cell in CELLS:
        assert outcome(opened([ordinary, cell]), 3) == usual, type(cell)
    together = np.empty(len(CELLS) + 1, object)
    for i, cell in enumerate([ordinary, *CELLS]):
        together[i] = cell
    assert outcome(opened(together)) == outcome(opened([ordinary, *CELLS]))
    assert outcome(opened(together)) == outcome(opened([ordinary, ordinary]))


def test_07_no_cell_of_a_pandas_object_column_changes_the_schema():
    def opened(cell):
        column = pd.Series([CANARY, None], dtype=object)
        column.iat[1] = cell
        return lambda: hm.open(pd.DataFrame({"x": column}), budget=99)

    usual = outcome(opened("a"), 3)
    assert usual[0][0].kind == "text"
    for cell in CELLS:
        assert outcome(opened(cell), 3) == usual, type(cell)


@pytest.mark.parametrize(
    ("kind", "extremes"),
    [
        (pa.int64(), [2**63 - 1, -(2**63)]),
        (pa.uint64(), [2**64 - 1, 0]),
        (pa.float32(), [math.nan, math.inf]),
        (pa.float64(), [math.nan, -math.inf]),
        (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1 - 10**38)]),
        (pa.decimal128(38, 38), [Decimal("0." + "9" * 38), Decimal("-0." + "9" * 38)]),
        (pa.date32(), [2**31 - 1, -(2**31)]),
        (pa.timestamp("us"), [2**63 - 1, -(2**63)]),
        (pa.timestamp("ns"), [2**63 - 1, -(2**63)]),
        (pa.timestamp("us", tz="Europe/Paris"), [2**63 - 1, -(2**63)]),
        (pa.string(), ["\x00", "'\"\\"]),
        (pa.large_string(), ["e\u0301", "\u00e9"]),
        (pa.bool_(), [True, False]),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_07_no_value_that_a_type_can_hold_changes_what_succeeds(kind, extremes, form, tmp_path):
    def opened(cells):
        whole = "int32" if kind == pa.date32() else "int64"
        numbers = pa.types.is_temporal(kind)
        column = pa.array(cells, whole).cast(kind) if numbers else typed(cells)
        table = pa.table({"x": column})
        if form == "parquet":
            pq.write_table(table, tmp_path / "t.parquet")
            return lambda: hm.open(tmp_path / "t.parquet", budget=99)
        return lambda: hm.open(table, budget=99)

    def typed(cells):
        if pa.types.is_decimal(kind):
            return pa.array([c if c is None else format(c, "f") for c in cells]).cast(kind)
        return pa.array(cells, kind)

    usual = outcome(opened([None, None]))
    assert usual.count("answered") >= 2
    for extreme in extremes:
        assert outcome(opened([extreme, None])) == usual


@pytest.mark.parametrize(
    "literal",
    [
        "TIMESTAMP 'infinity'",
        "TIMESTAMP '-infinity'",
        "TIMESTAMP '290309-12-22 (BC) 00:00:00'",
        "TIMESTAMPTZ 'infinity'",
        "TIMESTAMP_S '290000-01-01'",
        "TIMESTAMP_NS 'infinity'",
        "DATE 'infinity'",
        "DATE '5877642-06-25 (BC)'",
        "170141183460469231731687303715884105727::HUGEINT",
        "(-170141183460469231731687303715884105728)::HUGEINT",
        "18446744073709551615::UBIGINT",
        "99999999999999999999999999999999999999::DECIMAL(38,0)",
        "'nan'::DOUBLE",
        "'b'::ENUM('a','b')",
        "gen_random_uuid()",
        "[1, 2]",
        "{'a': 1}",
        "'\\xAA'::BLOB",
        "INTERVAL 1 YEAR",
    ],
)
def test_07_no_value_of_a_relation_changes_what_succeeds(literal):
    connection = duckdb.connect()

    def opened(last):
        typed = f"SELECT {literal} AS x, 1 AS y WHERE FALSE"
        relation = connection.sql(f"{typed} UNION ALL SELECT {last}, 1")
        return lambda: hm.open(relation, budget=99)

    assert outcome(opened(literal)) == outcome(opened("NULL"))


def test_07_typed_columns_without_rows_or_values_open_like_others():
    full = pa.table({"x": pa.array([1.5]), "t": pa.array(["a"]), "d": pa.array([date(2020, 1, 1)])})
    usual = hm.open(full, budget=1).schema
    nulls = pa.table({n: pa.nulls(3, full.schema.field(n).type) for n in full.column_names})
    for table in (full.slice(0, 0), nulls, pl.from_arrow(full).clear(), pl.from_arrow(nulls)):
        assert hm.open(table, budget=1).schema == usual


def test_07_ties_and_extremes_take_the_same_path(loss):
    ties = {"x": np.full(1000, 5.0)}
    assert loss(hm.Mean("x", 0, 10), ties, {"x": np.full(999, 5.0)}, epsilon=1) <= 1


# 9. The number of rows is private under add/remove.


def test_09_a_mean_does_not_divide_by_the_true_number_of_rows(loss, tools):
    one, two = {"x": np.array([0.0])}, {"x": np.array([0.0, 1.0])}
    assert loss(hm.Mean("x", 0, 1), two, one, epsilon=1) <= 1
    keys = 1500
    grouped = []
    for table in (one, two):
        k = np.repeat(np.arange(keys), len(table["x"]))
        curator = hm.open({"x": np.tile(table["x"], keys), "k": k}, budget=1)
        answer = curator.ask(hm.Mean("x", 0, 1), by=hm.Keys("k", range(keys)), epsilon=1)
        grouped.append(np.array(list(answer.value.values())))
    for low, high in ((0.5, 0.6), (0.0, 1e-9), (0.4, 0.6), (0.9, 1.0)):
        first, second = (int(((low <= y) & (y <= high)).sum()) for y in grouped)
        assert tools.bound(first, second, keys) <= 1
        assert tools.bound(second, first, keys) <= 1

    rng = np.random.default_rng()
    draws = 1_000_000  # the textbook divides a noisy sum, of sensitivity 1/n, by its own n
    noisy = [
        np.clip(mean + rng.laplace(scale=1 / n, size=draws), 0, 1) for mean, n in ((0, 1), (0.5, 2))
    ]
    hits = [int(((y > 0.5) & (y < 0.6)).sum()) for y in noisy]
    assert tools.bound(hits[1], hits[0], draws) > 1


# 11. Keys that nobody declared.


def test_11_a_row_with_a_new_label_is_not_seen(loss):
    table = {"k": ["ops", "hr", CANARY], "x": [1, 2, 3]}
    neighbour = {"k": ["ops", "hr"], "x": [1, 2]}
    keys = hm.Keys("k", ["ops", "hr", "r&d"])
    assert loss(hm.Sum("x", 0, 9), table, neighbour, by=keys, epsilon=1) == 0
    with hm.open(table, budget=9) as curator:
        grouped = curator.ask(hm.Sum("x", 0, 9), by=keys, epsilon=1)
    assert list(grouped) == ["ops", "hr", "r&d"]
    assert CANARY not in grouped.to_json() + str(grouped) + grouped._repr_html_()
    assert CANARY in dict(pd.DataFrame(table).groupby("k").x.sum())


# 21. Errors, texts, copies, tracebacks.


class Failing:
    """A source whose engine fails with a row in its words."""

    def __init__(self, inner):
        self.inner, self.schema, self.name = inner, inner.schema, inner.name

    def tally(self, tally):
        secret = CANARY
        raise RuntimeError(f"cannot convert {secret}")

    def close(self):
        self.inner.close()


def frames_of(error):
    """What a debugger or a crash report prints of a traceback, with the locals of our frames."""
    shown = []
    while error is not None:
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        shown += [
            f"{frame.line} {frame.locals}" for frame in report.stack if "halfmask" in frame.filename
        ]
        shown.append(repr(error))
        error = error.__cause__ or error.__context__
    return "\n".join(shown)


def test_21_a_failing_engine_tells_nothing_in_words_chain_or_frames():
    curator = hm.open({"s": [CANARY], "x": [1815.0]}, budget=2)
    curator = hm.Curator(Failing(curator._source), curator.unit, curator.ledger, curator._words)
    with pytest.raises(hm.ReleaseFailed) as caught:
        curator.ask(hm.Sum("x", 0, 2000), epsilon=1)
    assert CANARY not in frames_of(caught.value)
    assert curator.remaining == hm.Pure(1)
    with pytest.raises(RuntimeError) as caught:  # the search sees what an engine says
        curator._source.tally(None)
    assert CANARY in frames_of(caught.value)


def test_21_nothing_that_can_be_shown_or_copied_holds_a_row(tmp_path):
    (tmp_path / "t.csv").write_text(f"s,x\n{CANARY},1815\n", encoding="utf-8")
    for table in ({"s": [CANARY], "x": [1815]}, tmp_path / "t.csv"):
        with hm.open(table, budget=5, ledger=tmp_path / "l.ledger") as curator:
            release = curator.ask(hm.Count(), where="x > 1", epsilon=0.5)
            shown = [repr(curator), str(curator), repr(vars(curator)), repr(curator._source)]
            shown += [repr(curator.ledger), str(curator.ledger), repr(release), release.to_json()]
            shown += [repr(pickle.loads(pickle.dumps(release))), repr(copy.deepcopy(release))]
            for attempt in (pickle.dumps, copy.deepcopy):
                with pytest.raises(hm.HalfmaskError, match="copy") as caught:
                    attempt(curator)
                shown.append(str(caught.value))
        assert CANARY not in "".join(shown)
        held = b"".join(one.read_bytes() for one in tmp_path.glob("l.ledger*"))
        assert CANARY.encode() not in held


@pytest.mark.parametrize(
    "query",
    [hm.Mean("s", 0, 1), hm.Count(), hm.Sum("nothing", 0, 1), hm.Histogram("x", [0, 1])],
    ids=repr,
)
@pytest.mark.parametrize("where", ["s > 3", "nothing == 1", "x >", None])
def test_21_refusals_show_names_and_kinds_but_no_row(query, where):
    frame = pd.DataFrame({"s": [CANARY] * 3, "x": [1, 2, 3]})
    with hm.open(frame, budget=1) as curator, pytest.raises(hm.HalfmaskError) as caught:
        curator.ask(query, where=where, epsilon=5)  # out of one
    assert CANARY not in frames_of(caught.value)


@pytest.mark.parametrize(
    "wrong", ["epsilon", "actor", "request_id", "shares", "budget", "unit", "source", "where ="]
)
def test_21_a_table_in_the_wrong_place_is_not_printed(wrong):
    frame = pd.DataFrame({"s": [CANARY] * 3})
    with hm.open(frame, budget=1) as curator:
        attempts = {
            "epsilon": lambda: curator.ask(hm.Count(), epsilon=frame),
            "actor": lambda: curator.ask(hm.Count(), epsilon=1, actor=frame),
            "request_id": lambda: curator.ask(hm.Count(), epsilon=1, request_id=frame),
            "shares": lambda: curator.ask({"n": hm.Count()}, epsilon=1, shares=frame),
            "budget": lambda: hm.open(frame, budget=frame),
            "unit": lambda: hm.open(frame, unit=frame, budget=1),
            "source": lambda: hm.open([CANARY], budget=1),
            "where =": lambda: curator.ask(hm.Count(), epsilon=1, where=f"s = '{wrong}'"),
        }
        with pytest.raises(hm.HalfmaskError) as caught:
            attempts[wrong]()
    assert CANARY not in str(caught.value)


# 22. CSV: no line changes success, the schema, or how another line is read.

LINES = [
    b"abc,xyz",
    b"1",
    b"1,2,3,4",
    b'"1,2',
    b'1,"2',
    b'1,2"',
    b'"a""b",2',
    b"\xff\xfe,2",
    b"1,\xc3",
    b"\x00,\x00",
    b"\x1f",
    b"1\x1f,2",
    b"",
    b",",
    b"#,1",
    b"NULL,NaN",
    b"\\,\\",
    b"\xef\xbb\xbf1,2",
    b"x" * 2_500_000 + b",1",
    b'"' + b"x" * 2_500_000,
    b"," * 300_000,
    b'"' * 99_999 + b",1",
]
GOOD = b"".join(b"%d,%d\n" % (i, i) for i in range(2, 40))


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line[:8]!r}-{len(line)}")
@pytest.mark.parametrize("packed", [False, True], ids=["csv", "csv.gz"])
def test_22_no_line_of_a_csv_file_changes_another(record, tmp_path, line, packed):
    def exact(body):
        content = b"a,b\n" + body
        path = tmp_path / ("t.csv.gz" if packed else "t.csv")
        path.write_bytes(gzip.compress(content, 1) if packed else content)
        with hm.open(path, budget=9) as curator:
            tapes = [
                record(curator, hm.Count(), where="a > 1", epsilon=1),
                record(curator, hm.Sum("b", 0, 100), epsilon=1),
            ]
            return curator.schema, [tape.calls[0][1][0] for tape in tapes]

    schema, usual = exact(GOOD)
    half = GOOD.index(b"20,20")
    for body in (line + b"\n" + GOOD, GOOD[:half] + line + b"\n" + GOOD[half:], GOOD + line):
        found, sums = exact(body)
        assert found == schema
        assert 0 <= sums[0] - usual[0] <= 1
        assert abs(sums[1] - usual[1]) <= 100 * (usual[1] // sum(range(2, 40)))


def test_22_a_random_mess_keeps_every_record(record, tmp_path):
    """Lines without quotes read one by one, each as a row; those with quotes as their writer meant.

    (That each line was a record, quotes or not, let one person's quoted line breaks forge rows.)
    """
    draw = random.Random(22)
    pieces = [b",", b'""', b"1", b"23", b"\x00", b"\x1f", b"\xff", b" ", b"-", b"e", b"\xc3\xa9"]
    lines = [b"".join(draw.choices(pieces, k=draw.randint(0, 6))) for _ in range(400)]
    lines += [b"%d,%d" % (i, i) for i in range(100)]
    draw.shuffle(lines)

    def count(body):
        path = tmp_path / "t.csv"
        path.write_bytes(b"a,b\n" + body + b"\n")
        with hm.open(path, budget=9) as curator:
            tape = record(curator, hm.Sum("b", 0, 1), epsilon=1)
            whole = record(curator, hm.Count(), epsilon=1)
            return tape.calls[0][1][0], whole.calls[0][1][0]

    together = count(b"\n".join(lines))
    tenths = [count(b"\n".join(lines[at::10])) for at in range(10)]
    assert together == tuple(map(sum, zip(*tenths, strict=True)))
    assert together[1] == len(lines)
    quoted = b"\n".join(b'%d,"%d"' % (i, i) for i in range(50))
    assert count(b'7,"' + b"\n".join(lines) + b'"\n' + quoted)[1] == 51


# 34. Logs and streams.

TALKATIVE = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
import halfmask as hm
for table in (sys.argv[1], {{"s": ["{c}"], "x": [1815]}}):
    with hm.open(table, unit="s", budget=9) as curator:
        curator.ask({{"n": hm.Count(), "m": hm.Mean("x", 0, 9)}}, where="x > 1", epsilon=1)
        curator.ask(hm.Count(), by=hm.Keys("x", [1, 2]), epsilon=1)
        print(curator.preview(hm.Mean("x", 0, 9), rows=3, epsilon=1), curator, curator.ledger)
logging.getLogger().debug("logs are on")
"""


def test_34_logs_and_streams_hold_no_row(tmp_path):
    (tmp_path / "t.csv").write_text(f"s,x\n{CANARY},1815\nx{CANARY}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", TALKATIVE.format(c=CANARY), tmp_path / "t.csv"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "logs are on" in done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "1815" not in done.stdout + done.stderr


def test_34_nothing_is_logged_in_this_process_either(caplog):
    with caplog.at_level(logging.DEBUG), hm.open({"s": [CANARY]}, budget=1) as curator:
        curator.ask(hm.Count(), epsilon=1)
    assert CANARY not in caplog.text
