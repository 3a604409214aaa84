"""Counts made to agree: against dense least squares and scipy's solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, nnls

from halfmask.errors import InvalidQuery
from halfmask.queries.consistency import agreeing, nonnegative_agreeing, rising


@st.composite
def forests(draw):
    size = draw(st.integers(1, 12))
    parents = [
        draw(st.none() if i == 0 else st.one_of(st.none(), st.integers(0, i - 1)))
        for i in range(size)
    ]
    number = st.floats(-50, 50).map(lambda x: round(x, 3))
    values = draw(st.lists(number, min_size=size, max_size=size))
    spread = st.floats(0.1, 10).map(lambda x: round(x, 3))
    return values, draw(st.lists(spread, min_size=size, max_size=size)), parents


def membership(parents):
    """Which leaves each node holds."""
    size = len(parents)
    leaves = [i for i in range(size) if i not in parents]
    held = np.zeros((size, len(leaves)))
    for place, leaf in enumerate(leaves):
        node = leaf
        while node is not None:
            held[node, place] = 1
            node = parents[node]
    return held


@given(forests())
@settings(max_examples=150, deadline=None)
def test_agreeing_is_weighted_least_squares(forest):
    values, variances, parents = forest
    held = membership(parents)
    root = 1 / np.sqrt(variances)
    leaves = np.linalg.lstsq(held * root[:, None], np.array(values) * root, rcond=None)[0]
    assert np.allclose(agreeing(values, variances, parents), held @ leaves, atol=1e-6)


@given(forests())
@settings(max_examples=60, deadline=None)
def test_nonnegative_agreeing_is_the_constrained_optimum(forest):
    values, variances, parents = forest
    held = membership(parents)
    root = 1 / np.sqrt(variances)
    leaves, _ = nnls(held * root[:, None], np.array(values) * root)
    found = np.array(nonnegative_agreeing(values, variances, parents))
    assert found.min() >= 0
    assert np.allclose(found, held @ leaves, atol=1e-3)


@given(forests())
@settings(max_examples=150, deadline=None)
def test_rising_is_isotonic_regression(forest):
    values, variances, _ = forest
    found = rising(values, variances)
    known = isotonic_regression(values, weights=1 / np.array(variances)).x
    assert np.allclose(found, known, atol=1e-6)
    assert list(rising(values)) == sorted(rising(values))


def test_exact_and_unknown_counts():
    """An exact total is kept; an unknown part takes what the others leave."""
    assert agreeing([10, 4, 3], [0, 1, 1], [None, 0, 0]) == (10, 5.5, 4.5)
    assert agreeing([10, 4, 0], [1, 1, np.inf], [None, 0, 0]) == (10, 4, 6)
    assert agreeing([0, 4, 3], [np.inf, 1, 1], [None, 0, 0]) == (7, 4, 3)
    assert agreeing([], [], []) == ()


def test_agreement_takes_error_away():
    """A tree of 16 leaves: every node's mean square falls, the total's most."""
    parents = [None, *[(i - 1) // 2 for i in range(1, 31)]]
    noise = np.random.default_rng(3).laplace(size=(800, 31))
    after = np.array([agreeing(one, [2] * 31, parents) for one in noise])
    assert (np.mean(after**2, axis=0) < np.mean(noise**2, axis=0)).all()
    assert np.mean(after[:, 0] ** 2) < 0.6 * 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: agreeing([1, 2], [1, 1], [None]), "parents: 1 for 2"),
        (lambda: agreeing([1, 2], [1, 1], [1, None]), "parents: node 0"),
        (lambda: agreeing([1], [-1], [None]), "variances: "),
        (lambda: agreeing([1], [], [None]), "variances: "),
        (lambda: agreeing([float("nan")], [1], [None]), "values: "),
        (lambda: agreeing(["x"], [1], [None]), "values: "),
        (lambda: rising([1], [0]), "variances: "),
        (lambda: nonnegative_agreeing([1], [0], [None]), "variances: "),
    ],
)
def test_lists_that_do_not_fit_are_refused(call, said):
    with pytest.raises(InvalidQuery) as refused:
        call()
    assert str(refused.value).startswith(said)
