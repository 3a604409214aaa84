"""Sums of outer products, turned frames, and the matrices read off them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from halfmask.noise import seeded_words
from halfmask.plan import OnGrid, Points
from halfmask.privacy import GDP, ZCDP, Approximate, Pure
from halfmask.procedures.location.elliptical import root_and_inverse, seen, unseen
from halfmask.queries.location import Frame, Outers, Radii, Signs, Whitened, with_trace
from halfmask.queries.location.outers import FINE, GAUSSIAN, LAPLACE
from halfmask.queries.location.standard import ENTRIES

LOW, HIGH = -1000, 1000


def points(d):
    return Points(tuple(OnGrid(f"x{j}", LOW, HIGH, 0) for j in range(d)))


def plain(d):
    return Frame(tuple(3.25 - j for j in range(d)), tuple(0.7 + j for j in range(d)))


def turned(d, seed=1):
    matrix = np.random.default_rng(seed).normal(size=(d, d)) + 2 * np.eye(d)
    return Whitened.by(plain(d), matrix), matrix


def outers(d, frame=None, **changes):
    given = {"moved": 1, "price": ZCDP("0.1"), "frame": frame or plain(d)} | changes
    return Outers(points(d), **given)


@st.composite
def tables(draw, rows=6, d=None):
    """Few distinct coordinates: ties, the frame's centre, far points and bounds."""
    d = d or draw(st.integers(1, 4))
    cell = st.one_of(st.sampled_from([LOW, HIGH, 3, 0]), st.integers(-9, 9), st.integers(LOW, HIGH))
    return draw(arrays.arrays(np.int64, (draw(st.integers(0, rows)), d), elements=cell))


@st.composite
def replaced_units(draw):
    """What stays, k rows that go, and k that come."""
    d = draw(st.integers(1, 4))
    k = draw(st.integers(1, 2))
    stays, gone, come = (draw(tables(d=d)) for _ in range(3))
    return stays, gone[:k], come[:k], k


FRAMES = {"plain": plain, "turned": lambda d: turned(d)[0]}


@pytest.mark.parametrize("name", FRAMES)
@given(
    replaced_units(),
    st.booleans(),
    st.sampled_from([1.5, 4.0, math.inf]),
    st.sampled_from([GAUSSIAN, LAPLACE]),
)
@settings(max_examples=150, deadline=None)
def test_no_unit_moves_the_sums_of_outer_products_beyond_the_reach(
    name, drawn, replaced, outer, weights
):
    """The privacy law: a unit of k rows comes, or is replaced by another."""
    stays, gone, come, k = drawn
    d = stays.shape[1]
    one = outers(
        d,
        FRAMES[name](d),
        moved=k * (1 + replaced),
        replaced=replaced,
        outer=outer,
        weights=weights,
    )
    before = one.sums(np.vstack([stays, gone]) if replaced else stays)
    after = one.sums(np.vstack([stays, come]))
    moved = [b - a for a, b in zip(before, after, strict=True)]
    assert sum(map(abs, moved)) <= one.reach.l1
    assert sum(m * m for m in moved) <= one.reach.l2_squared


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_reach_is_attained(d):
    """By one row on an axis, by two orthogonal ones, and in L1 by a row on the diagonal."""
    frame = Frame((0.0,) * d, (1.0,) * d)
    axes = np.eye(d, dtype=np.int64) * 100
    for replaced in (False, True):
        one = outers(d, frame, moved=1 + replaced, replaced=replaced)
        moved = np.array(one.sums(axes[:1]), dtype=object)
        if replaced:
            moved -= np.array(one.sums(axes[1:2]), dtype=object)
        assert sum(m * m for m in moved) >= Fraction(9999, 10_000) * one.reach.l2_squared
    diagonal = outers(d, frame, weights=LAPLACE)
    assert sum(diagonal.sums(np.full((1, d), 7))) >= 0.9999 * diagonal.reach.l1


def test_weights_above_the_diagonal_are_the_root_of_two_and_no_more():
    for (a, b), ideal in ((GAUSSIAN, 2 ** (1 / 2)), (LAPLACE, 2 ** (1 / 3))):
        assert b * b <= 2 * a * a
        assert abs(b / a - ideal) < 0.011


