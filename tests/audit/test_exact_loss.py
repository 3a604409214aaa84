"""The exact loss of every mechanism over its whole support, to 1e-12.

A new mechanism joins by one line in NOISES or CHOICES.
"""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from halfmask.audit import exact_loss
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    PermuteAndFlip,
    RoundedGaussian,
)
from halfmask.privacy import gdp_delta, zcdp_delta

SENSITIVITIES = (1, 3, 100, 2**20, 2**50)
PRICES = (Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(8))
LAPLACES = [DiscreteLaplace(s, e) for s in SENSITIVITIES for e in PRICES if s / e <= 2**55]
NOISES = {
    "laplace": DiscreteLaplace(5, 1),
    "laplace, small": DiscreteLaplace(1, 6),
    "discrete gaussian": DiscreteGaussian(25, Fraction(1, 2)),
    "discrete gaussian, small": DiscreteGaussian(1, 4),
    "rounded gaussian": RoundedGaussian(25, 1),
    "rounded gaussian, small": RoundedGaussian(1, 4),
}
CHOICES = [
    kind(sensitivity, epsilon, monotonic)
    for kind in (Exponential, PermuteAndFlip)
    for sensitivity, epsilon in ((1, Fraction(1, 2)), (3, Fraction(2)))
    for monotonic in (False, True)
]


@pytest.mark.parametrize("mechanism", LAPLACES, ids=lambda m: m.law)
def test_laplace_noise_costs_exactly_its_price(mechanism):
    """[Ghosh, Roughgarden & Sundararajan 2012]"""
    price = float(mechanism.epsilon)
    loss = exact_loss(mechanism, mechanism.sensitivity)
    assert abs(loss.epsilon - price) <= 1e-12 * max(1, price)
    assert loss.delta(price) <= 1e-12
    spread = [mechanism.sensitivity // 3, -(mechanism.sensitivity - mechanism.sensitivity // 3)]
    assert exact_loss(mechanism, spread).epsilon <= price + 1e-12 * max(1, price)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("shift", [1, 2, 5, 7])
def test_losses_are_those_of_the_whole_mass_function(name, shift):
    """The naive twin: every integer of the support, one by one."""
    mechanism = NOISES[name]
    far = 45 * math.ceil(mechanism.scale) + 10 * shift
    k = np.arange(-far, far + 1)
    p, q = mechanism.log_mass(k), mechanism.log_mass(k - shift)
    loss = exact_loss(mechanism, shift)
    for epsilon in (0, 0.1, 0.7, 1.5, 4):
        naive = math.fsum(np.maximum(np.exp(p) - np.exp(epsilon + q), 0))
        assert abs(loss.delta(epsilon) - naive) <= 1e-12
    for order in (1.01, 2, 5):
        terms = order * p + (1 - order) * q
        naive = (terms.max() + math.log(math.fsum(np.exp(terms - terms.max())))) / (order - 1)
        assert loss.renyi(order) == pytest.approx(naive, rel=1e-9, abs=1e-12)
    if "laplace" in name:
        assert abs(loss.epsilon - np.abs(p - q).max()) <= 1e-12
    else:
        assert loss.epsilon == math.inf


@pytest.mark.parametrize("name", NOISES)
def test_the_noise_is_symmetric_and_log_concave(name):
    """What the search for the worst event rests on."""
    mechanism = NOISES[name]
    k = np.arange(-60 * math.ceil(mechanism.scale), 60 * math.ceil(mechanism.scale) + 1)
    mass = mechanism.log_mass(k)
    assert np.array_equal(mass, mass[::-1])
    assert np.all(np.diff(mass, 2) <= 1e-10)
    assert abs(math.fsum(np.exp(mass)) - 1) <= 1e-12


@pytest.mark.parametrize("scale_bits", [0, 10, 40])
@pytest.mark.parametrize("mu", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_rounded_gaussian_noise_stays_within_the_curve_of_its_mu(scale_bits, mu):
    """mu-GDP, as the exact curve delta(epsilon). [Dong, Roth & Su 2022, Cor. 2.13]"""
    shift = 3 * 2**scale_bits
    loss = exact_loss(RoundedGaussian(shift**2, mu), shift)
    for epsilon in (0.05, 0.5, 1, 4):
        bound = float(gdp_delta(mu, Fraction(epsilon)))
        assert loss.delta(epsilon) <= bound + 1e-12
        if scale_bits == 40:
            assert loss.delta(epsilon) == pytest.approx(bound, rel=1e-9, abs=1e-17)


@pytest.mark.parametrize("shift", [1, 3, 2**40])
@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 2), Fraction(4)])
def test_discrete_gaussian_noise_stays_within_its_rho(shift, rho):
    """rho-zCDP: every Renyi divergence is at most order times rho. [Canonne et al. 2020, Thm 14]"""
    mechanism = DiscreteGaussian(shift**2, rho)
    loss = exact_loss(mechanism, shift)
    for order in (1.001, 1.5, 2, 10, 60):
        assert loss.renyi(order) <= order * rho + 1e-11
        assert loss.renyi(order) >= order * rho * 0.99 or mechanism.scale < 1
    for epsilon in (0.1, 1, 5):
        assert loss.delta(epsilon) <= float(zcdp_delta(rho, Fraction(epsilon))) + 1e-12
    vector = exact_loss(DiscreteGaussian(25, rho), (3, -4))
    assert vector.renyi(2) <= 2 * rho + 1e-11


