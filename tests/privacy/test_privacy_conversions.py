"""Conversions: on the safe side of the truth (mpmath, 50 digits), and close to it."""

from fractions import Fraction

import mpmath
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from scipy import optimize, stats

from halfmask.privacy import (
    bounded_range_rho,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    gdp_pure,
    pure_mu,
    pure_rho,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_pure,
    zcdp_rho,
)

EPSILONS = [Fraction(x) for x in ("1e-12", "1e-6", "0.01", "0.5", "1", "3", "20", "700", "1e6")]
DELTAS = [Fraction(x) for x in ("1e-18", "1e-9", "1e-6", "0.01", "0.5", "0.999")]
LOSSES = [Fraction(x) for x in ("1e-9", "1e-4", "0.02", "0.3", "1", "2.5", "30", "900")]


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mpmath.workdps(120):  # 50 correct digits after every cancellation below
        yield


def real(value):
    return mpf(value.numerator) / value.denominator


def tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def true_gdp_delta(mu, epsilon):
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return tail(near) - mpmath.exp(epsilon) * tail(far)


def assert_just_above(value, truth, unit=0):
    """`value` is at or above the truth, by one step of its 12th digit or one unit at most."""
    assert real(value) >= truth
    assert real(value) <= truth * (1 + mpf("1.1e-11")) + unit


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_to_gdp_mu_is_2_quantiles_of_the_logistic(epsilon):
    mu = real(pure_mu(epsilon))
    p = 1 / (1 + mpmath.exp(real(epsilon)))
    assert tail(mu / 2) <= p  # mu is large enough
    assert tail(mu * (1 - mpf("1.2e-11")) / 2) > p  # and no 12-digit number below is


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_pure_to_gdp_trade_off_curve_of_epsilon_lies_above_that_of_mu(epsilon):
    e, mu = float(epsilon), float(pure_mu(epsilon))
    for alpha in [i / 200 for i in range(1, 200)]:
        gaussian = stats.norm.cdf(stats.norm.isf(alpha) - mu)
        pure = max(0.0, 1 - mpmath.exp(e) * alpha, mpmath.exp(-e) * (1 - alpha))
        assert pure >= gaussian - 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_to_zcdp_rho_is_epsilon_tanh_half_epsilon(epsilon):
    e = real(epsilon)
    assert_just_above(pure_rho(epsilon), e * mpmath.tanh(e / 2))
    assert pure_rho(epsilon) <= epsilon**2 / 2


@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "1", "3", "20"])
def test_pure_to_zcdp_covers_every_renyi_order_of_randomised_response(epsilon):
    e, rho = mpf(epsilon), real(pure_rho(Fraction(epsilon)))
    for excess in [mpf(10) ** k for k in range(-12, 6)]:
        a = 1 + excess
        moment = (mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))
        assert mpmath.log(moment) / excess <= a * rho


def test_bounded_range_is_an_eighth_of_the_square():
    assert bounded_range_rho(Fraction(1, 2)) == Fraction(1, 32)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mu", LOSSES)
def test_gdp_delta_is_the_exact_curve_rounded_up(mu, epsilon):
    truth = true_gdp_delta(real(mu), real(epsilon)) if epsilon / mu < 60 else mpf(0)
    assert_just_above(gdp_delta(mu, epsilon), truth, unit=mpf("1e-18"))
    assert gdp_delta(mu, epsilon) <= 1


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("mu", LOSSES)
def test_gdp_epsilon_is_enough_and_hardly_less_would_be(mu, delta):
    epsilon = real(gdp_epsilon(mu, delta))
    assert true_gdp_delta(real(mu), epsilon) <= real(delta)
    if epsilon > mpf("1e-12"):
        assert true_gdp_delta(real(mu), epsilon * (1 - mpf("1.2e-11"))) > real(delta)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gdp_mu_stays_within_and_hardly_more_would(epsilon, delta):
    mu = real(gdp_mu(epsilon, delta))
    assert true_gdp_delta(mu, real(epsilon)) <= real(delta)
    assert true_gdp_delta(mu * (1 + mpf("1.2e-11")), real(epsilon)) > real(delta)


