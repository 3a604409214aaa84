"""One nasty table from every kind of source: the integers of the exact twin, each time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_asked import extreme_grids, simple_filters, tallies
from source_tables import KINDS, LITERALS, in_csv, sources_of

from halfmask.plan import Tally


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(tally=tallies())
def test_every_source_equals_the_exact_twin(tally, rows, sources, csv_source, twin):
    """Law 1: the same nasty rows give the twin's integers from every kind of source."""
    expected = twin(tally, rows, KINDS)
    for name, source in sources.items():
        assert source.tally(tally) == expected, name
    assert csv_source.tally(tally) == twin(tally, in_csv(rows), KINDS)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(tally=tallies(), order=st.randoms(use_true_random=False), threads=st.sampled_from([1, 2, 7]))
def test_row_order_and_threads_change_nothing(tally, order, threads, rows, twin, tmp_path_factory):
    """Law 1: no order of rows and no number of threads moves an integer."""
    expected = twin(tally, rows, KINDS)
    shuffled = order.sample(rows, len(rows))
    for name, source in sources_of(shuffled, tmp_path_factory.mktemp("order"), threads).items():
        assert source.tally(tally) == expected, name
        source.close()


FEW = ("arrow file", "numpy", "lists")


@pytest.mark.parametrize("name", [*LITERALS, "b"])
def test_every_comparison_is_two_valued_on_nasty_cells(name, rows, sources, twin):
    """Each operator beside each literal, and its negation: missing cells are false, then true."""
    for where in simple_filters(name):
        tally = Tally(((1, 0, 0, 0),), where=where)
        expected = twin(tally, rows, KINDS)
        for source in FEW:
            assert sources[source].tally(tally) == expected, (source, str(where))


@pytest.mark.parametrize("column", ["x", "i", "b", "s"])
def test_every_grid_is_exact_on_nasty_cells(column, rows, sources, twin):
    """Fine and coarse steps, bounds of one sign or both: floors of denormals and of huge values."""
    features = ((0, 1, 0, 0), (0, 0, 1, 0))
    for grid in extreme_grids(column):
        tally = Tally(features, grid)
        expected = twin(tally, rows, KINDS)
        for source in FEW:
            assert sources[source].tally(tally) == expected, (source, grid)
