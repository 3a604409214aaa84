"""Workloads: what is asked, answered and read again; coverage of the intervals."""

import datetime
import json
import math

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.mechanisms import DiscreteLaplace
from halfmask.noise import seeded_words
from halfmask.plan import Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure
from halfmask.queries import Setting
from halfmask.queries.tails import LaplaceSum
from halfmask.queries.workload.answers import STANDARD
from halfmask.sources import open_source

EDGES = list(range(65))
SOME = [(0, 10), (3, 64), (20, 21), (5, 40), (39, 60), (0, 64), (63, 64)]
MATRIX = [[1, 0, 2.5], [0.1, -1, 0.3], [0, 0, 1]]

QUESTIONS = {
    "ranges": hm.Ranges("x", EDGES, SOME),
    "all ranges": hm.Ranges("x", EDGES[:9]),
    "prefixes": hm.Prefixes("x", EDGES),
    "matrix": hm.LinearQueries("x", [0, 10, 30, 64], MATRIX),
    "marginals": hm.Marginals({"x": [0, 5, 20, 64], "g": ["a", "b", "c"]}, order=1),
    "keys": hm.LinearQueries("g", Keys("g", ["a", "b", "c"]), MATRIX),
}
ALL = pytest.mark.parametrize("name", QUESTIONS)
PRICES = [Pure("0.5"), Pure(3), ZCDP("0.125"), GDP(2)]


def data(size=500):
    rng = np.random.default_rng(4)
    x = np.minimum(rng.exponential(12, size), 63.5)
    return {"x": x, "g": np.array(["a", "b", "c", "z"])[rng.integers(0, 4, size)]}


def plain(name, table):
    question, x = QUESTIONS[name], table["x"]
    if name == "keys":
        counts = [np.sum(table["g"] == k) for k in "abc"]
    elif name == "marginals":
        kept = table["g"] != "z"
        bins = np.histogram(x[kept], [0, 5, 20, 64])[0]
        return np.array([*bins, *(np.sum(table["g"] == k) for k in "abc")])
    elif name == "matrix":
        counts = np.histogram(x, [0, 10, 30, 64])[0]
    else:
        pairs = {"ranges": SOME, "prefixes": [(0, e) for e in EDGES[1:]]}.get(name)
        pairs = pairs or [(a, b) for a in range(9) for b in range(a + 1, 9)]
        # the last of the edges belongs to its bin; no value lies there
        return np.array([np.sum((x >= a) & (x < b)) for a, b in pairs])
    return np.array(question.matrix) @ counts


def estimates(name, price, times, words=None, unit=None):
    source = open_source(data(), schema={"g": "text"})
    setting = Setting(source.schema, unit or PrivacyUnit())
    prepared = QUESTIONS[name].prepare(setting, price)
    exact = prepared.request.answered_by(source)
    return [prepared.read(prepared.release(exact, words))[0] for _ in range(times)], setting


@ALL
def test_at_a_large_price_the_answers_are_the_plain_ones(name):
    (one,), _ = estimates(name, Pure(10**6), 1)
    assert np.allclose(one.value, plain(name, data()), atol=1e-2, rtol=1e-6)


@ALL
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_intervals_cover_and_the_error_is_as_expected(name, price):
    """Each query alone; false alarm 1e-6 over all of them; the error is as predicted."""
    times, truth = 250, plain(name, data())
    made, setting = estimates(name, price, times)
    values = np.array([e.value for e in made])
    low_high = np.array([e.interval(0.9) for e in made])
    slack = 1e-6
    held = ((low_high[:, :, 0] - slack <= truth) & (truth <= low_high[:, :, 1] + slack)).sum(axis=0)
    assert held.min() >= stats.binom.ppf(1e-6 / len(truth), times, 0.9)
    rmse = math.sqrt(np.mean((values - truth) ** 2))
    expected = QUESTIONS[name].expected(setting, price, 500)
    assert 0.7 <= rmse / expected.rmse <= 1.4  # 5 deviations of 250 heavy-tailed trials
    assert math.isclose(expected.rmse, math.sqrt(np.mean(np.square(made[0].deviations))))


@ALL
def test_intervals_are_not_far_too_wide(name):
    """At two thirds of their width they would fail: the test above has teeth."""
    times, truth = 1500, plain(name, data())
    made, _ = estimates(name, ZCDP("0.125"), times)
    values = np.array([e.value for e in made])
    halves = np.array([np.diff(e.interval(0.9))[:, 0] / 2 for e in made])
    held = (abs(values - truth) <= halves * 2 / 3).sum(axis=0)
    assert held.max() < stats.binom.ppf(1e-6, times, 0.9)