@pytest.mark.parametrize("name", FRAMES)
@given(tables(rows=12, d=3), tables(rows=1, d=3))
@settings(max_examples=60, deadline=None)
def test_a_row_counts_the_same_wherever_it_stands(name, table, row):
    """To the last bit: alone, and among rows that fill blocks of other lengths."""
    one = outers(3, FRAMES[name](3), outer=4.0)
    alone = one.sums(row)
    rest = one.sums(np.vstack([table, table[::-1]]))
    together = one.sums(np.vstack([table, np.tile(row, (37, 1)), table[::-1]]))
    assert [t - r for t, r in zip(together, rest, strict=True)] == [37 * a for a in alone]


@pytest.mark.parametrize("d", [2, 30])
def test_blocks_of_a_turned_frame_cut_rows_anywhere(monkeypatch, d):
    """Exact products: no library's order of adding shows, in any measure of a turned frame."""
    table = np.random.default_rng(0).integers(LOW, HIGH, (100, d))
    frame = turned(d)[0]
    measures = [
        outers(d, frame, outer=40.0),
        Signs(points(d), 1, ZCDP("0.1"), frame, 1.5, 0.8, 40.0),
    ]
    whole = [one.sums(table) for one in measures]
    ladder = Radii(points(d), 1, ZCDP("0.1"), frame, (6.0,), 32)
    scores = ladder.scores(table)
    for entries in (1, d, 7 * d, 50 * d + 1):
        monkeypatch.setattr("halfmask.queries.location.standard.ENTRIES", entries)
        assert [one.sums(table) for one in measures] == whole
        assert (ladder.scores(table) == scores).all()


def test_products_of_a_turned_frame_are_those_of_whole_numbers():
    """Beside unbounded integers: the longest rows and directions that there may be."""
    d = 40
    frame, _ = turned(d)
    largest = max(sum(n * n for n in row) for row in frame.matrix)
    assert math.isqrt(largest) <= 2**26 + math.isqrt(d) // 2 + 1
    table = np.random.default_rng(3).integers(LOW, HIGH, (50, d))
    (inner,) = plain(d).blocks(table)
    length = np.sqrt((inner * inner).cumsum(axis=0)[-1])
    u = np.rint(inner * (2.0**26 / length)).astype(object)
    twin = np.array(frame.matrix, dtype=object) @ u.astype(np.int64).astype(object)
    (found,) = frame.blocks(table)
    assert (found == twin.astype(float) * (length * (frame.unit / 2.0**26))).all()


@given(tables(rows=12, d=3))
@settings(max_examples=60, deadline=None)
def test_a_turned_frame_multiplies_by_its_matrix(table):
    frame, matrix = turned(3)
    (found,) = frame.blocks(table) if len(table) else (np.zeros((3, 0)),)
    y = ((table - np.array(frame.centre)) / np.array(frame.scales)).T
    assert np.allclose(found, matrix @ y, rtol=0, atol=1e-6 * np.linalg.norm(y, axis=0))


def test_sums_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    table = rng.integers(-9, 9, (200, 3))
    one = outers(3, outer=4.0)
    at, total = one.frame, np.zeros((3, 3))
    for x in table:
        y = (x - np.array(at.centre)) / np.array(at.scales)
        if np.linalg.norm(np.clip(y, -6, 6)) <= one.outer:
            total += np.outer(y, y) / (y @ y)
    (found,) = one.read([one.sums(table)])
    assert np.allclose(found.total, total, atol=200 * 2.0**-17)
    assert 10 < np.trace(total) < 200


def test_a_point_at_the_centre_counts_nothing():
    one = outers(2, Frame((5.0, 5.0), (1.0, 1.0)))
    assert one.sums(np.full((9, 2), 5)) == (0, 0, 0)
    (empty,) = one.read([(0, 0, 0)])
    assert np.allclose(empty.value, np.eye(2) / 2)


@pytest.mark.parametrize("price", [ZCDP("0.1"), GDP("0.5"), Approximate(1, "1e-6"), Pure(1)])
def test_noise_has_the_size_that_is_told(price):
    """Squares of 400 * 10 noises: false alarm 1e-6; scales off by 2/3 or 3/2 are rejected."""
    d, times = 4, 400
    one = outers(d, price=price).fitted
    made = one.read(
        [one.release(np.zeros((0, d), np.int64), seeded_words(s))[0] for s in range(times)]
    )
    own = np.array([np.diagonal(m.total) for m in made]).ravel()
    rest = np.array([m.total[np.triu_indices(d, 1)] for m in made]).ravel()
    ratio = one.weights[0] / one.weights[1]
    squares = np.concatenate([own, rest / ratio]) / (made[0].deviation * made[0].rows)
    kurtosis = 5.0 if isinstance(price, Pure) else 2.0  # variance of a square, in its mean's
    allowed = stats.norm.isf(5e-7) * math.sqrt(kurtosis / len(squares))
    assert abs((squares**2).mean() - 1) < allowed < min(1 - (2 / 3) ** 2, (3 / 2) ** 2 - 1)
    assert one.error == pytest.approx(
        np.sqrt(np.mean([np.linalg.norm(m.total) ** 2 for m in made])), rel=allowed
    )


