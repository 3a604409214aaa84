"""Identifiers stay apart in every source: decimals without a fraction are integers, to the last."""

import math
from dataclasses import replace
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_postgres import connected, fill

import halfmask as hm
from halfmask.plan import FoundKeys, OnGrid, Tally, UnitBound
from halfmask.sources import open_source
from halfmask.sources.postgres_columns import PostgresColumn

COUNT, SUM = ((1, 0, 0, 0),), ((0, 0, 1, 0),)
WHOLE = [0, -1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1, -(2**63), 2**63, -(10**37), None]
"""The last three are missing: no integer of 64 bits."""
APART = sorted(WHOLE[:7])


def arrow_of(cells, digits, scale):
    cells = [None if cell is None else Decimal(cell) for cell in cells]
    return pa.table({"id": pa.array(cells, pa.decimal128(digits, scale))})


def pandas_of(arrow, folder, request):
    return pd.DataFrame({"id": pd.Series(arrow["id"], dtype=pd.ArrowDtype(arrow["id"].type))}), {}


def parquet_of(arrow, folder, request):
    pq.write_table(arrow, folder / "rows.parquet")
    return folder / "rows.parquet", {}


def relation_of(arrow, folder, request):
    connection = duckdb.connect()
    connection.register("arrow", arrow)
    return connection.sql("SELECT * FROM arrow"), {}


def wider_of(arrow, folder, request):
    """Too wide for the engine."""
    return arrow.cast(pa.schema({"id": pa.decimal256(60, arrow["id"].type.scale)})), {}


def postgres_of(arrow, folder, request, named="numeric({0},{1})"):
    url, kind = request.getfixturevalue("postgres").new_database(), arrow["id"].type
    with connected(url) as connection:
        written = f"numeric({kind.precision}, {kind.scale})"
        connection.execute(f"CREATE DOMAIN inner_id AS {written}")
        connection.execute("CREATE DOMAIN outer_id AS inner_id CHECK (VALUE IS NULL OR VALUE <> 7)")
    fill(url, {"id": named.format(kind.precision, kind.scale)}, arrow.to_pydict())
    return url, {"table": "held"}


def short_of(arrow, folder, request):
    """No scale is written, which is one of 0."""
    scaled = arrow["id"].type.scale > 0
    return postgres_of(arrow, folder, request, "numeric({0},{1})" if scaled else "numeric({0})")


def domain_of(arrow, folder, request):
    return postgres_of(arrow, folder, request, "outer_id")


def spark_of(arrow, folder, request):
    return request.getfixturevalue("spark").createDataFrame(arrow), {}


def connect_of(arrow, folder, request):
    return request.getfixturevalue("connect").createDataFrame(arrow), {}


MEMBERS = {
    "arrow": lambda arrow, folder, request: (arrow, {}),
    "polars": lambda arrow, folder, request: (pl.from_arrow(arrow), {}),
    "pandas": pandas_of,
    "parquet": parquet_of,
    "relation": relation_of,
    "decimal256": wider_of,
    "postgres": postgres_of,
    "postgres, no scale": short_of,
    "postgres domain": domain_of,
    "spark": spark_of,
    "connect": connect_of,
}


@pytest.fixture(params=MEMBERS)
def held(request, tmp_path):
    """What makes a source of decimals of so many digits and scale."""
    return lambda *shape: MEMBERS[request.param](arrow_of(*shape), tmp_path, request)


def test_identifiers_are_told_apart_as_units_and_as_groups(held):
    """Read as doubles, 2^53 and 2^53 + 1 were one person, and one group."""
    given, options = held(WHOLE, 38, 0)
    source = open_source(given, **options)
    assert source.schema.column("id").kind == "integer"
    found = source.found_keys(FoundKeys("id", Tally(COUNT)))
    assert found == (*((cell, (1,)) for cell in APART), (None, (3,)))
    assert source.tally(Tally(COUNT, unit=UnitBound("id", 1))) == ((len(APART),),)
    source.close()
    with hm.open(given, unit="id", budget=1, **options) as door:
        assert door.schema.column("id").kind == "integer"


