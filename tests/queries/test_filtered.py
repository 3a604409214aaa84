"""A question with a filter of its own is the question asked under that filter, beside others."""

import math

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.plan import Everything
from halfmask.privacy import GDP, PrivacyUnit, Pure
from halfmask.procedures import Together
from halfmask.queries import Setting
from halfmask.sources import open_source

ROWS = {
    "who": [i // 2 for i in range(60)],
    "x": [None if i % 7 == 0 else float(i % 11) for i in range(60)],
    "g": ["abc"[i % 3] for i in range(60)],
}
SCHEMA = {"who": "integer", "x": "real", "g": "text"}
RULE = "g != 'b' and (x > 2 or x is None)"
EACH = [
    hm.Count(),
    hm.CountDistinct(),
    hm.Sum("x", 0, 10),
    hm.Mean("x", 0, 10),
    hm.Mean("x", bounds="private"),
    hm.Variance("x", 0, 10),
    hm.StandardDeviation("x", 0, 10),
    hm.Histogram("x", [0, 3, 10]),
    hm.Median("x", 0, 10),
    hm.Quantile("x", [0.2, 0.9]),
    hm.Bounds("x"),
    hm.MostCommon("g", ["a", "b"]),
    hm.Choose({"a": "g == 'a'", "c": "g == 'c'"}),
    hm.Covariance({"x": (0, 10), "who": (0, 30)}),
    hm.CoordinateMedian(0, 10, ["x", "who"]),
]


def opened(seed=3, **given):
    words = seeded_words(seed)
    return hm.open(ROWS, schema=SCHEMA, budget=10**6, words=words, **given)


@pytest.mark.parametrize("query", EACH, ids=repr)
@pytest.mark.parametrize("given", [{}, {"unit": "who", "rows_per_unit": 2}], ids=["rows", "units"])
def test_it_is_the_question_under_that_filter(query, given):
    """With the same random words the same numbers, at the same price, with the same preview."""
    filtered = hm.Filtered(query, RULE)
    answer = opened(**given).ask(filtered, epsilon=2)
    twin = opened(**given).ask(query, where=RULE, epsilon=2)
    assert (answer.value, answer.interval(), answer.cost) == (
        twin.value,
        twin.interval(),
        twin.cost,
    )
    assert [cell.bin for cell in answer.cells()] == [cell.bin for cell in twin.cells()]
    assert str(hm.where(RULE)) in answer.statement
    seen = opened(**given).preview(filtered, rows=40, epsilon=2)
    assert seen == opened(**given).preview(query, where=RULE, rows=40, epsilon=2)


def test_filters_of_an_ask_hold_too():
    asked = {"n": hm.Count(), "some": hm.Filtered(hm.Count(), "x > 2")}
    found = opened().ask(asked, where="g == 'a'", by=hm.Keys("who", [0, 3]), epsilon=10**4)
    of = lambda i, w: ROWS["g"][i] == "a" and ROWS["who"][i] == w  # noqa: E731
    for who in (0, 3):
        rows = [i for i in range(60) if of(i, who)]
        assert found["n"].value[who] == len(rows)
        assert found["some"].value[who] == sum((ROWS["x"][i] or 0) > 2 for i in rows)


NASTY = {
    "real": [math.nan, math.inf, -math.inf, None, 1e308, -0.0, 5e-324, 7.5],
    "integer": [2**62, None, -(2**62), 2**53 + 1, 0, 1, None, 3],
    "boolean": [True, None, False, None, True, True, False, None],
}


@pytest.mark.parametrize("kind", NASTY)
def test_values_counted_beside_their_mean_are_those_counted_alone(kind):
    """What the sums take for a value is what the filter takes for one."""
    table = hm.open({"v": NASTY[kind]}, schema={"v": kind}, budget=10**6)
    values = hm.Filtered(hm.Count(), "v is not None")
    asked = {"n": hm.Count(), "v": values, "m": hm.Mean("v", 0, 1)}
    shared = table.ask(asked, epsilon=10**5)
    assert len(Together(asked).families(table._setting(None, None))) == 1
    alone = table.ask(values, epsilon=10**5).value
    assert abs(shared["v"].value - alone) < 1e-2
    assert abs(shared["n"].value - 8) < 1e-2


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("of", [hm.Mean("v", 0, 9), hm.Variance("v", 0, 9)], ids=repr)
def test_values_are_read_off_sums_of_any_shape(relation, of):
    """Under `replace` those of a mean alone are rotated."""
    rows = {"v": [1.0, None, 3.0, 9.5, None]}
    table = hm.open(rows, schema={"v": "real"}, budget=10**6, relation=relation)
    for beside in ({}, {"n": hm.Count()}):
        values = hm.Filtered(hm.Count(), "v is not None")
        found = table.ask({"v": values, "of": of, **beside}, epsilon=10**5)
        assert abs(found["v"].value - 3) < 1e-2
        low, high = found["v"].interval(1 - 1e-7)
        assert low <= 3 <= high


VALUES = hm.Filtered(hm.Count(), "x is not None")
TRIO = {"n": hm.Count(), "v": VALUES, "m": hm.Mean("x", 0, 10)}


@pytest.mark.parametrize(
    ("questions", "schema", "unit", "families"),
    [
        (TRIO, SCHEMA, PrivacyUnit(), [{"n", "v", "m"}]),
        (TRIO, SCHEMA, PrivacyUnit("who", 2), [{"n", "m"}, {"v"}]),
        (TRIO, dict.fromkeys(SCHEMA, "unread"), PrivacyUnit(), [{"n", "m"}, {"v"}]),
        ({"n": hm.Count(), "v": VALUES}, SCHEMA, PrivacyUnit(), [{"n", "v"}]),
        (
            {**TRIO, "some": hm.Filtered(hm.Count(), "x > 2")},
            SCHEMA,
            PrivacyUnit(),
            [{"n", "v", "m"}, {"some"}],
        ),
        (
            {"v": VALUES, "m": hm.Mean("who", 0, 10), "w": hm.Variance("x", 0, 10)},
            SCHEMA,
            PrivacyUnit(),
            [{"m"}, {"v", "w"}],
        ),
    ],
)
def test_a_count_of_values_shares_the_sums_of_its_column(questions, schema, unit, families):
    setting = Setting(hm.Schema.of(schema), unit)
    assert [set(one.members) for one in Together(questions).families(setting)] == families


@pytest.mark.parametrize("price", [Pure("0.5"), GDP("0.5")], ids=str)
@pytest.mark.parametrize("degree", [1, 2])
def test_the_noise_of_shared_values_is_as_told(price, degree):
    """Their variance, false alarm 1e-6; a scale off by 2/3 or 3/2 is caught."""
    of = hm.Mean("x", 0, 10) if degree == 1 else hm.Variance("x", 0, 10)
    (family,) = Together({**TRIO, "m": of}).families(Setting(hm.Schema.of(SCHEMA), PrivacyUnit()))
    source = open_source(ROWS, SCHEMA)
    setting = Setting(source.schema, PrivacyUnit())
    measured = family.body.prepare(setting, price)
    exact = measured.request.answered_by(source)
    times = 6000
    drawn = (measured.read(measured.release(exact, None))[0].present() for _ in range(times))
    errors = np.array([one.value for one in drawn]) - sum(x is not None for x in ROWS["x"])
    found = math.sqrt((errors**2).mean()) / family.expected(setting, price, 60)["v"].rmse
    far = stats.norm.isf(1e-6 / 2) * math.sqrt(5 / times) / 2  # excess kurtosis of Laplace: 3
    assert abs(found - 1) < far < 1 / 6


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((hm.Count, "x > 2"), "query: .* is not one"),
        (("count", "x > 2"), "query: .* is not one"),
        ((hm.Count(), 3), "where: 3 is no row filter"),
        ((hm.Count(), "x >"), "where: "),
    ],
)
def test_what_is_no_question_or_filter_is_refused(given, reason):
    with pytest.raises(hm.InvalidQuery, match=reason):
        hm.Filtered(*given)


def test_a_filter_that_does_not_fit_the_table_is_refused_before_a_charge():
    table = opened()
    for rule in ("y > 2", "x == 'a'"):
        with pytest.raises(hm.InvalidQuery, match=r"there is no 'y'|cannot be compared"):
            table.ask({"n": hm.Count(), "s": hm.Filtered(hm.Count(), rule)}, epsilon=1)
    with pytest.raises(hm.InvalidQuery, match="has no running total"):
        table.series("s", VALUES, time="x", start=0, every=1, periods=3, epsilon=1)
    assert not table.ledger.entries()


def test_under_replace_the_number_of_values_is_not_public():
    """Only that of all rows is: a filtered count is noised, alone and within sums."""
    setting = Setting(hm.Schema.of(SCHEMA), PrivacyUnit(relation=hm.privacy.Relation.REPLACE))
    assert hm.Count().prepare(setting, Pure(1)).is_public
    for rule in ("x is not None", Everything()):
        within = hm.Filtered(hm.Count(), rule).within(setting)
        assert not hm.Count().prepare(within, Pure(1)).is_public
