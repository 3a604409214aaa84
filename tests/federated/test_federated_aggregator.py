"""The aggregator: noise, price before updates, rounds, and every bad input."""

import copy
import math
import os
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats

from halfmask.errors import BudgetExhausted, InvalidQuery, LedgerError
from halfmask.federated import PrivateRobustAggregator
from halfmask.federated.steps import FINE
from halfmask.noise import seeded_words
from halfmask.privacy import GDP, ZCDP, Approximate, Ledger, Purse

ALARM = 1e-6


def aggregator(**changes):
    settings = {"rounds": 3, "population": 50, "radius": 1.0, "words": seeded_words(1)}
    settings = {"epsilon": 1, "delta": "1e-5"} | settings | changes
    return PrivateRobustAggregator(**settings)


def noise_alone(**changes):
    """The noise of a step, in parts: nobody came."""
    one = aggregator(inner_steps=1, step=1, warm_start=0, **changes)
    return one(np.zeros((0, 20_000))) * 50 * FINE, one.noise()


def follows(values, sigma):
    """Whether a chi-square test of the variance and a KS test of the shape pass at 1e-6."""
    scaled = values / sigma
    total = float((scaled**2).sum())
    low, high = stats.chi2.ppf([ALARM / 4, 1 - ALARM / 4], values.size)
    return low < total < high and stats.kstest(scaled, "norm").pvalue > ALARM / 2


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_the_noise_of_a_step_is_that_of_its_price(relation):
    """False alarms 1e-6; tells scales 2/3 and 3/2."""
    values, law = noise_alone(relation=relation, words=None)
    moved = 2 if relation == "replace" else 1
    mu = math.sqrt(Approximate(1, "1e-5").largest_gdp().squared / 3)
    assert float(law.scale) == pytest.approx(moved * FINE / mu, rel=1e-6)
    sigma = float(law.scale)
    assert follows(values, sigma)
    assert not follows(values, sigma * 2 / 3)
    assert not follows(values, sigma * 3 / 2)


def test_noise_is_whole_and_fresh():
    values, _ = noise_alone(words=None)
    assert np.abs(values - np.rint(values)).max() < 1e-3
    again, _ = noise_alone(words=None)
    assert np.abs(np.corrcoef(values, again)[0, 1]) < 6 / math.sqrt(values.size)


def test_steps_of_a_round_share_its_price():
    one, four = (aggregator(inner_steps=steps).noise() for steps in (1, 4))
    assert float(four.scale / one.scale) == pytest.approx(2, rel=1e-9)


def test_one_step_from_nowhere_is_a_clipped_noisy_mean():
    """DP-FedAvg as a special case: the mean of updates cut to the radius, over 50."""
    rng = np.random.default_rng(0)
    updates = rng.normal(size=(40, 6))
    one = aggregator(inner_steps=1, step=1, warm_start=0, epsilon=10**5, radius=2.0)
    length = np.linalg.norm(updates, axis=1, keepdims=True)
    cut = updates * np.minimum(1, 2.0 / length)
    assert np.allclose(one(updates), cut.sum(axis=0) / 50, atol=0.01)


def test_one_step_from_the_last_is_centred_clipping():
    updates = np.random.default_rng(0).normal(size=(50, 6)) + 2
    one = aggregator(inner_steps=1, step=1, warm_start=1, epsilon=10**5)
    last = one(updates)
    away = updates - last
    cut = away / np.maximum(1, np.linalg.norm(away, axis=1, keepdims=True))
    assert np.allclose(one(updates), last + cut.mean(axis=0), atol=0.01)


def test_many_steps_find_the_spatial_median_in_spite_of_attackers():
    rng = np.random.default_rng(0)
    updates = rng.normal(size=(50, 6)) + 2
    updates[:15] = -1e6
    one = aggregator(inner_steps=200, step=1, epsilon=10**6, radius=0.5)
    found = one(updates)
    pulls = updates - found
    pulls /= np.linalg.norm(pulls, axis=1, keepdims=True)
    assert np.linalg.norm(pulls.mean(axis=0)) < 0.05
    assert np.abs(found - 2).max() < 1.5


