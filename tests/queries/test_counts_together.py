"""Counts of rows that no two filters share, and of all rows: one measurement, at one price."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.errors import InvalidQuery, LedgerError
from halfmask.mechanisms import DiscreteGaussian, DiscreteLaplace
from halfmask.plan import overlap, where
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.procedures import Together
from halfmask.procedures import together as procedure
from halfmask.queries import Counts, Setting
from halfmask.queries import counts as module
from halfmask.queries.counts import half_width
from halfmask.sources import open_source

SCHEMA = {"who": "integer", "x": "real", "g": "text"}
KEYS = hm.Keys("g", ["a", "b", None])
NAN = math.nan
row = st.tuples(st.integers(0, 2), st.sampled_from([NAN, 1.0, 3.0, 7.0]), st.sampled_from("abz"))


def table(rows):
    who, x, g = ([r[i] for r in rows] for i in range(3))
    columns = {"who": np.array(who, dtype=int), "x": np.array(x, dtype=float), "g": list(g)}
    return open_source(columns, schema=SCHEMA)


def of(rule):
    return hm.Filtered(hm.Count(), rule)


N, LOW, HIGH, NONE = hm.Count(), of("x < 2"), of("x > 5"), of("x is None")


@given(
    rows=st.lists(row, max_size=6), extra=row, rest=st.booleans(), by=st.sampled_from([None, KEYS])
)
@settings(max_examples=60, deadline=None)
def test_parallel_composition_one_row_moves_one_part_by_one(rows, extra, rest, by):
    """Privacy: epsilon-DP with noise of scale 1 / epsilon on each part. [McSherry 2009, Thm 4]"""
    setting = Setting(table([extra]).schema, PrivacyUnit(), by=by)
    for price in (Pure("0.7"), ZCDP("0.3"), GDP(1)):
        prepared = Counts((LOW.where, HIGH.where), rest).prepare(setting, price)
        one, two = (
            prepared.vectors(table(held).tally(prepared.tally)) for held in (rows, [*rows, extra])
        )
        moved = [
            y - x
            for (_, a), (_, b) in zip(one, two, strict=True)
            for x, y in zip(a, b, strict=True)
        ]
        known = extra[2] in "ab" if by else True
        there = known and (rest or extra[1] in (1.0, 7.0))
        assert sorted(moved)[-1:] == [int(there)]
        assert sum(moved) == there
        assert min(moved) == 0
        mechanism = prepared.outputs[0].mechanism
        reach = mechanism.sensitivity if isinstance(price, Pure) else mechanism.sensitivity_squared
        assert reach == 1
        assert prepared.cost == price


REPLACED = PrivacyUnit(relation=Relation.REPLACE)
FAMILIES = [
    ({"n": N, "low": LOW}, PrivacyUnit(), [{"n", "low"}]),
    ({"low": LOW, "high": HIGH}, PrivacyUnit(), [{"low", "high"}]),
    ({"low": LOW, "n": N, "none": NONE, "m": N}, PrivacyUnit(), [{"low", "n", "none", "m"}]),
    ({"low": LOW, "all": of("x < 3"), "n": N}, PrivacyUnit(), [{"low", "n"}, {"all"}]),
    ({"low": LOW, "same": LOW}, PrivacyUnit(), [{"low"}, {"same"}]),
    ({"n": N, "m": N}, PrivacyUnit(), [{"n"}, {"m"}]),
    ({"n": N, "low": LOW}, PrivacyUnit("who"), [{"n"}, {"low"}]),
    ({"n": N, "low": LOW}, REPLACED, [{"n"}, {"low"}]),
    ({"n": N, "low": LOW, "mean": hm.Mean("x", 0, 9)}, PrivacyUnit(), [{"n", "mean"}, {"low"}]),
    ({"u": of("x < 2 and who < 1"), "n": N, "s": hm.Sum("x", 0, 9)}, PrivacyUnit(), None),
    (
        {"n": N} | {str(i): of(f"who == {i}") for i in range(7)},
        PrivacyUnit(),
        [
            {"n", *"01234"},
            {"5"},
            {"6"},
        ],
    ),
    ({str(i): of(f"who == {i}") for i in range(7)}, PrivacyUnit(), [set("0123456")]),
]


@pytest.mark.parametrize(("questions", "unit", "families"), FAMILIES)
def test_counts_of_rows_in_parts_are_one_measurement(questions, unit, families):
    setting = Setting(hm.Schema.of(SCHEMA), unit)
    found = [set(one.members) for one in Together(questions).families(setting)]
    assert found == (families or [{"n", "s"}, {"u"}])
    shares = {name: f"1/{len(questions)}" for name in questions}
    assert len(Together(questions, shares).families(setting)) == len(questions)


ROWS = {
    "who": list(range(60)),
    "x": [None if i % 7 == 0 else float(i % 11) for i in range(60)],
    "g": ["abz"[i % 3] for i in range(60)],
}


@pytest.mark.parametrize("by", [None, KEYS, hm.Filters("who < 9", "who >= 20")])
@pytest.mark.parametrize("rule", [None, "who != 3"])
def test_together_they_are_what_they_are_alone(by, rule):
    asked = {"low": LOW, "n": N, "high": HIGH, "none": NONE}
    curator = hm.open(ROWS, schema=SCHEMA, budget=10**6)
    found = curator.ask(asked, by=by, where=rule, epsilon=10**4)
    for name, query in asked.items():
        alone = curator.ask(query, by=by, where=rule, epsilon=10**4)
        assert found[name].value == alone.value
        assert found[name].interval() == alone.interval()
    assert curator.remaining == hm.Pure(10**6 - 5 * 10**4)


@pytest.mark.parametrize("price", [Pure("0.5"), GDP("0.5")], ids=str)
@pytest.mark.parametrize(("name", "most"), [("n", 3), ("low", 1)])
def test_the_noise_is_as_told_and_intervals_hold(price, name, most):
    """Variance and cover, false alarm 1e-6 each; a scale off by 2/3 or 3/2 is caught."""
    asked = {"low": LOW, "n": N, "high": HIGH}
    source = open_source(ROWS, SCHEMA)
    setting = Setting(source.schema, PrivacyUnit())
    (family,) = Together(asked).families(setting)
    measured, read = family.fixed(setting, price)
    exact, times = measured.request.answered_by(source), 6000
    answers = [read(name, measured.read(measured.release(exact, None))[0]) for _ in range(times)]
    truth = {"n": 60, "low": sum(x is not None and x < 2 for x in ROWS["x"])}[name]
    errors = np.array([one.value for one in answers]) - truth
    expected = family.expected(setting, price, 60)[name].rmse
    alone = hm.Count().expected(setting, price, 60).rmse
    assert expected == pytest.approx(alone * math.sqrt(most))
    found = math.sqrt((errors**2).mean()) / expected
    far = stats.norm.isf(1e-6 / 2) * math.sqrt(5 / times) / 2  # excess kurtosis of Laplace: 3
    assert abs(found - 1) < far < 1 / 6
    half = answers[0].interval(0.9)[1] - answers[0].value
    held = lambda scale: int((abs(errors) <= half * scale).sum())  # noqa: E731
    assert held(1) >= stats.binom.ppf(1e-6, times, 0.9) > held(2 / 3)
    assert held(3 / 2) > stats.binom.isf(1e-6, times, 0.93)


@pytest.mark.parametrize("tail", [0.5, 0.05, 1e-4])
@pytest.mark.parametrize("number", [2, 3, 6])
@pytest.mark.parametrize("noise", [
    DiscreteLaplace(1, 5), DiscreteLaplace(1, "0.5"), DiscreteLaplace(1, "0.02"),
    DiscreteGaussian(1, "0.3"), DiscreteGaussian(1, 40),
], ids=repr)  # fmt: skip
def test_a_sum_of_noises_is_within_its_half_width_and_no_less(noise, number, tail):
    """The exact law, by convolution one after the other."""
    reach = noise.interval(0, 1 - 1e-11)[1]
    one = np.exp(noise.log_mass(np.arange(-reach, reach + 1)))
    law = np.ones(1)
    for _ in range(number):
        law = np.convolve(law, one)
    far = abs(np.arange(len(law)) - len(law) // 2)
    half = half_width(noise, number, tail)
    assert law[far > half].sum() <= tail
    assert half == 0 or law[far >= half].sum() > tail - 1e-9


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(1, "0.001"), DiscreteGaussian(1, 1500)], ids=repr
)
def test_the_half_width_of_large_noises_is_that_of_their_limit(noise, monkeypatch):
    for number in (2, 3, 6):
        exact = half_width.__wrapped__(noise, number, 0.05)
        monkeypatch.setattr(module, "_LARGE", 1)
        near = half_width.__wrapped__(noise, number, 0.05)
        monkeypatch.undo()
        assert exact <= near <= exact * 1.03 + number


def test_a_filter_with_too_many_cases_stays_alone():
    """What cannot be shown to exclude the others is asked at its own part of the price."""
    wide, wider = (
        " and ".join(f"c{i} in [1, 3, 5, 7, {last}]" for i in range(8)) for last in (9, 11)
    )
    schema = hm.Schema.of(dict.fromkeys([f"c{i}" for i in range(8)], "integer"))
    asked = {"a": of(wide), "b": of(wider), "n": N}
    setting = Setting(schema, PrivacyUnit())
    found = [set(one.members) for one in Together(asked).families(setting)]
    assert found == [{"a", "n"}, {"b"}]


def test_an_answer_of_another_version_is_refused_and_not_misread(monkeypatch):
    """Measured apart, the counts left two records; measured together, they leave one."""
    asked = {"n": N, "low": LOW}
    for first, second in ((False, True), (True, False)):
        curator = hm.open(ROWS, schema=SCHEMA, budget=9)
        for together in (first, second):
            with monkeypatch.context() as patched:
                if not together:
                    patched.setattr(procedure, "_counts", lambda *_: None)
                if together == first:
                    found = curator.ask(asked, epsilon=1, request_id="r")
                    again = curator.ask(asked, epsilon=1, request_id="r")
                    assert again["low"].value == found["low"].value
                    continue
                with pytest.raises(LedgerError, match="not of this version; use a new request_id"):
                    curator.ask(asked, epsilon=1, request_id="r")


def test_each_pair_of_filters_is_searched_once_and_never_far(monkeypatch):
    searched = []

    def counting(one, other, *given):
        searched.append((one, other))
        return overlap(one, other, *given)

    monkeypatch.setattr(module, "overlap", counting)
    setting = Setting(hm.Schema.of(SCHEMA), PrivacyUnit())
    (family,) = Together({str(i): of(f"who == {i}") for i in range(40)}).families(setting)
    assert len(family.members) == 40
    assert len(searched) == len({frozenset(pair) for pair in searched}) == 40 * 39 // 2
    wide = [of(f"who == {i} and x in {list(range(99))} and g in {list('abcdefgh')}") for i in "12"]
    assert len(Together({"a": wide[0], "b": wide[1]}).families(setting)) == 2


def test_the_rest_needs_no_search():
    """As long lists as two parts may have: every value of five beside every other's."""
    rules = [f"who in {list(range(40 * i, 40 * i + 40))} and x in [{i}, {i}.5]" for i in range(5)]
    asked = {"n": N} | {rule: of(rule) for rule in rules}
    setting = Setting(hm.Schema.of(SCHEMA), PrivacyUnit())
    (family,) = Together(asked).families(setting)
    assert len(family.members) == 6
    rest = family.body.parts.conditions[-1]
    assert overlap(where(rules[0]), rest, setting.schema, 1) is None
    assert overlap(rest, where(rules[0]), setting.schema, 1) is None
    assert overlap(where(rules[0]), where(f"not ({rules[1]})"), setting.schema) is not None
    with pytest.raises(InvalidQuery, match="too many cases"):
        overlap(where(rules[0]), where(rules[1]), setting.schema, 1)
