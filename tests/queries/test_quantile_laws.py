"""Quantiles: what one unit can change of their exact law, their draws, ties, kinds, bad input."""

import math
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Line, Measure, quantile_line, quantile_ranks
from halfmask.noise import secure_words
from halfmask.plan import Everything, Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.queries import Setting, range_epsilon
from halfmask.queries.quantile_plan import QuantilePlan
from halfmask.sources import open_source

ALARM = 1e-6
QUERIES = {
    "median": hm.Median("x", 0, 4),
    "low": hm.Quantile("x", 0.1, 0, 4),
    "least": hm.Quantile("x", 0, 0, 4),
    "three": hm.Quantile("x", [0.25, 0.5, 0.75], 0, 3),
    "uneven": hm.Quantile("x", [0.9, 0.2], 0, 3),
}
row = st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "z"]), st.integers(-1, 5))


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Cells of two places, so that all of a law can be walked."""
    monkeypatch.setattr(quantile_ranks, "PLACE_BITS", 1)


def table(rows):
    return open_source(
        {
            "u": np.array([r[0] for r in rows], np.int64),
            "g": np.array([r[1] for r in rows], "U1"),
            "x": np.array([r[2] for r in rows], np.int64),
        },
        schema={"g": "text"},
    )


def laws_of(query, setting, price, rows):
    measurement = query.prepare(setting, price)
    return measurement.log_masses(measurement.request.answered_by(table(rows)))


@st.composite
def neighbours(draw):
    """Two tables that differ in one unit, and that unit's declaration."""
    column = draw(st.sampled_from([None, "u"]))
    by = draw(st.sampled_from([None, Keys("g", ["a", "b"])]))
    groups = draw(st.sampled_from([None, 1, 2])) if column and by else None
    unit = PrivacyUnit(
        column,
        draw(st.integers(1, 2)) if column else 1,
        groups,
        draw(st.sampled_from(list(Relation))),
    )
    others = [(r[0], r[1], r[2]) for r in draw(st.lists(row, max_size=5))]
    many = st.lists(row, min_size=1, max_size=3 if column else 1)
    mine = [(9, g, x) for _, g, x in draw(many)]
    instead = [(9, g, x) for _, g, x in draw(many)] if unit.relation is Relation.REPLACE else []
    return by, unit, others + mine, others + instead


@pytest.mark.parametrize("name", QUERIES)
@given(pair=neighbours(), price=st.sampled_from([Pure("0.7"), ZCDP("0.08"), GDP("0.5")]))
@settings(max_examples=25, deadline=None)
def test_no_unit_changes_the_exact_law_by_more_than_the_price(name, pair, price):
    """Privacy: the log ratio of each record, over all groups; for rho, the divergence too."""
    by, unit, rows, others = pair
    setting = Setting(table(rows).schema, unit, Everything(), by)
    query = QUERIES[name]
    one, two = (laws_of(query, setting, price, t) for t in (rows, others))
    losses = [
        {record: law[record] - other[record] for record in law}
        for law, other in zip(one, two, strict=True)
    ]
    levels = len(query.prepare(setting, price).plan.levels)
    epsilon = levels * float(range_epsilon(price.share(Fraction(1, levels))))
    assert math.fsum(max(loss.values()) for loss in losses) <= epsilon + 1e-9
    assert math.fsum(max(loss.values()) - min(loss.values()) for loss in losses) <= epsilon + 1e-9
    if isinstance(price, ZCDP):
        for order in (1.5, 2, 8, 40):
            divergence = sum(
                math.log(math.fsum(math.exp(law[r] + (order - 1) * loss[r]) for r in law))
                for law, loss in zip(one, losses, strict=True)
            ) / (order - 1)
            assert divergence <= order * float(price.rho) + 1e-9


def test_a_median_uses_all_of_its_price():
    """Noise is not wasted: far from few rows, nearly all of the law moves against one place."""
    setting = Setting(table([(0, "a", 1)]).schema, PrivacyUnit())
    query, rows = hm.Median("x", 0, 5000), [(0, "a", 1)]
    one, two = (laws_of(query, setting, Pure(1), t)[0] for t in (rows, [*rows, (9, "a", 5000)]))
    assert 0.99 < max(abs(one[record] - two[record]) for record in one) <= 1


@pytest.mark.parametrize("near", [quantile_line.NEAR, 1])
@pytest.mark.parametrize("name", QUERIES)
def test_draws_follow_the_exact_law(name, near, monkeypatch):
    """False alarm 1e-6 a case; also where nearly all cells are drawn in bulk."""
    monkeypatch.setattr(quantile_line, "NEAR", near)
    rows = [(i, "a", x) for i, x in enumerate([0, 1, 1, 1, 2, 4, 4])]
    assert p_value(QUERIES[name], Pure(2), Pure(2), rows) > ALARM


