"""The exact loss of staircase noise: its price for one integer, more for two."""

import math
from fractions import Fraction

import numpy as np
import pytest

from halfmask.audit import exact_loss
from halfmask.mechanisms import DiscreteLaplace, Staircase

NOISES = [
    Staircase(width, Fraction(epsilon)) for width in (1, 2, 7, 40) for epsilon in ("1/3", "1", "4")
]


@pytest.mark.parametrize("mechanism", NOISES, ids=lambda m: m.law)
@pytest.mark.parametrize("shift", [1, 2, 5, 7, 40, 93])
def test_losses_are_those_of_the_whole_mass_function(mechanism, shift):
    """The naive twin: every integer of the support, one by one."""
    far = 45 * math.ceil(mechanism.scale) + 10 * shift + 50 * mechanism.sensitivity
    k = np.arange(-far, far + 1)
    p, q = mechanism.log_mass(k), mechanism.log_mass(k - shift)
    loss = exact_loss(mechanism, shift)
    assert abs(loss.epsilon - np.abs(p - q).max()) <= 1e-12 * max(1, loss.epsilon)
    for epsilon in (0, 0.1, 0.7, 1.5, 4):
        naive = math.fsum(np.maximum(np.exp(p) - np.exp(epsilon + q), 0))
        assert abs(loss.delta(epsilon) - naive) <= 1e-12
    for order in (1.01, 2, 5):
        terms = order * p + (1 - order) * q
        naive = (terms.max() + math.log(math.fsum(np.exp(terms - terms.max())))) / (order - 1)
        assert loss.renyi(order) == pytest.approx(naive, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("width", [1, 3, 100, 2**20, 2**48])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(8)])
def test_one_integer_costs_exactly_the_price(width, epsilon):
    """[Geng & Viswanath 2014, Thm 3]"""
    mechanism = Staircase(width, epsilon)
    for shift in {1, width // 2 or 1, width}:
        loss = exact_loss(mechanism, shift)
        assert loss.epsilon <= float(epsilon) + 1e-12
        assert loss.delta(float(epsilon)) <= 1e-12
    assert loss.epsilon == pytest.approx(float(epsilon), rel=1e-12)
    assert exact_loss(mechanism, width + 1).epsilon == pytest.approx(2 * float(epsilon), rel=1e-12)


def test_a_vector_of_which_two_integers_move_costs_twice():
    """Why it is for single integers: where Laplace noise costs the L1 distance, this costs both."""
    assert exact_loss(DiscreteLaplace(10, 1), (3, -7)).epsilon == pytest.approx(1)
    both = exact_loss(Staircase(10, 1), (3, 0, -7))
    assert both.epsilon == pytest.approx(2)
    one, other = (exact_loss(Staircase(10, 1), s) for s in (3, 7))
    assert both.renyi(3) == pytest.approx(one.renyi(3) + other.renyi(3), rel=1e-12)
    assert exact_loss(Staircase(0, 1), (1,)).epsilon == math.inf
    assert exact_loss(Staircase(5, 1), 0).delta(0) == 0
