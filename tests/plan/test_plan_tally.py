"""Tallies, keys, bins, grids and schemas: what cannot be asked cannot be built."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery, SourceError
from halfmask.plan import Bins, Column, Keys, OnGrid, Schema, Tally, UnitBound, where

SCHEMA = Schema.of({
    "n": "integer", "x": "real", "g": "text", "t": "time", "b": "boolean", "raw": "unread",
})  # fmt: skip
COUNT = ((1, 0, 0, 0),)
INF = float("inf")


@pytest.mark.parametrize(
    "values",
    [
        [],
        "abc",
        5,
        [1.5],
        ["a", "a"],
        [None, None],
        [1, "1"],
        [True, 1],
        ["\ud800"],
        [[1]],
        [b"x"],
        [2**127],
    ],
)
def test_keys_are_unique_scalars_of_one_kind(values):
    with pytest.raises(InvalidQuery, match="keys: "):
        Keys("g", values)


def test_both_normal_forms_are_different_keys():
    assert Keys("g", ["\u00e9", "e\u0301", "", None]).size == 4
    assert Keys("g", (k for k in "ab")).values == ("a", "b")


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [1],
        [1, 1],
        [2, 1],
        [0, float("nan"), 1],
        [-INF],
        [INF, -INF],
        ["a", 2],
        5,
        [0, INF, INF],
        None,
    ],
)
def test_edges_are_strictly_increasing_numbers(edges):
    with pytest.raises(InvalidQuery, match="edges: "):
        Bins("x", edges)


def test_outer_edges_may_be_infinite():
    assert Bins("x", [-INF, 0, INF]).size == 2


@pytest.mark.parametrize(
    "grid",
    [
        (5, 5, 0),
        (5, 3, 0),
        (0, 2**53 + 1, 0),
        (-(2**54), 0, 0),
        (0, 1, 2000),
        (0, 1, -2000),
        (0, 1, 0, 2**54),
    ],
)
def test_grids_are_exact_in_doubles(grid):
    with pytest.raises(InvalidQuery, match="bounds: "):
        OnGrid("x", *grid)


@pytest.mark.parametrize("bound", [("u", 0), ("u", -1), ("u", 2**97), ("u", 5, 0)])
def test_unit_bounds_are_positive(bound):
    with pytest.raises(InvalidQuery, match="unit: "):
        UnitBound(*bound)


def test_a_tally_needs_features_and_values_of_fitting_size():
    with pytest.raises(InvalidQuery, match="no features"):
        Tally(())
    with pytest.raises(InvalidQuery, match="no column"):
        Tally(((0, 1, 0, 0),))
    with pytest.raises(InvalidQuery, match="coarser"):
        Tally(((0, 0, 0, 1),), OnGrid("x", 0, 2**33, 0))
    with pytest.raises(InvalidQuery, match="groups"):
        Tally(COUNT, None, (Bins("x", range(5001)),) * 2)


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-60, 60), st.lists(
    st.tuples(*[st.integers(-3, 3)] * 4), min_size=1, max_size=3))  # fmt: skip
def test_reach_bounds_every_row(lower, upper, origin, features):
    if lower >= upper:
        return
    tally = Tally(tuple(features), OnGrid("x", lower, upper, 0, origin))
    for v in (lower - origin, upper - origin, 0):
        row = [sum(c * m for c, m in zip(f, (1, 1, v, v * v), strict=True)) for f in features]
        assert sum(map(abs, row)) <= tally.reach


@pytest.mark.parametrize(
    "tally",
    [
        Tally(COUNT, OnGrid("g", 0, 1, 0)),
        Tally(COUNT, OnGrid("t", 0, 1, 0)),
        Tally(COUNT, OnGrid("missing", 0, 1, 0)),
        Tally(COUNT, None, (Keys("n", ["a"]),)),
        Tally(COUNT, None, (Keys("g", [1]),)),
        Tally(COUNT, None, (Keys("t", ["2024-01-01"]),)),
        Tally(COUNT, None, (Keys("b", [1]),)),
        Tally(COUNT, None, (Keys("n", [True]),)),
        Tally(COUNT, None, (Keys("x", [2**53 + 1]),)),
        Tally(COUNT, None, (Keys("raw", [2**53 + 1]),)),
        Tally(COUNT, None, (Keys("none", [None]),)),
        Tally(COUNT, None, (Bins("g", [0, 1]),)),
        Tally(COUNT, unit=UnitBound("who", 1)),
        Tally(COUNT, where=where("g > 5")),
    ],
)
def test_check_refuses_what_the_schema_cannot_serve(tally):
    with pytest.raises(InvalidQuery):
        tally.check(SCHEMA)


@pytest.mark.parametrize(
    "tally",
    [
        Tally(COUNT, OnGrid("raw", 0, 1, 0), (Keys("raw", ["a", None]), Keys("n", [2**62]))),
        Tally(COUNT, OnGrid("b", 0, 1, 0), (Keys("raw", [1]), Keys("raw", [True]), Keys("x", [1]))),
        Tally(
            COUNT,
            None,
            (Keys("t", [None]), Bins("n", [0, 1])),
            where("t > '2024-01-01'"),
            UnitBound("t", 1),
        ),
    ],
)
def test_check_accepts_what_it_can(tally):
    tally.check(SCHEMA)
    assert set(tally.columns()) <= set(SCHEMA.names)


def test_schemas_refuse_two_columns_of_one_name_and_unknown_kinds():
    with pytest.raises(SourceError, match="two columns"):
        Schema((Column("a", "real"), Column("a", "text")))
    with pytest.raises(SourceError, match="kind"):
        Column("a", "float")
    with pytest.raises(InvalidQuery, match="did you mean 'salary'"):
        Schema.of({"salary": "real"}).column("salry")
