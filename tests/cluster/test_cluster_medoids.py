"""Medoids of a catalogue: scores that a row can hardly move, choices that spend the price."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from halfmask.cluster import PrivateKMedoids
from halfmask.cluster.medoids import _choice
from halfmask.cluster.rows import Rows
from halfmask.cluster.savings import FAR, Savings
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Exponential
from halfmask.privacy import ZCDP, Approximate, Ledger
from halfmask.queries.cutting import FINE

CANDIDATES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [5.0, 5.0]])
PLACES = Rows.of(CANDIDATES, 2.0)


def scores(table, reach, medoids=(1, 3)):
    saved = Savings.of(Rows.of(table, 2.0), PLACES, reach)
    return np.array(saved.first([]) + saved.first(list(medoids)) + saved.swapped(list(medoids)))


def within(added):
    return (added >= 0).all() and (added <= FAR).all()


ROWS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.just(2)),
    elements=st.one_of(st.sampled_from([0.0, 1e308, np.nan, 1e-320]), st.floats(-3, 3)),
)


@given(ROWS, st.sampled_from([FINE / 1024, FINE / 2, 2.0 * FINE]))
@settings(max_examples=100, deadline=None)
def test_privacy_of_savings_a_row_moves_all_scores_one_way_by_at_most_far(table, reach):
    """Privacy of `Savings` and `PrivateKMedoids`: monotonic for rows that come or go."""
    whole, less = scores(table, reach), scores(table[1:], reach)
    assert within(whole - less)
    changed = scores(np.vstack([table[1:], np.ones((1, 2))]), reach)
    assert (np.abs(whole - changed) <= FAR).all()


def test_all_neighbours_on_a_small_grid():
    grid = np.array(list(itertools.product((-2.0, -1.0, 0.0, 0.5, 2.0), repeat=2)))
    alone = [scores(x[None], FINE / 2) for x in grid]
    assert max(one.max() for one in alone) == FAR
    for i, j in itertools.product(range(len(grid)), repeat=2):
        both = scores(grid[[i, j]], FINE / 2)
        assert (both == alone[i] + alone[j]).all()
        assert within(both - alone[i])


@pytest.mark.parametrize("medoids", [[2], [0, 0], [1, 3, 4]])
def test_scores_are_those_of_the_definition(medoids, monkeypatch):
    rng = np.random.default_rng(0)
    saved = Savings.of(Rows.of(rng.normal(size=(50, 2)), 2.0), PLACES, FINE / 2)
    monkeypatch.setattr("halfmask.cluster.savings._ENTRIES", 35)
    table = saved.distances.astype(int)
    m = len(CANDIDATES)

    def worth(chosen):
        return int((FAR - table[:, chosen].min(axis=1)).sum())

    assert saved.first(medoids) == [worth([*medoids, c]) for c in range(m)]
    places = itertools.product(range(len(medoids)), range(m))
    wanted = [worth([*medoids[:j], c, *medoids[j + 1 :]]) for j, c in places]
    assert saved.swapped(medoids) == wanted


@pytest.mark.parametrize("steps", [1, 7, 2000])
def test_choices_together_spend_the_price_and_no_more(steps):
    rho = Approximate(1, "1e-6").largest_zcdp()
    one, changed = (_choice(rho, steps, replaced) for replaced in (False, True))
    assert 1 - 1e-6 < one.zcdp.rho * steps / rho.rho <= 1
    assert changed.epsilon == one.epsilon
    assert changed.scale == 2 * one.scale


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_medoids_of_groups_that_are_apart_are_found(relation):
    rng = np.random.default_rng(0)
    X = CANDIDATES[rng.choice([1, 3], size=3000)] + rng.normal(scale=0.2, size=(3000, 2))
    ledger = Ledger(budget=ZCDP(1))
    one = PrivateKMedoids(
        2, 1, 1e-6, candidates=CANDIDATES, row_bound=8, reach=2, relation=relation, ledger=ledger
    ).fit(X)
    assert sorted(one.medoid_indices_.tolist()) == [1, 3]
    assert (np.sort(one.cluster_centers_, axis=0) == np.sort(CANDIDATES[[1, 3]], axis=0)).all()
    assert one.privacy_spent_ == Approximate(1, "1e-6").largest_zcdp()
    assert float(ledger.spent.rho) == pytest.approx(float(one.privacy_spent_.rho))


def test_exchanges_mend_a_poor_first_choice():
    """The best first medoid is the middle, which the best pair does without."""
    line = np.array([[-1.0], [0.0], [1.0]])
    X = np.repeat(line[[0, 2]], 500, axis=0)
    X = np.vstack([X, np.zeros((150, 1))])
    given = {"candidates": line, "row_bound": 1, "reach": 2}
    before = PrivateKMedoids(2, 10**5, 1e-6, swaps=0, **given).fit(X)
    after = PrivateKMedoids(2, 10**5, 1e-6, **given).fit(X)
    assert 1 in before.medoid_indices_
    assert sorted(after.medoid_indices_.tolist()) == [0, 2]


def test_the_choice_follows_the_exponential_law():
    """Of two candidates over 400 fits; false alarms 1e-6."""
    n, pair = 400, np.array([[0.0], [1.0]])
    X = np.array([[0.5 + 0.25]] * 3)
    law = _choice(Approximate(1, "1e-3").largest_zcdp(), 1, False)
    saved = Savings.of(Rows.of(X, 1.0), Rows.of(pair, 1.0), FINE).first([])
    assert isinstance(law, Exponential)
    chance = float(np.exp(law.log_mass(saved))[1])
    one = PrivateKMedoids(1, 1, 1e-3, candidates=pair, row_bound=1, swaps=0)
    hits = sum(int(one.fit(X).medoid_indices_[0]) for _ in range(n))
    assert abs(hits - n * chance) < 4.9 * np.sqrt(n * chance * (1 - chance))


@pytest.mark.parametrize(
    "X", [np.zeros((0, 2)), np.ones((1, 2)), np.full((9, 2), np.nan), np.full((9, 2), 1e308)]
)
def test_odd_tables_give_candidates_like_any_other(X):
    one = PrivateKMedoids(3, 1, 1e-6, candidates=CANDIDATES, row_bound=8).fit(X)
    assert set(one.medoid_indices_.tolist()) <= set(range(5))
    assert len(one.predict(X)) == len(X)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_clusters": 6}, "candidates: 5 given for 6 clusters"),
        ({"candidates": [[np.nan, 0.0]] * 3}, "candidates: one has a NaN"),
        ({"candidates": None}, "X: of type object"),
        ({"candidates": np.ones((4, 3))}, "X: 2 columns given, and candidates of 3"),
        ({"swaps": -1}, "swaps: must be a whole number from 0"),
        ({"reach": 0}, "reach: must be above 0"),
        ({"reach": 100}, "reach: must be at most 16"),
        ({"delta": 0}, "delta: 0 allows no zCDP noise"),
        ({"relation": "swap"}, "relation: unknown value"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is_charged(change, says):
    ledger = Ledger(budget=Approximate(10, "0.5"))
    given = {"n_clusters": 2, "epsilon": 1, "delta": 1e-6, "candidates": CANDIDATES}
    with pytest.raises(InvalidQuery, match=says):
        PrivateKMedoids(**(given | {"row_bound": 8, "ledger": ledger} | change)).fit(
            np.ones((9, 2))
        )
    assert not ledger.entries()
