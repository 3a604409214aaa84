"""The least price that meets an error: it does, and the next lower one does not."""

from decimal import Decimal

import pytest

import halfmask as hm

SCHEMA = {"x": "real", "g": "text", "u": "text"}
CASES = {
    "count": (hm.Count(), 5, {}),
    "mean": (hm.Mean("x", 0, 100_000), 500, {}),
    "large mean": (hm.Mean("x", 0, 100_000), 5, {}),
    "median": (hm.Median("x", 0, 100), 1, {}),
    "histogram": (hm.Histogram("x", [0, 1, 2]), 0.5, {}),
    "groups": (hm.Sum("x", 0, 10), 20, {"by": hm.Keys("g", ["a", "b"]), "schema": SCHEMA}),
    "units": (hm.Count(), 20, {"unit": "u", "rows_per_unit": 5}),
    "replaced": (hm.Sum("x", 0, 10), "2.5", {"relation": "replace"}),
    "delta": (hm.CoordinateMedian(0, 10, ("x",)), 0.1, {"delta": 1e-9}),
    "filtered": (hm.Count(), 2, {"where": "x > 3", "schema": SCHEMA}),
    "of some": (hm.Filtered(hm.Mean("x", 0, 100_000), "x > 3"), 500, {"schema": SCHEMA}),
    "values": (hm.Filtered(hm.Count(), "x is not None"), 2, {}),
}


def predicted(query, epsilon, rows, options):
    """The preview of an opened table: another way to the same figure."""
    asking = {name: one for name, one in options.items() if name in ("by", "where", "delta")}
    opening = {n: one for n, one in options.items() if n not in (*asking, "schema")}
    table = {"x": [1.0], "g": ["a"], "u": ["b"]}
    with hm.open(table, budget=1, schema=SCHEMA, **opening) as curator:
        return curator.preview(query, rows=rows, epsilon=epsilon, **asking).rmse


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rows", [1000, 30_000])
def test_it_meets_the_error_and_the_next_lower_price_does_not(name, rows):
    query, error, options = CASES[name]
    found = hm.epsilon_for(query, error=error, rows=rows, **options)
    assert len(found.normalize().as_tuple().digits) <= 2
    assert predicted(query, found, rows, options) <= float(error)
    step = Decimal(10) ** (found.adjusted() - 1)
    lower = found - (step if found != Decimal(10) ** found.adjusted() else step / 10)
    assert predicted(query, lower, rows, options) > float(error)


def test_several_queries_each_meet_their_own():
    both = {"n": hm.Count(), "pay": hm.Mean("x", 0, 100_000)}
    found = hm.epsilon_for(both, error={"n": 30, "pay": 500}, rows=1000)
    alone = hm.epsilon_for(both["pay"], error=500, rows=1000)
    assert found >= alone
    with pytest.raises(hm.InvalidQuery, match="one error for each of"):
        hm.epsilon_for(both, error=500, rows=1000)


def test_what_no_price_meets_is_said_with_what_is_left():
    with pytest.raises(hm.InvalidQuery, match=r"is left at epsilon 990000 .*that is no noise but"):
        hm.epsilon_for(hm.BoxMedian(0, 10, ("x",)), error=1e-6, rows=1000)


@pytest.mark.parametrize("error", [0, -1, "many", float("nan"), None])
def test_what_is_no_error_is_refused(error):
    with pytest.raises(hm.InvalidQuery, match="error"):
        hm.epsilon_for(hm.Count(), error=error, rows=1000)


def test_a_question_that_is_wrong_at_any_price_is_refused_as_such():
    with pytest.raises(hm.InvalidQuery, match="there is no 'z'"):
        hm.epsilon_for(hm.Sum("z", 0, 1), error=1, rows=10, schema=SCHEMA)
    with pytest.raises(hm.InvalidQuery, match="schema: with `where`"):
        hm.epsilon_for(hm.Count(), error=1, rows=10, where="x > 3")
    with pytest.raises(hm.InvalidQuery, match="schema: with `where`"):
        hm.epsilon_for(hm.Filtered(hm.Count(), "x > 3"), error=1, rows=10)
