"""The exact spatial median: enclosures, the certified bound, the law of a draw, its privacy.

Statistical tests draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from spatial_cases import (
    CASES,
    FALSE_ALARM,
    KINDS,
    agreement,
    box,
    float_lengths,
    masses,
    p_value,
)

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import SpatialMedian
from halfmask.mechanisms.spatial.cell import Cell
from halfmask.mechanisms.spatial.matrices import (
    certified_ratio,
    gram,
    inverse,
    is_positive,
    largest,
    least,
)
from halfmask.mechanisms.spatial.sums import UnitSum
from halfmask.noise import secure_words, seeded_words


def exact_length(points, theta, steps):
    """‖S‖ by mpmath."""
    with mp.workdps(60):
        total = [mpf(0)] * len(theta)
        for row in points:
            gap = [(int(x) - int(t)) * s for x, t, s in zip(row, theta, steps, strict=True)]
            length = mp.sqrt(sum(g * g for g in gap))
            if length:
                total = [a + g / length for a, g in zip(total, gap, strict=True)]
        return mp.sqrt(mp.fsum(a * a for a in total))


@given(st.integers(1, 5), st.integers(0, 40), st.integers(0, 50), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_lengths_of_sums_are_enclosed(d, n, log2_size, seed):
    generator = np.random.default_rng(seed)
    points = generator.integers(-(2**log2_size), 2**log2_size + 1, (n, d))
    theta = points[0] if n and seed % 2 else generator.integers(-3, 4, d)
    steps = tuple(generator.integers(1, 1000, d).tolist())
    exact, total = exact_length(points, theta, steps), UnitSum(points, theta, steps)
    for low, high in (total.near, total.within(40), total.within(150)):
        with mp.workdps(60):
            ends = [mpf(end.numerator) / end.denominator for end in (low, high)]
            assert ends[0] - mpf(10) ** -50 <= exact <= ends[1] + mpf(10) ** -50
    low, high = total.within(150)
    assert high - low <= Fraction(1 + n * 4 * (d + 1), 2**149)


@given(st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_eigenvalue_bounds_hold_and_are_close(d, seed):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(d + 3, d)) * np.exp(generator.normal(size=d))
    matrix, error = gram(rows)
    values = np.linalg.eigvalsh(rows.T @ rows)
    assert np.abs(np.linalg.eigvalsh(matrix - rows.T @ rows)).max() <= error + 1e-12
    assert error < 1e-4 * np.trace(matrix)
    exact = np.linalg.eigvalsh(matrix)
    assert largest(matrix) >= exact[-1] >= largest(matrix) / 1.01
    assert least(matrix) <= exact[0] <= least(matrix) * 1.1 + 1e-9 * values[-1]
    assert np.allclose(inverse(matrix) @ matrix, np.eye(d), atol=1e-6 * values[-1] / values[0])
    assert is_positive(matrix)
    assert not is_positive(matrix, float(exact[0]) * 1.01 + 1e-9)
    other = generator.normal(size=(d, d))
    m = other @ other.T + np.eye(d) / 10
    m = (m + m.T) / 2
    ratio = certified_ratio(matrix, error, m, 1.0)
    z = generator.normal(size=(2000, d))
    z /= np.linalg.norm(z, axis=1)[:, None]
    mz = z @ m
    assert (((mz @ matrix) * mz).sum(1) - error * (mz**2).sum(1)).min() >= (
        ratio * np.linalg.norm(mz, axis=1)
    ).min() * (1 - 1e-9)
    assert ((((mz @ matrix) * mz).sum(1)) / np.linalg.norm(mz, axis=1)).min() >= ratio * (1 - 1e-9)
    assert ratio >= 0
    exactly = np.linalg.eigvalsh(matrix)[0]
    assert exactly * 0.9 <= certified_ratio(matrix, 0.0, np.eye(d), 1.0) <= exactly or (
        exactly < np.trace(matrix) / d / 100
    )
    assert certified_ratio(matrix - 2 * np.eye(d) * exact[-1], error, m, 1.0) == -np.inf


@given(
    st.sampled_from(sorted(KINDS)), st.integers(1, 6), st.integers(0, 80), st.integers(0, 2**32),
    st.sampled_from([2, 2**10, 2**30]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_bound_is_below_the_score_everywhere(kind, d, n, seed, scale):
    """At random points of every shell, as they are rounded: the slack is never negative."""
    generator = np.random.default_rng(seed)
    rows = np.rint(KINDS[kind](generator, n, d) * scale).astype(np.int64)
    edge = 64 * scale
    median = SpatialMedian([-edge] * d, [edge] * d, 1, 1, generator.integers(1, 4, d).tolist())
    proposals = median.proposals(rows)
    levels = proposals.levels
    assert (np.diff(levels) >= 0).all()
    words = seeded_words(seed)
    for shell in generator.integers(0, levels.size, 40).tolist():
        place = proposals._propose(shell, words)
        if place is not None and place != tuple(proposals.centre.tolist()):
            length = float_lengths(proposals.points, [place], median.steps)[0] if n else 0.0
            assert levels[shell] / 2**20 <= length + 1e-9 * n


@pytest.mark.parametrize("case", CASES)
def test_a_draw_has_the_law_of_its_score(case):
    assert p_value(case, SpatialMedian.proposals) > FALSE_ALARM


@pytest.mark.parametrize("factor", [Fraction(2, 3), Fraction(3, 2)])
def test_a_wrong_epsilon_is_seen(factor):
    assert p_value("line", SpatialMedian.proposals, factor, 1500) < FALSE_ALARM


@pytest.mark.parametrize("case", CASES)
def test_the_law_that_auditors_get_is_the_law_of_the_score(case):
    rows, lower, upper, moved, epsilon, steps = CASES[case]
    points, places = np.array(rows, np.int64), box(lower, upper)
    median = SpatialMedian(lower, upper, moved, epsilon, steps)
    found = median.log_masses(points)
    assert list(found) == places
    law = np.log(masses(points, places, steps, median.rate))
    assert np.allclose(list(found.values()), law, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 20])
def test_few_rows_in_many_coordinates_take_few_proposals(n):
    """A ball that holds the box is 10^28 times larger than it: far points come from the box."""
    rows = np.random.default_rng(n).integers(-(2**30), 2**30, (n, 50))
    median = SpatialMedian([-(2**40)] * 50, [2**40] * 50, 1, 1)
    proposals, words = median.proposals(rows), secure_words()
    assert any(proposals.attempt(words) is not None for _ in range(100))


def test_a_fine_grid_has_the_law_of_its_score():
    """Where the bound is at work: a grid of a million points, cut into 4 x 4 parts."""
    rows = np.rint(np.random.default_rng(3).normal(size=(60, 2)) * 100).astype(np.int64)
    median = SpatialMedian([-480, -480], [479, 479], 1, Fraction(4, 5))
    proposals = median.proposals(rows)
    drawn = np.array([proposals.draw() for _ in range(300)])
    fine = np.arange(-480, 480, 6) + 2
    places = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1).reshape(-1, 2)
    law = masses(rows, places, [1, 1], median.rate)
    edges = np.array([-480, -24, 0, 24, 480])
    expected = np.histogram2d(*places.T, [edges, edges], weights=law)[0].ravel()
    seen = np.histogram2d(*drawn.T, [edges, edges])[0].ravel()
    assert agreement(seen, expected) > FALSE_ALARM


@pytest.mark.parametrize("moved", [1, 2])
def test_loss_is_at_most_epsilon_and_a_third_of_it_is_reached(moved):
    """McSherry & Talwar 2007, Thm 6, over all small data sets and their neighbours."""
    places, epsilon = box([0, 0], [2, 1]), 1.5
    rate = SpatialMedian([0, 0], [2, 1], moved, epsilon).rate
    worst = 0.0
    for n in range(1, 4):
        for rows in itertools.combinations_with_replacement(places, n):
            here = masses(np.array(rows), places, [1, 1], rate)
            rest = np.array(rows[1:], np.int64).reshape(-1, 2)
            others = [rest] if moved == 1 else [np.vstack([rest, [p]]) for p in places]
            for other in others:
                there = masses(other, places, [1, 1], rate)
                worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert epsilon / 3 <= worst <= epsilon + 1e-12


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_one_row_changes_every_score_by_at_most_one(d, n, seed):
    rows = np.random.default_rng(seed).integers(0, 4, (n, d))
    places = box([0] * d, [3] * d)
    with_row, without = (float_lengths(part, places, [1] * d) for part in (rows, rows[1:]))
    assert np.abs(with_row - without).max() <= 1 + 1e-12


def test_many_coordinates_take_few_proposals_and_the_same_words_give_the_same_point():
    generator = np.random.default_rng(0)
    rows = np.rint(generator.normal(size=(4000, 50)) * 2**30).astype(np.int64)
    median = SpatialMedian([-(2**40)] * 50, [2**40] * 50, 1, 1)
    proposals = median.proposals(rows)
    draws = [np.array(proposals.draw(seeded_words(i)), float) / 2**30 for i in range(5)]
    assert max(np.linalg.norm(draw) for draw in draws) < 0.5
    again = median.release(rows, seeded_words(3))
    assert again == proposals.draw(seeded_words(3))
    tried = [
        proposals._propose(int(s), seeded_words(9))
        for s in proposals.shells.draw(40, seeded_words(8)) % proposals.levels.size
    ]
    excess = float_lengths(rows, [t for t in tried if t is not None], [1] * 50)
    assert excess.min() > 0


@pytest.mark.parametrize("d", [1, 2, 10])
def test_equal_rows_and_lattices_are_answered(d):
    """The many rows at one grid point hold nearly all chances there."""
    generator = np.random.default_rng(d)
    equal = np.full((500, d), 7 << 20)
    lattice = np.clip(np.rint(generator.normal(size=(3000, d))), -2, 2).astype(np.int64) << 20
    for rows, expected in ((equal, 7 << 20), (lattice, 0)):
        median = SpatialMedian([-(2**40)] * d, [2**40] * d, 1, 4)
        found = np.array(median.release(rows, seeded_words(d)))
        assert np.abs(found - expected).max() < 2**19
    assert (np.array(median.release(equal, seeded_words(d))) == 7 << 20).all()


@given(
    st.lists(st.tuples(st.integers(1, 2**40), st.integers(1, 2**40)), min_size=1, max_size=9),
    st.integers(-10, 60),
)
@settings(max_examples=60, deadline=None)
def test_the_share_of_a_cell_is_enclosed(pairs, k):
    diagonal, steps = zip(*pairs, strict=True)
    cell, d = Cell(diagonal, k, steps), len(pairs)
    with mp.workdps(80):
        ball = mp.pi ** (mpf(d) / 2) / mp.gamma(mpf(d) / 2 + 1)
        stretched = mp.fprod(mpf(x) / mpf(2) ** k for x in diagonal)
        share = mp.fprod(mpf(x) for x in steps) / stretched / ball
        shift, count = cell.count
        assert share * 2**shift <= count <= share * 2**shift * (1 + mpf(2) ** -60)
        for bits in (10, 64, 200):
            low, high = (mpf(end.numerator) / end.denominator for end in cell.share(bits))
            exact = share * 2**shift / count
            assert low - mpf(10) ** -70 <= exact <= high + mpf(10) ** -70
            assert high - low <= mpf(2) ** (4 - bits)


@pytest.mark.parametrize("steps", [[1], [1, 0], [1, 2**41], [1, 0.5]])
def test_steps_that_are_none_are_refused(steps):
    with pytest.raises(InvalidQuery, match="steps"):
        SpatialMedian([0, 0], [1, 1], 1, 1, steps)
