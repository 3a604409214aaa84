"""Answers that are chosen: the most common values, and choices by the user's own score.

Privacy is checked on the exact law of the choice over neighbouring tables.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation, pure_mu
from halfmask.queries import Chosen, Setting, selection_for
from halfmask.queries.ranking import RankedCounts
from halfmask.sources import open_source

KEYS = ["a", "b", "c", None]
OTHERS = {"low": "x < 20", "high": "x > 10", "all": "g in ['a', 'b']"}
CHOICES = {
    "most common": hm.MostCommon("g", KEYS),
    "top of one": hm.TopK("g", 1, KEYS),
    "rows": hm.Choose(OTHERS),
    "units": hm.Choose(OTHERS, of=hm.CountDistinct()),
    "positive sums": hm.Choose(OTHERS, of=hm.Sum("x", 0, 100)),
    "sums": hm.Choose(OTHERS, of=hm.Sum("x", -20, 100)),
}
LETTERS = ["a", "b", "c", "z"]
VALUES = [None, -20.0, 0.0, 15.0, 100.0, 400.0]
row = st.tuples(st.integers(0, 3), st.sampled_from(LETTERS), st.sampled_from(VALUES))


@st.composite
def settings_of(draw):
    column = draw(st.sampled_from([None, "u"]))
    rows = draw(st.integers(1, 3)) if column else 1
    by = draw(st.sampled_from([None, hm.Keys("g", ["a", "b"], other=True)]))
    groups = draw(st.sampled_from([None, 1, 2])) if column and by else None
    return by, PrivacyUnit(column, rows, groups, draw(st.sampled_from(list(Relation))))


def table(rows):
    return open_source(
        {
            "u": np.array([r[0] for r in rows], dtype=np.int64),
            "g": np.array([r[1] for r in rows], dtype="U1"),
            "x": np.array([math.nan if r[2] is None else r[2] for r in rows], dtype=float),
        },
        schema={"g": "text"},
    )


def neighbour(rows, extra, unit):
    """Remove a unit, or put `extra` in its place under `replace`."""
    gone = rows[0][0]
    kept = rows[1:] if unit.column is None else [r for r in rows if r[0] != gone]
    if unit.relation is Relation.ADD_REMOVE:
        return kept
    return kept + (extra[:1] if unit.column is None else [(gone, g, x) for _, g, x in extra])


every_choice = pytest.mark.parametrize("name", CHOICES)


def laws(query, setting, price, rows):
    chosen = query.prepare(setting, price)
    return chosen.log_masses(chosen.request.answered_by(table(rows)))


@every_choice
@given(
    drawn=settings_of(),
    rows=st.lists(row, min_size=1, max_size=7),
    extra=st.lists(row, min_size=1, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_no_choice_tells_neighbours_apart_by_more_than_epsilon(name, drawn, rows, extra):
    """epsilon-DP, exactly: over all public groups together, through units, filters and grids."""
    by, unit = drawn
    setting, price = Setting(table(rows).schema, unit, by=by), Pure("0.7")
    if isinstance(CHOICES[name], hm.Choose) and by is not None and unit.column is not None:
        with pytest.raises(hm.InvalidQuery, match="a row is the unit"):
            CHOICES[name].check(setting)
        return
    one = laws(CHOICES[name], setting, price, rows)
    other = laws(CHOICES[name], setting, price, neighbour(rows, extra, unit))
    loss = sum(
        max(abs(one_law[record] - other_law[record]) for record in one_law)
        for one_law, other_law in zip(one, other, strict=True)
    )
    assert loss <= 0.7 + 1e-9


def test_a_replaced_unit_moves_sums_of_both_signs_twice_as_far():
    """Its sums over two candidates, -10 and 10, turn into 10 and -10: the loss is the price."""
    query = hm.Choose({"a": "g == 'a'", "b": "g == 'b'"}, of=hm.Sum("x", -10, 10))
    unit, kept = PrivacyUnit("u", 1, None, Relation.REPLACE), [(9, "a", 0.0)]
    tables = [[*kept, (0, "a", x), (0, "b", -x)] for x in (-10.0, 10.0)]
    setting = Setting(table(kept).schema, unit)
    (one,), (other,) = (laws(query, setting, Pure("0.7"), rows) for rows in tables)
    loss = max(abs(one[record] - other[record]) for record in one)
    assert 0.35 < loss <= 0.7 + 1e-9


@given(rows=st.lists(row, min_size=1, max_size=7), k=st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_several_choices_in_zcdp_stay_within_rho(rows, k):
    """Renyi divergence of every order at most order * rho. [Cesar & Rogers 2021, Lemma 3.4]"""
    setting = Setting(table(rows).schema, PrivacyUnit())
    query = hm.TopK("g", k, KEYS)
    (one,) = laws(query, setting, ZCDP("0.5"), rows)
    (other,) = laws(query, setting, ZCDP("0.5"), rows[1:] + rows[:1] * 2)
    for order in (1.5, 4, 20):
        power = math.fsum(math.exp(order * one[r] + (1 - order) * other[r]) for r in one)
        assert math.log(power) / (order - 1) <= order * 0.5 + 1e-9


@every_choice
def test_a_lone_row_moves_the_law_by_much_of_epsilon(name):
    """Noise is not wasted, and choices of a larger price would be caught by the law above."""
    rows = [(1, "a", 100.0)] + [(i, "b", 15.0) for i in range(2, 4)]
    setting = Setting(table(rows).schema, PrivacyUnit())

    def loss(price):
        (one,), (other,) = (laws(CHOICES[name], setting, price, t) for t in (rows, rows[1:]))
        return max(abs(one[record] - other[record]) for record in one)

    if name == "sums":  # priced for values of both signs; this row has one
        return
    assert loss(Pure("0.5")) >= 0.2
    assert loss(Pure(3)) > loss(Pure("0.5")) * 2


COLOURS = {"red": 40, "blue": 36, "green": 30, "grey": 5}


def colours():
    names = [name for name, size in COLOURS.items() for _ in range(size)]
    return {"c": names, "x": np.ones(len(names)), "u": np.arange(len(names)) // 2}


@pytest.mark.parametrize(
    "query",
    [
        hm.MostCommon("c", list(COLOURS)),
        hm.TopK("c", 2, list(COLOURS)),
        hm.Choose(list(COLOURS), rows=lambda name: f"c == '{name}'", of=hm.Sum("x", 0, 1)),
    ],
    ids=repr,
)
def test_choices_fit_their_law(query):
    """Chi-square at a false-alarm rate of 1e-6; the law of another price is rejected."""
    price, draws = ZCDP("0.005"), 4000
    setting = Setting(open_source(colours()).schema, PrivacyUnit())
    measured = query.prepare(setting, price)
    exact = measured.request.answered_by(open_source(colours()))
    (found,) = zip(*(measured.release(exact, None) for _ in range(draws)), strict=True)

    def fit(price):
        (law,) = query.prepare(setting, price).log_masses(exact)
        expected = [draws * math.exp(mass) for mass in law.values()]
        got = [found.count(record) for record in law]
        assert sum(got) == draws
        expected = np.array(expected)
        statistic = ((np.array(got) - expected) ** 2 / np.maximum(expected, 20)).sum()
        return stats.chi2.sf(statistic, len(got) - 1)

    assert fit(price) > 1e-6
    assert fit(price.share("4/9")) < 1e-6
    assert fit(ZCDP("0.01125")) < 1e-6


def test_the_largest_come_first_with_counts_where_asked():
    curator = hm.open(colours(), budget=1000)
    top = curator.ask(hm.TopK("c", 3, list(COLOURS)), epsilon=50)
    assert top.value == ("red", "blue", "green")
    assert top.interval() is None
    counted = curator.ask(hm.TopK("c", 2, list(COLOURS), counts=True), epsilon=50)
    assert counted.value == (("red", 40), ("blue", 36))
    assert all(low <= 40 <= high for low, high in counted.interval()[:1])
    assert "1. red: 40" in counted.statement
    assert json.loads(counted.to_json())["value"] == [["red", 40], ["blue", 36]]
    assert list(counted.to_frame()["value"]) == [40, 36]
    one = curator.ask(hm.MostCommon("c", list(COLOURS)), epsilon=50)
    assert one.value == "red"
    assert one.statement.startswith("Most common value of c: red. Price")
    assert one.cells()[0].low is None
    assert "red" in one._repr_html_()


def test_counts_of_the_largest_are_bracketed_all_at_once():
    """Whichever are largest by their noise: 150 asks at 80 %, with counts that are all equal."""
    names = [f"k{i}" for i in range(12)]
    curator = hm.open({"c": names * 30}, budget=1000)
    held = 0
    for _ in range(150):
        asked = curator.ask(hm.TopK("c", 3, names, counts=True), epsilon="0.2")
        held += all(low <= 30 <= high for low, high in asked.interval(0.8))
    assert held >= stats.binom.ppf(1e-6, 150, 0.8)


def test_unknown_keys_are_ranked_for_a_delta():
    curator = hm.open(colours(), budget=Approximate(100, "1e-3"))
    top = curator.ask(hm.TopK("c", 4, counts=True), epsilon=8, delta="1e-6")
    assert [key for key, _ in top.value] == ["red", "blue", "green", "grey"]
    assert curator.ask(hm.MostCommon("c"), epsilon=20, delta="1e-6").value == "red"
    few = curator.ask(hm.TopK("c", 4), epsilon=1, delta="1e-6")
    assert "grey" not in few.value  # 5 rows: below every threshold of this price
    nothing = hm.open({"c": ["a"]}, budget=Approximate(1, "1e-3"))
    assert nothing.ask(hm.MostCommon("c"), epsilon="0.1", delta="1e-9").value is None


def test_replayed_choices_are_the_same():
    curator = hm.open(colours(), budget=9)
    asked = {"top": hm.MostCommon("c", list(COLOURS)), "n": hm.Count()}
    first = curator.ask(asked, epsilon="0.1", request_id="r")
    assert curator.ask(asked, epsilon="0.1", request_id="r").to_dict() == first.to_dict()


def test_the_better_mechanism_is_taken():
    """One value: a choice. More under epsilon, or any under mu: noisy counts that do not split."""
    setting = Setting(open_source(colours()).schema, PrivacyUnit())
    keys = list(COLOURS)

    def kind(k, price, **options):
        return type(hm.TopK("c", k, keys, **options).prepare(setting, price))

    assert kind(1, Pure(1)) is Chosen
    assert kind(2, Pure(1)) is RankedCounts
    assert kind(2, ZCDP(1)) is Chosen
    assert kind(3, ZCDP(1)) is RankedCounts
    assert kind(1, GDP(1)) is RankedCounts
    assert kind(1, Pure(1), counts=True) is RankedCounts


@pytest.mark.parametrize("mu", ["0.01", "0.5", "3"])
def test_a_choice_for_mu_costs_no_more(mu):
    chosen = selection_for(1, True, GDP(mu))
    assert pure_mu(chosen.epsilon) <= GDP(mu).mu
    assert pure_mu(chosen.epsilon * 2) > GDP(mu).mu


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: hm.TopK("c", 0, ["a"]), r"^k: 0 is no number of values"),
        (lambda: hm.TopK("c", True, ["a"]), r"^k: True is no number of values"),
        (lambda: hm.TopK("c", 3, ["a", "b"]), r"^k: 3 of 2 candidates"),
        (lambda: hm.TopK("c", 1, "ab"), r"^keys: 'ab' is no list"),
        (lambda: hm.TopK("c", 1, hm.Keys("d", ["a"])), r"^keys: they are of column 'd'"),
        (lambda: hm.TopK("c", 1, ["a", "a"]), r"^keys: 'a' is listed twice"),
        (lambda: hm.Choose({}), r"^candidates: none are given"),
        (lambda: hm.Choose(["a"]), r"^candidates: a list has no filters"),
        (lambda: hm.Choose("ab", rows=str), r"^candidates: 'ab' has no filters"),
        (lambda: hm.Choose(["a", "a"], rows=str), r"^candidates: one is listed twice"),
        (lambda: hm.Choose({"a": "x > 1"}, rows=str), r"^rows: the candidates have"),
        (lambda: hm.Choose({"a": 3}), r"^candidates: 3 of 'a' is no row filter"),
        (lambda: hm.Choose({"a": "x >"}), r"where"),
        (lambda: hm.Choose({1.5: "x > 1"}), r"^candidates: 1.5 is no name"),
        (lambda: hm.Choose({"a": "x > 1"}, of=hm.Mean("x", 0, 1)), r"^of: a Mean is no score"),
    ],
)
def test_bad_choices_are_refused_with_advice(build, message):
    with pytest.raises(hm.InvalidQuery, match=message):
        build()


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (hm.TopK("c", 2), {"epsilon": 1}, r"^delta: epsilon 1 has none"),
        (hm.TopK("d", 1, ["a"]), {"epsilon": 1}, r"^column: there is no 'd'"),
        (hm.Choose({"a": "y > 1"}), {"epsilon": 1}, r"'y'"),
        (
            hm.TopK("c", 2),
            {"epsilon": 1, "delta": "1e-6", "by": hm.Keys("c", ["a"])},
            r"^keys: unknown ones go with no by",
        ),
    ],
)
def test_what_the_schema_or_the_price_shows_is_refused_before_the_charge(query, options, message):
    curator = hm.open(colours(), budget=Approximate(9, "1e-3"))
    with pytest.raises(hm.InvalidQuery, match=message):
        curator.ask(query, **options)
    assert curator.remaining == Approximate(9, "1e-3")
