"""What a price means to an attacker, against curves computed another way and real mechanisms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import DiscreteLaplace
from halfmask.privacy import GDP, ZCDP, Approximate, Meaning, Pure

PRICES = [
    Pure(1),
    Pure("0.1"),
    Approximate(1, 1e-6),
    Approximate("0.5", "0.01"),
    GDP("0.5"),
    GDP(2),
    ZCDP("0.125"),
    ZCDP(2),
]
ALL = pytest.mark.parametrize("price", PRICES, ids=str)
EXTREME = [Pure(10**6), GDP(1000), ZCDP(10**6), Pure("1e-12"), ZCDP("1e-12"), GDP("1e-12")]


@ALL
def test_errors_of_a_test_fall_convexly_and_alike_both_ways(price):
    """The curve of a price is convex, falls, lies below blind guessing, and is its own inverse."""
    meaning, rates = Meaning(price), np.linspace(0, 1, 41)
    misses = np.array([meaning.type_two(a) for a in rates])
    assert np.all(misses <= 1 - rates + 1e-12)
    assert np.all(np.diff(misses) <= 1e-12)
    assert np.all(np.diff(misses, 2) >= -1e-7)
    inside = [a for a in rates[1:-1] if meaning.type_two(a) > 1e-6]
    assert [meaning.type_two(meaning.type_two(a)) for a in inside] == pytest.approx(
        inside, abs=1e-6
    )


@ALL
def test_advantage_and_guess_are_the_best_over_a_fine_grid(price):
    meaning, rates = Meaning(price), np.linspace(0, 1, 801)
    misses = np.array([meaning.type_two(a) for a in rates])
    assert meaning.advantage == pytest.approx(np.max(1 - rates - misses), abs=5e-3)
    assert meaning.advantage >= np.max(1 - rates - misses) - 1e-9
    for prior in (0.01, 0.3, 0.5, 0.9):
        right = 1 - np.min(prior * misses + (1 - prior) * rates)
        assert right - 1e-9 <= meaning.guess(prior) <= right + 5e-3


def test_closed_forms():
    assert Meaning(Pure("0.7")).advantage == pytest.approx(math.tanh(0.35), abs=1e-9)
    assert Meaning(GDP("0.7")).advantage == pytest.approx(2 * stats.norm.cdf(0.35) - 1, abs=1e-9)
    both = (math.expm1(1) + 2e-2) / (math.e + 1)
    assert Meaning(Approximate(1, "0.01")).advantage == pytest.approx(both, abs=1e-9)
    assert Meaning(Pure(2)).posterior(0.5) == pytest.approx(math.e**2 / (1 + math.e**2))
    assert Meaning(ZCDP("0.02")).advantage <= math.sqrt(0.02 / 2)  # Pinsker's inequality


@given(st.floats(0.001, 0.999), st.sampled_from([0.1, 0.5, 1.0, 3.0]))
@settings(max_examples=40, deadline=None)
def test_what_implies_a_price_obeys_its_curve(rate, mu):
    """mu-GDP implies mu^2/2-zCDP, so no test of it beats that; likewise (epsilon, delta)."""
    gaussian = Meaning(GDP(mu))
    assert (
        Meaning(gaussian.price.in_measure("zcdp")).type_two(rate) <= gaussian.type_two(rate) + 1e-9
    )
    for delta in ("1e-9", "0.001", "0.1"):
        below = Meaning(gaussian.price.at_delta(delta)).type_two(rate)
        assert below <= gaussian.type_two(rate) + 1e-9


def test_a_mechanism_attains_the_curve_of_a_pure_price():
    """Likelihood tests of the exact law of discrete Laplace noise: on the curve, never below it."""
    mechanism = DiscreteLaplace(1, 1)
    support = np.arange(-60, 62)
    one, other = (np.exp([mechanism.log_mass(int(k - at)) for k in support]) for at in (0, 1))
    alarms = [float(one[support >= cut].sum()) for cut in support[1:-1]]
    misses = [float(other[support < cut].sum()) for cut in support[1:-1]]
    gaps = [b - Meaning(Pure(1)).type_two(min(a, 1.0)) for a, b in zip(alarms, misses, strict=True)]
    assert min(gaps) >= -1e-9
    assert min(gaps) <= 1e-9


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_the_loss_of_gaussian_noise_is_beyond_what_is_said_as_rarely_as_is_said(mu):
    """The loss is normal with mean mu^2/2 and deviation mu; the bound is at most 15 % wider."""
    for chance in ("0.01", "1e-6"):
        said = Meaning(GDP(mu)).loss(chance)
        exact = stats.norm.isf(float(chance), mu**2 / 2, mu)
        assert exact <= said <= 1.15 * exact + 0.15


@pytest.mark.parametrize("price", EXTREME, ids=str)
def test_extreme_prices_mean_certainty_or_nothing(price):
    meaning = Meaning(price)
    large = price.amounts[0] > 1
    assert meaning.advantage == pytest.approx(1.0 if large else 0.0, abs=1e-5)
    assert meaning.posterior(0.0) == 0.0
    assert meaning.posterior(1.0) == 1.0
    assert ("100.0 %" if large else "at most 50.") in meaning.in_words()


def test_a_delta_as_large_as_the_chance_leaves_no_bound():
    assert Meaning(Approximate(1, "1e-6")).posterior(0.01, "1e-6") == 1.0
    assert Meaning(Approximate(1, "1e-6")).posterior(0.01) < 0.06


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "0.5", True, None])
def test_what_is_no_chance_is_refused(value):
    with pytest.raises(InvalidQuery, match="no chance from 0 to 1"):
        Meaning(Pure(1)).type_two(value)
