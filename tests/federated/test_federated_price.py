"""What rounds cost: schedules spend the price and no more; sampling beside other accountants."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import dp_event, pld, rdp
from scipy import stats

from halfmask.errors import InvalidQuery
from halfmask.federated.losses import sampled_delta
from halfmask.federated.pace import Pace
from halfmask.federated.renyi import ORDERS, sampled_divergences, sampled_epsilon
from halfmask.federated.sampled import largest_sampled_mu
from halfmask.privacy import Approximate, Measure, gdp_delta

PRICE = Approximate(1, "1e-5")


@pytest.mark.parametrize("schedule", ["constant", "decreasing", "increasing"])
@pytest.mark.parametrize("rounds", [1, 2, 7, 1000])
def test_rounds_together_cost_the_price_and_no_more(schedule, rounds):
    """Privacy of `Pace`: the sum of mu^2 over rounds is that of the largest mu within the price."""
    pace = Pace(PRICE, rounds, Fraction(1), schedule)
    together = sum(pace.round(t).squared for t in range(rounds))
    assert 1 - 1e-6 < together / pace.total.squared <= 1
    assert gdp_delta(pace.total.mu, Fraction(1)) <= Fraction("1e-5")
    first, last = pace.round(0).squared, pace.round(rounds - 1).squared
    ratio = {"constant": 1, "decreasing": 10, "increasing": 0.1}[schedule] if rounds > 1 else 1
    assert first / last == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize("rate", ["0.1", "0.01", "0.0001"])
@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
def test_divergences_of_a_sampled_round_are_the_integrals(rate, mu):
    """Both directions, by quadrature: what is returned is the larger, and never below it."""
    q = float(rate)
    bounds = dict(zip(ORDERS, sampled_divergences(mu, q), strict=True))
    x = np.arange(-40, 40, 1 / 64)  # the trapezoid rule is as good as exact here
    weight = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) / 64
    over = q * np.expm1(mu * x - mu * mu / 2)  # of the ratio of densities, above 1
    for order in (2, 3, 8):
        there, back = (
            math.log1p(weight @ (np.expm1(power * np.log1p(over)) - power * over)) / (order - 1)
            for power in (order, 1 - order)
        )
        assert back <= there * (1 + 1e-7)
        assert there * (1 - 1e-9) <= bounds[order] <= there * (1 + 1e-6)


@pytest.mark.parametrize(
    ("rate", "rounds", "mu"), [("0.1", 100, 0.25), ("0.01", 150, 1.0), ("0.5", 20, 0.1)]
)
def test_sampled_epsilon_lies_between_the_exact_and_a_coarser_accountant(rate, rounds, mu):
    event = dp_event.SelfComposedDpEvent(
        dp_event.PoissonSampledDpEvent(float(rate), dp_event.GaussianDpEvent(1 / mu)), rounds
    )
    exact, coarse = pld.PLDAccountant(), rdp.RdpAccountant(list(ORDERS))
    exact.compose(event)
    coarse.compose(event)
    ours = sampled_epsilon(mu, rounds, float(rate), 1e-5)
    assert exact.get_epsilon(1e-5) <= ours <= 1.7 * exact.get_epsilon(1e-5)
    assert ours == pytest.approx(coarse.get_epsilon(1e-5), rel=1e-6)


def one_round(mu, q, epsilon):
    """The exact delta of one sampled round, for a client taken out and for one added."""
    ratio = np.exp(epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = (np.log(np.maximum((ratio - 1 + q) / q, 0)) + mu * mu / 2) / mu
        new = (np.log(np.maximum((1 / ratio - 1 + q) / q, 0)) + mu * mu / 2) / mu
    plain, mixed = stats.norm.sf(out), (1 - q) * stats.norm.sf(out) + q * stats.norm.sf(out - mu)
    lower, mixed_lower = stats.norm.cdf(new), q * stats.norm.cdf(new - mu)
    mixed_lower += (1 - q) * lower
    return mixed - ratio * plain, lower - ratio * mixed_lower


ROUND = [(0.01, 1.0, 0.5), (0.3, 0.4, 0.3), (0.9, 1.5, 2.0), (0.001, 3.0, 0.05), (0.5, 0.01, 0.005)]


@pytest.mark.parametrize(("rate", "mu", "epsilon"), ROUND)
def test_losses_of_one_round_and_of_two_are_never_below_the_exact_and_close(rate, mu, epsilon):
    """Two rounds by quadrature over the first: E delta(epsilon - loss of the first)."""
    exact = max(one_round(mu, rate, np.array([epsilon])))[0]
    assert exact <= sampled_delta(mu, 1, rate, epsilon, exact) <= exact * 1.02
    x = np.arange(-12, 14 + mu, 1e-4)
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    plain = stats.norm.pdf(x) * 1e-4
    mixed = (1 - rate) * plain + rate * stats.norm.pdf(x - mu) * 1e-4
    out = mixed @ one_round(mu, rate, epsilon - loss)[0]
    new = plain @ one_round(mu, rate, epsilon + loss)[1]
    assert max(out, new) * (1 - 1e-6) <= sampled_delta(mu, 2, rate, epsilon, max(out, new))
    assert sampled_delta(mu, 2, rate, epsilon, max(out, new)) <= max(out, new) * 1.03


@pytest.mark.parametrize("rounds", [1, 2, 3, 100, 1023])
def test_losses_of_rounds_that_all_enter_are_those_of_the_gaussian(rounds):
    mu = Fraction(math.isqrt(rounds * 10**8), 10**6)  # a hundredth of the root
    exact = float(gdp_delta(mu, 2 * mu))
    ours = sampled_delta(0.01, rounds, 1 - 1e-12, float(2 * mu), exact)
    assert exact * (1 - 1e-4) <= ours <= exact * 1.05 + 1e-8


@pytest.mark.parametrize(
    ("rate", "rounds", "mu"),
    [("0.1", 100, 0.25), ("0.01", 150, 1.0), ("0.5", 20, 0.1), ("0.001", 5000, 1.2)],
)
def test_losses_are_close_to_those_of_another_accountant(rate, rounds, mu):
    event = dp_event.SelfComposedDpEvent(
        dp_event.PoissonSampledDpEvent(float(rate), dp_event.GaussianDpEvent(1 / mu)), rounds
    )
    theirs = pld.PLDAccountant()
    theirs.compose(event)
    for epsilon in (0.4, 0.8):
        delta = theirs.get_delta(epsilon)
        ours = sampled_delta(mu, rounds, float(rate), epsilon, delta)
        assert delta * 0.99 <= ours <= delta * 1.05 + 1e-7  # what Fourier transforms may err


@pytest.mark.parametrize(
    ("rate", "rounds", "sigma"), [("0.1", 100, 3.942), ("0.01", 100, 0.903), ("0.999", 3, 6.466)]
)
def test_the_mu_of_sampled_rounds_stays_within_and_is_nearly_the_largest(rate, rounds, sigma):
    """sigma: as another accountant finds it for epsilon 1, delta 1e-5; and of whole rounds."""
    pace = Pace(PRICE, rounds, Fraction(rate))
    mu = math.sqrt(pace.round(0).squared)
    assert sampled_delta(mu, rounds, float(rate), 1, 1e-5) <= 1e-5
    assert sampled_delta(mu * 1.002, rounds, float(rate), 1, 1e-5) > 1e-5
    assert 1 / mu == pytest.approx(sigma, rel=2e-3)


def test_a_tiny_delta_falls_back_on_divergences():
    mu = float(largest_sampled_mu(10_000, Fraction("0.001"), Fraction(1), Fraction(1, 10**12)))
    assert sampled_epsilon(mu, 10_000, 0.001, 1e-12) <= 1
    assert mu > 0.5


@pytest.mark.parametrize("epsilon", [10, 1000, 10**6])
@pytest.mark.parametrize("rate", ["0.0001", "0.5", "0.999999"])
@pytest.mark.parametrize("rounds", [1, 100_000])
def test_any_epsilon_has_a_mu_that_stays_within(epsilon, rate, rounds):
    """Where it is so large that nothing is promised, at least nothing breaks."""
    mu = float(largest_sampled_mu(rounds, Fraction(rate), Fraction(epsilon), Fraction("1e-5")))
    delta = sampled_delta(mu, rounds, float(rate), epsilon, 1e-5)
    assert delta <= 1e-5 or sampled_epsilon(mu, rounds, float(rate), 1e-5) <= epsilon
    assert mu > 0.005


def test_an_epsilon_too_small_to_account_for_is_refused_or_sound():
    delta = Fraction("1e-5")
    mu = float(largest_sampled_mu(10, Fraction("0.1"), Fraction("0.0005"), delta))
    assert sampled_delta(mu, 10, 0.1, 0.0005, 1e-5) <= 1e-5
    with pytest.raises(InvalidQuery, match="too small to account for"):
        largest_sampled_mu(10**5, Fraction("0.1"), Fraction(1, 10**9), Fraction(1, 10**15))


def test_ledgers_of_mu_and_rho_are_charged_in_mu():
    pace = Pace(PRICE, 5)
    assert pace.cost(Measure.GDP) == pace.cost(Measure.ZCDP) == pace.total
    assert pace.cost(Measure.APPROXIMATE) == pace.cost(Measure.PURE) == PRICE
    assert Pace(PRICE, 5, Fraction("0.5")).cost(Measure.GDP) == PRICE


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rounds": 0}, "rounds: must be a whole number from 1"),
        ({"rounds": 2.0}, "rounds: must be a whole number from 1"),
        ({"rounds": True}, "rounds: must be"),
        ({"rate": 0}, "sampling_rate: must be above 0"),
        ({"rate": "1.5"}, "sampling_rate: must be at most 1"),
        ({"schedule": "decaying"}, "schedule: unknown value 'decaying'"),
        ({"schedule": "decreasing", "rate": "0.5"}, "leave it constant"),
    ],
)
def test_what_cannot_be_accounted_for_is_refused(change, says):
    with pytest.raises(InvalidQuery, match=says):
        Pace(**({"price": PRICE, "rounds": 5} | change))


def test_a_delta_of_zero_is_refused():
    with pytest.raises(InvalidQuery, match="delta: 0 allows no Gaussian noise"):
        Pace(Approximate(1, 0), 5).round(0)
