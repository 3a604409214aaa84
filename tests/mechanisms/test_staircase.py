"""What is true of staircase noise alone: the best step, the exact edges, the price it may carry."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import DiscreteLaplace, Staircase
from halfmask.privacy import GDP, ZCDP, Approximate, Pure


def naive_variance(width: int, first: int, epsilon: Fraction) -> float:
    k = np.arange(0, width * (int(60 / epsilon) + 3))
    mass = np.exp(-float(epsilon) * ((k + width - first) // width))
    mass[0] /= 2
    return float((mass * k.astype(float) ** 2).sum() / mass.sum())


@pytest.mark.parametrize("epsilon", ["0.2", "1", "3", "7"])
@pytest.mark.parametrize("width", [1, 2, 3, 10, 57])
def test_the_first_step_is_the_one_of_least_variance(width, epsilon):
    """Geng & Viswanath 2014, Thm 4, by brute force; and the variance falls, then rises."""
    mechanism = Staircase(width, epsilon)
    variances = [naive_variance(width, first, mechanism.epsilon) for first in range(1, width + 1)]
    assert mechanism.variance == pytest.approx(min(variances), rel=1e-11)
    assert variances[mechanism.first - 1] == pytest.approx(min(variances), rel=1e-11)
    turn = np.sign(np.diff(variances))
    assert np.all(np.diff(turn) >= 0)


@given(width=st.integers(1, 10**6), epsilon=st.fractions(Fraction(1, 100), 40))
@settings(max_examples=60, deadline=None)
def test_never_more_noise_than_laplace(width, epsilon):
    ours, laplace = Staircase(width, epsilon), DiscreteLaplace(width, epsilon)
    assert ours.standard_deviation <= laplace.standard_deviation * (1 + 1e-12)
    assert 1 <= ours.first <= width


def test_of_sensitivity_one_it_is_laplace_noise():
    k = np.arange(-50, 51)
    ours, laplace = Staircase(1, "0.7"), DiscreteLaplace(1, "0.7")
    assert np.allclose(ours.log_mass(k), laplace.log_mass(k), rtol=1e-13, atol=1e-13)


def test_the_edges_of_steps_are_exact_beyond_the_integers_of_floats():
    mechanism = Staircase(2**54 + 1, 5)
    edge = mechanism.first + 3 * mechanism.sensitivity
    for k in (edge, np.array([edge, edge - 1])):
        mass = np.atleast_1d(mechanism.log_mass(k))
        assert mass[0] == mechanism.log_mass(0) - 4 * 5
    assert mass[1] == mechanism.log_mass(0) - 3 * 5


def test_both_signs_and_both_parts_of_a_step_are_drawn_in_their_shares():
    """False alarm 1e-6: five deviations on each share. At epsilon 3 the parts differ most."""
    mechanism, draws = Staircase(8, 3), 40_000
    noise = np.array(mechanism.release([0] * draws))
    for event, mass in (
        (noise > 0, mechanism.tail(0) / 2),
        (np.abs(noise) < mechanism.first, 1 - mechanism.tail(mechanism.first - 1)),
        (noise == 0, math.exp(mechanism.log_mass(0))),
        (np.abs(noise) == 8, 2 * math.exp(mechanism.log_mass(8))),
    ):
        assert abs(event.sum() - draws * mass) <= 5 * math.sqrt(draws * mass * (1 - mass))


@pytest.mark.parametrize("kind", [DiscreteLaplace, Staircase])
def test_a_price_that_covers_the_epsilon_may_be_charged_for_it(kind):
    assert kind(3, 1).cost == Pure(1)
    for price in (Approximate(1, 1e-6), ZCDP("0.5"), GDP("1.3")):
        assert kind(3, 1, price).cost == price
        assert kind(3, 1, price).law == kind(3, 1).law
    for price in (Approximate("0.9", 1e-6), ZCDP("0.4"), GDP("1.2"), Pure("0.9")):
        with pytest.raises(InvalidQuery, match=r"^price: noise of epsilon 1 costs more than"):
            kind(3, 1, price)


def test_a_sensitivity_beyond_the_sampler_is_refused():
    assert Staircase(2**55, 1).first > 2**53
    with pytest.raises(InvalidQuery, match=r"^sensitivity: is above 2\^55"):
        Staircase(2**55 + 1, 10**6)
