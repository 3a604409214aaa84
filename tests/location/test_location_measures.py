"""What is measured of points: how far a row moves it, where it stands, and choices."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfmask.errors import InvalidQuery
from halfmask.noise import seeded_words
from halfmask.plan import OnGrid, Points, counted
from halfmask.privacy import GDP, ZCDP, Pure
from halfmask.queries.location import Box, Frame, Medians, Radii, Scales, Signs, Total
from halfmask.queries.location.medians import spans

LOW, HIGH = -1000, 1000


def points(d):
    return Points(tuple(OnGrid(f"x{j}", LOW, HIGH, 0) for j in range(d)))


def frame(d):
    return Frame(tuple(3.25 - j for j in range(d)), tuple(0.7 + j for j in range(d)))


@st.composite
def tables(draw):
    """Few distinct coordinates: ties, the frame's centre, far points and bounds."""
    d = draw(st.integers(1, 4))
    cell = st.one_of(st.sampled_from([LOW, HIGH, 3, 0]), st.integers(-9, 9), st.integers(LOW, HIGH))
    n = draw(st.integers(0, 12))
    return draw(arrays.arrays(np.int64, (n, d), elements=cell)), draw(
        arrays.arrays(np.int64, (1, d), elements=cell)
    )


def signs(d, **changes):
    given = {"cut": 1.5, "core": 0.8, "outer": 4.0} | changes
    return Signs(points(d), 1, ZCDP("0.1"), frame(d), **given)


LADDERS = {
    "scales": lambda d: Scales(points(d), 1, ZCDP("0.1"), frame(d), 2000.0),
    "radii": lambda d: Radii(points(d), 1, ZCDP("0.1"), frame(d), (6.0, 1.5)),
}


@given(tables(), st.sampled_from([0.0, 0.8, 3.0]), st.sampled_from([0.5, 4.0, math.inf]))
@settings(max_examples=150, deadline=None)
def test_a_row_moves_the_sum_of_directions_by_at_most_its_reach(drawn, core, outer):
    table, row = drawn
    one = signs(table.shape[1], core=core, outer=outer)
    before, after = one.sums(table), one.sums(np.vstack([table, row]))
    moved = [b - a for a, b in zip(before, after, strict=True)]
    assert sum(m * m for m in moved) <= one.reach.l2_squared
    assert sum(map(abs, moved)) <= one.reach.l1


@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_the_reach_holds_even_in_a_frame_that_makes_no_numbers():
    """None has a scale of 0; the bound does not hang on that."""
    one = replace(signs(2), frame=Frame((0.0, 0.0), (0.0, 1.0)))
    for row in ([0, 0], [0, 9], [5, 5]):
        moved = one.sums(np.array([row]))
        assert sum(m * m for m in moved) <= one.reach.l2_squared


@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_row_counts_the_same_wherever_it_stands(drawn):
    """To the last bit: alone, and among rows that fill blocks of other lengths."""
    table, row = drawn
    d = table.shape[1]
    alone = signs(d).sums(row)
    filler = np.vstack([table, np.tile(row, (37, 1)), table[::-1]])
    rest = signs(d).sums(np.vstack([table, table[::-1]]))
    together = signs(d).sums(filler)
    assert [t - r for t, r in zip(together, rest, strict=True)] == [37 * a for a in alone]


