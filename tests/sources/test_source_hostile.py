"""One cell, or one other tenant of a database, that means harm."""

import time
from contextlib import closing

import pytest
from source_postgres import connected, fill

from halfmask.errors import SourceError
from halfmask.plan import Tally, UnitBound
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
