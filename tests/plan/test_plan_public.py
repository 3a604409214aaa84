"""What is declared of a column is checked once, and never stands where it does not fit."""

from datetime import date

import pytest

import halfmask as hm
from halfmask.sources import open_source

TABLE = {"dept": ["a", "b"], "x": [1, 2], "at": ["2024-01-01", None]}


def test_what_is_declared_stands_in_the_schema_beside_the_kinds():
    schema = {
        "x": hm.Public("integer", lower=0, upper=3),
        "dept": hm.Public(keys=(key for key in ("a", None))),
        "at": hm.Public("time", lower=date(2020, 1, 1), upper=date(2030, 1, 1)),
    }
    found = open_source(TABLE, schema).schema
    assert [column.kind for column in found] == ["unread", "integer", "time"]
    assert found.column("x").public.bounds == (0, 3)
    assert found.column("dept").public.keys == ("a", None)
    assert open_source(TABLE, found).schema == found  # a schema may be handed on
    assert open_source(TABLE, {"x": "integer"}).schema.column("x").public == hm.Public()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"lower": 1}, "lower is given without upper"),
        ({"upper": 1}, "upper is given without lower"),
        ({"lower": 1, "upper": 1}, "lower 1 is not below upper 1"),
        ({"lower": float("nan"), "upper": 1}, "lower nan is not below"),
        ({"lower": "a", "upper": 1}, "two numbers, or two dates"),
        ({"keys": "ops"}, "keys 'ops' are no list"),
        ({"keys": 3}, "keys 3 are no list"),
    ],
)
def test_bounds_and_keys_are_whole(given, reason):
    with pytest.raises(hm.InvalidQuery, match=reason):
        hm.Public(**given)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"y": hm.Public(lower=0, upper=1)}, "there is no 'y'"),
        ({"dept": hm.Public("text", lower=0, upper=1)}, "'dept' holds text"),
        ({"dept": hm.Public("text", keys=[1])}, "'dept' holds text"),
        ({"dept": hm.Public(keys=["a", "a"])}, "'a' is listed twice"),
        ({"x": hm.Public(keys=[1.5])}, "text, integers, truth values"),
        ({"x": hm.Public("number")}, "has kind 'number'; use one of"),
    ],
)
def test_what_does_not_fit_the_table_is_refused_at_opening(schema, reason):
    with pytest.raises(hm.HalfmaskError, match=reason):
        hm.open(TABLE, budget=1, schema=schema)
