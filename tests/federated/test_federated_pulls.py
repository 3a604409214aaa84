"""The clipped sums: how far one client moves them, where it stands, and what it sends."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfmask.federated.steps import FINE, Pulls

NASTY = [0.0, -0.0, 1.0, -1.0, 3.5, 1e-320, 1e-30, 1e30, 1e153, 1e308, -1e308, math.nan, math.inf]


@st.composite
def tables(draw, least=0):
    """Ties, the centre, and numbers at which floats break, among plain ones."""
    d = draw(st.integers(1, 6))
    value = st.one_of(st.sampled_from(NASTY), st.integers(-3, 3).map(float), st.floats(-9, 9))
    n = draw(st.integers(least, 9))
    kind = draw(st.sampled_from([np.float64, np.float32]))
    with np.errstate(over="ignore"):
        table = draw(arrays.arrays(np.float64, (n, d), elements=value)).astype(kind)
    centre = draw(arrays.arrays(np.float64, d, elements=st.floats(-4, 4)))
    return table, centre


def squared(vector):
    return sum(int(part) ** 2 for part in vector)


@given(tables(least=1), st.sampled_from([1e-9, 0.5, 2.0, 1e20]))
@settings(max_examples=150, deadline=None)
def test_a_client_moves_the_sum_by_at_most_fine(drawn, radius):
    table, centre = drawn
    pulls = Pulls(radius)
    moved = pulls.sums(table, centre) - pulls.sums(table[1:], centre)
    assert squared(moved) <= FINE**2
    replaced = pulls.sums(np.vstack([table[1:], np.full_like(table[:1], -2)]), centre)
    assert squared(pulls.sums(table, centre) - replaced) <= (2 * FINE) ** 2


@pytest.mark.parametrize("radius", [0.5, 1.0, math.sqrt(2), 3.0])
def test_all_neighbours_on_a_small_grid_are_close(radius):
    """Exhaustive: all sets of up to two clients on a small grid, each removed or replaced."""
    grid = np.array(list(itertools.product((-2.0, -1.0, 0.0, 1.0, 2.0), repeat=2)))
    pulls, centre = Pulls(radius), np.array([0.25, 0.0])
    alone = [pulls.sums(x[None], centre) for x in grid]
    longest = max(squared(one) for one in alone)
    assert FINE**2 * 0.999 < longest <= FINE**2
    for i, j in itertools.product(range(len(grid)), repeat=2):
        both = pulls.sums(grid[[i, j]], centre)
        assert squared(both - alone[i]) <= FINE**2
        assert (both == alone[i] + alone[j]).all()
        assert squared(alone[i] - alone[j]) <= (2 * FINE) ** 2


@given(tables(least=1))
@settings(max_examples=60, deadline=None)
def test_a_client_counts_the_same_wherever_it_stands(drawn):
    table, centre = drawn
    pulls = Pulls(0.7)
    alone = sum(pulls.sums(row[None], centre) for row in table)
    assert (pulls.sums(table, centre) == alone).all()
    assert (pulls.sums(table[::-1], centre) == alone).all()


def test_blocks_and_strides_cut_clients_anywhere(monkeypatch):
    rng = np.random.default_rng(0)
    table, centre = rng.normal(size=(100, 7)), rng.normal(size=7)
    whole = Pulls(0.7).sums(table, centre)
    assert (Pulls(0.7).sums(np.asfortranarray(table), centre) == whole).all()
    wide = np.zeros((100, 15))
    wide[:, 1::2] = table
    assert (Pulls(0.7).sums(wide[:, 1::2], centre) == whole).all()
    for entries in (1, 7, 50, 699):
        monkeypatch.setattr("halfmask.federated.steps._ENTRIES", entries)
        assert (Pulls(0.7).sums(table, centre) == whole).all()
    monkeypatch.setattr("halfmask.federated.steps._SLAB", 7)
    assert (Pulls(0.7).sums(table, centre) == whole).all()


def naive(table, centre, radius):
    """The same floats one by one, and integers."""
    total = [0] * len(centre)
    for row in table.tolist():
        v = [x - c for x, c in zip(row, centre.tolist(), strict=True)]
        halves = [x * x for x in v]
        while len(halves) > 1:
            middle = (len(halves) + 1) // 2
            right = [*halves[middle:], 0.0]
            halves = [a + b for a, b in zip(halves[:middle], right, strict=False)]
        length = math.sqrt(halves[0])
        if not math.isfinite(length):
            continue
        weight = FINE * (1 - 2.0**-40) / max(length, radius)
        total = [t + math.trunc(x * weight) for t, x in zip(total, v, strict=True)]
    return total


@given(tables())
@settings(max_examples=100, deadline=None)
def test_sums_are_those_of_the_naive_twin(drawn):
    table, centre = drawn
    assert Pulls(0.7).sums(table, centre).tolist() == naive(table, centre, 0.7)


def test_a_pull_is_that_of_the_definition():
    """In exact fractions: v / max(|v|, radius), cut towards zero by less than 1.001 parts."""
    rng = np.random.default_rng(1)
    for row in rng.normal(size=(200, 5)) * rng.choice([0.1, 1, 50], size=(200, 1)):
        squares = sum(Fraction(x) ** 2 for x in row.tolist())
        longest = max(Fraction(math.isqrt(int(squares * 4**80)), 2**80), Fraction(1, 2))
        exact = [FINE * Fraction(x) / longest for x in row.tolist()]
        for part, want in zip(Pulls(0.5).sums(row[None], np.zeros(5)), exact, strict=True):
            assert -1e-3 < abs(want) - abs(int(part)) < 1.001


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e308])
def test_an_update_that_is_no_vector_counts_as_absent(bad):
    table = np.ones((5, 4))
    table[2, 1] = bad
    present = np.delete(table, 2, axis=0)
    assert (Pulls(1.0).sums(table, np.zeros(4)) == Pulls(1.0).sums(present, np.zeros(4))).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.float16, np.longdouble])
def test_other_numbers_count_at_their_value(kind):
    table = np.array([[3, 4], [0, 1]], dtype=kind)
    want = Pulls(1.0).sums(table.astype(np.float64), np.zeros(2))
    assert (Pulls(1.0).sums(table, np.zeros(2)) == want).all()


def test_no_client_no_pull():
    assert Pulls(1.0).sums(np.zeros((0, 3)), np.ones(3)).tolist() == [0, 0, 0]
