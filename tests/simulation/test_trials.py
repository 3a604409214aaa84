"""Trials and sweeps: what they answer, what they refuse, and that rows are read once."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.room import Room
from halfmask.simulation.simulated import Simulated

X = np.clip(np.random.default_rng(7).normal(50_000, 15_000, 100), 0, None)
TABLE = {"x": X, "g": np.array(["a", "b"] * 50), "u": np.arange(100) // 2}
TOP = 60_000
EXACT = {
    "count": (hm.Count(), 100),
    "sum": (hm.Sum("x", 0, TOP), X.sum()),
    "mean": (hm.Mean("x", 0, TOP), X.mean()),
    "variance": (hm.Variance("x", 0, TOP), X.var()),
    "deviation": (hm.StandardDeviation("x", 0, TOP), X.std()),
    "histogram": (hm.Histogram("x", [0, 45_000, math.inf]), np.bincount(X >= 45_000)),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_truth_is_that_of_the_rows_without_bounds(name):
    query, truth = EXACT[name]
    tried = hm.trials(query, TABLE, epsilon=1, repeats=2)
    assert np.allclose(tried.truth, truth, rtol=1e-5)
    held = hm.trials(query, TABLE | {"x": np.minimum(X, TOP)}, epsilon=1, repeats=2)
    assert np.allclose(tried.exact, held.exact, rtol=1e-5)
    assert np.allclose(tried.clipping, np.asarray(tried.exact) - truth, rtol=1e-4, atol=1)


def test_infinite_values_are_held_to_the_bounds_alone():
    tried = hm.trials(hm.Mean("x", 0, 10), {"x": [1.0, math.inf, -math.inf]}, epsilon=1, repeats=2)
    assert float(tried.truth) == pytest.approx(11 / 3, rel=1e-4)


def test_spread_and_error_are_those_of_the_noise():
    """The count's law is exact: a chi-square of 4000 answers accepts it and rejects 2/3 and 3/2.

    False alarm 1e-6 for the interval, taken 1.5 times as wide for the noise's fourth moment.
    """
    tried = hm.trials(hm.Count(), TABLE, epsilon=0.5, repeats=4000)
    deviation = hm.open(TABLE, budget=1).preview(hm.Count(), epsilon=0.5, rows=100).rmse
    far = 1.5 * stats.norm.isf(1e-6 / 2) / math.sqrt(2 * 4000)
    assert far < math.log(1.5) / 2
    assert abs(math.log(tried.spread / deviation)) < far
    assert abs(math.log(tried.noise_rmse / deviation)) < far
    assert abs(tried.bias) < stats.norm.isf(1e-6 / 2) * deviation / math.sqrt(4000)
    assert tried.rmse**2 == pytest.approx(tried.bias**2 + tried.spread**2 * 3999 / 4000)
    assert tried.standard_error == pytest.approx(tried.spread / math.sqrt(4000))
    low, high = tried.quantiles((0.05, 0.95))
    assert low < 100 < high


def test_groups_vectors_and_names_have_axes_of_their_own():
    by = hm.Keys("g", ["a", "b", "c"])
    assert hm.trials(hm.Count(), TABLE, by=by, epsilon=1, repeats=5).estimates.shape == (5, 3)
    query = hm.Histogram("x", [0, 1, 2, 3, 4])
    tried = hm.trials(query, TABLE, by=by, epsilon=1, repeats=5)
    assert tried.estimates.shape == (5, 3, 4)
    assert tried.keys == ("a", "b", "c")
    both = hm.trials({"n": hm.Count(), "h": query}, TABLE, epsilon=1, repeats=5)
    assert [one.estimates.shape for one in both.values()] == [(5,), (5, 4)]


def test_choices_are_right_or_wrong_and_have_no_mean():
    table = {"g": ["a"] * 90 + ["b"] * 10}
    tried = hm.trials(hm.MostCommon("g", ["a", "b"]), table, epsilon=2, repeats=50)
    assert tried.right == 1.0  # fails once in e^80
    with pytest.raises(hm.InvalidQuery, match="names, which have no mean"):
        _ = tried.bias
    assert "1.000 of them are the right one" in str(tried)


@pytest.mark.parametrize(
    ("query", "price"),
    [
        (hm.Mean("x", 0, TOP), {"epsilon": 1}),
        (hm.Median("x", 0, TOP), {"rho": 0.1}),
        (hm.Count(), {"mu": 1}),
        (hm.Sum("x", 0, TOP), {"epsilon": 1, "delta": 1e-6}),
        (hm.Covariance({"x": (0, TOP), "u": (0, 50)}), {"epsilon": 1}),
        (hm.CoordinateMedian(0, TOP, ("x",)), {"epsilon": 1}),
        (hm.RobustLocation(0, TOP, ("x",)), {"rho": 1}),
        (hm.Marginals({"g": hm.Keys("g", ["a", "b"])}, 1), {"epsilon": 1}),
    ],
    ids=str,
)
def test_rows_are_read_once_however_often_noise_is_drawn(query, price, monkeypatch):
    readings = []
    read = Room._exact

    def counted(self, request):
        readings.append(request)
        return read(self, request)

    monkeypatch.setattr(Room, "_exact", counted)
    hm.trials(query, TABLE, repeats=3, **price)
    few = len(readings)
    readings.clear()
    tried = hm.trials(query, TABLE, repeats=20, **price)
    assert 0 < len(readings) <= few
    assert len({one.tobytes() for one in tried.estimates}) > 1


def test_options_are_those_of_opening():
    tried = hm.trials(hm.CountDistinct(), TABLE, unit="u", rows_per_unit=2, epsilon=1, repeats=2)
    assert tried.exact == 50
    tried = hm.trials(hm.Count(), TABLE, relation="replace", where="x > 0", epsilon=1, repeats=2)
    assert tried.exact == 100


REFUSED = {
    "a curator": ({"table": hm.open(TABLE, budget=1)}, "a curator holds private rows"),
    "a file": ({"table": "people.csv"}, "a file may hold private rows"),
    "found keys": ({"by": "g"}, "differ from trial to trial"),
    "one repeat": ({"repeats": 1}, "repeats: 1 is no whole number"),
    "no query": ({"query": 3}, "is not one; ask something like"),
    "no price": ({"epsilon": None}, "price: none given"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    changes, message = REFUSED[name]
    given = {"query": hm.Count(), "table": TABLE, "epsilon": 1, "repeats": 2} | changes
    with pytest.raises(hm.InvalidQuery, match=message):
        hm.trials(given.pop("query"), given.pop("table"), **given)


def test_trials_take_no_seed_and_charge_no_ledger(tmp_path):
    with pytest.raises(TypeError, match="words"):
        hm.trials(hm.Count(), TABLE, epsilon=1, words=object())
    with pytest.raises(TypeError, match="ledger"):
        hm.trials(hm.Count(), TABLE, epsilon=1, ledger=str(tmp_path / "a.ledger"))
    assert not hasattr(Simulated.of(TABLE), "ledger")


def test_a_sweep_over_bounds_shows_bias_and_noise_apart():
    found = hm.sweep(
        lambda top: hm.Mean("x", 0, top),
        TABLE,
        over=[20_000, 80_000, 10**6],
        epsilon=1,
        repeats=300,
    )
    assert found.best == 80_000
    held = [np.minimum(X, top).mean() - X.mean() for top in found.values]
    assert np.allclose(found.clipping, held, atol=1)
    assert found.spread[0] < found.spread[1] < found.spread[2]
    assert list(found.to_frame().columns) == ["over", "bias", "clipping", "spread", "rmse"]


def test_a_sweep_over_prices_and_one_over_shares():
    found = hm.sweep(hm.Count(), TABLE, epsilon=[0.1, 1], repeats=300)
    assert found.values == (0.1, 1)
    assert 5 < found.rmse[0] / found.rmse[1] < 25
    parts = [{"n": Fraction(k, 10), "t": 1 - Fraction(k, 10)} for k in (1, 4)]
    both = {"n": hm.Count(), "t": hm.Sum("x", 0, 100_000)}
    split = hm.sweep(
        both,
        TABLE,
        epsilon=0.5,
        shares=parts,
        repeats=300,
        read=lambda answers: min(max(answers["t"] / max(answers["n"], 1), 0), 100_000),
    )
    assert split.best == parts[1]
    assert "shares n 0.4, t 0.6: error" in str(split)
    assert float(split.trials[0].truth) == pytest.approx(X.mean(), rel=1e-4)


SWEEPS = {
    "nothing varied": ({"epsilon": 1}, "nothing varied"),
    "two varied": ({"epsilon": [1, 2], "over": [1]}, "epsilon and over varied"),
    "no function": ({"epsilon": 1, "over": [1]}, "over: goes with a function"),
    "empty": ({"epsilon": []}, "epsilon: an empty list"),
    "several": ({"query": {"a": hm.Count(), "b": hm.Count()}, "epsilon": [1]}, "read: several"),
}


@pytest.mark.parametrize("name", SWEEPS)
def test_sweeps_that_are_refused(name):
    changes, message = SWEEPS[name]
    given = {"query": hm.Count(), "repeats": 2} | changes
    with pytest.raises(hm.InvalidQuery, match=message):
        hm.sweep(given.pop("query"), TABLE, **given)