def test_the_whole_price_is_charged_before_updates_are_looked_at():
    ledger = Ledger(budget=Approximate(2, "2e-5"))
    one = aggregator(ledger=ledger)
    assert str(ledger.remaining) == "epsilon 2, delta 2e-5"

    class Watched(np.ndarray):
        def __getitem__(self, key):
            assert str(ledger.spent) == "epsilon 1, delta 1e-5"
            return super().__getitem__(key)

    for _ in range(3):
        one(np.zeros((4, 3)).view(Watched))
    assert str(ledger.spent) == "epsilon 1, delta 1e-5"
    (entry,) = ledger.entries()
    assert "rounds=3" in entry.query
    assert "population=50" in entry.query


@pytest.mark.parametrize("budget", [GDP(1), ZCDP(1)])
def test_ledgers_in_mu_and_rho_pay_in_mu(budget):
    ledger = Ledger(budget=budget)
    one = aggregator(ledger=ledger)
    one(np.zeros((4, 3)))
    mu = Approximate(1, "1e-5").largest_gdp()
    assert one.cost == mu
    assert ledger.spent.amounts[0] == pytest.approx(mu.in_measure(budget.measure).amounts[0])


def test_a_purse_pays_once():
    purse = Purse(Approximate(3, "1e-4"))
    one = aggregator(ledger=purse)
    one(np.zeros((4, 3)))
    one(np.zeros((4, 3)))
    assert purse.remaining.epsilon == 2


def test_a_ledger_that_has_too_little_stops_the_first_round():
    ledger = Ledger(budget=Approximate("0.5", "1e-5"))
    one = aggregator(ledger=ledger)
    for _ in range(2):
        with pytest.raises(BudgetExhausted):
            one(np.zeros((4, 3)))
    assert one.rounds_left == 3
    assert ledger.spent.epsilon == 0


def test_a_round_after_the_last_is_refused():
    one = aggregator(rounds=2)
    for _ in range(2):
        one(np.zeros((4, 3)))
    with pytest.raises(BudgetExhausted, match="all 2 were had; no update was looked at"):
        one(np.zeros((4, 3)))


@pytest.mark.parametrize(
    "updates",
    [
        np.zeros(3),
        np.zeros((2, 3, 4)),
        np.zeros((2, 0)),
        np.zeros((2, 3), dtype=complex),
        np.zeros((2, 3), dtype=bool),
        np.array([["a"]]),
        np.array([[None]]),
        [[1.0, 2.0], [1.0]],
        None,
    ],
    ids=str,
)
def test_what_is_no_table_of_numbers_is_refused_at_no_charge(updates):
    ledger = Ledger(budget=Approximate(1, "1e-5"))
    one = aggregator(ledger=ledger)
    with pytest.raises(InvalidQuery, match=r"updates: .* give an array"):
        one(updates)
    assert ledger.spent.epsilon == 0
    assert one.rounds_left == 3


def test_another_dimension_is_refused_and_costs_no_round():
    one = aggregator()
    one(np.zeros((4, 3)))
    with pytest.raises(InvalidQuery, match="4 parameters given after rounds of 3"):
        one(np.zeros((4, 4)))
    assert one.rounds_left == 2
    assert one(np.zeros((4, 3))).shape == (3,)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e308, -1e308])
