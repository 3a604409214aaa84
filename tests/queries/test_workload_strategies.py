"""Workloads: strategies, their exact norms and errors, and the choice among them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.mechanisms import DiscreteGaussian, DiscreteLaplace
from halfmask.plan import Column, Keys, Schema
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation
from halfmask.queries import Setting
from halfmask.queries.workload.choice import choose, reach_of
from halfmask.queries.workload.gaussian import optimum
from halfmask.queries.workload.identity_plus import _error
from halfmask.queries.workload.load import MatrixLoad, RangeLoad
from halfmask.queries.workload.measured import combined
from halfmask.queries.workload.strategies import strategy

SETTING = Setting(Schema((Column("x", "real"), Column("g", "text"))), PrivacyUnit())
TEXTS = ["identity", "direct", "tree 2", "tree 3", "wavelet"]


def ranges(cells, pairs):
    starts, ends = np.array(pairs).T
    return RangeLoad(cells, starts, ends)


def every_range(cells):
    return ranges(cells, [(a, b) for a in range(cells) for b in range(a + 1, cells + 1)])


def dense(load):
    """The naive twin: coefficients by asking for each unit vector."""
    return np.array([load.answers(one) for one in np.eye(load.cells)]).T


@st.composite
def loads(draw):
    cells = draw(st.integers(1, 7))
    if draw(st.booleans()):
        pair = st.tuples(st.integers(0, cells - 1), st.integers(1, cells)).filter(
            lambda p: p[0] < p[1]
        )
        return ranges(cells, draw(st.lists(pair, min_size=1, max_size=6)))
    entry = st.integers(-4, 4)
    row = st.lists(entry, min_size=cells, max_size=cells)
    rows = draw(st.lists(row, min_size=1, max_size=5).filter(lambda m: np.any(m)))
    return MatrixLoad(np.array(rows, dtype=np.int64), draw(st.integers(0, 3)))


@given(loads(), st.data())
@settings(max_examples=100, deadline=None)
def test_loads_agree_with_their_naive_twin(load, data):
    W = dense(load)
    assert np.allclose(load.gram(), W.T @ W)
    root = np.random.default_rng(1).normal(size=(load.cells, load.cells))
    C = root @ root.T
    assert np.allclose(load.variances(C), np.diag(W @ C @ W.T), atol=1e-9)
    assert np.allclose(load.largest(), np.abs(W).max(axis=1)) or isinstance(load, RangeLoad)
    assert np.allclose(load.shares(), np.abs(W).mean(axis=1))
    merged = load.merged()
    counts = np.array(
        data.draw(st.lists(st.integers(0, 9), min_size=load.cells, max_size=load.cells))
    )
    held = np.zeros(merged.load.cells)
    for cell, place in enumerate(merged.index):
        if place >= 0:
            held[place] += counts[cell]
    assert np.allclose(merged.load.answers(held), W @ counts)
    columns = {tuple(c) for c in W.T if c.any()}
    assert merged.load.cells >= len(columns)
    assert isinstance(load, RangeLoad) or merged.load.cells == len(columns)


@given(loads(), st.sampled_from(TEXTS))
@settings(max_examples=100, deadline=None)
def test_norms_are_those_of_brute_force(load, text):
    known = strategy(text, load)
    columns = [tuple(c) for c in known.matrix.T.tolist()]
    zero = (0,) * len(known.matrix)
    assert known.norms.l1 == max(sum(map(abs, c)) for c in columns)
    assert known.norms.l2_squared == max(sum(x * x for x in c) for c in columns)
    pairs = itertools.product([*columns, zero], repeat=2)
    assert known.norms.apart_squared == max(
        sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a, b in pairs
    )


@given(loads(), st.sampled_from(TEXTS), st.sampled_from(list(Relation)), st.booleans(), st.data())
@settings(max_examples=150, deadline=None)
def test_no_unit_moves_a_strategy_beyond_its_reach(load, text, relation, grouped, data):
    """The privacy law, over all ways in which bounded units may spread over cells and groups."""
    known, rows, parts = strategy(text, load), 2, 3
    by = Keys("g", ["a", "b"]) if grouped else None
    setting = Setting(SETTING.schema, PrivacyUnit("u", rows, None, relation), by=by)
    reach = reach_of(known.norms, setting, parts)
    groups = 2 if grouped else 1
    size = groups * load.cells

    def unit():
        places = data.draw(st.lists(st.integers(0, size - 1), max_size=rows * parts))
        return np.bincount(places, minlength=size).reshape(groups, load.cells)

    one = unit()
    other = unit() if relation is Relation.REPLACE else np.zeros_like(one)
    moved = [known.matrix @ change for change in one - other]
    assert sum(int(np.abs(m).sum()) for m in moved) <= reach.l1
    assert sum(int((m**2).sum()) for m in moved) <= reach.l2_squared


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("relation", Relation)
def test_the_squared_reach_is_attained(text, relation):
    load = every_range(6)
    known = strategy(text, load)
    reach = reach_of(known.norms, Setting(SETTING.schema, PrivacyUnit(relation=relation)), 1)
    cells = [*np.eye(6, dtype=int), np.zeros(6, dtype=int)]
    others = cells if relation is Relation.REPLACE else [cells[-1]]
    moved = [known.matrix @ (a - b) for a in cells for b in others]
    assert max(int((m**2).sum()) for m in moved) == reach.l2_squared
    assert relation is Relation.REPLACE or max(int(abs(m).sum()) for m in moved) == reach.l1


@given(
    st.lists(st.integers(0, 2**70), min_size=5, max_size=5),
    st.lists(st.integers(-1, 2), min_size=5, max_size=5),
)
def test_exact_answers_are_those_of_unbounded_integers(counts, index):
    matrix = np.array([[1, -(2**22), 3], [0, 2**22, 2**22]])
    held = [sum(c for c, i in zip(counts, index, strict=True) if i == j) for j in range(3)]
    wanted = tuple(sum(int(a) * h for a, h in zip(row, held, strict=True)) for row in matrix)
    assert combined(matrix, np.array(index), counts) == wanted


@pytest.mark.parametrize(
    "price", [Pure(1), ZCDP("0.5"), GDP("0.3"), Approximate(1, "1e-6")], ids=str
)
@given(loads())
@settings(max_examples=25, deadline=None)
def test_never_worse_than_the_queries_themselves_or_a_histogram(price, load):
    """Each candidate's error by the naive formula: variance times squared norm of W A^+."""
    merged = load.merged().load
    chosen = choose(merged, SETTING, 1, price)
    W = dense(merged)
    for A in (np.eye(merged.cells), np.ldexp(W, load.bits if isinstance(load, MatrixLoad) else 0)):
        if isinstance(price, Pure):
            noise = DiscreteLaplace(int(abs(A).sum(axis=0).max()), 1).variance
        elif isinstance(price, ZCDP):
            noise = DiscreteGaussian(int((A**2).sum(axis=0).max()), "0.5").variance
        else:
            noise = math.inf
        naive = noise * float(((W @ np.linalg.pinv(A)) ** 2).sum())
        assert chosen.total <= naive * (1 + 1e-9)


