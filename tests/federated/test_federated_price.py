"""What rounds cost: schedules spend the price and no more; sampling beside other accountants."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import dp_event, pld, rdp

from halfmask.errors import InvalidQuery
from halfmask.federated.pace import Pace
from halfmask.federated.sampled import ORDERS, sampled_divergences, sampled_epsilon
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


@pytest.mark.parametrize(("rate", "rounds"), [("0.1", 100), ("0.01", 150), ("0.999", 3)])
def test_the_mu_of_sampled_rounds_is_the_largest_that_stays_within(rate, rounds):
    pace = Pace(PRICE, rounds, Fraction(rate))
    mu = math.sqrt(pace.round(0).squared)
    assert sampled_epsilon(mu, rounds, float(rate), 1e-5) <= 1
    assert sampled_epsilon(mu * 1.001, rounds, float(rate), 1e-5) > 1
    assert np.isclose(float(pace.round(rounds - 1).mu), mu)


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
