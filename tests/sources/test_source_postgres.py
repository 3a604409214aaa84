"""What only PostgreSQL holds: its types, its settings, its collations; none of it raises."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_asked import cells_of, keys_of
from source_postgres import connected, fill

from halfmask.errors import SourceError
from halfmask.plan import FoundKeys, GridCounts, Keys, OnGrid, Tally, UnitBound, col
from halfmask.sources import open_source
from halfmask.sources.sql import read_cell

COUNT = ((1, 0, 0, 0),)
LOOSE = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def url(postgres):
    return postgres.new_database()


def held(url, kind, cells, schema=None):
    """One column of a type, opened."""
    fill(url, {"x": kind}, {"x": cells})
    return open_source(url, schema, table="held")


def counted(source, where):
    ((count,),) = source.tally(Tally(COUNT, where=where))
    return count


def summed(source, grid):
    ((present, total),) = source.tally(Tally(((0, 1, 0, 0), (0, 0, 1, 0)), grid))
    return present, total


KINDS = {
    "boolean": "boolean",
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "real": "real",
    "double precision": "real",
    "numeric": "real",
    "numeric(12,2)": "real",
    "numeric(12,0)": "integer",
    "numeric(30)": "integer",
    "text": "text",
    "varchar(7)": "text",
    "char(7)": "text",
    "name": "text",
    "uuid": "text",
    "json": "text",
    "jsonb": "text",
    "mood": "text",
    "money_like": "real",
    "nested": "real",
    "word": "text",
    "date": "time",
    "timestamp": "time",
    "timestamp(0)": "time",
    "timestamptz": "time",
    "bytea": None,
    "integer[]": None,
    "interval": None,
    "time": None,
    "money": None,
    "inet": None,
    "int4range": None,
    "point": None,
    "pair": None,
}


def test_kinds_come_from_the_catalogue(postgres):
    """An empty table of every type; domains are what they are over."""
    url = postgres.new_database()
    with connected(url) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute("CREATE DOMAIN money_like AS numeric(10, 2) CHECK (VALUE > 0)")
        connection.execute("CREATE DOMAIN nested AS money_like")
        connection.execute("CREATE DOMAIN word AS text")
        connection.execute("CREATE TYPE pair AS (a int, b text)")
    types = {f"c{i}": kind for i, kind in enumerate(KINDS)}
    fill(url, types, dict.fromkeys(types, ()))
    source = open_source(url, table="held")
    found = {column.name: column.kind for column in source.schema}
    known = dict(zip(types, KINDS.values(), strict=True))
    assert found == {name: kind for name, kind in known.items() if kind is not None}
    for name, kind in found.items():
        assert counted(source, col(name).is_missing()) == 0
        if kind in ("integer", "real", "boolean"):
            assert summed(source, OnGrid(name, -8, 8, 0)) == (0, 0)
        if kind in ("text", "integer", "boolean"):
            assert source.found_keys(FoundKeys(name, Tally(COUNT))) == ()


decimals = st.one_of(
    st.sampled_from(["NaN", "Infinity", "-Infinity", "0", "-0", "1e400", "-1e400", "1e-400"]),
    st.builds("{}e{}".format, st.integers(-(10**20), 10**20), st.integers(-2000, 1000)),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: format(Decimal(x), "f")),
    st.decimals(allow_nan=False, allow_infinity=False, places=8).map(str),
)


@LOOSE
@given(cells=st.lists(st.none() | decimals, min_size=1, max_size=20), step=st.integers(-40, 40))
def test_a_decimal_is_its_nearest_double(cells, step, url):
    """Whatever its digits: beyond the largest double an infinity, near zero a zero."""
    source = held(url, "numeric", cells)
    numbers = [float(cell) for cell in cells if cell not in (None, "NaN")]
    grid, values = OnGrid("x", -(2**20), 2**20, step), []
    for x in numbers:
        low, high = -(2.0 ** (20 + step)), 2.0 ** (20 + step)
        held_in = min(max(x, low), high)
        values.append(math.floor(Fraction(held_in) / Fraction(2) ** step))
    assert summed(source, grid) == (len(values), sum(values))
    for x in numbers[:3]:
        if math.isfinite(x):
            assert counted(source, col("x") == x) == numbers.count(x)
            assert counted(source, col("x") > x) == sum(number > x for number in numbers)


@LOOSE
@given(cells=st.lists(st.none() | decimals, min_size=1, max_size=20))
def test_a_decimal_declared_integer_is_exact_or_missing(cells, url):
    source = held(url, "numeric", cells, {"x": "integer"})
    exact = [Decimal(c) for c in cells if c is not None and Decimal(c).is_finite()]
    whole = [int(c) for c in exact if abs(c) <= 2**63 and c == c.to_integral_value()]
    known = [c for c in whole if -(2**63) <= c < 2**63]
    assert counted(source, ~col("x").is_missing()) == len(known)
    for c in known[:3]:
        assert counted(source, col("x") == c) == known.count(c)


texts = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
    st.from_regex(r"\A[ \t]?[+-]?[0-9]{0,4}[.]?[0-9]{0,400}([eE][+-]?[0-9]{1,4})?[ \t]?\Z"),
    st.from_regex(r"\A[ ]?[0-9]{4}-[0-3][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-9]{2})?\t?\Z"),
    st.integers(-(2**65), 2**65).map(str),
    st.sampled_from(["true", "FALSE\t", "inf", "-Infinity", "nan", "1e999999999999", "'", "\\"]),
)


@LOOSE
@given(cells=st.lists(st.none() | texts, min_size=1, max_size=30), data=st.data())
def test_text_reads_as_everywhere(cells, data, url):
    """There is no TRY_CAST: the grammar alone, and no text that fails."""
    source = held(url, "text", cells, {"x": "unread"})
    for reading, literals in {
        "real": [0.0, -1, 1e300, 5e-324],
        "boolean": [True],
        "time": [datetime(2024, 2, 29)],
        "text": ["", "a", "0\0"],
    }.items():
        read = [read_cell(reading, cell) for cell in cells if cell is not None]
        read = [value for value in read if value is not None]
        mine = [value for value in read if value not in (math.inf, -math.inf)]
        literal = data.draw(st.sampled_from([*literals, *mine[:5]]))
        assert counted(source, col("x") == literal) == read.count(literal)
        if reading != "boolean":
            assert counted(source, col("x") < literal) == sum(value < literal for value in read)
    whole = held(url, "text", cells, {"x": "integer"})
    read = [read_cell("integer", cell) for cell in cells if cell is not None]
    present = [value for value in read if value is not None]
    assert counted(whole, ~col("x").is_missing()) == len(present)
    assert counted(whole, col("x") > 2**53) == sum(value > 2**53 for value in present)


TIMES = {
    "date": ["0044-03-15 BC", "4714-11-24 BC", "5874897-12-31", "infinity", "-infinity",
             "2024-02-29", "294276-12-31", "294277-01-01", None],
    "timestamp": ["0044-03-15 BC", "4714-11-24 BC", "294276-12-31 23:59:59.999999", "infinity",
                  "-infinity", "2024-02-29 12:00:00.000001", None],
    "timestamptz": ["0044-03-15 BC", "4714-11-24 00:00:00+00 BC", "infinity", "-infinity",
                    "294276-12-31 23:59:59.999999+00", "2024-02-29 12:00:00.000001+03", None],
}  # fmt: skip


@pytest.mark.parametrize("kind", TIMES)
def test_times_of_any_age_never_raise(kind, url):
    source = held(url, kind, TIMES[kind])
    before, after = col("x") < "0001-01-01", col("x") > "9999-12-31"
    leap = (col("x") >= "2024-02-29") & (col("x") < "2024-03-01")
    assert counted(source, leap) == 1
    assert counted(source, before) == 3
    assert counted(source, after) == 2
    ((cells, weights),) = source.grid_counts(GridCounts(OnGrid("x", -(2**53), 2**53, 0)))
    assert weights.sum() == 4
    moment = datetime(2024, 2, 29, 12, 0, 0, 1, UTC) - timedelta(hours=3) * (kind == "timestamptz")
    if kind == "date":
        moment = datetime(2024, 2, 29, tzinfo=UTC)
    micros = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert micros in cells.tolist()
    bounded = source.tally(Tally(COUNT, unit=UnitBound("x", 1)))
    assert bounded == ((6,),)


def test_single_precision_and_negative_zero(url):
    source = held(url, "real", [0.1, "-0", "NaN", "Infinity", 1e-45, None])
    assert counted(source, col("x") == 0) == 1
    assert counted(source, col("x") == float.fromhex("0x1.99999ap-4")) == 1
    assert summed(source, OnGrid("x", -4, 4, -1)) == (4, 4)
    bounded = held(url, "double precision", ["-0", "0", "NaN", "NaN", None, 1])
    assert bounded.tally(Tally(COUNT, unit=UnitBound("x", 1))) == ((2,),)


def test_padded_and_short_texts(url):
    keys = FoundKeys("x", Tally(COUNT))
    assert keys_of(held(url, "char(5)", ["a", "a  ", "b", None]), keys) == [
        (str, "a", (2,)),
        (str, "b", (1,)),
        (type(None), None, (1,)),
    ]
    uuid = "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"
    source = held(url, "uuid", [uuid, uuid.lower(), None])
    assert source.tally(Tally(COUNT, groups=(Keys("x", [uuid, uuid.lower()]),))) == ((0,), (2,))


@pytest.mark.parametrize("deterministic", ["true", "false"])
def test_text_is_told_apart_by_its_bytes_whatever_its_collation(deterministic, url):
    """In a collation that ignores case and accents, and orders as a dictionary."""
    order = ["", "A", "B", "Z", "a", "b", "e\u0301", "z", "\u00e9", "日本", "🙂"]
    with connected(url) as connection:
        have = connection.execute("SELECT 1 FROM pg_collation WHERE collprovider = 'i'").fetchone()
        if not have:
            pytest.skip("this PostgreSQL knows no ICU collation")
        connection.execute("DROP TABLE IF EXISTS held")
        connection.execute("DROP COLLATION IF EXISTS loose")
        connection.execute(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', "
            f"deterministic = {deterministic})"
        )
    source = held(url, "text COLLATE loose", order * 2)
    keys = FoundKeys("x", Tally(COUNT))
    assert keys_of(source, keys) == [(str, key, (2,)) for key in order]
    listed = Keys("x", ["a", "e", "\u00e9"])
    assert source.tally(Tally(COUNT, groups=(listed,))) == ((2,), (0,), (2,))
    assert counted(source, col("x") < "a") == 8
    assert counted(source, col("x").is_in(["A", "E\u0301"])) == 2
    units = Tally(COUNT, groups=(listed,), unit=UnitBound("x", 1, groups=1))
    assert source.tally(units) == ((1,), (0,), (1,))
    fill(url, {"x": "text COLLATE loose"}, {"x": ["true", "TRUE", "yes", "1"]})
    assert counted(open_source(url, {"x": "boolean"}, table="held"), col("x") == True) == 2  # noqa: E712
    assert counted(open_source(url, {"x": "real"}, table="held"), col("x") == 1) == 1


def test_the_settings_of_a_database_change_nothing(postgres):
    """What a backslash means, how a time is written, in which zone, with how many digits."""
    url = postgres.new_database()
    name = url.rsplit("/")[-1]
    for setting in (
        "standard_conforming_strings = off",
        "backslash_quote = off",
        "datestyle = 'Postgres, DMY'",
        "timezone = 'Asia/Kathmandu'",
        "extra_float_digits = -15",
        "default_transaction_isolation = 'read committed'",
        "array_nulls = off",
    ):
        postgres.sql(f"ALTER DATABASE {name} SET {setting}")
    cells = ["\\", "\\'", "'", "\\\\", 'x"y', "a'; DROP TABLE held; --", "\\n"]
    source = held(url, "text", cells)
    for cell in cells:
        assert counted(source, col("x") == cell) == 1
    assert source.tally(Tally(COUNT, groups=(Keys("x", cells),))) == ((1,),) * len(cells)
    at = held(url, "timestamptz", ["2024-02-29 12:00:00+00"])
    assert counted(at, col("x") == "2024-02-29T12:00:00") == 1
    written = held(url, "text", ["2024-03-04"], {"x": "time"})
    assert counted(written, col("x") == "2024-03-04") == 1
    assert cells_of(held(url, "text", ["0.1"], {"x": "real"}), GridCounts(OnGrid("x", 0, 2, -1)))


def test_names_are_quoted_and_their_capitals_kept(url):
    with connected(url) as connection:
        connection.execute('CREATE SCHEMA IF NOT EXISTS "My ""own"""')
        connection.execute('CREATE TABLE "My ""own"""."Staff; --" ("Pay % of ""x"" {0}" int)')
        connection.execute('INSERT INTO "My ""own"""."Staff; --" VALUES (7)')
        connection.execute('CREATE VIEW "Seen" AS SELECT * FROM "My ""own"""."Staff; --"')
    for table in (
        'My "own".Staff; --',
        '"My ""own"""."Staff; --"',
        "Seen",
        '"Seen"',
        "public.Seen",
    ):
        source = open_source(url, table=table)
        assert summed(source, OnGrid('Pay % of "x" {0}', 0, 9, 0)) == (1, 7)
    with pytest.raises(SourceError, match="no table or view 'seen'"):
        open_source(url, table="seen")


def test_columns_that_cannot_be_read_as_declared_are_refused(url):
    fill(url, {"x": "date"}, {"x": ["2024-02-29"]})
    with pytest.raises(SourceError, match="column 'x' holds time and cannot be read as real"):
        open_source(url, {"x": "real"}, table="held")
    assert summed(held(url, "int", [1, 0, None], {"x": "boolean"}), OnGrid("x", 0, 2, 0)) == (2, 1)
    assert summed(held(url, "int", [5, 0, None], {"x": "real"}), OnGrid("x", 0, 9, 0)) == (2, 5)
    assert summed(held(url, "boolean", [True, None], {"x": "real"}), OnGrid("x", 0, 2, 0)) == (1, 1)
    whole = held(url, "double precision", [1.0, 1.5, "NaN", "Infinity", 2.0**63], {"x": "integer"})
    assert counted(whole, ~col("x").is_missing()) == 1
