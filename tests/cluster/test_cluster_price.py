"""What a clustering costs: the noise of its sums, and stages that together spend the price."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from halfmask.cluster import PrivateKMeans
from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.noise import seeded_words
from halfmask.privacy import GDP, ZCDP, Approximate, Ledger, Purse, gdp_delta
from halfmask.procedures.cluster.axes import Spread
from halfmask.procedures.cluster.cells import Cells, CellSums
from halfmask.procedures.cluster.rows import Rows
from halfmask.procedures.cluster.shares import Shares
from halfmask.queries.cutting import FINE

ALARM = 1e-6
NOBODY = Rows.of(np.zeros((0, 40)), 1.0)


def follows(values, sigma):
    """Whether a chi-square test of the variance and a KS test of the shape pass at 1e-6."""
    scaled = values / sigma
    total = float((scaled**2).sum())
    low, high = stats.chi2.ppf([ALARM / 4, 1 - ALARM / 4], values.size)
    return low < total < high and stats.kstest(scaled, "norm").pvalue > ALARM / 2


def tell_nothing(replaced):
    """The noise of the sums of 100 cells without rows, in grid steps; what mu asks for."""
    cells = Cells(40, replaced, GDP("0.3"))
    exact = NOBODY.total(CellSums(cells, np.zeros((100, 40)), FINE / 2)).tolist()
    told = cells.read(cells.mechanism.release(exact))
    values = np.concatenate([told.pulls.ravel() * FINE, told.weights * cells.weight])
    length = (4 if replaced else 1) + 40**-0.5 + 1 / 16
    return values, math.sqrt(length) * FINE / 0.3


def spread_nothing(replaced):
    """The noise of all entries of a matrix of no rows."""
    spread = Spread(40, replaced, GDP("0.3"))
    values = spread.mechanism.release(spread.sums(NOBODY, np.zeros(40), 1.0))
    return np.array(values, float), 29 * 2.0**34 * math.sqrt(1 + replaced) / 0.3


@pytest.mark.parametrize("noise", [tell_nothing, spread_nothing])
@pytest.mark.parametrize("replaced", [False, True])
def test_the_noise_is_that_of_its_price(noise, replaced):
    """False alarms 1e-6; tells scales 2/3 and 3/2."""
    values, sigma = noise(replaced)
    assert follows(values, sigma)
    assert not follows(values, sigma * 2 / 3)
    assert not follows(values, sigma * 3 / 2)


@pytest.mark.parametrize("columns", [1, 15, 16, 784])
def test_stages_together_spend_the_price_and_no_more(columns):
    """Privacy of `Shares`: the sum of mu^2 is that of the largest mu within (epsilon, delta)."""
    inside = Approximate(1, "1e-6").largest_gdp()
    together = sum(part.squared for part in Shares(columns, False, inside).spent)
    assert 1 - 1e-9 < together / inside.squared <= 1
    assert gdp_delta(inside.mu, Fraction(1)) <= Fraction("1e-6")


@pytest.mark.parametrize("columns", [3, 30])
def test_a_fit_spends_what_its_stages_say(columns, monkeypatch):
    spent = []
    real = Purse.spend
    monkeypatch.setattr(Purse, "spend", lambda purse, part: (spent.append(part), real(purse, part)))
    PrivateKMeans(3, 1, 1e-6).fit(np.ones((50, columns)))
    shares = Shares(columns, False, Approximate(1, "1e-6").largest_gdp())
    assert sorted(map(str, spent)) == sorted(map(str, shares.spent))


def test_a_ledger_is_charged_before_rows_are_looked_at():
    ledger = Ledger(budget=Approximate(2, "2e-6"))

    class Watched(np.ndarray):
        def __getitem__(self, key):
            assert str(ledger.spent) == "epsilon 1, delta 1e-6"
            return super().__getitem__(key)

        def astype(self, *args, **kwargs):
            assert str(ledger.spent) == "epsilon 1, delta 1e-6"
            return super().astype(*args, **kwargs)

    one = PrivateKMeans(3, 1, 1e-6, ledger=ledger, words=seeded_words(1))
    one.fit(np.ones((40, 2)).view(Watched))
    assert one.privacy_spent_ == Approximate(1, "1e-6")
    (entry,) = ledger.entries()
    assert "PrivateKMeans(3, " in entry.query
    assert "NOT PRIVATE: seeded" in entry.query


@pytest.mark.parametrize("budget", [GDP(1), ZCDP(1)])
def test_ledgers_in_mu_and_rho_pay_in_mu(budget):
    ledger = Ledger(budget=budget)
    one = PrivateKMeans(2, 1, 1e-6, ledger=ledger).fit(np.ones((9, 2)))
    mu = Approximate(1, "1e-6").largest_gdp()
    assert one.privacy_spent_ == mu
    assert ledger.spent.amounts[0] == pytest.approx(mu.in_measure(budget.measure).amounts[0])


def test_each_fit_is_charged_and_a_purse_too():
    purse = Purse(Approximate(3, "1e-4"))
    one = PrivateKMeans(2, 1, 1e-6, ledger=purse)
    one.fit(np.ones((9, 2)))
    one.fit(np.ones((9, 2)))
    assert purse.remaining.epsilon == 1


def test_a_ledger_that_has_too_little_stops_the_fit():
    ledger = Ledger(budget=Approximate("0.5", "1e-5"))
    one = PrivateKMeans(2, 1, 1e-6, ledger=ledger)
    with pytest.raises(BudgetExhausted):
        one.fit(np.ones((9, 2)))
    assert not hasattr(one, "cluster_centers_")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_clusters": 0}, "n_clusters: must be a whole number from 1 to 1000, given 0"),
        ({"n_clusters": 2.0}, "n_clusters: must be"),
        ({"n_clusters": True}, "n_clusters: must be"),
        ({"epsilon": 0}, "epsilon: must be above 0"),
        ({"delta": 0}, "delta: 0 allows no Gaussian noise"),
        ({"epsilon": 1e-12, "delta": 1e-18}, "larger number"),
        ({"epsilon": 1e-6, "delta": 1e-9, "X": np.ones((9, 20))}, "larger mu"),
        ({"loss": "mode"}, "loss: unknown value 'mode'"),
        ({"row_bound": "none"}, "row_bound: must be a number"),
        ({"row_bound": -1}, "row_bound: must be above 0"),
        ({"relation": "swap"}, "relation: unknown value 'swap'"),
        ({"ledger": 3}, "ledger: 3 given"),
        ({"X": np.ones(4)}, "X: 1 dimensions given"),
        ({"X": [[1.0], [1.0, 2.0]]}, "X: of type object"),
        ({"X": [["secret"]]}, "X: of type str_; give numbers"),
        ({"X": np.ones((4, 3000))}, "and a maximum of 2048"),
        ({"X": np.ones((4, 0))}, r"0 feature\(s\)"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is_charged(change, says):
    ledger = Ledger(budget=Approximate(10**6, "0.5"))
    given = {"n_clusters": 2, "epsilon": 1, "delta": 1e-6, "ledger": ledger} | change
    X = given.pop("X", np.ones((9, 2)))
    with pytest.raises(InvalidQuery, match=says):
        PrivateKMeans(**given).fit(X)
    assert not ledger.entries()
