"""One cell, or one other tenant of a database, that means harm."""

import time
from contextlib import closing
from decimal import Decimal

import pyarrow as pa
import pytest
from source_postgres import connected, fill

from halfmask.errors import SourceError
from halfmask.plan import FoundKeys, OnGrid, Tally, UnitBound, col
from halfmask.sources import open_source
from halfmask.sources.sql import read_cell

LONG = 20_000


@pytest.mark.parametrize("reading", ["real", "integer", "boolean", "time"])
@pytest.mark.parametrize(
    "cell",
    [
        "1" * LONG + "x",
        "1." + "1" * LONG + "x",
        "." + "1" * LONG + "x",
        "1e" + "1" * LONG + "x",
        " " * LONG + "x",
        "1" + "\t" * LONG + "x",
        "-" * LONG,
        "0" * LONG + "x",
    ],
    ids=range(8),
)
def test_no_cell_takes_the_square_of_its_length_to_read(reading, cell):
    """The same pattern is matched by backtracking in Spark: a cell of a megabyte would hang it."""
    start = time.process_time()
    assert read_cell(reading, cell) is None
    assert time.process_time() - start < 1.0


SECRET = "s3cret"
MISTYPED = [
    f"POSTGRESQL://u:{SECRET}@127.0.0.1:1/db",
    f" postgresql://u:{SECRET}@127.0.0.1:1/db",
    f"postgresql:/u:{SECRET}@127.0.0.1:1/db",
    f"postgresql+psycopg2://u:{SECRET}@127.0.0.1:1/db",
    f"mysql://u:{SECRET}@127.0.0.1:1/db?x=1",
]


@pytest.mark.parametrize("address", MISTYPED)
@pytest.mark.parametrize("table", [None, "staff"])
def test_a_mistyped_address_is_no_path_and_its_password_is_not_shown(address, table):
    with pytest.raises(SourceError) as caught:
        open_source(address, table=table)
    assert SECRET not in str(caught.value)
    assert "postgresql://" in str(caught.value)


LIES = """
CREATE SCHEMA early;
CREATE FUNCTION early.never(numeric, integer) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR early.> (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = early.never);
"""


def test_what_others_put_on_the_path_of_postgresql_changes_no_answer(postgres):
    """A better fitting operator of another tenant would lift the bound of a unit."""
    url = postgres.new_database()
    fill(url, {"id": "integer"}, {"id": [1] * 5 + [2]})
    with connected(url) as connection:
        connection.execute(LIES)
        connection.execute("CREATE TABLE early.only (id integer)")
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET search_path = early, public, pg_catalog')
    bounded = Tally(((1, 0, 0, 0),), unit=UnitBound("id", 1))
    with closing(open_source(url, table="held")) as source:  # found by the path that users have
        assert source.tally(bounded) == ((2,),)
        assert source.tally(Tally(((1, 0, 0, 0),))) == ((6,),)
    with closing(open_source(url, table="only")) as source:
        assert source.tally(bounded) == ((0,),)


def test_decimals_that_are_declared_integers_keep_two_units_apart():
    """Through doubles, 2^53 and 2^53 + 1 were one unit, and so bounded together."""
    ids = pa.array([Decimal(2**53), Decimal(2**53 + 1)], pa.decimal128(20, 0))
    source = open_source(pa.table({"id": ids}), {"id": "integer"})
    assert source.tally(Tally(((1, 0, 0, 0),), unit=UnitBound("id", 1))) == ((2,),)


@pytest.mark.parametrize(
    ("digits", "scale", "cell", "whole"),
    [
        (38, 0, "9223372036854775807", 2**63 - 1),
        (38, 0, "-9223372036854775808", -(2**63)),
        (38, 0, "9223372036854775808", None),
        (38, 0, "99999999999999999999999999999999999999", None),
        (38, 2, "9223372036854775807.50", None),
        (38, 37, "0.9999999999999999999999999999999999999", None),
        (3, 1, "99.9", None),
        (3, 1, "-0.5", None),
        (3, 1, "-99.0", -99),
    ],
)
def test_only_whole_decimals_of_64_bits_are_integers(digits, scale, cell, whole):
    cells = pa.array([Decimal(cell)], pa.decimal128(digits, scale))
    source = open_source(pa.table({"id": cells}), {"id": "integer"})
    assert source.found_keys(FoundKeys("id", Tally(((1, 0, 0, 0),)))) == ((whole, (1,)),)


@pytest.mark.parametrize("name", ["?column?", "c", "n", "s", "s0", "q", "k", "a", "r0", "v", "u"])
def test_no_name_of_a_column_is_taken_for_one_of_ours(name, postgres):
    """CREATE TABLE ... AS leaves columns that are named ?column?."""
    url = postgres.new_database()
    cells = [" 41", "-7", "x", "1" * 200 + "e-199", None]
    types = {"x": "text", name: "text", "d": "numeric"}
    fill(url, types, {"x": ["1"] * 5, name: cells, "d": [1] * 5})
    for kind, whole in (("integer", 34), ("real", 35)):
        with closing(open_source(url, {name: kind, "d": "real"}, table="held")) as source:
            value = OnGrid(name, -100, 100, 0)
            ((present, total),) = source.tally(Tally(((0, 1, 0, 0), (0, 0, 1, 0)), value))
            assert (present, total) == (2 + (kind == "real"), whole)


def test_a_huge_text_of_postgresql_fails_nothing(postgres):
    """Its regular expressions need four bytes a letter, and no gigabyte can be had."""
    url = postgres.new_database()
    with connected(url) as connection:
        connection.execute("CREATE TABLE held (x text)")
        connection.execute("INSERT INTO held VALUES ('7'), (REPEAT('1', 300000000))")
    for kind in ("real", "integer", "boolean", "time", "unread"):
        with closing(open_source(url, {"x": kind}, table="held")) as source:
            assert source.tally(Tally(((1, 0, 0, 0),), where=col("x").is_missing())) in (
                ((1,),), ((2,),), ((0,),)
            )  # fmt: skip