def test_as_real_numbers_they_are_the_nearest_doubles(held):
    """Where they are declared so: a sum over them is that of doubles."""
    given, options = held([2**53 + 3, 3, None], 38, 0)
    source = open_source(given, {"id": "real"}, **options)
    halves = source.tally(Tally(SUM, OnGrid("id", 0, 2**53, 1)))
    assert halves == ((2**52 + 2 + 1,),)
    source.close()


def test_a_unit_of_decimals_with_a_fraction_is_declared_or_refused(held):
    given, options = held(["1.00", "2.50", None], 20, 2)
    book = hm.Ledger(None, budget=1)
    with pytest.raises(hm.InvalidQuery, match="unit: column 'id' holds real numbers, which round"):
        hm.open(given, unit="id", ledger=book, **options)
    for kind, count in (("integer", 1), ("real", 2)):
        with hm.open(given, unit="id", ledger=book, schema={"id": kind}, **options) as door:
            counted = door._source.tally(Tally(COUNT, unit=UnitBound("id", 1)))
            assert counted == ((count,),)
    with hm.open(given, unit="id", ledger=book, schema={"id": hm.Public("integer")}, **options):
        assert book.remaining == hm.Pure(1)


@pytest.mark.parametrize("of", ["numpy", "float", "join", "postgres", "numeric", "spark"])
def test_a_unit_of_doubles_is_declared_or_refused(of, request, tmp_path):
    """Whoever wrote them had them rounded: identifiers with gaps in a pandas frame are doubles."""
    given, options = {"id": np.array([1.0, 2.0, np.nan])}, {}
    if of == "float":
        given = pd.DataFrame(given, dtype="float32")
    elif of == "join":
        given = hm.Join(given, {"id": np.array([1.0])}, on="id")
    elif of in ("postgres", "numeric"):
        kind = "numeric" if of == "numeric" else "double precision"
        url, options = request.getfixturevalue("postgres").new_database(), {"table": "held"}
        fill(url, {"id": kind}, {"id": [1, 2, None]})
        given = url
    elif of == "spark":
        given = request.getfixturevalue("spark").createDataFrame([(1.0,), (2.0,)], "id double")
    with pytest.raises(hm.InvalidQuery, match=r"declare it, schema=\{'id': 'integer'\}, or 'real'"):
        hm.open(given, unit="id", budget=1, **options)
    for kind in ("integer", "real"):
        with hm.open(given, unit="id", budget=1, schema={"id": kind}, **options) as door:
            tally = Tally(COUNT, unit=UnitBound("id", 1))
            assert door._source.tally(tally) == ((1 if of == "join" else 2,),)


@pytest.mark.parametrize(("scale", "kind"), [(2, "real"), (1000, "real"), (0, "integer"),
                                             (-2, "integer"), (-1000, "integer")])  # fmt: skip
def test_the_scale_of_a_numeric_as_the_catalogue_has_it(scale, kind):
    """PostgreSQL 15 has negative ones, in eleven bits."""
    assert PostgresColumn("x", "numeric", "b", (7 << 16 | scale & 0x7FF) + 4).kind == kind


def test_long_doubles_are_read_as_integers_to_the_last_digit():
    ids = np.longdouble(2**53) + np.arange(3)
    found = open_source(ids, {"x0": "integer"}).found_keys(FoundKeys("x0", Tally(COUNT)))
    exact = [2**53 + i if np.finfo(np.longdouble).nmant > 52 else int(ids[i]) for i in range(3)]
    assert [key for key, _ in found] == sorted(set(exact))