@pytest.mark.parametrize("tail", [0.5, 0.32, 0.1, 0.083, 0.05, 0.01, 1e-4, 1e-8])
def test_the_quantile_of_laplace_sums_lies_below_the_bound(tail):
    """Against exact tails, over equal, geometric and random weights."""
    rng = np.random.default_rng(9)
    shapes = [np.ones(k) for k in range(1, 12)] + [0.7 ** np.arange(k) for k in range(2, 12)]
    shapes += [[1, *[s] * k] for s in (0.1, 0.3, 0.6) for k in (1, 3, 8)]
    shapes += [rng.exponential(size=k) for k in (2, 4, 8) for _ in range(10)]
    bound = 1.01 * max(-STANDARD.inv_cdf(tail / 2), math.log(1 / tail) / math.sqrt(2))
    for shape in shapes:
        scales = np.asarray(shape) * (1 + 0.0101 * np.arange(len(shape)))
        spread = math.sqrt(2 * np.sum(np.square(scales)))
        known = LaplaceSum(scales.tolist())
        exact_spread = math.sqrt(2 * np.sum(np.square(known.scales)))
        assert known.half_width(tail) / exact_spread <= bound * (1 + 1e-3), (shape, spread)


def test_a_stored_record_is_read_by_the_strategy_that_it_names():
    source = open_source(data(), schema={"g": "text"})
    prepared = QUESTIONS["ranges"].prepare(Setting(source.schema, PrivacyUnit()), Pure(1))
    records = prepared.release(prepared.request.answered_by(source), None)
    (one,) = prepared.read(records)
    (again,) = prepared.read([tuple(json.loads(json.dumps(record))) for record in records])
    assert one.value == again.value
    assert one.interval() == again.interval()
    other = ("tree 2", *[0] * 99)
    tree, *_ = prepared.read([other[: 1 + len(_tree_rows(prepared))]])
    assert isinstance(tree.mechanism, DiscreteLaplace)
    assert tree.mechanism.sensitivity == tree.strategy.norms.l1 != one.strategy.norms.l1


def _tree_rows(prepared):
    from halfmask.queries.workload.strategies import strategy

    return strategy("tree 2", prepared.merged.load).matrix