def zcdp_log_delta(rho, epsilon, a):
    return (a - 1) * (a * rho - epsilon + mpmath.log(1 - 1 / a)) - mpmath.log(a)


@pytest.mark.parametrize("epsilon", EPSILONS[2:7])
@pytest.mark.parametrize("rho", LOSSES[1:7])
def test_zcdp_delta_is_the_best_order_rounded_up(rho, epsilon):
    def log_delta(log_excess):
        a = 1 + mpmath.exp(log_excess)
        return float(zcdp_log_delta(real(rho), real(epsilon), a))

    best = optimize.minimize_scalar(log_delta, bounds=(-40, 40), options={"xatol": 1e-9}).fun
    got = zcdp_delta(rho, epsilon)
    assert real(got) >= mpmath.exp(best) * (1 - mpf("1e-9")) or got == 1
    assert real(got) <= mpmath.exp(best) * (1 + mpf("1e-6")) + mpf("1e-18")


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rho", LOSSES)
def test_zcdp_epsilon_and_rho_are_inverse_and_never_optimistic(rho, delta):
    epsilon = zcdp_epsilon(rho, delta)
    if epsilon > Fraction(1, 10**12):
        allowed = zcdp_rho(epsilon, delta)
        assert allowed == pytest.approx(rho, rel=1e-6)
        assert zcdp_epsilon(allowed, delta) <= epsilon * (1 + Fraction(1, 10**11))
        assert zcdp_delta(rho, epsilon) <= delta * (1 + Fraction(1, 10**6)) + Fraction(1, 10**18)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5, 2])
def test_zcdp_epsilon_agrees_with_the_renyi_accountant(rho, delta):
    orders = [1 + 10 ** (k / 200) for k in range(-600, 800)]
    theirs, _ = rdp_privacy_accountant.compute_epsilon(orders, [a * rho for a in orders], delta)
    ours = float(zcdp_epsilon(Fraction(repr(rho)), Fraction(repr(delta))))
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ours <= theirs * (1 + 1e-9)


@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 3.0])
def test_gdp_epsilon_agrees_with_a_public_accountant(mu, delta):
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    theirs = GaussianPrivacyLoss(1 / mu).get_delta_for_epsilon(
        float(gdp_epsilon(Fraction(repr(mu)), Fraction(repr(delta))))
    )
    assert theirs == pytest.approx(delta, rel=1e-8)


positive = st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=1000)
deltas = st.integers(1, 17).map(lambda k: Fraction(1, 10**k))


@settings(max_examples=60, deadline=None)
@given(positive, deltas)
def test_a_gaussian_price_is_never_above_the_zcdp_detour(mu, delta):
    assert gdp_epsilon(mu, delta) <= zcdp_epsilon(mu**2 / 2, delta)


@settings(max_examples=40, deadline=None)
@given(positive, positive, deltas)
def test_more_loss_is_never_cheaper(one, other, delta):
    low, high = sorted((one, other))
    assert gdp_epsilon(low, delta) <= gdp_epsilon(high, delta)
    assert zcdp_epsilon(low, delta) <= zcdp_epsilon(high, delta)
    assert gdp_mu(low, delta) <= gdp_mu(high, delta)
    assert zcdp_rho(low, delta) <= zcdp_rho(high, delta)
    assert pure_mu(low) <= pure_mu(high)
    assert pure_rho(low) <= pure_rho(high)


@pytest.mark.parametrize("amount", LOSSES)
def test_largest_pure_epsilon_within_a_price_is_within_it_and_nearly_all(amount):
    for there, back in ((pure_rho, zcdp_pure), (pure_mu, gdp_pure)):
        epsilon = back(amount)
        assert there(epsilon) <= amount
        assert there(epsilon * (1 + Fraction("2e-10"))) > amount
