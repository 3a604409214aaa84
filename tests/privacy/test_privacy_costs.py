"""Costs: exact, equal by value, shared and added without loss, converted only with a proof."""

import copy
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.errors import BudgetExhausted, InvalidQuery, LedgerError
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Ledger, Measure, Pure, Purse, pure_rho

ALL = [Pure("1/3"), Approximate(2, 1e-6), Approximate(1, 0), ZCDP("0.125"), GDP("0.7")]
money = st.fractions(min_value=Fraction(1, 10**9), max_value=100, max_denominator=10**9)


def costs():
    return st.one_of(
        money.map(Pure),
        money.map(ZCDP),
        money.map(GDP),
        st.builds(Approximate, money, st.integers(1, 10**9).map(lambda k: Fraction(k, 10**10))),
    )


@pytest.mark.parametrize("cost", ALL, ids=str)
def test_a_cost_is_frozen_hashable_copied_and_written_without_loss(cost):
    again = Cost.from_dict(cost.to_dict())
    assert again == cost
    assert hash(again) == hash(cost)
    assert pickle.loads(pickle.dumps(cost)) == cost == copy.deepcopy(cost)
    with pytest.raises(AttributeError):
        cost.rho = 1


def test_costs_of_different_currencies_differ():
    assert len({Pure(1), ZCDP(1), GDP(1), Approximate(1, 0)}) == 4
    assert Pure(0.5) == Pure("1/2")


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Pure(0.5), "epsilon 0.5"),
        (Pure("1/3"), "epsilon 1/3"),
        (Approximate(2, 1e-6), "epsilon 2, delta 1e-6"),
        (ZCDP(0.125), "rho 0.125"),
        (GDP(100), "mu 100"),
    ],
)
def test_a_cost_is_written_in_words(cost, words):
    assert str(cost) == words


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"measure": "pure"},
        {"measure": "gold", "epsilon": "1"},
        {"measure": "pure", "rho": "1"},
        {"measure": "pure", "epsilon": "1", "delta": "0"},
        {"measure": "pure", "epsilon": "x"},
        {"measure": "pure", "epsilon": "-1"},
    ],
)
def test_a_damaged_record_of_a_cost_is_refused(fields):
    with pytest.raises(InvalidQuery, match=r"^cost: "):
        Cost.from_dict(fields)


@given(costs(), st.integers(1, 30))
def test_equal_shares_add_up_to_no_more_than_the_whole_and_hardly_less(cost, parts):
    share = cost.share(Fraction(1, parts))
    for whole, part in zip(cost.amounts, share.amounts, strict=True):
        assert parts * part <= whole
        assert whole - parts * part <= parts * Fraction(3 * 100, 10**12) * (type(cost) is GDP)


@given(costs())
def test_the_whole_share_is_the_cost_itself(cost):
    assert cost.share(1) == cost


@pytest.mark.parametrize("part", [0, -0.5, 1.5, float("nan"), True])
def test_a_share_is_a_part(part):
    with pytest.raises(InvalidQuery, match=r"^share:"):
        Pure(1).share(part)


PROVED = {
    (Measure.PURE, Measure.APPROXIMATE): Approximate(1, 0),
    (Measure.PURE, Measure.ZCDP): ZCDP(pure_rho(Fraction(1))),
    (Measure.PURE, Measure.GDP): GDP("1.23203538535"),
    (Measure.GDP, Measure.ZCDP): ZCDP(0.5),
}


@pytest.mark.parametrize("cost", [Pure(1), Approximate(1, 1e-6), ZCDP(1), GDP(1)], ids=str)
@pytest.mark.parametrize("measure", list(Measure))
def test_a_cost_converts_exactly_where_that_is_proved(cost, measure):
    if cost.measure == measure:
        assert cost.in_measure(str(measure)) == cost
    elif (cost.measure, measure) in PROVED:
        assert cost.in_measure(measure) == PROVED[cost.measure, measure]
    else:
        with pytest.raises(InvalidQuery, match="no proved price"):
            cost.in_measure(measure)


def test_an_unknown_currency_is_refused_with_the_choices():
    with pytest.raises(InvalidQuery, match="'pure', 'approximate', 'zcdp', 'gdp'"):
        Pure(1).in_measure("euro")