def test_a_client_that_sends_no_vector_is_absent_and_nothing_is_said(bad):
    updates = np.random.default_rng(0).normal(size=(20, 3))
    poisoned = np.vstack([updates, [[0.0, bad, 1.0]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (aggregator()(poisoned) == aggregator()(updates)).all()


@pytest.mark.parametrize("clients", [0, 1, 49, 50, 51, 500])
def test_the_divisor_and_the_noise_do_not_depend_on_who_came(clients):
    """Each of them adds the same, and the same noise is added."""
    here = aggregator(inner_steps=1, step=1, warm_start=0)(np.tile([3.0, 4.0], (clients, 1)))
    nobody = aggregator(inner_steps=1, step=1, warm_start=0)(np.zeros((0, 2)))
    assert np.allclose(here - nobody, clients / 50 * np.array([0.6, 0.8]), atol=1e-6)


def test_below_a_rate_of_one_sample_must_draw_each_round():
    one = aggregator(sampling_rate="0.2", population=1000, words=None)
    with pytest.raises(InvalidQuery, match=r"call it, and give"):
        one(np.zeros((1, 2)))
    drawn = one.sample()
    assert (one.sample() == drawn).all()
    one(np.zeros((len(drawn), 2)))
    with pytest.raises(InvalidQuery, match=r"call it, and give"):
        one(np.zeros((1, 2)))
    assert set(one.sample()) != set(drawn)
    assert one.rounds_left == 2


def test_who_enters_is_drawn_by_independent_coins():
    """False alarms 1e-6; tells a rate of 2/3 and 3/2."""
    n, rate = 200_000, 0.2
    drawing = aggregator(sampling_rate=rate, population=n, delta=1e-7, words=None)
    counts = drawing.sample()
    assert (np.diff(counts) > 0).all()
    assert 0 <= counts.min() <= counts.max() < n
    low, high = stats.binom.ppf([ALARM / 2, 1 - ALARM / 2], n, rate)
    assert low <= len(counts) <= high
    for wrong in (2 / 3, 3 / 2):
        low, high = stats.binom.ppf([ALARM / 2, 1 - ALARM / 2], n, rate * wrong)
        assert not low <= len(counts) <= high
    gaps = np.diff(counts)
    assert abs((gaps == 1).mean() - rate) < 6 * math.sqrt(rate / len(gaps))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"population": 0}, "population: must be a whole number"),
        ({"population": 2.5}, "population: must be a whole number"),
        ({"radius": 0}, "radius: must be above 0"),
        ({"radius": math.nan}, "radius: must be finite"),
        ({"radius": "wide"}, "radius: must be a number"),
        ({"step": -1}, "step: must be above 0"),
        ({"warm_start": 1.5}, "warm_start: must be at most 1"),
        ({"inner_steps": 0}, "inner_steps: must be a whole number"),
        ({"inner_steps": True}, "inner_steps: must be a whole number"),
        ({"relation": "swap"}, "relation: unknown value 'swap'"),
        ({"relation": "replace", "sampling_rate": 0.5}, "not accounted for"),
        ({"epsilon": 0}, "epsilon: must be above 0"),
        ({"delta": 0}, "delta: 0 allows no Gaussian noise"),
        ({"ledger": 5}, "ledger: 5 given"),
        ({"epsilon": "1e-12", "delta": "1e-18"}, "mu: must be at least"),
        ({"epsilon": "1e-10", "delta": "1e-11"}, "scale: the noise would have scale"),
    ],
)
def test_settings_are_checked_at_once(change, says):
    with pytest.raises(InvalidQuery, match=says):
        aggregator(**change)


def test_no_copy_can_spend_twice():
    one = aggregator()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(LedgerError, match="a copy could spend"):
            copied(one)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_cannot_go_on():
    one = aggregator()
    child = os.fork()
    if child == 0:
        try:
            one(np.zeros((1, 2)))
        except LedgerError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_seed_is_told():
    assert aggregator().seeded
    assert "NOT PRIVATE" in repr(aggregator())
    assert not aggregator(words=None).seeded
    assert "NOT PRIVATE" not in repr(aggregator(words=None))


def test_only_those_who_were_drawn_may_come():
    """Else the price, which counts on the others' absence, would not hold."""
    sampled = aggregator(sampling_rate=0.2, population=50, delta=1e-5)
    drawn = sampled.sample()
    left = sampled.rounds_left
    with pytest.raises(InvalidQuery, match=f"50 given, and sample.. drew {len(drawn)} clients"):
        sampled(np.ones((50, 3)))
    assert sampled.rounds_left == left
    sampled(np.ones((len(drawn), 3)))


@pytest.mark.parametrize("clients", [-1, 3.5, True])
def test_a_number_of_clients_that_is_none_is_refused(clients):
    with pytest.raises(InvalidQuery, match="is no number of clients"):
        aggregator().sample(clients)


def test_a_delta_that_shows_a_client_is_refused():
    with pytest.raises(InvalidQuery, match="not below 1 / population"):
        aggregator(population=1000, delta=0.5)
