"""Choices among groups of equal candidates: their law, exactness at far magnitudes, refusals."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from halfmask.errors import InvalidQuery
from halfmask.noise import categorical, secure_words, seeded_words, weighted
from halfmask.noise.weighted import Groups, _exact_ceiling

COUNT = 200_000
ALARM = 1e-6
CASES = {
    "few": ([3, 1, 0, 50], [0, -1, 5, -3], 1),
    "far counts": ([3, 1, 10**40, 7], [0, 1, -92, -2], 1),
    "far scores": ([5, 2, 9], [10**30, 10**30 - 2, 0], Fraction(1, 3)),
    "flat": ([1, 2, 3, 4], [7, 7, 7, 7], 5),
    "no rate": ([10**30, 3 * 10**30], [0, -(10**9)], 0),
}


def masses(counts, scores, rate):
    best = max(score for score, count in zip(scores, counts, strict=True) if count)
    weights = [
        count * exp(float(rate * (score - best))) if count else 0.0
        for score, count in zip(scores, counts, strict=True)
    ]
    return np.array(weights) / sum(weights)


def p_value(drawn, probabilities):
    seen = np.bincount(drawn, minlength=len(probabilities))
    kept = probabilities * COUNT > 5
    if seen[~kept].sum() > 50:
        return 0.0
    expected = probabilities[kept] / probabilities[kept].sum() * seen[kept].sum()
    return stats.chisquare(seen[kept], expected).pvalue if kept.sum() > 1 else 1.0


@pytest.mark.parametrize("name", CASES)
def test_an_index_is_drawn_by_its_count_times_its_weight(name):
    """False alarm 1e-6."""
    counts, scores, rate = CASES[name]
    drawn = weighted(counts, scores, rate, COUNT, secure_words())
    assert p_value(drawn, masses(counts, scores, rate)) > ALARM


@pytest.mark.parametrize("factor", [Fraction(2, 3), Fraction(3, 2)])
def test_a_wrong_rate_is_seen(factor):
    counts, scores, rate = CASES["few"]
    drawn = weighted(counts, scores, rate * factor, COUNT, secure_words())
    assert p_value(drawn, masses(counts, scores, rate)) < ALARM


def test_a_count_that_is_left_out_is_seen():
    counts, scores, rate = CASES["few"]
    drawn = categorical([s for s, c in zip(scores, counts, strict=True) if c], rate, COUNT)
    assert p_value(drawn, np.delete(masses(counts, scores, rate), 2)) < ALARM


@given(
    st.lists(st.tuples(st.integers(1, 10**25), st.integers(-40, 40)), min_size=1, max_size=30),
    st.fractions(0, 3, max_denominator=50),
)
@settings(max_examples=60, deadline=None)
def test_integer_weights_are_exact_ceilings(pairs, rate):
    """Floats decide only what they are sure of: the naive twin takes integers throughout."""
    counts, scores = (np.array(side, dtype=object) for side in zip(*pairs, strict=True))
    groups = Groups(counts, scores.astype(np.int64), rate)
    twin = [_exact_ceiling(groups.exponent(i), groups.factor(i)) for i in range(len(pairs))]
    assert groups.ceilings.tolist() == [max(1, ceiling) for ceiling in twin]
    assert 2**18 < max(twin) <= 2**21


@given(
    st.lists(st.tuples(st.integers(1, 2**63 - 1), st.integers(-500, 0)), min_size=1, max_size=30),
    st.fractions(0, 3, max_denominator=50),
)
@settings(max_examples=60, deadline=None)
def test_what_is_far_behind_weighs_the_least_there_is(pairs, rate):
    """Of 64-bit counts, those far behind the best are not looked at: their ceiling is 1."""
    counts, scores = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    groups = Groups(counts, scores, rate)
    twin = [_exact_ceiling(groups.exponent(i), groups.factor(i)) for i in range(len(pairs))]
    assert groups.ceilings.tolist() == [max(1, ceiling) for ceiling in twin]


def test_the_same_words_give_the_same_choices():
    counts, scores, rate = CASES["few"]
    one, two = (weighted(counts, scores, rate, 50, seeded_words(5)) for _ in range(2))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize(
    ("counts", "scores"), [([], []), ([1], [1, 2]), ([0, 0], [1, 2]), ([-1, 2], [1, 2])]
)
def test_counts_that_are_none_are_refused(counts, scores):
    with pytest.raises(InvalidQuery):
        weighted(counts, scores, 1)


@pytest.mark.parametrize("rate", [-1, 2**65])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(InvalidQuery, match="rate"):
        weighted([1], [1], rate)