@pytest.mark.parametrize(
    "matrix",
    [
        [[2**21, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[2**21, 1, 0], [2**21 - 1, 1, 0], [0, 0, 1]],
        [[1e99, 1e92, 0], [0, 1e94, 0], [0, 0, 1e99]],
        [[1e-99, 0, 0], [0, 1e-103, 0], [1e-99, 1e-103, 0]],
        [[1, 2, 3], [2, 4, 6], [3, 6, 9]],
    ],
)
@pytest.mark.parametrize("price", [Pure(10**5), GDP(1000)], ids=str)
def test_coefficients_of_very_different_size_keep_their_answers(matrix, price):
    """No query is lost in another's rounding: each is within the noise of its own interval."""
    source = open_source({"x": np.repeat([1.0, 3.0, 5.0], [1000, 3000, 700])})
    query = hm.LinearQueries("x", [0, 2, 4, 6], matrix)
    prepared = query.prepare(Setting(source.schema, PrivacyUnit()), price)
    (one,) = prepared.read(prepared.release(prepared.request.answered_by(source), None))
    truth = np.array(query.matrix) @ [1000, 3000, 700]
    low, high = np.array(one.interval(1 - 1e-9)).T
    slack = 1e-6 * np.abs(truth)
    assert np.all((low - slack <= truth) & (truth <= high + slack))


def test_strategies_are_the_same_each_time():
    source = open_source(data(), schema={"g": "text"})
    setting = Setting(source.schema, PrivacyUnit())
    from halfmask.queries.workload.choice import _candidates

    one = QUESTIONS["ranges"].prepare(setting, Pure(1)).choice.strategy.text
    _candidates.cache_clear()
    assert QUESTIONS["ranges"].prepare(setting, Pure(1)).choice.strategy.text == one


def test_marginals_agree_with_each_other():
    """Tables of two columns summed over either give the same counts: one table lies behind."""
    columns = {"x": [0, 5, 64], "g": ["a", "b"], "h": [0, 9, 64]}
    table = {**data(), "h": data()["x"]}
    curator = hm.open(table, budget=1, schema={"g": "text"})
    xg, xh, gh = np.array(curator.ask(hm.Marginals(columns), epsilon=1).value).reshape(3, 2, 2)
    assert np.allclose(xg.sum(axis=1), xh.sum(axis=1))
    assert np.allclose(xg.sum(axis=0), gh.sum(axis=1))
    assert np.allclose(xh.sum(axis=0), gh.sum(axis=0))


def test_units_with_many_rows_are_held_to_theirs():
    """A unit of a thousand rows counts as two, in all cells together."""
    table = {"x": np.arange(1000) % 64 + 0.5, "u": np.zeros(1000, dtype=int)}
    curator = hm.open(table, unit="u", rows_per_unit=2, budget=10**6)
    total = curator.ask(hm.Ranges("x", EDGES, [(0, 64)]), epsilon=10**5).value[0]
    assert total <= 2 + 1e-3


def test_groups_filters_and_repeats_through_the_door(tmp_path):
    curator = hm.open(data(), ledger=tmp_path / "a.ledger", budget=10, schema={"g": "text"})
    ask = {"by": Keys("g", ["a", "b"]), "where": hm.col("x") < 30, "epsilon": 1}
    one = curator.ask(QUESTIONS["ranges"], **ask, request_id="r1")
    again = curator.ask(QUESTIONS["ranges"], **ask, request_id="r1")
    assert one["a"].value == again["a"].value != one["b"].value
    assert str(curator.remaining) == "epsilon 9"
    assert len(one["a"].cells()) == len(SOME)
    assert "0 to 10" in one["a"].statement


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: hm.LinearQueries("x", [0, 1, 2], [[1, 2, 3]]), "matrix: of shape"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], [1, 2]), "matrix: of shape"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], []), "matrix: of shape"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], [[1], [1, 2]]), "matrix: not a table"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], [[0, 0]]), "matrix: its largest"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], [[math.nan, 0]]), "matrix: its largest"),
        (lambda: hm.LinearQueries("x", [0, 1, 2], [[math.inf, 0]]), "matrix: its largest"),
        (lambda: hm.LinearQueries("x", Keys("y", ["a"]), [[1]]), "cells: keys of"),
        (lambda: hm.Ranges("x", [0, 1, 2], [(0, 3)]), "ranges: 0 to 3"),
        (lambda: hm.Ranges("x", [0, 1, 2], [(1, 0)]), "ranges: 1 to 0"),
        (lambda: hm.Ranges("x", [0, 1, 2], []), "ranges: 0 of them"),
        (lambda: hm.Ranges("x", [0, 1, 2], "some"), "ranges: "),
        (lambda: hm.Ranges("x", range(5000), "all"), "ranges: 12497500"),
        (lambda: hm.Ranges("x", [2, 1]), "edges: 1"),
        (lambda: hm.Prefixes("x", [0]), "edges: 1 of them"),
        (lambda: hm.Prefixes("x", 3), "edges: "),
        (lambda: hm.Prefixes("x", ["2026-01-01", 3]), "edges: "),
        (lambda: hm.Ranges("x", ["2026-01-01", "2026-02-01"]), "edges: times are given"),
        (lambda: hm.Marginals(["x"]), "columns: a list given"),
        (lambda: hm.Marginals({"x": [0, 1]}, order=2), "order: 2 of 1 columns"),
        (lambda: hm.Marginals({"x": [0, 1]}, order=True), "order: True"),
        (lambda: hm.Marginals({"x": range(100), "y": range(100)}), "columns: their product has"),
    ],
)
def test_bad_workloads_are_refused_in_words(make, said):
    with pytest.raises(hm.InvalidQuery, match="^" + said.replace("(", r"\(")):
        make()


def test_running_counts_by_the_month():
    times = np.array(["2026-01-31T23:59:59", "2026-02-01", "2026-03-05"], dtype="datetime64[us]")
    curator = hm.open({"at": times}, budget=10**4)
    for edges in (
        hm.Periods("2026-01-01", "month", 3),
        [datetime.date(2026, month, 1) for month in range(1, 5)],
    ):
        release = curator.ask(hm.Prefixes("at", edges), epsilon=2000)
        assert [round(value) for value in release.value] == [1, 2, 3]
        assert release.query.edges == ("2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01")
        assert release.cells()[0].bin == "2026-01-01 to 2026-02-01"


def test_too_fine_a_workload_is_refused_before_it_costs():
    curator = hm.open({"x": [1.0]}, budget=1)
    with pytest.raises(hm.InvalidQuery, match=r"^workload: its queries tell 4999 cells apart"):
        curator.ask(hm.Prefixes("x", range(5000)), epsilon=1)
    assert str(curator.remaining) == "epsilon 1"


def test_the_noise_is_that_of_the_law():
    """A seeded release is the exact answers plus the mechanism's own draws."""
    source = open_source(data(), schema={"g": "text"})
    prepared = QUESTIONS["prefixes"].prepare(Setting(source.schema, PrivacyUnit()), Pure(1))
    exact = prepared.request.answered_by(source)
    ((_, *noisy),) = prepared.release(exact, seeded_words(11))
    (vector,) = prepared.vectors(exact)
    noise = prepared.choice.mechanism.release([0] * len(vector), seeded_words(11))
    assert [a - b for a, b in zip(noisy, vector, strict=True)] == list(noise)