def test_two_people_who_are_one_unit_move_a_sum_by_twice_its_bound():
    """Why it is refused: with one of them gone, the other's part turns from end to end."""
    ids, x = pa.array([2**53, 2**53 + 1], pa.decimal128(38, 0)), [9.0, -5.0]
    tally = Tally(SUM, OnGrid("x", -10, 10, 0), unit=UnitBound("id", 3))
    for kind, moved in (("real", 6), ("integer", 3)):
        both, one = (
            open_source(pa.table({"id": ids[i:], "x": x[i:]}), {"id": kind}).tally(tally)[0][0]
            for i in (0, 1)
        )
        assert both - one == moved


APART_IN_LISTS = {
    "integers": [2**70, 2**70 + 1, 2**70 + 2, -(2**63) - 1, 10**400, 10**400 + 1, 10**5000],
    "unsigned": [np.uint64(2**64 - 1), np.uint64(2**64 - 2), 2**63, 2**63 + 1],
    "decimals": [Decimal(10**20 + 1), Decimal("1.00000000000000000001"), Decimal("1e999999999"),
                 Decimal("-1e-999999999"), Decimal("1.00000000000000000002"), Decimal("0.1")],
}  # fmt: skip


@pytest.mark.parametrize("cells", APART_IN_LISTS.values(), ids=APART_IN_LISTS)
def test_numbers_in_a_list_that_round_alike_are_apart(cells):
    """A list has no type, so no unit in it can be refused: no number in it may be another."""
    source = open_source({"id": cells})
    assert source.tally(Tally(COUNT, unit=UnitBound("id", 1))) == ((len(cells),),)
    source.close()


def test_numbers_in_a_list_that_are_equal_are_one():
    equal = [[2**70, 2.0**70, Decimal(2**70)], [10**400, Decimal("1e400"), Decimal("1.0e400")],
             [0.5, Decimal("0.50"), np.float32(0.5)], [2**70 + 1, Decimal(2**70 + 1)],
             [7, 7.0, Decimal("7.00"), np.int8(7)]]  # fmt: skip
    source = open_source({"id": [cell for cells in equal for cell in cells]})
    assert source.tally(Tally(COUNT, unit=UnitBound("id", 1))) == ((len(equal),),)
    source.close()


def test_numbers_in_a_list_are_read_as_their_nearest_doubles():
    cells = [2**53 + 3, Decimal("2.5000000000000000000001"), 2**70 + 1, -(10**400), Decimal("NaN")]
    source = open_source({"x": cells, "y": [2.0**53 + 4, 2.5, 2.0**70, -math.inf, math.nan]})
    for grid in (OnGrid("x", 0, 2**53, 1), OnGrid("x", -(2**40), 2**40, -1)):
        other = replace(grid, column="y")
        moments = [source.tally(Tally(((0, 1, 0, 0), (0, 0, 1, 0)), g)) for g in (grid, other)]
        assert moments[0] == moments[1]
    source.close()


def test_decimals_of_a_file_that_the_engine_rounds_are_no_whole_numbers(tmp_path):
    """Beyond 38 digits it makes doubles: declared integers, as the refusal says, two were one."""
    cells = [10**17 + 1, 10**17 + 2]
    table = pa.table({"id": pa.array(cells, pa.decimal256(50, 0)), "x": [2.0, -2.0]})
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(hm.InvalidQuery, match="real numbers, which round"):
        hm.open(tmp_path / "rows.parquet", unit="id", budget=1)
    with pytest.raises(hm.SourceError, match="over 38 digits and cannot be read as int"):
        hm.open(tmp_path / "rows.parquet", unit="id", budget=1, schema={"id": "integer"})
    doubles = pa.table({"id": [1.0, 2.0]})
    pq.write_table(doubles, tmp_path / "doubles.parquet")
    source = open_source(tmp_path / "doubles.parquet", {"id": "integer"})
    assert source.tally(Tally(COUNT, unit=UnitBound("id", 1))) == ((2,),)
