"""What a row can add to the sums of a clustering: never more than is stated, wherever it stands."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfmask.cluster.rows import held
from halfmask.plan import Held
from halfmask.privacy import GDP
from halfmask.procedures.cluster.axes import Spread
from halfmask.procedures.cluster.cells import Cells, CellSums, shrunk
from halfmask.procedures.cluster.rows import Rows, Seen, nearest
from halfmask.queries.cutting import FINE, cut
from halfmask.queries.location import Frame

NASTY = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-200, 1e-30, 1e30, 1e153, 1e308, math.nan, math.inf]
PRICE = GDP(1)


@st.composite
def tables(draw, least=1):
    """Ties, zeros, and numbers at which floats break, among plain ones."""
    d = draw(st.integers(1, 6))
    value = st.one_of(st.sampled_from(NASTY), st.integers(-3, 3).map(float), st.floats(-9, 9))
    table = draw(arrays.arrays(np.float64, (draw(st.integers(least, 8)), d), elements=value))
    with np.errstate(over="ignore"):
        return table.astype(draw(st.sampled_from([np.float64, np.float32])))


def squared(vector):
    return sum(int(part) ** 2 for part in vector)


def difference(one, other):
    return [a - b for a, b in zip(one, other, strict=True)]


def centres_for(d):
    """Three whole places of at most FINE: the middle, one far off, and one beside it."""
    far = np.zeros(d)
    far[0] = FINE
    return np.stack([np.zeros(d), far, -far / 2])


def asked(rows, d, radius, weighed, replaced=False):
    """All that one vector tells: cells of the nearest centres, a low place for the last step."""
    centres = centres_for(d)
    cells = Cells(d, replaced, PRICE)
    return rows.total(CellSums(cells, centres, radius, weighed)).tolist()


SETTINGS = [(radius, weighed) for radius in (FINE / 512, 0.5 * FINE) for weighed in (False, True)]


@given(tables(), st.sampled_from([None, 1e-9, 2.0, 1e20]), st.sampled_from(SETTINGS))
@settings(max_examples=150, deadline=None)
def test_privacy_of_cells_a_row_moves_the_vector_by_its_reach(table, bound, case):
    """Privacy of `Cells`, for both relations: the exact squared distance in integers."""
    d = table.shape[1]
    other = np.vstack([table[1:], np.full_like(table[:1], -2)])
    whole, less, changed = (asked(Rows.of(t, bound), d, *case) for t in (table, table[1:], other))
    assert squared(difference(whole, less)) <= Cells(d, False, PRICE).reach_squared
    assert squared(difference(whole, changed)) <= Cells(d, True, PRICE).reach_squared


@pytest.mark.parametrize(("radius", "weighed"), SETTINGS)
def test_all_neighbours_on_a_small_grid_are_within_reach(radius, weighed):
    """Exhaustive: every row of a grid added to every other, and exchanged for every other."""
    grid = np.array(list(itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=2)))
    grid = grid[np.linalg.norm(grid, axis=1) <= 1]
    alone = [asked(Rows.of(x[None], 1.0), 2, radius, weighed) for x in grid]
    added, changed = (Cells(2, replaced, PRICE).reach_squared for replaced in (False, True))
    longest = max(map(squared, alone))
    assert 0.999 * added < longest <= added or weighed  # a far row weighs less
    for i, j in itertools.product(range(len(grid)), repeat=2):
        both = asked(Rows.of(grid[[i, j]], 1.0), 2, radius, weighed)
        assert both == [a + b for a, b in zip(alone[i], alone[j], strict=True)]
        assert squared(difference(alone[i], alone[j])) <= changed


@given(tables(), st.sampled_from([None, 2.0]))
@settings(max_examples=100, deadline=None)
def test_privacy_of_spread_a_row_moves_the_matrix_by_its_reach(table, bound):
    d = table.shape[1]
    middle = np.rint(centres_for(d)[2] / 3)
    other = np.vstack([table[1:], np.full_like(table[:1], -2)])
    for radius in (FINE / 512, 1.5 * FINE):
        whole, less, changed = (
            Spread(d, False, PRICE).sums(Rows.of(t, bound), middle, radius)
            for t in (table, table[1:], other)
        )
        assert squared(difference(whole, less)) <= Spread(d, False, PRICE).reach_squared
        assert squared(difference(whole, changed)) <= Spread(d, True, PRICE).reach_squared


def test_the_reach_of_a_matrix_is_nearly_reached_by_orthogonal_rows():
    """So noise of less would not do: sqrt(2) for rows exchanged, 1 for a row alone."""
    spread, zero = Spread(2, True, PRICE), np.zeros(2)
    one, other, turned = (
        spread.sums(Rows.of(np.array([x]), None), zero, 1.0)
        for x in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    )
    assert squared(difference(one, other)) > 0.999 * spread.reach_squared
    assert 0.99 * squared(one) < squared(turned) < 1.01 * squared(one)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_row_counts_the_same_wherever_it_stands(table):
    """Privacy of `Rows`: vectors, coordinates along axes, and cells are facts of single rows."""
    d = table.shape[1]
    axes = np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0][: max(1, d - 1)]
    together = Rows.of(table, 2.0)
    alone = [Rows.of(row[None], 2.0) for row in table]
    for find in (
        lambda rows: rows.vectors,
        lambda rows: rows.turned(axes).vectors,
        lambda rows: nearest(rows.vectors.astype(float), centres_for(d)),
    ):
        one_by_one = [find(rows) for rows in alone if len(rows.vectors)]
        assert (find(together) == np.concatenate([find(together)[:0], *one_by_one])).all()


def test_blocks_and_strides_cut_rows_anywhere(monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 7))
    wide = np.zeros((100, 14))
    wide[:, ::2] = table

    def all_sums(X):
        rows = Rows.of(X, 2.0)
        spread = Spread(7, False, PRICE).sums(rows, np.zeros(7), FINE / 3)
        return asked(rows, 7, FINE / 3, True), spread, rows.turned(np.eye(7)).vectors.tolist()

    whole = all_sums(table)
    assert all_sums(np.asfortranarray(table)) == whole
    assert all_sums(wide[:, ::2]) == whole
    for entries in (1, 50, 699):
        monkeypatch.setattr("halfmask.procedures.cluster.rows._ENTRIES", entries)
        assert all_sums(table) == whole


def test_points_of_a_table_add_what_held_rows_do():
    """The frame puts cells where the rows are: the same vectors, turned or not."""
    rng = np.random.default_rng(4)
    cells = rng.integers(-(2**20), 2**20, (300, 5))
    frame = Frame((0.0,) * 5, (2.0**20,) * 5)
    held, seen = Rows.of(cells / 2.0**20, 1.0), Seen(Held(cells), frame)
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    for rows, other, d in ((held, seen, 5), (held.turned(axes), seen.turned(axes), 3)):
        sums = CellSums(Cells(d, False, PRICE), centres_for(d), FINE / 3, True)
        assert rows.total(sums).tolist() == other.total(sums).tolist()
    spread = Spread(5, False, PRICE)
    middle = np.rint(centres_for(5)[2] / 3)
    assert spread.sums(held, middle, FINE / 2) == spread.sums(seen, middle, FINE / 2)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_unit_of_rows_moves_as_much_as_so_many_rows(replaced):
    one, three = Cells(5, replaced, PRICE), Cells(5, replaced, PRICE, 3)
    assert three.reach_squared == 9 * one.reach_squared
    one, three = Spread(5, replaced, PRICE), Spread(5, replaced, PRICE, 3)
    assert three.reach_squared == 9 * one.reach_squared


def naive(vectors, centres, radius, weight, weighed):
    """The same integers, row by row."""
    k, d = centres.shape
    pulls, weights, square = np.zeros((k, d), int), [0] * k, 0
    for x in vectors.astype(float):
        cell = min(
            range(k),
            key=lambda j: sum((int(a) - int(b)) ** 2 for a, b in zip(x, centres[j], strict=True)),
        )
        v = x - centres[cell]
        length = math.sqrt(squared(v))
        part = v[None].copy()
        cut(part, radius)
        pulls[cell] += part[0].astype(int)
        weights[cell] += int(weight * min(radius / max(length, radius), 1.0)) if weighed else weight
        square += squared(part[0]) // (FINE**2 // (FINE // 4))
    return [*pulls.ravel().tolist(), *weights, square]


@pytest.mark.parametrize("weighed", [False, True])
def test_sums_are_those_of_the_naive_twin(weighed):
    rng = np.random.default_rng(1)
    rows = Rows.of(rng.normal(size=(60, 3)), 2.0)
    got = asked(rows, 3, FINE / 3, weighed)
    weight = Cells(3, False, PRICE).weight
    assert got == naive(rows.vectors, centres_for(3), FINE / 3, weight, weighed)


def test_a_row_that_is_no_vector_is_left_out():
    table = np.ones((6, 3))
    table[1, 0], table[2, 1], table[3, 2] = math.nan, math.inf, 1e308
    for bound in (None, 2.0):
        assert Rows.of(table, bound).vectors.shape == (3, 3)
        assert np.isnan(held(table, bound)).any(axis=1).tolist() == [0, 1, 1, 1, 0, 0]


def test_the_weight_of_counts_makes_noise_matter_least():
    """Of S / N, S as long as it can be: (1 + a^2) (d + 1 / a^2), at the weight and beside it."""
    for d in (1, 15, 784):
        a = Cells(d, False, PRICE).weight / FINE
        least = (1 + a * a) * (d + 1 / (a * a))
        for other in (a / 2, a * 0.99, a * 1.01, a * 2):
            assert (1 + other**2) * (d + 1 / other**2) >= least * (1 - 1e-7)


def test_shrunk_vectors_err_less_than_noisy_ones():
    """James and Stein, where the true vector is short and where it is long."""
    rng = np.random.default_rng(2)
    for length in (0.0, 3.0, 30.0):
        true = np.zeros(10)
        true[0] = length
        noisy = true + rng.normal(size=(4000, 10))
        err = ((shrunk(noisy, 1.0) - true) ** 2).sum(axis=1).mean()
        assert err < ((noisy - true) ** 2).sum(axis=1).mean()
    assert (shrunk(noisy[:, :2], 1.0) == noisy[:, :2]).all()
