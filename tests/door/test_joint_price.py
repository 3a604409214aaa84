"""Many queries for one (epsilon, delta): Gaussian noise where that means less error."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.audit import verify
from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.privacy import GDP, Approximate, PrivacyUnit, Pure, Purse
from halfmask.procedures import Together
from halfmask.queries import Setting
from halfmask.sources import open_source

X = np.arange(1000.0)
PRICE = Approximate(1, "1e-6")


def asks(count):
    return {f"n{i}": hm.Histogram("x", [0, i + 1, 1000]) for i in range(count)}


def setting():
    return Setting(open_source({"x": X}).schema, PrivacyUnit())


def test_few_stay_laplace_and_many_turn_gaussian():
    table = hm.open({"x": X}, budget=Approximate(10, "1e-4"))
    few = table.ask(asks(3), epsilon=1, delta="1e-6")
    many = table.ask(asks(20), epsilon=1, delta="1e-6")
    assert few["n0"].mechanism == ("discrete Laplace, scale 3",)
    assert many["n0"].mechanism[0].startswith("rounded Gaussian")
    assert many["n0"].cost == PRICE
    assert table.remaining == Approximate(8, "9.8e-5")
    shown = table.preview(asks(20), epsilon=1, delta="1e-6", rows=1000)["n0"].rmse
    split = table.preview(asks(20), epsilon=1, rows=1000)["n0"].rmse
    assert shown < 0.7 * split
    again = table.ask(asks(20), epsilon=1, delta="1e-6", request_id="r")
    assert (
        table.ask(asks(20), epsilon=1, delta="1e-6", request_id="r")["n3"].value
        == again["n3"].value
    )


def test_the_choice_is_never_worse_than_the_split():
    for count in (2, 10, 11, 12, 13, 30):
        together, about = Together(asks(count)), setting()
        chosen = together._error(about, together.currency(about, PRICE))
        assert chosen <= together._error(about, PRICE)
    assert Together(asks(30)).currency(setting(), Pure(1)) == Pure(1)
    assert Together(asks(1)).currency(setting(), PRICE) == PRICE


def test_the_whole_is_within_the_price_as_the_auditor_reckons_it():
    """[Dong, Roth & Su 2022, Cor. 2; Balle & Wang 2018, Thm 8]"""
    queries = {f"n{i}": hm.Histogram("x", [0, i + 1, 50]) for i in range(20)}
    found = verify(queries, schema={"x": "real"}, price=PRICE)
    assert found.holds, found
    assert not found.overspent
    assert found.loss <= 1 + 1e-9


def test_a_purse_is_changed_once_and_only_while_it_is_whole():
    purse, whole = Purse(PRICE), PRICE.largest_gdp()
    for _ in range(4):
        purse.spend(whole.share("1/4"))
    assert purse.remaining.amounts[0] < 1e-9
    with pytest.raises(BudgetExhausted):
        purse.spend(GDP("1e-4"))
    begun = Purse(PRICE)
    begun.spend(Pure("1e-6"))
    with pytest.raises(InvalidQuery):
        begun.spend(GDP("1e-3"))
    begun.spend(Approximate("0.5", "1e-7"))
    too_much = Purse(PRICE)
    with pytest.raises(BudgetExhausted):
        too_much.spend(GDP(whole.mu * 2))
    with pytest.raises(InvalidQuery, match=r"^delta: 0"):
        Purse(Approximate(1, 0)).spend(GDP("0.1"))


def test_a_part_that_takes_no_mu_keeps_the_price():
    class Stubborn(hm.Count):
        def prepare(self, setting, price):
            if isinstance(price, GDP):
                raise InvalidQuery("price: not for mu")
            return super().prepare(setting, price)

    queries = asks(25) | {"s": Stubborn()}
    assert Together(queries).currency(setting(), PRICE) == PRICE
