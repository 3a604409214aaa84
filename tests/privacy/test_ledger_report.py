"""The odometer: sums that are right in every currency, and the least epsilon of them."""

from fractions import Fraction

import pytest
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.privacy import (
    GDP,
    ZCDP,
    Approximate,
    Ledger,
    Measure,
    Pure,
    Report,
    gdp_epsilon,
    pure_rho,
    zcdp_epsilon,
)

pure = st.fractions("0.001", 2).map(Pure)
rho = st.fractions("0.001", 1).map(ZCDP)
mu = st.fractions("0.001", 1).map(GDP)
pairs = st.fractions("0.001", 1).map(lambda e: Approximate(e, "1e-8"))
prices = st.lists(st.one_of(pure, rho, mu, pairs), max_size=6)


@given(prices=prices)
@settings(max_examples=40, deadline=None)
def test_sums_are_those_of_a_ledger_in_that_currency(prices):
    """What `in_measure` charges, one by one; None exactly where one price has no such worth."""
    report = Report(ZCDP(100), prices)
    for measure in Measure:
        total, refused = report.sum_in(measure), False
        mains = []
        for price in prices:
            try:
                mains.append(price.in_measure(measure).amounts[0])
            except InvalidQuery:
                refused = True
        assert (total is None) == refused
        if total is not None and measure is not Measure.GDP:  # of mu a root is rounded
            assert total.amounts[0] == sum(mains)


@given(prices=prices.filter(bool), extra=st.one_of(pure, rho, mu, pairs))
@settings(max_examples=40, deadline=None)
def test_more_charges_never_cost_less(prices, extra):
    one, two = Report(Pure(9), prices), Report(Pure(9), [*prices, extra])
    for name, pair in two.routes.items():
        if name in one.routes and name != "adding epsilons":
            assert pair.epsilon >= one.routes[name].epsilon
            assert pair.delta >= one.routes[name].delta


def test_routes_are_the_conversions_of_the_sums():
    report = Report(Pure(30), [Pure("0.1")] * 100, "1e-6")
    assert report.routes["adding epsilons"] == Approximate(10, 0)
    assert report.routes["adding rhos"].epsilon == zcdp_epsilon(
        100 * pure_rho(Fraction(1, 10)), Fraction("1e-6")
    )
    assert report.best.epsilon < 6 < 10
    gaussian = Report(GDP(9), [GDP("0.3")] * 4)
    assert gaussian.routes["adding squared mus"] == Approximate(
        gdp_epsilon(Fraction(6, 10), Fraction("1e-6")), "1e-6"
    )
    both = Report(Approximate(9, "1e-3"), [Approximate("0.1", "1e-8")] * 50, "1e-6")
    assert both.routes["adding rhos"].delta == Fraction("1e-6") + 50 * Fraction("1e-8")
    assert both.routes["adding epsilons"] == Approximate(5, "5e-7")
    assert Report(Pure(1), []).best is None


@pytest.mark.parametrize("count", [1, 10, 60])
def test_no_route_is_below_the_exact_composition(count):
    """Against the numerical composition of another library: never less than the truth."""
    report = Report(Pure(90), [Approximate("0.2", "1e-8")] * count, "1e-6")
    one = from_privacy_parameters(DifferentialPrivacyParameters(0.2, 1e-8))
    composed = one.self_compose(count)
    for pair in report.routes.values():
        # randomised response with a share of delta that shows all is the worst (epsilon, delta)
        truth = composed.get_epsilon_for_delta(float(pair.delta))
        assert truth <= float(pair.epsilon) * (1 + 1e-3)  # the other side rounds up too


def test_a_ledger_reports_and_is_not_changed():
    ledger = Ledger(budget=ZCDP(1))
    assert "0 charges, rho 0 spent, rho 1 left" in str(ledger.report())
    ledger.charge(Pure(1), query="a")
    ledger.charge(GDP("0.2"), query="b")
    head, text = ledger.head, str(ledger.report("1e-9"))
    assert ledger.head == head
    assert text.splitlines()[0].startswith("Budget rho 1; 2 charges, rho 0.48211")
    assert "in a ledger of pure         no proved price" in text
    assert text.count("(the least)") == 1
    assert ledger.report().sum_in("zcdp") == ledger.spent
    with pytest.raises(InvalidQuery, match=r"^delta: "):
        ledger.report(0)