def test_at_delta_and_back_are_on_the_safe_side():
    for cost in (GDP(0.5), ZCDP(0.5)):
        price = cost.at_delta(1e-6)
        assert price.delta == Fraction(1, 10**6)
        back = price.largest_gdp() if cost.measure is Measure.GDP else price.largest_zcdp()
        assert back.at_delta(1e-6).epsilon <= price.epsilon
    assert Pure(1).at_delta(1e-6) == Approximate(1, 1e-6)
    assert Approximate(1, 1e-6).at_delta(1e-5) == Approximate(1, 1e-5)
    with pytest.raises(InvalidQuery, match=r"^delta:"):
        Approximate(1, 1e-6).at_delta(1e-7)
    with pytest.raises(InvalidQuery, match=r"^delta:"):
        GDP(1).at_delta(0)
    with pytest.raises(InvalidQuery, match=r"^delta:"):
        Approximate(1, 0).largest_gdp()


def test_the_largest_allowance_stays_inside_the_range_of_costs():
    assert Approximate(10**6, 0.999).largest_gdp() == GDP(1000)
    assert Approximate(10**6, 0.999).largest_zcdp().rho <= 10**6


@settings(max_examples=50, deadline=None)
@given(st.lists(money, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_composition_does_not_depend_on_order_and_is_exact(amounts, random):
    kinds = [Pure, ZCDP, GDP]
    for kind in kinds:
        whole = kind(1000) if kind is GDP else kind(10**5)
        one, other = Ledger(budget=whole), Ledger(budget=whole)
        for amount in amounts:
            one.charge(kind(amount), query="q")
        random.shuffle(shuffled := list(amounts))
        for amount in shuffled:
            other.charge(kind(amount), query="q")
        assert one.spent == other.spent
        exact = sum(kind(amount).amounts[0] for amount in amounts)
        total = one.entries()[-1].total.amounts[0]
        assert (
            exact
            <= total
            <= exact
            + len(amounts) * Fraction(1, 10**12)
            + (Fraction(3 * 10**3, 10**12) if kind is GDP else 0)
        )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(money, st.integers(1, 10**6)), max_size=25))
def test_adaptive_spending_never_exceeds_a_budget_and_refuses_only_then(wishes):
    ledger = Ledger(budget=Approximate(100, 1e-3))
    spent = [Fraction(0), Fraction(0)]
    unit = Fraction(1, 10**12)
    for epsilon, k in wishes:
        cost = Approximate(epsilon, Fraction(k, 10**9))
        wanted = [-(-spent[0] // unit) * unit + -(-epsilon // unit) * unit, spent[1] + cost.delta]
        fits = wanted[0] <= 100 and wanted[1] <= Fraction(1, 1000)
        if fits:
            ledger.charge(cost, query="q")
            spent = wanted
        else:
            with pytest.raises(BudgetExhausted):
                ledger.charge(cost, query="q")
        assert list(ledger.spent.amounts) == spent
        assert ledger.remaining.amounts[0] == 100 - spent[0]
    ledger.verify()


@settings(max_examples=60, deadline=None)
@given(costs(), st.lists(st.fractions(min_value=Fraction(1, 50), max_value=1), max_size=12))
def test_a_purse_never_overspends(cost, parts):
    purse = Purse(cost)
    left = list(cost.amounts)
    for part in parts:
        share = cost.share(part)
        after = [a - b for a, b in zip(left, share.amounts, strict=True)]
        if min(after) < 0:
            with pytest.raises(BudgetExhausted, match="No row was read"):
                purse.spend(share)
        else:
            purse.spend(share)
            left = after
    kept = purse.remaining.amounts
    assert all(0 <= k <= x for k, x in zip(kept, left, strict=True))


def test_a_purse_takes_thirds_exactly():
    purse = Purse(Pure(1))
    for _ in range(3):
        purse.spend(Pure(1).share("1/3"))
    assert purse.remaining.amounts == (0, 0)


def test_a_purse_converts_upwards_or_refuses():
    purse = Purse(ZCDP(1))
    purse.spend(GDP(1))
    assert purse.remaining == ZCDP(0.5)
    with pytest.raises(InvalidQuery, match="no proved price"):
        purse.spend(Approximate(1, 1e-6))
    assert str(purse) == "rho 0.5 left of rho 1"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_purse_is_not_copied(duplicate):
    with pytest.raises(LedgerError, match="twice"):
        duplicate(Purse(Pure(1)))