@pytest.mark.parametrize("wrong", [Pure("4/3"), Pure(3)])
def test_a_wrong_scale_is_seen(wrong):
    rows = [(i, "a", x) for i, x in enumerate([0, 1, 1, 1, 2, 4, 4])]
    assert p_value(QUERIES["median"], wrong, Pure(2), rows, 6000) < ALARM


def p_value(query, price, claimed, rows, times=1500):
    source = table(rows)
    setting = Setting(source.schema, PrivacyUnit())
    measurement = query.prepare(setting, price)
    exact = measurement.request.answered_by(source)
    (law,) = query.prepare(setting, claimed).log_masses(exact)
    assert math.isclose(math.fsum(map(math.exp, law.values())), 1)
    words = secure_words()
    drawn = [measurement.release(exact, words)[0] for _ in range(times)]
    expected = np.array([math.exp(log) * times for log in law.values()])
    seen = np.array([drawn.count(record) for record in law])
    kept = expected > 5
    assert seen.sum() == times
    fitted = expected[kept] / expected[kept].sum() * seen[kept].sum()
    return stats.chisquare(seen[kept], fitted).pvalue


@given(
    held=st.dictionaries(st.integers(-8, 8), st.integers(1, 2**20), max_size=8),
    q=st.fractions(0, 1, max_denominator=30),
    even=st.booleans(),
    ends=st.tuples(st.integers(0, 66), st.integers(0, 66)),
)
@settings(max_examples=200, deadline=None)
def test_distances_equal_the_definition(held, q, even, ends):
    """The naive twin: F(t) by adding up, in fractions; for every place of a cut line."""
    cells = np.array(sorted(held), np.int64)
    weights = np.array([held[cell] for cell in sorted(held)], np.int64)
    measure = Measure(-8, 8, 4)
    start, stop = (measure.start + end for end in sorted(ends))
    if start == stop:
        return
    line = Line.whole(cells, weights, measure).after(start).before(stop)
    ranked = line._ranked(q, even)

    def before(t):
        return sum(
            Fraction(w * max(0, min(t, 4 * c + 4, stop) - max(4 * c, start)), 4)
            for c, w in held.items()
        )

    total = before(stop)
    for t in range(start, stop):
        distance = abs(before(t) - q * total)
        if even and t // 4 in held:
            low, high = before(max(4 * (t // 4), start)), before(min(4 * (t // 4) + 4, stop))
            distance = max(0, low - q * total, q * total - high)
        assert ranked.distance(t) == distance * 4 * q.denominator


def test_bounded_range_is_gaussian_at_half_its_epsilon():
    """The claim of `range_epsilon`: no two-point pair of that range needs a greater mu."""
    for mu in (0.01, 0.3, 1, 4):
        epsilon = float(range_epsilon(GDP(str(mu))))
        logit = np.linspace(-epsilon - 20, 20, 4001)
        p, q = 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit - epsilon))
        kept = (p > 1e-9) & (q < 1 - 1e-9)
        worst = (stats.norm.ppf(q) - stats.norm.ppf(p))[kept].max()
        assert 0.999 * mu < worst <= mu * (1 + 1e-6)


def test_several_quantiles_are_split_where_that_is_better():
    quartiles = tuple(Fraction(i, 4) for i in (1, 2, 3))
    plan = QuantilePlan.best(quartiles, Pure(1), 1, moves=False, split=False)
    assert [len(level) for level in plan.levels] == [1, 2]
    assert plan.levels[1][0].rate == Fraction(1, 2)  # half the price, at q = 1/2 of a half
    deciles = tuple(Fraction(i, 10) for i in range(1, 10))
    apart = sum(2 * (2 * 9 * max(q, 1 - q)) ** 2 for q in map(float, deciles))
    assert sum(QuantilePlan.best(deciles, Pure(1), 1, moves=False, split=False).variances()) < apart


@pytest.mark.parametrize("value", [41_000.0, 0.1, -3.0])
@pytest.mark.parametrize("bounds", [(-10, 400_000), (None, None)])
def test_equal_values_are_answered(value, bounds):
    curator = hm.open({"x": np.full(1000, value)}, budget=100)
    for query in (hm.Median("x", *bounds), hm.Quantile("x", [0.1, 0.5, 0.9], *bounds)):
        answer = np.ravel(curator.ask(query, epsilon=1).value)
        assert np.all(np.abs(answer - value) <= 2**-12)
        if value != 0.1:
            assert np.all(answer == value)


def test_a_value_that_most_rows_share_is_answered_by_the_quantiles_inside_it(monkeypatch):
    """80 % of the rows, and quantiles on both sides of them: a cut through a cell of ties."""
    monkeypatch.setattr(quantile_ranks, "PLACE_BITS", 20)
    x = np.concatenate([np.full(8000, 50.0), np.linspace(0, 49, 1000), np.linspace(51, 99, 1000)])
    curator = hm.open({"x": x}, budget=100)
    found = curator.ask(hm.Quantile("x", [0.05, 0.25, 0.5, 0.75, 0.95], 0, 1000), epsilon=5).value
    assert found[1:4] == (50.0, 50.0, 50.0)
    assert abs(found[0] - 24.5) < 3
    assert abs(found[4] - 75) < 3


def test_columns_answer_in_their_kind():
    n = 2000
    days = np.datetime64("2024-01-01", "us") + np.arange(n) * np.timedelta64(3600, "s")
    curator = hm.open({"i": np.arange(n), "t": days, "f": np.arange(n) / 8}, budget=1000)
    whole = curator.ask(hm.Median("i"), epsilon=10).value
    assert isinstance(whole, int)
    assert abs(whole - 1000) < 20
    bounds = ("2020-01-01", datetime(2030, 1, 1))
    for query in (
        hm.Median("t"),
        hm.Median("t", *bounds),
        hm.Median("t", date(2020, 1, 1), "2030-01-01"),
    ):
        release = curator.ask(query, epsilon=10)
        assert abs(datetime.fromisoformat(release.value) - datetime(2024, 2, 11, 16)).days <= 2
        assert release.value in release.statement
        assert "below" in release.to_json()
    assert abs(curator.ask(hm.Quantile("f", "1/4"), epsilon=10).value - 62.5) < 5


def test_no_rows_give_a_defined_answer_inside_the_bounds():
    curator = hm.open({"x": np.array([]), "g": np.array([], "U1")}, budget=100)
    assert 3 <= curator.ask(hm.Median("x", 3, 4), epsilon=1).value <= 4
    answers = curator.ask(hm.Quantile("x", [0.1, 0.9], 3, 4), epsilon=1, by=Keys("g", ["a", "b"]))
    assert all(3 <= x <= 4 for pair in answers.value.values() for x in pair)


def test_the_rank_error_holds():
    """At 90 %: the bound is far from tight, so no miss in 300 is expected; 1e-6 allows 57."""
    x = np.random.default_rng(3).normal(0, 1, 4000)
    curator = hm.open({"x": x}, budget=1000)
    ranked = np.sort(x)
    misses = 0
    for _ in range(150):
        for query in (hm.Median("x", -10, 10), hm.Quantile("x", [0.3, 0.5], -10, 10)):
            estimate = curator.ask(query, epsilon=0.5).estimate
            ranks = np.searchsorted(ranked, np.ravel(estimate.value)) - 4000 * np.array(
                [float(q) for q in estimate.asked.quantiles]
            )
            misses += bool(np.any(np.abs(ranks) > np.ravel(estimate.rank_error(0.9)) + 1))
    assert misses <= stats.binom.isf(ALARM, 300, 0.1)


BAD = {
    "q: 1.5 is no number from 0 to 1": lambda: hm.Quantile("x", 1.5),
    "q: nan is no number": lambda: hm.Quantile("x", math.nan),
    "q: 'half' is no number": lambda: hm.Quantile("x", "half"),
    "q: none are given": lambda: hm.Quantile("x", []),
    "names a quantile twice": lambda: hm.Quantile("x", [0.5, "1/2"]),
    "one of lower and upper is given": lambda: hm.Median("x", 0),
    "lower 5 is above upper 3": lambda: hm.Median("x", 5, 3),
    "is not before": lambda: hm.Median("x", "2024-01-01", "2023-01-01"),
    "no ISO date": lambda: hm.Median("x", "yesterday", "2023-01-01"),
    "more than 6 decimals": lambda: hm.Quantile("x", "1/3000001"),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_questions_are_refused_in_words(words):
    with pytest.raises(InvalidQuery, match=words):
        BAD[words]()


def test_questions_that_do_not_fit_the_column_are_refused_before_the_charge():
    curator = hm.open(
        {"x": [1.0], "s": np.array(["a"]), "t": np.array(["2024"], "M8[us]")}, budget=1
    )
    for query, words in (
        (hm.Median("s"), "holds text"),
        (hm.Median("t", 0, 1), "give dates"),
        (hm.Median("x", "2023-01-01", "2024-01-01"), "give numbers"),
    ):
        with pytest.raises(InvalidQuery, match=words):
            curator.ask(query, epsilon=1)
    assert str(curator.remaining) == "epsilon 1"
