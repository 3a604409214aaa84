"""Medians by noisy comparisons: what one row moves, what is found, and what it costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats
from scipy.special import ndtr

import halfmask as hm
from halfmask.plan import OnGrid, Points
from halfmask.privacy import GDP, ZCDP, Pure
from halfmask.procedures.location.budget import Budget
from halfmask.procedures.location.finding import NEAR, PART, drawn_together
from halfmask.procedures.location.halving import halved, halvings, strength_needed
from halfmask.procedures.location.stages import rejected
from halfmask.queries.location import Windows

LOW, HIGH = -50, 50


TENTH = ZCDP("0.1")


def windows(d, low, high, price=TENTH, moved=1):
    points = Points(tuple(OnGrid(f"x{j}", LOW, HIGH, 0) for j in range(d)))
    return Windows(points, moved, price, tuple(low), tuple(high))


@st.composite
def tables(draw):
    d, n = draw(st.integers(1, 4)), draw(st.integers(0, 12))
    cell = st.one_of(st.sampled_from([LOW, HIGH, 0]), st.integers(LOW, HIGH))
    ends = np.sort(draw(arrays.arrays(np.int64, (2, d), elements=cell)), axis=0)
    table = draw(arrays.arrays(np.int64, (n, d), elements=cell))
    return table, draw(arrays.arrays(np.int64, (1, d), elements=cell)), ends.tolist()


@given(tables())
@settings(max_examples=150, deadline=None)
def test_a_row_moves_every_window_by_one(drawn):
    table, row, (low, high) = drawn
    one = windows(table.shape[1], low, high)
    moved = np.subtract(one.sums(np.vstack([table, row])), one.sums(table))
    assert (np.abs(moved) == 1).all()
    assert (moved**2).sum() <= one.mechanism.sensitivity_squared


@given(tables(), st.integers(1, 600))
@settings(max_examples=60, deadline=None)
def test_windows_count_as_a_plain_loop_does(drawn, copies):
    table, row, (low, high) = drawn
    table = np.vstack([table, np.tile(row, (copies, 1))])
    twin = [
        sum(1 if a <= x < b else -1 for x in column)
        for a, b, column in zip(low, high, table.T.tolist(), strict=True)
    ]
    assert list(windows(table.shape[1], low, high).sums(table)) == twin


@pytest.mark.parametrize("price", [Pure("0.5"), ZCDP("0.1"), GDP("0.5")])
@pytest.mark.parametrize("moved", [1, 2])
def test_windows_hide_what_neighbours_differ_by(price, moved):
    """The noise of three numbers, each moved by 1 for each row that differs."""
    law = windows(3, [0] * 3, [9] * 3, price, moved).mechanism
    if isinstance(price, Pure):
        assert law.scale >= 3 * moved / price.epsilon
    else:
        mu = price.mu if isinstance(price, GDP) else (2 * float(price.rho)) ** 0.5
        assert float(law.scale) >= moved * 3**0.5 / float(mu) * (1 - 1e-9)


def comparing(distribution, strength, seed, k):
    """Answers about medians at 0 with noise, for rows of this law in k columns."""
    rng = np.random.default_rng(seed)

    def ask(place):
        return 1 - 2 * distribution(place) + rng.normal(size=k) / strength, 1 / strength

    return ask


def outliers(far):
    """A quarter of the rows so many deviations away."""
    return lambda x: 0.75 * ndtr(x) + 0.25 * ndtr(x - far)


LAWS = {
    "normal": ndtr,
    "Cauchy": stats.cauchy.cdf,
    "outliers": outliers(10.0),
    "far outliers": outliers(1e4),
}


def lost(law, octaves, part):
    """How many of 1000 medians, at this part of the strength that is needed for each, are more
    than 5 deviations off."""
    k, times = 1000, halvings(octaves)
    low = -(2.0**octaves) * np.random.default_rng(1).uniform(0.05, 0.95, k)
    strength = (part * strength_needed(octaves, 1) / times) ** 0.5
    ask = comparing(law, strength, 2, k)
    found, _ = halved(low, low + 2.0**octaves, 1.0, times, ask)
    return int((np.abs(found) > 5).sum())


@pytest.mark.parametrize("octaves", [20, 40])
@pytest.mark.parametrize("law", LAWS)
def test_halving_finds_medians(octaves, law):
    """At most 1 in 100 is lost, but for 1e-6."""
    assert lost(LAWS[law], octaves, 1) <= stats.binom.isf(1e-6, 1000, 0.01)


def test_halving_needs_its_strength_where_a_quarter_are_far_out():
    assert lost(LAWS["far outliers"], 20, 1 / 3) > stats.binom.isf(1e-6, 1000, 0.01)


@pytest.mark.parametrize("octaves", [5, 7, 20])
@pytest.mark.parametrize("law", LAWS)
def test_halving_ends_where_it_is_sure_enough(law, octaves):
    """Of 50 times three medians at most 1 in 100 lost, but for 1e-6; sooner for normal points."""
    times, rng, lost, asked = halvings(octaves), np.random.default_rng(3), 0, 0
    strength = (strength_needed(octaves, 3) / times) ** 0.5
    width = 2.0**octaves
    near = min(NEAR, PART * width)
    for seed in range(50):
        low = -width * rng.uniform(0.05, 0.95, 3)
        ask = comparing(LAWS[law], strength, seed, 3)
        found, after = halved(low, low + width, 1.0, times, ask, near)
        lost, asked = lost + int((np.abs(found) > 5).sum()), asked + after
    assert lost <= stats.binom.isf(1e-6, 150, 0.01)
    assert asked < 50 * times * (0.9 if law == "normal" and octaves > 5 else 1.01)


def test_halving_without_noise_ends_at_the_median():
    table = np.sort(np.random.default_rng(3).integers(0, 2**30, (3, 501)), axis=1).astype(float)

    def ask(place):
        return (table > place[:, None]).sum(axis=1) - (table <= place[:, None]).sum(axis=1), 0.0

    found, _ = halved(np.zeros(3), np.full(3, 2.0**30), 501.0, 60, ask)
    ranks = (table < found[:, None]).sum(axis=1)
    assert (np.abs(ranks - 250) <= 3).all()


def test_scales_are_drawn_together_as_far_as_noise_explains():
    noise = np.random.default_rng(4).normal(size=200) * 0.1
    assert np.ptp(drawn_together(noise, 0.2)) == 0
    apart = np.linspace(0, 10, 200)
    assert np.abs(drawn_together(apart, 0.1) - apart).max() < 0.02
    assert drawn_together(apart[:3], 9.0).tolist() == apart[:3].tolist()


LATTICE = np.rint(np.random.default_rng(5).normal(size=(900, 3)))


@pytest.mark.parametrize("table", [np.full((900, 3), 7.0), LATTICE], ids=["equal", "lattice"])
def test_few_rows_are_halved_and_lattices_too(table):
    release = hm.robust_location(table, epsilon=1, delta="1e-6", radius=100)
    assert np.abs(np.array(release.value) - np.median(table, axis=0)).max() < 0.5


def test_choices_are_taken_where_they_cost_little():
    few, many = (Budget.plan(n, 20, hm.GDP("0.1"), 20.0, 1) for n in (8000, 10**6))
    assert few.halved
    assert not many.halved
    assert few.medians < Budget.plan(2000, 20, hm.GDP("0.1"), 20.0, 1).medians


def test_a_length_drawn_from_before_the_outliers_does_not_keep_them():
    """A quarter at 10 deviations in 50 columns: their length, held to 6 scales, is 6 root 50."""
    assert 7.5 < rejected(50, 7.1, 6.5) < 20
    assert rejected(50, 30.8, 5.0) < 20 < 6 * 50**0.5