def test_a_price_takes_the_weights_of_its_noise():
    assert outers(3, price=Pure(1)).fitted.weights == LAPLACE
    assert outers(3, price=ZCDP(1)).fitted.weights == GAUSSIAN
    assert outers(9, price=Approximate("0.5", "1e-6")).fitted.weights == GAUSSIAN
    assert outers(2, price=Approximate(9, "1e-12")).fitted.weights == LAPLACE


@pytest.mark.parametrize("price", [ZCDP("0.02"), Pure("0.5"), Approximate(1, "1e-6")])
def test_intervals_of_a_sign_matrix_cover(price):
    """Every entry of the exact mean in at least 90 % of 300 releases (false alarm 1e-6)."""
    table = np.random.default_rng(7).integers(LOW, HIGH, (400, 3)) * [1, 2, 1] // [1, 1, 3]
    table = np.clip(table, LOW, HIGH)
    one = outers(3, price=price).fitted
    exact = np.array(one.read([one.sums(table)])[0].total)
    exact /= np.trace(exact)
    held, times = np.zeros((3, 3)), 300
    for seed in range(times):
        (found,) = one.read(one.release(table, seeded_words(seed)))
        low, high = np.moveaxis(np.array(found.interval(0.9)), -1, 0)
        held += (low <= exact) & (exact <= high)
    assert held.min() >= stats.binom.ppf(1e-6, times, 0.9)


def test_an_interval_that_noise_drowns_is_all_that_can_be():
    (one,) = outers(2, price=ZCDP("1e-6")).read([(0, 0, 0)])
    assert one.interval() == (((0, 1), (-0.5, 0.5)), ((-0.5, 0.5), (0, 1)))


symmetric = st.integers(2, 5).flatmap(
    lambda d: arrays.arrays(float, (d, d), elements=st.floats(-3, 3))
)


@given(symmetric, st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_the_projection_is_the_nearest_matrix_of_its_kind(matrix, seed):
    """No matrix of the set lies on the far side of it (the condition of a projection)."""
    matrix = matrix + matrix.T
    d = len(matrix)
    found = with_trace(matrix, 1.0)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    assert np.trace(found) == pytest.approx(1)
    other = np.random.default_rng(seed).normal(size=(d, d))
    other = other @ other.T
    for one in (other / np.trace(other), np.diag(np.eye(d)[seed % d])):
        assert ((matrix - found) * (one - found)).sum() <= 1e-8


def test_directions_of_elliptical_points_have_the_eigenvalues_that_are_told():
    """Beside 400 000 points with normal and with Cauchy lengths; false alarm 1e-6 an entry."""
    values = np.array([100.0, 3.0, 1.0, 0.05])
    z = np.random.default_rng(4).normal(size=(400_000, 4)) * np.sqrt(values)
    squares = z**2 / (z**2).sum(axis=1, keepdims=True)
    error = squares.std(axis=0) / math.sqrt(len(z))
    assert (np.abs(squares.mean(axis=0) - seen(values)) < stats.norm.isf(5e-7) * error).all()


@given(arrays.arrays(float, st.integers(2, 8), elements=st.floats(-7, 7)))
@settings(max_examples=60, deadline=None)
def test_what_is_seen_is_unseen_again(logs):
    values = np.exp(logs)
    values /= values.sum()
    assert np.allclose(unseen(seen(values)), values, rtol=1e-4)


def test_two_eigenvalues_are_seen_as_their_roots():
    for ratio in (1.0, 9.0, 1e6):
        long, short = np.sqrt([ratio, 1.0])
        assert seen(np.array([ratio, 1.0]))[0] == pytest.approx(long / (long + short), rel=1e-9)


def test_a_root_and_its_inverse():
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])
    root, inverse = root_and_inverse(matrix)
    assert np.allclose(root @ root, matrix)
    assert np.allclose(root @ inverse, np.eye(2))


def test_the_fine_length_leaves_room_for_a_block():
    for d in (1, 2, 300):
        rows = max(1, ENTRIES // d)
        assert rows * (FINE + math.isqrt(d) // 2 + 2) ** 2 < 2**53
