"""The privacy law of joins: neighbours before are neighbours after, and a unit stays bounded."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.plan import Keys, OnGrid, Tally, UnitBound
from halfmask.privacy import PrivacyUnit
from halfmask.sources import Join, open_source

HOW = ["inner", "left"]
MINE = 9


def left_of(rows):
    return np.array(rows, dtype=[("u", "i8"), ("k", "i8"), ("x", "f8")])


def right_of(rows, key):
    return np.array(rows, dtype=[(key, "i8"), ("y", "f8")])


def opened(left, right, key, how, public, unit="u"):
    join = Join(left_of(left), right_of(right, key), key, how, public)
    return open_source(join, unit=PrivacyUnit(unit))


def rows_of(left, right, key, how, public, unit="u"):
    """The joined rows themselves, by their unit: only a test looks at them."""
    source = opened(left, right, key, how, public, unit)
    _ = source.digest
    found = Counter(source._engine.rows(f"SELECT * FROM {source._table}", AssertionError()))
    source.close()
    return found


few = st.sampled_from([1, 2, MINE])
lefts = st.lists(st.tuples(few, st.integers(0, 2), st.sampled_from([0.0, 1.5])), max_size=5)
rights = st.lists(st.tuples(few, st.sampled_from([-1.0, 2.0])), max_size=5)
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("how", HOW)
@SETTINGS
@given(left=lefts, right=rights)
def test_a_unit_of_two_private_tables_takes_its_own_joined_rows_alone(how, left, right):
    """Removed from both tables, or from one, it moves no joined row of another unit."""
    whole = rows_of(left, right, "u", how, public=False)
    others = Counter({row: n for row, n in whole.items() if row[0] != MINE})
    without = [row for row in left if row[0] != MINE], [row for row in right if row[0] != MINE]
    assert rows_of(*without, "u", how, public=False) == others
    for part in ((without[0], right), (left, without[1])):
        half = rows_of(*part, "u", how, public=False)
        assert Counter({row: n for row, n in half.items() if row[0] != MINE}) == others


@pytest.mark.parametrize("how", HOW)
@SETTINGS
@given(left=lefts, right=st.lists(st.tuples(st.integers(0, 2), st.just(1.0)), max_size=5))
def test_beside_a_public_table_a_unit_takes_its_own_joined_rows_alone(how, left, right):
    whole = rows_of(left, right, "k", how, public=True)
    others = Counter({row: n for row, n in whole.items() if row[0] != MINE})
    assert rows_of([r for r in left if r[0] != MINE], right, "k", how, public=True) == others


@pytest.mark.parametrize("how", HOW)
@SETTINGS
@given(left=lefts, keys=st.sets(st.integers(0, 2)))
def test_a_row_that_is_a_unit_stays_one_row(how, left, keys):
    """With public keys that stand once, one row more is at most one joined row more."""
    right = [(key, 1.0) for key in sorted(keys)]
    whole = rows_of(left, right, "k", how, public=True, unit=None)
    for i in range(len(left)):
        without = rows_of(left[:i] + left[i + 1 :], right, "k", how, public=True, unit=None)
        assert not without - whole
        assert (whole - without).total() == (1 if how == "left" or left[i][1] in keys else 0)


@SETTINGS
@given(
    left=st.lists(
        st.tuples(few, st.integers(0, 2), st.sampled_from([-4.0, 3.0, np.nan])), max_size=9
    ),
    copies=st.sampled_from([1, 30]),
    norm=st.integers(1, 40),
    groups=st.sampled_from([None, 1, 2]),
    public=st.booleans(),
    how=st.sampled_from(HOW),
)
def test_after_the_join_a_unit_moves_sums_by_at_most_its_bound(
    left, copies, norm, groups, public, how
):
    """However many rows the join makes of its own: the bound stands behind the join."""
    key = "k" if public else "u"
    right = [(value, 1.0) for value in (0, 1, 1, 2, MINE)] * copies
    tally = Tally(
        ((1, 0, 0, 0), (0, 0, 1, 0)),
        OnGrid("x", -8, 8, 0),
        (Keys("k", [0, 1, 2]),),
        unit=UnitBound("u", norm, groups),
    )
    sides = []
    for table in (left, [row for row in left if row[0] != MINE]):
        source = opened(table, right, key, how, public)
        sides.append(source.tally(tally))
        source.close()
    moved = [sum(map(abs, np.subtract(*pair).tolist())) for pair in zip(*sides, strict=True)]
    if groups is None:
        assert sum(moved) <= norm
    else:
        assert max(moved) <= norm
        assert sum(map(bool, moved)) <= groups


def test_replacing_is_for_joins_that_keep_every_unit():
    """The exact number of rows is shown where the relation makes it public, and only there."""
    rows, towns = {"k": [1, 2, 3, None]}, {"k": [1, 2], "size": [5, 6]}
    kinds = {"k": "integer"}
    kept = hm.open(
        hm.Join(rows, towns, "k", "left", public=True), budget=1, relation="replace", schema=kinds
    )
    assert kept.ask(hm.Count(), epsilon=0.1).value == 4
    with pytest.raises(hm.InvalidQuery, match="how many find a match is not"):
        hm.open(hm.Join(rows, towns, "k", public=True), budget=1, relation="replace", schema=kinds)
