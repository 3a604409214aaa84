"""The privacy law of tallies: a unit of any number of rows moves them by at most its bound."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfmask.plan import Bins, Keys, OnGrid, Tally, UnitBound, where
from halfmask.sources import open_source

CELLS = st.sampled_from([np.nan, -np.inf, np.inf, -4.0, -1.5, 0.0, 0.5, 3.0, 1e308])


@st.composite
def tables(draw):
    """Rows of other units, and two sets of rows of the one that comes, goes or changes."""
    row = st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 4), CELLS)
    others = draw(st.lists(row, max_size=25))
    mine = st.lists(st.tuples(st.just(9), st.integers(0, 4), CELLS), max_size=12)
    return others, draw(mine) * draw(st.sampled_from([1, 1, 1000])), draw(mine)


@st.composite
def bounded_tallies(draw):
    once = draw(st.booleans())
    value = None if once else OnGrid("x", -8, 8, -1, draw(st.integers(-8, 8)))
    some = st.integers(-3, 3)
    rest = (st.just(0),) * 3 if once else (some,) * 3
    features = draw(st.lists(st.tuples(some, *rest), min_size=1, max_size=4))
    groups = draw(st.sampled_from([
        (), (Keys("g", [0, 1, 2]),), (Keys("g", [1, 7, None]), Bins("x", [-2, 0, 3])),
        (Bins("x", [-np.inf, 0.0, np.inf]),),
    ]))  # fmt: skip
    bound = UnitBound("u", draw(st.integers(1, 300)), draw(st.none() | st.integers(1, 3)), once)
    filters = ["True", "x < 2", "not (x < 2)", "g in [0, 1] or x is None"]
    return Tally(tuple(features), value, groups, where(draw(st.sampled_from(filters))), bound)


def tally_of(rows, tally):
    columns = np.array(rows, dtype=[("u", "i8"), ("g", "i8"), ("x", "f8")])
    source = open_source(columns)
    answer = source.tally(tally)
    source.close()
    return answer


def distances(left, right):
    """The L1 distance in each group that moved."""
    moved = (
        sum(abs(a - b) for a, b in zip(one, two, strict=True))
        for one, two in zip(left, right, strict=True)
    )
    return [distance for distance in moved if distance]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables(), tally=bounded_tallies())
def test_one_unit_moves_a_tally_by_at_most_its_bound(table, tally):
    """Law 5: removing a unit moves L1 by the norm (in each kept group), replacing it by twice."""
    others, mine, instead = table
    bound = tally.unit
    without = tally_of(others, tally)
    with_mine = tally_of(others + mine, tally)
    replaced = tally_of(others + instead, tally)
    for neighbour, times in ((without, 1), (replaced, 2)):
        moved = distances(with_mine, neighbour)
        if bound.groups is None:
            assert sum(moved) <= times * bound.norm
        else:
            assert max(moved, default=0) <= times * bound.norm
            assert len(moved) <= times * bound.groups


def test_the_bound_is_reached_and_the_unbounded_tally_passes_it():
    """The law can fail: without the bound the same unit moves the tally much more."""
    rows = [(1, 0, 4.0)] + [(9, 0, 4.0)] * 500
    tally = Tally(((0, 0, 1, 0),), OnGrid("x", -8, 8, -1), unit=UnitBound("u", 24))
    assert tally_of(rows, tally) == ((8 + 24,),)
    assert tally_of(rows, Tally(tally.features, tally.value)) == ((8 * 501,),)


def test_rows_outside_the_filter_or_the_groups_count_for_nothing():
    """A unit's norm is over the rows that are asked for, and no others."""
    rows = [(9, 0, 4.0)] * 2 + [(9, 5, 4.0)] * 1000
    kept = Tally(((0, 0, 1, 0),), OnGrid("x", -8, 8, -1), (Keys("g", [0, 1]),),
                 unit=UnitBound("u", 100))  # fmt: skip
    assert tally_of(rows, kept) == ((16,), (0,))
    filtered = Tally(kept.features, kept.value, (), where("g == 0"), kept.unit)
    assert tally_of(rows, filtered) == ((16,),)


def test_huge_norms_and_steps_never_overflow():
    """Long division keeps products under 2^127 for norms up to 2^96 and grids of 2^53 steps."""
    rows = [(9, 0, 1e300), (9, 0, -1e300), (9, 0, 7.0)] * 4000
    grid = OnGrid("x", -(2**53), 2**53, 900, origin=-(2**53))
    features = ((0, 0, 1, 0), (0, 2**53, -1, 0), (1, 0, 0, 0))
    for norm in (2**47, 2**48 + 1, 2**60 + 3, 2**66 - 1, 2**96):
        found = tally_of(rows, Tally(features, grid, unit=UnitBound("u", norm)))[0]
        unbounded = tally_of(rows, Tally(features, grid))[0]
        length = sum(map(abs, unbounded))
        exact = tuple(min(f, f * norm // length) if length > norm else f for f in unbounded)
        assert found == exact