@pytest.mark.parametrize("order", [1.5, 2, 8])
@pytest.mark.parametrize("shift", [1, 2, 2**30])
def test_renyi_divergences_of_laplace_noise_against_sixty_digits(order, shift):
    rate = mpmath.mpf(1) / shift
    a = mpmath.mpf(order)
    with mpmath.workdps(60):
        zero = (1 - mpmath.exp(-rate)) / (1 + mpmath.exp(-rate))
        outer = (mpmath.exp((a - 1) * shift * rate) + mpmath.exp(-a * shift * rate)) / (
            1 - mpmath.exp(-rate)
        )
        step = mpmath.exp(-(2 * a - 1) * rate)
        inner = mpmath.exp((a - 1) * shift * rate) * (step - step**shift) / (1 - step)
        true = mpmath.log(zero * (outer + inner)) / (a - 1)
    found = exact_loss(DiscreteLaplace(shift, 1), shift).renyi(order)
    assert abs(found - float(true)) <= 1e-8 if shift > 2**20 else 1e-12


@pytest.mark.parametrize("mechanism", CHOICES, ids=lambda m: f"{m.law}, {m.monotonic}")
def test_choices_cost_at_most_their_price_on_all_small_scores(mechanism):
    """[McSherry & Talwar 2007, Thm 6; McKenna & Sheldon 2020, Thm 1]"""
    far = mechanism.sensitivity
    steps = (0, far) if mechanism.monotonic else (-far, 0, far)
    worst = 0.0
    for scores in itertools.product((0, far, 20 * far), repeat=3):
        for shift in itertools.product(steps, repeat=3):
            worst = max(worst, exact_loss(mechanism, shift, scores).epsilon)
    price = float(mechanism.epsilon)
    assert worst <= price + 1e-12
    assert worst >= 0.6 * price


def test_a_choice_has_curves_too():
    loss = exact_loss(Exponential(1, 2), (1, -1), (0, 0))
    p, q = np.array([0.5, 0.5]), np.array([math.e, 1 / math.e]) / (math.e + 1 / math.e)
    assert loss.delta(0) == pytest.approx(q[0] - p[0])
    assert loss.renyi(2) == pytest.approx(
        max(math.log((p * p / q).sum()), math.log((q * q / p).sum()))
    )
    assert loss.delta(loss.epsilon) <= 1e-15


def test_no_noise_hides_nothing():
    silent = DiscreteLaplace(0, 1)
    assert exact_loss(silent, 0).epsilon == 0
    assert exact_loss(silent, 1).epsilon == math.inf
    assert exact_loss(silent, 1).delta(3) == 1
    assert exact_loss(silent, 1).renyi(2) == math.inf


def test_bad_arguments_are_refused():
    with pytest.raises(InvalidQuery, match="scores"):
        exact_loss(Exponential(1, 1), 1)
    with pytest.raises(InvalidQuery, match="scores"):
        exact_loss(DiscreteLaplace(1, 1), 1, [1])
    with pytest.raises(InvalidQuery, match="delta"):
        exact_loss(DiscreteLaplace(1, 1), [1, 1]).delta(1)
    with pytest.raises(InvalidQuery, match="order"):
        exact_loss(DiscreteLaplace(1, 1), 1).renyi(1)
