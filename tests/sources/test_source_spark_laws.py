"""The nasty table on Spark: the integers of the exact twins, whatever the number of partitions.

A query takes Spark a second, so conditions and grids are tried in bulk, many in one query.
"""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_asked import (
    cells_of,
    counted,
    extreme_grids,
    keyed,
    keys_of,
    naive_cells,
    naive_keys,
    naive_points,
    picking,
    pointed,
    points_of,
    simple_filters,
    tallies,
)
from source_tables import KINDS, LITERALS, arrow_of

from halfmask.plan import Bins, Keys, OnGrid, Tally, UnitBound, col
from halfmask.sources import open_source
from halfmask.sources.sql import SPARK, Cells
from halfmask.sources.sql.emit import on_grid
from halfmask.sources.sql.filters import condition

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
PARTITIONS = (1, 3, 7)
MEMBERS = (*PARTITIONS, "connect")
COUNT = ((1, 0, 0, 0),)
ALL = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))


@pytest.fixture(scope="module")
def parted(rows, spark, connect):
    """The same rows in 1, 3 and 7 partitions, each in an order of its own; and by Connect."""
    frame = spark.createDataFrame(arrow_of(rows)).cache()
    frames = {n: frame.repartition(n).cache() for n in PARTITIONS}
    frames["connect"] = connect.createDataFrame(arrow_of(rows)).repartition(3).cache()
    opened = {n: open_source(held, {"s": "unread"}) for n, held in frames.items()}
    yield opened
    for source in opened.values():
        source.close()


anywhere = st.sampled_from(MEMBERS)


@settings(FEW, max_examples=24)
@given(tally=tallies(), n=anywhere)
def test_spark_equals_the_exact_twin(tally, n, rows, parted, twin):
    """Law 1: the picks of a unit by a salted hash are the same rows too."""
    assert parted[n].tally(tally) == twin(tally, rows, KINDS)


NORMS = [7, 1000, 2**47 + 1, 2**54, 2**70 + 12345, 2**96]


@pytest.mark.parametrize("norm", NORMS)
def test_every_partition_gives_the_same_bounded_sums(norm, rows, parted, twin):
    """Short and long division of the widest features; by key, over all keys, and without keys."""
    grid = OnGrid("i", -(2**53), 2**53, 7, origin=2**53)
    features = ((2**40, 1, 0, 0), (0, 0, 1, 0), (0, -(2**53), -2, 0))
    keys = (Keys("b", [True, False, None]),)
    bounds = [UnitBound("u", norm), UnitBound("n", norm, groups=1)]
    asked = [*((bound, keys) for bound in bounds), (bounds[0], ()), (bounds[1], keys)]
    for n, (bound, groups) in zip(MEMBERS, asked, strict=True):
        tally = Tally(features, grid, groups, unit=bound)
        assert parted[n].tally(tally) == twin(tally, rows, KINDS)


@FEW
@given(counts=counted(), n=anywhere)
def test_cells_of_spark_equal_the_twin(counts, n, rows, parted, twins):
    assert cells_of(parted[n], counts) == naive_cells(counts, rows, twins)


@FEW
@given(found=keyed(), n=anywhere)
def test_keys_of_spark_equal_the_twin(found, n, rows, parted, twins):
    expected = [(type(key), key, features) for key, features in naive_keys(found, rows, twins)]
    assert keys_of(parted[n], found) == expected


@FEW
@given(points=pointed(), n=anywhere)
def test_points_of_spark_equal_the_twin(points, n, rows, parted, twins):
    assert points_of(parted[n], points) == naive_points(points, rows, twins)


@pytest.mark.parametrize("unit", KINDS)
def test_picks_of_spark_are_the_same_rows_whatever_the_kind_of_the_unit(
    unit, rows, parted, twin, twins
):
    tally, points = picking(unit, 1)
    assert parted[3].tally(tally) == twin(tally, rows, KINDS)
    assert points_of(parted[7], points) == naive_points(points, rows, twins)


def summed(source, columns, cells):
    """The one row of a query over the cells of a source."""
    sql = f"SELECT {', '.join(columns)} FROM ({cells.select(source._table)}) c"
    return source._engine.rows(sql, RuntimeError("refused"))[0]


@pytest.mark.parametrize("n", [3, "connect"])
def test_comparisons_on_spark_are_two_valued(n, rows, parted, twins):
    """Each operator beside each literal, and its negation: missing cells are false, then true."""
    filters = [where for name in [*LITERALS, "b"] for where in simple_filters(name)]
    cells = Cells(parted[n].schema, parted[n]._physical, SPARK)
    found = summed(parted[n], [f"COUNT_IF({condition(f, True, cells)})" for f in filters], cells)
    for where, count in zip(filters, found, strict=True):
        assert count == sum(twins.holds(where, row, KINDS) for row in rows), str(where)


@pytest.mark.parametrize("column", ["x", "i", "b", "s"])
def test_grids_on_spark_are_exact(column, rows, parted, twins):
    cells = Cells(parted[7].schema, parted[7]._physical, SPARK)
    grids = list(extreme_grids(column))
    listed = [SPARK.total.format(on_grid(grid, cells)) for grid in grids]
    for grid, total in zip(grids, summed(parted[7], listed, cells), strict=True):
        assert total == sum(twins.moments(row, KINDS, grid)[2] for row in rows), grid


numbers = st.floats().map(str) | st.integers().map(str)
written = st.none() | st.text(max_size=12) | numbers | st.datetimes().map(str)


@settings(FEW, max_examples=2)
@given(cells=st.lists(written, min_size=60, max_size=200))
def test_fuzzed_text_on_spark_never_raises_and_reads_as_in_python(cells, spark, twin):
    """Whatever text a column holds, each reading of it works, and equals the exact twin's."""
    rows = [{"s": cell} for cell in cells]
    source = open_source(spark.createDataFrame(rows, "s string"), {"s": "unread"})
    keys = list(dict.fromkeys([*(c for c in cells if c is not None), "7", None]))
    tallies = [
        Tally(ALL, OnGrid("s", -5, 5, -4)),
        Tally(COUNT, None, (Keys("s", keys),)),
        Tally(COUNT, None, (Keys("s", [True, False, None]),)),
        Tally(COUNT, None, (Bins("s", [-math.inf, 0, 1e300, math.inf]),)),
        Tally(COUNT, where=col("s") < "2000-01-01"),
        Tally(COUNT, unit=UnitBound("s", 1, once=True)),
    ]
    for tally in tallies:
        assert source.tally(tally) == twin(tally, rows, {"s": "unread"})
    source.close()
