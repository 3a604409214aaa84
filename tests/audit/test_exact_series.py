"""All closings of a series: no neighbouring history costs more than the price, and some cost it.

A rule that `Running` keeps, or noise that it draws, is taken away at a time: then one does.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

import halfmask as hm
from halfmask.audit import verify_series
from halfmask.audit.exact import verify_closings
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import DiscreteLaplace
from halfmask.plan import Arrivals, Filters, Keys, Periods, Schema
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation
from halfmask.queries import Running, Setting

SCHEMA = {"u": "integer", "g": "text", "x": "real", "at": "time", "k": "integer", "w": "unread"}
MONTHS = {"time": "at", "start": "2025-01-01", "every": "month", "periods": 7}
STEPS = {"time": "k", "start": 0, "every": 10, "periods": 30}
TEXTS = {"time": "w", "start": "2025-01-01", "every": "day", "periods": 3}
ARRIVALS = {"periods": 5}
KEYS = Keys("g", ["ops", "r&d"])
TWO = PrivacyUnit("u", 2)
LAWS = {
    "rows": (hm.Count(), MONTHS, {}),
    "rows, in blocks": (hm.Sum("x", 0, 5), STEPS, {}),
    "rows, by square roots": (hm.Count(), MONTHS, {"price": ZCDP("0.5")}),
    "rows of both signs": (hm.Sum("x", -1, 5), MONTHS, {"price": GDP(1)}),
    "rows replaced": (hm.Sum("x", 0, 5), MONTHS, {"relation": "replace"}),
    "rows replaced, square roots": (
        hm.Sum("x", -5, 5),
        MONTHS,
        {"relation": "replace", "price": GDP(1)},
    ),
    "rows in groups": (hm.Count(), MONTHS, {"by": KEYS, "where": "x > 1"}),
    "rows in filters": (
        hm.Count(),
        TEXTS,
        {"by": Filters(low="x < 3", high="x >= 3"), "price": Approximate(1, "1e-6")},
    ),
    "units": (hm.Sum("x", 0, 5), MONTHS, {"unit": TWO}),
    "units, square roots": (hm.Sum("x", -5, 0), MONTHS, {"unit": TWO, "price": ZCDP("0.5")}),
    "units replaced": (
        hm.Count(),
        MONTHS,
        {"unit": PrivacyUnit("u", 2, None, Relation.REPLACE)},
    ),
    "units once": (hm.CountDistinct(), STEPS, {"unit": "u"}),
    "units in groups": (hm.Count(), MONTHS, {"unit": PrivacyUnit("u", 1, 2), "by": KEYS}),
    "rows by arrival": (hm.Sum("x", -1, 5), ARRIVALS, {}),
    "units by arrival": (hm.Sum("x", -1, 5), ARRIVALS, {"unit": TWO}),
    "units by arrival, Gaussian": (hm.Count(), ARRIVALS, {"unit": TWO, "price": GDP(1)}),
    "units by arrival in groups": (
        hm.Count(),
        ARRIVALS,
        {"unit": PrivacyUnit("u", 1, 2), "by": KEYS},
    ),
}


@pytest.mark.parametrize("law", LAWS)
def test_no_histories_of_neighbours_cost_more_than_the_price_and_some_cost_it(law):
    query, when, given = LAWS[law]
    found = verify_series(query, schema=SCHEMA, seconds=3, **when, **{"price": Pure(1), **given})
    assert found.holds, found
    assert found.share > 0.99, found


def laid(query, periods, unit, price, by=None, time="k"):
    """Closings as they are laid, before any check."""
    setting = Setting(Schema.of(SCHEMA), unit, by=by)
    return Running(query, time, periods).lay(setting, price), setting


def broken(closings, setting):
    found = verify_closings(closings, setting, seconds=60)
    assert found.witness is not None
    return not found.holds


@pytest.mark.parametrize(("factor", "wrong"), [("2/3", True), ("1", False), ("3/2", False)])
def test_noise_that_is_too_small_is_found(factor, wrong):
    closings, setting = laid(hm.Count(), Periods(0, 10, 3), TWO, Pure(1))
    noise = closings.mechanism
    other = DiscreteLaplace(noise.sensitivity, noise.epsilon / Fraction(factor))
    assert broken(replace(closings, mechanism=other), setting) == wrong


def test_a_sum_of_both_signs_of_a_unit_is_found():
    """Late values of the other sign push a unit's total back and forth."""
    closings, setting = laid(hm.Sum("x", -5, 5), Periods(0, 10, 3), PrivacyUnit("u", 1), ZCDP(1))
    assert broken(closings, setting)
    with pytest.raises(InvalidQuery, match="both signs"):
        closings.question.check(setting)


