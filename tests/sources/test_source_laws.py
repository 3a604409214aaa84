"""One nasty table from every kind of source: the integers of the exact twin, each time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_tables import KINDS, LITERALS, ORDERS, conditions, grids, groupings, in_csv, sources_of

from halfmask.plan import Everything, OnGrid, Tally, UnitBound, col


@st.composite
def tallies(draw):
    value = draw(st.none() | grids())
    small = st.integers(-3, 3)
    p = v = q = st.just(0)
    if value is not None:
        p, v = small, st.sampled_from([0, 1, -1, 2])
        q = st.sampled_from([0, 1, -1]) if value.reach < 2**31 else q
    feature = st.tuples(st.sampled_from([0, 1, -1, 2**40]), p, v, q)
    unit = st.none()
    if draw(st.booleans()):
        norm = st.sampled_from([1, 2, 7, 1000, 2**30, 2**47 + 1, 2**54, 2**70 + 12345])
        unit = st.builds(UnitBound, st.sampled_from(["u", "n"]), norm,
                         st.sampled_from([None, 1, 2, 5]), st.just(value is None))  # fmt: skip
    return Tally(
        tuple(draw(st.lists(feature, min_size=1, max_size=4))),
        value,
        tuple(draw(st.lists(groupings(), max_size=2))),
        draw(st.just(Everything()) | conditions),
        draw(unit),
    )


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
    literals = LITERALS.get(name, [True, False])
    simple = [getattr(col(name), order)(x) for x in literals for order in ORDERS]
    simple = [p for p in simple if not isinstance(p.value, bool) or p.operator in ("==", "!=")]
    for predicate in [*simple, *(col(name).is_in([x]) for x in literals), col(name).is_missing()]:
        for where in (predicate, ~predicate):
            tally = Tally(((1, 0, 0, 0),), where=where)
            expected = twin(tally, rows, KINDS)
            for source in FEW:
                assert sources[source].tally(tally) == expected, (source, str(where))


@pytest.mark.parametrize("column", ["x", "i", "b", "s"])
def test_every_grid_is_exact_on_nasty_cells(column, rows, sources, twin):
    """Fine and coarse steps, bounds of one sign or both: floors of denormals and of huge values."""
    features = ((0, 1, 0, 0), (0, 0, 1, 0))
    for log2_step in (-1000, -60, -3, 0, 1, 60, 900):
        for lower, upper in ((-1, 1), (-(2**53), 2**53), (0, 2**20), (-7, -3)):
            tally = Tally(features, OnGrid(column, lower, upper, log2_step, origin=lower))
            expected = twin(tally, rows, KINDS)
            for source in FEW:
                assert sources[source].tally(tally) == expected, (source, tally.value)