def test_the_sum_of_variances_is_that_of_the_answers():
    for load in (every_range(9), MatrixLoad(np.array([[1, 2, 3], [5, 0, -1]]), 1)):
        chosen = choose(load, SETTING, 1, Pure(1))
        W, A = dense(load), chosen.strategy.matrix.astype(float)
        naive = chosen.mechanism.variance * ((W @ np.linalg.pinv(A)) ** 2).sum()
        assert math.isclose(chosen.total, naive, rel_tol=1e-6)


def test_the_gradient_is_that_of_differences():
    rng = np.random.default_rng(3)
    weights, root = rng.uniform(0, 1, (3, 8)), rng.normal(size=(5, 8))
    error, gradient = _error(weights, root.T @ root)
    A = np.vstack([np.eye(8), weights]) / (1 + weights.sum(axis=0))
    assert math.isclose(error, ((root @ np.linalg.pinv(A)) ** 2).sum(), rel_tol=1e-9)
    for place in np.ndindex(weights.shape):
        nudged = weights.copy()
        nudged[place] += 1e-6
        assert (
            abs((_error(nudged, root.T @ root)[0] - error) / 1e-6 - gradient[place]) < 1e-3 * error
        )


@pytest.mark.parametrize("cells", [4, 16, 64])
def test_the_gaussian_strategy_is_within_its_gap_of_the_optimum(cells):
    """The certificate: a lower bound for every strategy, by duality; the noise sees 1 % of it."""
    for load in (every_range(cells), ranges(cells, [(0, i) for i in range(1, cells + 1)])):
        _, error, lower = optimum(load.gram())
        assert lower <= error <= 1.02 * lower
        chosen = choose(load, SETTING, 1, ZCDP("0.02"))
        noise = chosen.total / chosen.mechanism.variance
        assert noise * chosen.strategy.norms.l2_squared <= 1.025 * lower


def test_optimised_strategies_beat_the_fixed_ones_on_all_ranges():
    load = every_range(128)
    chosen, gram = choose(load, SETTING, 1, Pure("0.1")), load.gram()
    fixed = [strategy(text, load) for text in ("identity", "tree 2", "tree 8", "wavelet")]
    least = min(s.total(gram) * 2 * (10 * s.norms.l1) ** 2 for s in fixed)
    assert chosen.total < least / 1.4


def test_one_query_is_answered_by_itself():
    chosen = choose(MatrixLoad(np.ones((1, 1), dtype=np.int64), 0), SETTING, 1, Pure(1))
    assert chosen.total == DiscreteLaplace(1, 1).variance
