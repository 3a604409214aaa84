"""The nasty table on a server: the integers of the exact twins, as from every other source."""

import pytest
from hypothesis import HealthCheck, given, settings
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
from source_tables import KINDS, LITERALS

from halfmask.plan import Tally

LOOSE = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@settings(LOOSE, max_examples=150)
@given(tally=tallies())
def test_a_server_equals_the_exact_twin(tally, served, twin):
    """Law 1: the picks of a unit by a salted hash are the same rows too."""
    source, rows = served
    assert source.tally(tally) == twin(tally, rows, KINDS)


@LOOSE
@given(counts=counted())
def test_cells_of_a_server_equal_the_twin(counts, served, twins):
    source, rows = served
    assert cells_of(source, counts) == naive_cells(counts, rows, twins)


@LOOSE
@given(found=keyed())
def test_keys_of_a_server_equal_the_twin(found, served, twins):
    source, rows = served
    expected = [(type(key), key, features) for key, features in naive_keys(found, rows, twins)]
    assert keys_of(source, found) == expected


@LOOSE
@given(points=pointed())
def test_points_of_a_server_equal_the_twin(points, served, twins):
    source, rows = served
    assert points_of(source, points) == naive_points(points, rows, twins)


@pytest.mark.parametrize("name", [*LITERALS, "b"])
def test_comparisons_on_a_server_are_two_valued(name, served, twin):
    source, rows = served
    for where in simple_filters(name):
        tally = Tally(((1, 0, 0, 0),), where=where)
        assert source.tally(tally) == twin(tally, rows, KINDS), str(where)


@pytest.mark.parametrize("column", ["x", "i", "b", "s"])
def test_grids_on_a_server_are_exact(column, served, twin):
    source, rows = served
    for grid in extreme_grids(column):
        tally = Tally(((0, 1, 0, 0), (0, 0, 1, 0)), grid)
        assert source.tally(tally) == twin(tally, rows, KINDS), grid


@pytest.mark.parametrize("unit", KINDS)
@pytest.mark.parametrize("most", [1, 2])
def test_picks_are_the_same_rows_whatever_the_kind_of_the_unit(unit, most, served, twin, twins):
    """Of a unit of fractions too, of truth values and of times."""
    source, rows = served
    tally, points = picking(unit, most)
    assert source.tally(tally) == twin(tally, rows, KINDS)
    assert points_of(source, points) == naive_points(points, rows, twins)
