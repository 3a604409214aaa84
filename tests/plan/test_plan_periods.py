"""Periods: calendars, clocks, labels, and where a moment lies."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.plan import Periods


@given(
    start=st.dates(date(1990, 1, 1), date(2100, 1, 1)).filter(lambda day: day.day <= 28),
    every=st.sampled_from(["year", "quarter", "month", "week", "day", "hour", timedelta(days=3)]),
    number=st.integers(1, 40),
    zone=st.sampled_from([None, UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")]),
)
def test_periods_follow_each_other_and_each_moment_lies_in_one(start, every, number, zone):
    periods = Periods(datetime(start.year, start.month, start.day, tzinfo=zone), every, number)
    edges = periods.edges
    assert len(edges) == number + 1 == len(set(periods.labels)) + 1
    assert all(a < b for a, b in pairwise(edges))
    for i, label in enumerate(periods.labels):
        assert periods.find(label) == i + 1
        assert periods.find(edges[i]) == i + 1
        assert periods.find(edges[i + 1] - timedelta(microseconds=1)) == i + 1
    for outside in (edges[0] - timedelta(microseconds=1), edges[-1]):
        with pytest.raises(InvalidQuery, match="is in none"):
            periods.find(outside)


def test_labels_say_what_a_period_is():
    assert Periods("2025-12-01", "month", 2).labels == ("2025-12", "2026-01")
    assert Periods("2025-01-01", "year", 2).labels == ("2025", "2026")
    assert Periods("2025-01-15", "month", 2).labels == ("2025-01-15", "2025-02-15")
    assert Periods("2024-02-28", "day", 3).labels == ("2024-02-28", "2024-02-29", "2024-03-01")
    assert Periods("2025-01-01T06:00", "day", 1).labels == ("2025-01-01T06:00:00",)
    assert Periods(0.5, 0.25, 2).labels == ("0.5 to 0.75", "0.75 to 1.0")


def test_a_month_of_a_zone_begins_at_its_own_midnight_in_winter_and_summer():
    berlin = Periods(datetime(2025, 3, 1, tzinfo=ZoneInfo("Europe/Berlin")), "month", 2)
    assert berlin.edges == (
        datetime(2025, 2, 28, 23),
        datetime(2025, 3, 31, 22),
        datetime(2025, 4, 30, 22),
    )
    assert berlin.labels == ("2025-03", "2025-04")


WRONG = {
    "last days": (("2025-01-31", "month", 2), "start on day 28"),
    "no date": (("soon", "month", 2), "no ISO date"),
    "no step": (("2025-01-01", "fortnight", 2), "does not go with start"),
    "a number of days": (("2025-01-01", 7, 2), "does not go with start"),
    "standing still": ((0, 0, 2), "does not move on"),
    "too many": ((0, 1, 10**6), "from 1 to 2048"),
    "no number": ((0, 1, 2.0), "from 1 to 2048"),
    "true": ((0, True, 2), "does not go with start"),
    "too far": (("9999-01-01", "year", 5), "pass the year 9999"),
    "not finite": ((float("nan"), 1, 2), "not finite"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_makes_no_periods_is_refused(case):
    arguments, words = WRONG[case]
    with pytest.raises(InvalidQuery, match=words):
        Periods(*arguments)
