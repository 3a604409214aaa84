"""Nested boxes: naive twins of depths, counts and points; the law of a release; its privacy.

Statistical tests draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.box_median import BoxMedian, NestedBoxes
from halfmask.noise import seeded_words

FALSE_ALARM = 1e-6
DRAWS = 3_000


def grid(lower, upper):
    ranges = (range(a, b + 1) for a, b in zip(lower, upper, strict=True))
    return list(itertools.product(*ranges))


def naive_depth(points, theta):
    if not len(points):
        return 0
    at = np.array(theta)
    return int(min((points <= at).sum(0).min(), (points >= at).sum(0).min()))


def naive_masses(points, places, rate):
    """By the score -2 max |rank - n/2| itself, in floats."""
    scores = np.array([2 * naive_depth(points, place) - len(points) for place in places])
    weights = np.exp(float(rate) * (scores - scores.max()))
    return weights / weights.sum()


def boxes_of(points, lower, upper):
    return NestedBoxes(np.sort(points.T, axis=1), tuple(lower), tuple(upper))


@st.composite
def small_data(draw):
    d, n = draw(st.integers(1, 3)), draw(st.integers(0, 7))
    lower = draw(st.lists(st.integers(-3, 0), min_size=d, max_size=d))
    upper = [a + draw(st.integers(0, 5)) for a in lower]
    rows = [[draw(st.integers(a, b)) for a, b in zip(lower, upper, strict=True)] for _ in range(n)]
    return np.array(rows, np.int64).reshape(n, d), lower, upper


@given(small_data())
@settings(max_examples=150, deadline=None)
def test_every_grid_point_is_listed_once_under_its_depth(data):
    """Also that boxes are nested: a list is made from two neighbouring boxes alone."""
    points, lower, upper = data
    boxes = boxes_of(points, lower, upper)
    listed = {
        boxes.point(k, place): k for k in range(boxes.depths) for place in range(boxes.count(k))
    }
    assert listed == {theta: naive_depth(points, theta) for theta in grid(lower, upper)}
    assert sum(boxes.count(k) for k in range(boxes.depths)) == len(listed)
    assert boxes.occupied.tolist() == [boxes.count(k) > 0 for k in range(boxes.depths)]


@given(
    st.integers(1, 60), st.integers(1, 30), st.integers(0, 58), st.integers(0, 2**32), st.booleans()
)
@settings(max_examples=60, deadline=None)
def test_logarithms_are_right_to_the_stated_error(d, n, log2_width, seed, ties):
    generator = np.random.default_rng(seed)
    points = generator.integers(-(2**log2_width), 2**log2_width + 1, (n, d))
    if ties:
        points = points[generator.integers(0, n, n)]
    boxes = boxes_of(points, [-(2**60)] * d, [2**60] * d)
    for k in np.flatnonzero(boxes.occupied).tolist():
        count = boxes.count(k)
        more = max(count.bit_length() - 900, 0)
        exact = math.log2(count >> more) + more
        assert abs(exact - boxes.logs[k]) <= boxes.error + exact * 2.0**-51


@given(small_data(), st.data())
@settings(max_examples=100, deadline=None)
def test_one_row_changes_every_score_by_at_most_one(data, more):
    points, lower, upper = data
    row = [more.draw(st.integers(a, b)) for a, b in zip(lower, upper, strict=True)]
    larger = np.concatenate([points, [row]]).astype(np.int64)
    for theta in grid(lower, upper):
        before = 2 * naive_depth(points, theta) - len(points)
        after = 2 * naive_depth(larger, theta) - len(larger)
        assert abs(before - after) <= 1


@pytest.mark.parametrize("moved", [1, 2])
def test_loss_is_at_most_epsilon_and_half_of_it_is_reached(moved):
    """McSherry & Talwar 2007, Thm 6, over all small data sets and their neighbours."""
    places, epsilon = grid([0, 0], [2, 1]), 1.5
    rate = BoxMedian([0, 0], [2, 1], moved, epsilon).rate
    worst = 0.0
    for n in range(1, 4):
        for rows in itertools.combinations_with_replacement(places, n):
            here = naive_masses(np.array(rows), places, rate)
            rest = np.array(rows[1:], np.int64).reshape(-1, 2)
            others = [rest] if moved == 1 else [np.vstack([rest, [p]]) for p in places]
            for other in others:
                there = naive_masses(other, places, rate)
                worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert epsilon / 2 <= worst <= epsilon + 1e-12


def agreement(seen, law):
    """The p-value of counts under a law; places expected fewer than 5 times are taken together."""
    expected = law * seen.sum()
    rare = expected < 5
    if rare.any():
        seen, expected = (np.append(x[~rare], x[rare].sum()) for x in (seen, expected))
        if expected[-1] < 5:
            seen[0], expected[0] = seen[0] + seen[-1], expected[0] + expected[-1]
            seen, expected = seen[:-1], expected[:-1]
    return chisquare(seen, expected).pvalue


CASES = {
    "plane": ([[0, 0], [3, 1], [1, 4], [1, 1], [5, 2]], [-1, 0], [6, 5], 1, 2),
    "replaced": ([[0, 0], [3, 1], [1, 4], [1, 1], [5, 2]], [-1, 0], [6, 5], 2, 3),
    "line with ties": ([[2], [2], [2], [7], [9], [9]], [0], [12], 1, 1),
    "all equal": ([[2, 2, 2]] * 5, [0, 0, 0], [4, 3, 4], 1, Fraction(1, 2)),
    "no rows": (np.empty((0, 2)), [0, 0], [4, 3], 1, 1),
}


def p_value(case, factor=1):
    rows, lower, upper, moved, epsilon = CASES[case]
    points, places = np.array(rows, np.int64), grid(lower, upper)
    mechanism = BoxMedian(lower, upper, moved, Fraction(epsilon) * factor)
    index = {place: i for i, place in enumerate(places)}
    seen = np.zeros(len(places))
    for _ in range(DRAWS):
        seen[index[mechanism.release(points)]] += 1
    rate = BoxMedian(lower, upper, moved, epsilon).rate
    return agreement(seen, naive_masses(points, places, rate))


@pytest.mark.parametrize("case", CASES)
def test_a_release_has_the_law_of_its_score(case):
    assert p_value(case) > FALSE_ALARM


@pytest.mark.parametrize("factor", [Fraction(2, 3), Fraction(3, 2)])
def test_a_wrong_epsilon_is_seen(factor):
    assert p_value("line with ties", factor) < FALSE_ALARM


def test_many_rows_and_coordinates_are_found_near_their_centre():
    points = np.rint(np.random.default_rng(0).normal(3, 1, (20_000, 50)) * 2**30).astype(np.int64)
    mechanism = BoxMedian([-(2**44)] * 50, [2**44] * 50, 1, 1)
    found = np.array(mechanism.release(points), float) / 2**30
    # mean and spread of the centre: 1.5 d^1.5 / (epsilon n) and sqrt(1.57 d/n), here 0.07 together
    assert np.linalg.norm(found - 3) < 0.2
    one, two = (mechanism.release(points[::step], seeded_words(1)) for step in (1, -1))
    assert one == two


def test_rows_outside_are_moved_to_the_box():
    mechanism = BoxMedian([0], [3], 1, 1)
    far, near = np.array([[-(10**15)], [10**15]]), np.array([[0], [3]])
    draws = [[mechanism.release(rows, seeded_words(i)) for i in range(20)] for rows in (far, near)]
    assert draws[0] == draws[1]


def test_nothing_moved_is_uniform():
    mechanism = BoxMedian([0], [9], 0, 1)
    drawn = [mechanism.release(np.zeros((5, 1), np.int64))[0] for _ in range(5000)]
    assert chisquare(np.bincount(drawn, minlength=10)).pvalue > FALSE_ALARM
    assert "uniform" in mechanism.law


def test_price_and_law():
    mechanism = BoxMedian([0], [9], 2, Fraction(1, 2))
    assert mechanism.cost.epsilon == Fraction(1, 2)
    assert mechanism.zcdp.rho == Fraction(1, 32)
    assert mechanism.law == "exponential mechanism over a grid of least ranks, scale 8"


@pytest.mark.parametrize(
    ("lower", "upper", "moved", "epsilon", "said"),
    [
        ([0], [1, 2], 1, 1, "box"),
        ([], [], 1, 1, "box"),
        ([3], [2], 1, 1, "box"),
        ([0.5], [2], 1, 1, "box"),
        ([0], [2**61], 1, 1, "box"),
        ([0], [1], -1, 1, "moved"),
        ([0], [1], 1, -1, "epsilon"),
        ([0], [1], 1, 0, "epsilon"),
    ],
)
def test_what_cannot_be_is_refused(lower, upper, moved, epsilon, said):
    with pytest.raises(InvalidQuery, match=said):
        BoxMedian(lower, upper, moved, epsilon)


@pytest.mark.parametrize("points", [np.zeros((3, 2), np.int64), np.zeros((3, 1)), np.zeros(3, int)])
def test_what_is_no_array_of_points_is_refused(points):
    with pytest.raises(InvalidQuery, match="points"):
        BoxMedian([0], [1], 1, 1).release(points)