def test_a_unit_held_to_fewer_groups_than_there_are_is_found():
    """Rows that come later in one group push those in another out of released sums."""
    unit = PrivacyUnit("u", 1, 1)
    closings, setting = laid(hm.Count(), Periods(0, 10, 3), unit, ZCDP(1), KEYS)
    assert broken(closings, setting)
    with pytest.raises(InvalidQuery, match="groups_per_unit=2"):
        closings.question.check(setting)


def test_a_unit_that_comes_at_each_arrival_but_is_priced_once_is_found():
    once, _ = laid(hm.Count(), Arrivals(4), PrivacyUnit(), Pure(1), time="")
    closings, setting = laid(hm.Count(), Arrivals(4), PrivacyUnit("u", 1), Pure(1), time="")
    assert not broken(closings, setting)
    assert broken(replace(closings, mechanism=once.mechanism), setting)


def test_people_of_three_units_cost_three_prices():
    for when in (MONTHS, ARRIVALS):
        found = verify_series(
            hm.Count(), schema=SCHEMA, unit="u", price=1, suppose=3, seconds=3, **when
        )
        assert not found.holds
        assert found.loss == 3


@pytest.mark.parametrize(
    ("query", "unit", "by"),
    [
        (hm.Count(), PrivacyUnit("k", 2), None),
        (hm.Sum("x", 0, 5), "k", None),
        (hm.Sum("k", 5, 9), "k", None),
        (hm.Sum("w", 5, 9), "w", None),
        (hm.Count(), PrivacyUnit("g", 1, 2), KEYS),
    ],
)
def test_rows_of_two_units_are_no_person_where_the_unit_is_asked_about(query, unit, by):
    """Whose value, key or time differs is another unit, and two may cost twice the price."""
    found = verify_series(query, schema=SCHEMA, unit=unit, by=by, seconds=3, **STEPS)
    assert found.holds, found
    assert found.share >= (0.5 if by else 0.99), found
    column = unit if isinstance(unit, str) else unit.column
    assert found.witness is not None
    assert len({row[column] for row in found.witness.one}) == 1


def test_filters_may_be_built_and_groups_that_hold_few_values_are_hit():
    few = Filters(low=(hm.col("x") > 3) & (hm.col("x") < 3.5), high="x >= 1e6")
    for given in ({"where": hm.col("g") == "ops"}, {"by": few}):
        found = verify_series(hm.Count(), schema=SCHEMA, seconds=0.01, **MONTHS, **given)
        assert found.pairs < 9
        assert found.loss == 1


@pytest.mark.parametrize("start", ["0001-01-01", "9999-10-01"])
def test_periods_at_the_ends_of_the_calendar_are_tried(start):
    """A day before the first, or after the last, there is none."""
    when = {**MONTHS, "start": start, "periods": 2}
    found = verify_series(hm.Count(), schema=SCHEMA, seconds=0.5, **when)
    assert found.holds
    assert found.loss == 1


def test_a_series_that_no_row_enters_says_that_nothing_was_tried():
    found = verify_series(hm.Count(), schema=SCHEMA, where="k > 1000", seconds=1, **STEPS)
    assert found.holds
    assert "none of the simulated rows moved an answer: the price was not tried" in str(found)
    found = verify_series(hm.Count(), schema=SCHEMA, seconds=0.1, **STEPS)
    assert "was not tried" not in str(found)


def test_what_a_series_refuses_is_refused():
    with pytest.raises(InvalidQuery, match=r"there is no 'nobody'"):
        verify_series(hm.Count(), schema=SCHEMA, unit="nobody", **STEPS)
    with pytest.raises(InvalidQuery, match=r"by: keys of 'g', found in the rows, would differ"):
        verify_series(hm.Count(), schema=SCHEMA, by="g", **STEPS)
    with pytest.raises(InvalidQuery, match=r"time: none is given beside start="):
        verify_series(hm.Count(), schema=SCHEMA, periods=3, start=0, every=1)
    with pytest.raises(InvalidQuery, match=r"both signs"):
        verify_series(hm.Sum("x", -1, 1), schema=SCHEMA, unit="u", **MONTHS)
