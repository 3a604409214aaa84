"""What is left for Gaussian noise at the end: never too much, checked by exact composition."""

from fractions import Fraction
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.privacy import GDP, ZCDP, Approximate, EndingPurse, Pure, gdp_after_zcdp, zcdp_rho
from halfmask.privacy.conversions import zcdp_order

EPSILONS = [Fraction(x) for x in ("0.001", "0.1", "1", "8")]
DELTAS = [Fraction(x) for x in ("1e-12", "1e-6", "0.1")]


def curve(mu, epsilon):
    """The exact delta of mu-GDP at any real epsilon, in floats."""
    far = np.exp(epsilon) * stats.norm.sf(epsilon / mu + mu / 2)
    return stats.norm.sf(epsilon / mu - mu / 2) - far


def choices(k, width, p):
    """The losses of k choices of bounded range `width`, worst ones, and their probabilities.

    A bit that is 1 with P(1) = p, and whose odds are exp(width) times as large for the neighbour.
    """
    q = special.expit(special.logit(p) + width)
    ones = np.arange(k + 1)
    losses = ones * log(p / q) + (k - ones) * log((1 - p) / (1 - q))
    return losses, stats.binom.pmf(ones, k, p)


@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(1, 5), Fraction(3, 5)])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_choices_and_a_gaussian_end_are_within_the_price_and_most_of_it(share, epsilon, delta):
    """The exact delta of 1, 4 and 20 choices of range e, e^2/8-zCDP each, then the mu."""
    rho = share * zcdp_rho(epsilon, delta)
    mu = float(gdp_after_zcdp(rho, epsilon, delta))
    worst = 0.0
    for k in (1, 4, 20):
        width = sqrt(8 * float(rho) / k)
        for p in (0.01, 0.1, 0.5, 0.9, 0.99):
            losses, mass = choices(k, width, p)
            worst = max(worst, float(mass @ curve(mu, float(epsilon) - losses)))
    assert worst <= float(delta) * (1 + 1e-9)
    assert worst >= float(delta) / 100  # not for nothing


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_a_gaussian_before_the_end_is_within_the_price(epsilon, delta):
    """A rho that Gaussian noise spends all of: composed exactly in GDP."""
    rho = zcdp_rho(epsilon, delta) / 2
    mu = float(gdp_after_zcdp(rho, epsilon, delta))
    assert curve(sqrt(2 * float(rho) + mu * mu), float(epsilon)) <= float(delta) * (1 + 1e-9)


def test_it_agrees_with_a_library_that_composes_numerically():
    """Six choices and a Gaussian: the privacy loss distribution of dp-accounting."""
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    rho = zcdp_rho(epsilon, delta) / 5
    mu = gdp_after_zcdp(rho, epsilon, delta)
    width = sqrt(8 * float(rho) / 6)
    p, q = special.expit([-width / 2, width / 2]).tolist()
    one = pld.from_two_probability_mass_functions(
        {0: log(1 - p), 1: log(p)}, {0: log(1 - q), 1: log(q)}, value_discretization_interval=1e-5
    )
    end = pld.from_gaussian_mechanism(1 / float(mu), value_discretization_interval=1e-5)
    found = one.self_compose(6).compose(end).get_delta_for_epsilon(1.0)
    losses, mass = choices(6, width, p)
    assert found == pytest.approx(float(mass @ curve(float(mu), 1 - losses)), rel=1e-2)
    assert found <= 1e-6


@given(
    st.sampled_from(EPSILONS),
    st.sampled_from(DELTAS),
    st.floats(0.05, 0.95),
    st.tuples(st.floats(0.01, 0.9), st.floats(0.01, 0.9)),
    st.floats(0.01, 0.99),
)
@settings(max_examples=40, deadline=None)
def test_the_rest_may_be_split_by_what_came_first(epsilon, delta, first, shares, p):
    """One choice says which of two shares the next stages spend, and so which mu is left."""
    rho = zcdp_rho(epsilon, delta)
    spent = Fraction(first) * rho
    losses, mass = choices(1, sqrt(8 * float(spent)), p)
    total = 0.0
    for loss, probability, share in zip(losses, mass, shares, strict=True):
        more = Fraction(share) * (rho - spent)
        mu = float(gdp_after_zcdp(spent + more, epsilon, delta))
        others, masses = choices(3, sqrt(8 * float(more) / 3), 0.3)
        total += probability * float(masses @ curve(mu, float(epsilon) - loss - others))
    assert total <= float(delta) * (1 + 1e-9)


@pytest.mark.parametrize("share", [Fraction(1, 10**6), Fraction(1, 3), Fraction(999, 1000)])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_mu_is_the_largest_for_its_bound_and_above_the_rest_of_the_rho(share, epsilon, delta):
    """The sup over x of delta_mu(x) e^(s x), by a search: at most 1e-8 below what is allowed."""
    rho = zcdp_rho(epsilon, delta)
    mu = float(gdp_after_zcdp(share * rho, epsilon, delta))
    assert mu**2 / 2 > float((1 - share) * rho)
    s = float(zcdp_order(epsilon, delta)) - 1
    t = np.linspace(-9, 9, 400_001)
    near, far = stats.norm.logsf(t), stats.norm.logsf(t + mu) + mu * (t + mu / 2)
    held = np.minimum(far - near, -1e-15)
    found = (near + np.log(-np.expm1(held)) + s * mu * (t + mu / 2)).max()
    allowed = log(delta) + s * (float(epsilon) - (s + 1) * float(share * rho))
    assert allowed - 2e-7 <= found <= allowed + 2e-9


def test_where_all_is_spent_nothing_is_left():
    rho = zcdp_rho(Fraction(1), Fraction(1, 10**6))
    assert gdp_after_zcdp(rho * 2, Fraction(1), Fraction(1, 10**6)) == 0


def test_a_purse_that_ended_takes_no_more_stages():
    price = Approximate(1, "1e-6")
    purse = EndingPurse(price, price.largest_zcdp())
    purse.spend(Pure("0.01"))
    with pytest.raises(BudgetExhausted):
        purse.spend(price.largest_zcdp())
    left = purse.last
    purse.spend(left.share("1/5"))
    with pytest.raises(BudgetExhausted, match="after the end"):
        purse.spend(ZCDP("1e-6"))
    purse.spend(left.share("4/5"))
    with pytest.raises(BudgetExhausted):
        purse.spend(GDP("1e-3"))
    with pytest.raises(InvalidQuery):
        EndingPurse(price, ZCDP(10)).spend(GDP(0))


def test_a_bit_of_bounded_range_has_its_moments():
    """The choices of these tests are what they claim to be: E[e^(s L)] <= e^(s (s + 1) e^2/8)."""
    for k, width in ((1, 0.3), (7, 1.0)):
        for p in (0.01, 0.4, 0.9):
            losses, mass = choices(k, width, p)
            assert sum(comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(k + 1)) == (
                pytest.approx(1)
            )
            for s in (0.1, 1.0, 20.0):
                bound = exp(s * (s + 1) * k * width**2 / 8)
                assert float(mass @ np.exp(s * losses)) <= bound * (1 + 1e-9)
