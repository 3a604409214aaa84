"""Which noise a price buys: the least, and never one that the reach does not allow."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.audit import exact_loss
from halfmask.mechanisms import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, Staircase
from halfmask.plan import Keys, Schema
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure
from halfmask.queries import Reach, Setting, mechanism_for

SCHEMA = Schema.of({"u": "integer", "g": "text", "x": "real"})
GROUPS = Keys("g", ["a", "b", "c"])
prices = st.one_of(
    st.fractions("0.01", 30).map(Pure),
    st.fractions("0.01", 30).map(ZCDP),
    st.fractions("0.01", 12).map(GDP),
    st.tuples(st.fractions("0.01", 30), st.sampled_from(["1e-3", "1e-9"])).map(
        lambda both: Approximate(*both)
    ),
)
reaches = st.tuples(st.integers(1, 10**6), st.booleans()).map(
    lambda drawn: Reach(drawn[0], drawn[0] ** 2, drawn[1])
)


@given(reach=reaches, price=prices)
@settings(max_examples=60, deadline=None)
def test_the_noise_is_the_least_that_is_allowed_and_costs_the_price(reach, price):
    found = mechanism_for(reach, price)
    assert found.cost == price
    rivals = {
        Pure: lambda: DiscreteLaplace(reach.l1, price.epsilon),
        Approximate: lambda: RoundedGaussian.for_approximate(reach.l2_squared, price),
        ZCDP: lambda: DiscreteGaussian(reach.l2_squared, price.rho),
        GDP: lambda: RoundedGaussian(reach.l2_squared, price.mu),
    }
    rival = rivals[type(price)]()
    assert found.standard_deviation <= rival.standard_deviation
    assert reach.alone or not isinstance(found, Staircase)


@pytest.mark.parametrize(
    ("price", "noise"),
    [
        (Pure("0.5"), DiscreteLaplace),  # a hundredth is not won
        (Pure(2), Staircase),
        (Approximate(2, "1e-9"), Staircase),
        (Approximate(1, "1e-1"), RoundedGaussian),
        (ZCDP(1), DiscreteGaussian),
        (ZCDP(8), Staircase),
        (GDP(1), RoundedGaussian),
        (GDP(10), Staircase),
    ],
)
def test_single_numbers_take_the_staircase_where_it_wins(price, noise):
    assert isinstance(mechanism_for(Reach(1000, 1000**2, alone=True), price), noise)
    assert not isinstance(mechanism_for(Reach(1000, 1000**2), price), Staircase)


def test_many_small_cells_take_gaussian_noise_where_a_delta_is_given():
    assert isinstance(mechanism_for(Reach(50, 50), Approximate(1, "1e-6")), RoundedGaussian)
    assert isinstance(mechanism_for(Reach(1, 1), Approximate(1, "1e-6")), DiscreteLaplace)


@pytest.mark.parametrize(
    ("unit", "by", "alone"),
    [
        (PrivacyUnit(), None, True),
        (PrivacyUnit(), GROUPS, True),
        (PrivacyUnit(relation="replace"), None, True),
        (PrivacyUnit(relation="replace"), GROUPS, False),
        (PrivacyUnit("u", 3), None, True),
        (PrivacyUnit("u", 3), GROUPS, False),
        (PrivacyUnit("u", 3, 1), GROUPS, True),
        (PrivacyUnit("u", 3, 2), GROUPS, False),
        (PrivacyUnit("u", 3, 1, "replace"), GROUPS, False),
    ],
    ids=str,
)
def test_a_unit_moves_one_number_alone_only_in_one_group(unit, by, alone):
    """That it moves no other is checked on rows by the sensitivity law of test_query_laws."""
    setting = Setting(SCHEMA, unit, by=by)
    (output,) = hm.Sum("x", 0, 100).prepare(setting, Pure(4)).outputs
    assert isinstance(output.mechanism, Staircase) is alone
    (output,) = hm.Histogram("x", [0, 1, 2]).prepare(setting, Pure(4)).outputs
    assert isinstance(output.mechanism, DiscreteLaplace)


@given(rho=st.fractions("0.001", 50))
@settings(max_examples=20, deadline=None)
def test_pure_noise_in_a_rho_stays_within_it(rho):
    """Every Renyi divergence of the staircase is at most order times rho."""
    mechanism = Staircase(20, ZCDP(rho).largest_pure().epsilon, ZCDP(rho))
    loss = exact_loss(mechanism, 20)
    for order in (1.001, 1.5, 3, 20):
        assert loss.renyi(order) <= order * float(rho) + 1e-11