def test_blocks_cut_rows_anywhere(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.integers(LOW, HIGH, (100, 3))
    whole = signs(3).sums(table)
    for entries in (1, 3, 9, 50, 299):
        monkeypatch.setattr("halfmask.queries.location.standard.ENTRIES", entries)
        assert signs(3).sums(table) == whole


def test_directions_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    table = rng.integers(-9, 9, (50, 3))
    one, at = signs(3), frame(3)

    def psi(y):
        v = np.clip(y, -1.5, 1.5)
        return v / max(np.linalg.norm(v), one.core)

    total, slope, kept = np.zeros(3), 0.0, 0
    for x in table:
        y = (x - np.array(at.centre)) / np.array(at.scales)
        if np.linalg.norm(np.clip(y, -6, 6)) <= one.outer:
            ahead = (psi(y + h)[j] - psi(y - h)[j] for j, h in enumerate(1e-6 * np.eye(3)))
            total, slope, kept = total + psi(y), slope + sum(ahead) / 6e-6, kept + 1
    (pull,) = one.read([one.sums(table)])
    assert kept > 5
    assert np.allclose(pull.total, total, atol=50 * 2.0**-20)
    assert abs(pull.slope - one.core * slope) < 50 * 2.0**-16 + 1e-6


@pytest.mark.parametrize("name", LADDERS)
@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_row_moves_every_score_of_a_ladder_by_at_most_one(name, drawn):
    table, row = drawn
    ladder = LADDERS[name](table.shape[1])
    moved = ladder.scores(np.vstack([table, row])) - ladder.scores(table)
    assert np.abs(moved).max() <= 1


@pytest.mark.parametrize("name", LADDERS)
def test_a_ladder_scores_what_its_rungs_stand_for(name):
    """Each the lengths up to half a rung above it, in logarithms."""
    rng = np.random.default_rng(2)
    table, ladder = rng.integers(-50, 50, (80, 3)), LADDERS[name](3)
    at = frame(3)
    y = (table - np.array(at.centre)) / np.array(at.scales)
    if name == "scales":
        lengths = np.abs(y).T
    else:
        lengths = np.array([np.linalg.norm(np.clip(y, -cut, cut), axis=1) for cut in (6.0, 1.5)])
    half = 2 ** (0.5 / 8)
    twin = [[int((one < rung * half).sum()) for rung in ladder.rungs] for one in lengths]
    assert ladder.below(table).tolist() == twin
    for below, scores in zip(twin, ladder.scores(table).tolist(), strict=True):
        pairs = zip([0, *below], below, strict=False)
        assert scores == [min(0, 80 - 2 * before, 2 * upto - 80) for before, upto in pairs]


@pytest.mark.parametrize("length", [0, 3, 20])
def test_equal_lengths_have_a_rung_of_their_own(length):
    """So that the scale of a constant column is known, wherever its centre lies."""
    table = np.full((50, 2), length)
    ladder = Scales(points(2), 1, ZCDP("0.1"), Frame((0.0, 0.0), (1.0, 1.0)), 2000.0)
    for scores in ladder.scores(table).tolist():
        assert sorted(scores)[-2:] == [-50, 0]
        assert max(length, 1) / 1.05 < ladder.rungs[scores.index(0)] < max(length, 1) * 1.05


@given(tables())
@settings(max_examples=150, deadline=None)
def test_runs_of_cells_cover_the_grid_with_the_scores_of_medians(drawn):
    table, row = drawn
    grid = OnGrid("x", LOW, HIGH, 0)

    def scores(column):
        starts, counts, values = spans(*counted(column), grid)
        assert (counts >= 0).all()
        assert (starts[0], counts.sum()) == (LOW, HIGH - LOW + 1)
        return np.repeat(values, counts)

    column = table[:, 0]
    found, cells = scores(column), np.arange(LOW, HIGH + 1)
    below = (column[:, None] < cells).sum(axis=0)
    upto = (column[:, None] <= cells).sum(axis=0)
    n = len(column)
    assert found.tolist() == (-np.maximum(0, np.maximum(2 * below - n, n - 2 * upto))).tolist()
    moved = scores(np.append(column, row[0, 0])) - found
    assert np.abs(moved).max() <= 1


@given(tables())
@settings(max_examples=40, deadline=None)
def test_medians_meet_their_epsilon_exactly(drawn):
    """The largest log ratio over all cells of one coordinate, between neighbours."""
    table, row = drawn
    grid = OnGrid("x", LOW, HIGH, 0)
    asked = Medians(Points((grid,)), 1, Pure(1))

    def law(column):
        _, counts, values = spans(*counted(column), grid)
        logs = np.repeat(values, counts) / float(asked.mechanism.scale)
        return logs - np.log(np.exp(logs - logs.max()).sum()) - logs.max()

    one, other = law(table[:, 0]), law(np.append(table[:, 0], row[0, 0]))
    assert np.abs(one - other).max() <= 1 + 1e-9


def test_equal_values_are_their_own_median():
    table = np.full((1000, 2), 41)
    asked = Medians(points(2), 1, Pure(2))
    (record,) = asked.release(table, seeded_words(1))
    assert record == (41, 41)


@pytest.mark.parametrize(
    ("price", "each"), [(Pure(1), Fraction(1, 2)), (ZCDP("0.25"), Fraction(1))]
)
def test_choices_share_a_price(price, each):
    assert Medians(points(2), 1, price).mechanism.epsilon == each


@pytest.mark.parametrize("price", [Pure("0.5"), ZCDP("0.1"), GDP("0.5")])
def test_a_total_is_a_count(price):
    total = Total(points(2), 2, price)
    (one,) = total.read(total.release(np.zeros((10**6, 2), np.int64), None))
    assert abs(one.value - 10**6) < 1000
    assert total.cost == price
    exact = Total(points(2), 0, price)
    assert exact.release(np.zeros((7, 2), np.int64), None) == [(7,)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((0, 0), "radius"),
        ((0, -1), "radius"),
        ((0, math.nan), "radius"),
        ((math.inf, 1), "center"),
        (("here", 1), "center"),
        (((0, 1), (1, 2, 3)), "radius"),
    ],
)
def test_boxes_that_are_none_are_refused(given, said):
    with pytest.raises(InvalidQuery, match=said):
        Box.about(*given)


def test_a_box_needs_a_bound_for_each_column():
    with pytest.raises(InvalidQuery, match="3 columns"):
        Box.about((0, 1), 5).of(["x", "y", "z"])
