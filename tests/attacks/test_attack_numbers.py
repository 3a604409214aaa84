"""Attacks through numbers: 2 float sums, 3 order, 4 overflow, 5 NaN, 6 extremes, 8 nothing,
10 bounds, 20 domains, 26 nulls of an engine."""

import math
import operator
import random
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import halfmask as hm
from halfmask.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, RoundedGaussian

NASTY = [math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**53 + 2, 0.1]
EDGES = [-math.inf, -1, 0, 0.5, math.inf]
QUERIES = [
    hm.Count(),
    hm.CountDistinct(),
    hm.Sum("x", -3, 10),
    hm.Sum("x", 5, 9),
    hm.Mean("x", -3, 10),
    hm.Variance("x", -3, 10),
    hm.StandardDeviation("x", 0, 1),
    hm.Histogram("x", EDGES),
]


def plain(value):
    return all(map(math.isfinite, value)) if isinstance(value, tuple) else math.isfinite(value)


# 2. Rounding of sums: the exact integers move by what the noise covers, and no more.


def test_02_bounds_that_floats_cannot_resolve_are_refused():
    table = {"x": 2.0**53 + np.arange(6, 11)}
    with pytest.raises(hm.InvalidQuery, match="too close"):
        hm.open(table, budget=1).ask(hm.Sum("x", 2.0**53 + 6, 2.0**53 + 10), epsilon=1)
    rest = [2.0**53 + (10, 10, 8)[row % 3] for row in range(1, 96)]
    sums = [reduce(operator.add, [2.0**53 + first, *rest]) for first in (6, 8, 10)]
    assert max(sums) - min(sums) == 128  # the textbook's sum, where a row may move it by 4


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_02_rounding_never_moves_a_sum_by_more_than_the_price(loss, seed, relation):
    draw = random.Random(seed)
    low = draw.choice([-1e-300, 0.0, 1e6, 2.0**40, -1e15])
    high = low + draw.choice([1e-280, 0.1, 3.0, 1e9, 1e200])
    if high - low < abs(low) * 2.0**-40:
        high = low + 1 + abs(low) * 2.0**-20
    values = [draw.uniform(low, high) for _ in range(30)] + NASTY
    draw.shuffle(values)
    others = values[1:] if relation == "add_remove" else [draw.choice([*NASTY, high]), *values[1:]]
    for query in (hm.Sum("x", low, high), hm.Mean("x", low, high), hm.Variance("x", low, high)):
        table, neighbour = {"x": np.array(values)}, {"x": np.array(others)}
        assert loss(query, table, neighbour, epsilon=3, relation=relation) <= 3


# 3. Order: neither rows, nor chunks, nor threads change an integer.


def test_03_order_chunks_and_threads_change_nothing(record):
    rng = np.random.default_rng(3)
    x = rng.normal(size=150_000) * 10.0 ** rng.integers(-200, 200, 150_000)
    frames = [
        pl.DataFrame({"x": x}),
        pl.concat([pl.DataFrame({"x": part}) for part in np.array_split(x[::-1], 7)]),
        pd.DataFrame({"x": rng.permutation(x)}),
        pa.table({"x": pa.chunked_array(np.array_split(np.sort(x), 13))}),
    ]
    seen = set()
    for frame in frames:
        with hm.open(frame, budget=9) as curator:
            tape = record(curator, hm.Sum("x", -1e6, 1e6), epsilon=1)
            seen |= {call[1] for call in tape.calls}
    assert len(seen) == 1
    clipped = np.clip(x, -1e6, 1e6)
    assert len({float(np.sum(y)) for y in (clipped, clipped[::-1], np.sort(clipped))}) > 1


# 4. Overflow: no type of a column, and no noise, wraps round.


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64", "float32"])
def test_04_sums_do_not_overflow_the_type_of_their_column(record, dtype):
    top = 2.0**60 if dtype == "float32" else float(np.iinfo(dtype).max)
    column = np.full(10_000, top if dtype == "float32" else np.iinfo(dtype).max).astype(dtype)
    with hm.open({"x": column}, budget=9) as curator:
        ((mechanism, (total,), (noisy,)),) = record(
            curator, hm.Sum("x", 0, 2 * top), epsilon=1
        ).calls
        release = curator.ask(hm.Sum("x", 0, 2 * top), epsilon=1)
    step = Fraction(release.estimate.step)
    assert abs(total * step / (10_000 * Fraction(top)) - 1) < Fraction(1, 2**30)
    assert abs(noisy - total) <= 100 * mechanism.scale
    assert isinstance(noisy, int)
    if dtype == "int8":
        assert column.sum(dtype="int8") != 127 * 10_000


def test_04_noise_is_added_beyond_sixty_four_bits():
    for huge in (2**63 - 1, -(2**63), 2**200):
        for mechanism in (
            DiscreteLaplace(2**50, 1),
            DiscreteGaussian(2**100, 1),
            RoundedGaussian(2**100, 1),
        ):
            (noisy,) = mechanism.release([huge])
            assert 0 < abs(noisy - huge) < 2**60


def test_04_integers_at_the_end_of_their_type_are_compared_exactly(record):
    column = np.array([2**63 - 1, 2**63 - 2, -(2**63)])
    with hm.open({"x": column}, budget=99) as curator:
        for where, wanted in ((f"x >= {2**63 - 1}", 1), (f"x > {2**63}", 0), ("x < 1e300", 3)):
            tape = record(curator, hm.Count(), where=where, epsilon=1)
            assert tape.calls[0][1] == (wanted,), where


# 5 and 6. NaN, infinity, huge, denormal, negative zero: a value like these is one row like others.


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("value", NASTY)
def test_05_06_no_value_of_one_row_poisons_an_answer(loss, query, value):
    table, neighbour = {"x": np.array([0.5, 7.0, value])}, {"x": np.array([0.5, 7.0])}
    assert loss(query, table, neighbour, epsilon=1) <= 1
    with hm.open(table, budget=9) as curator:
        release = curator.ask(query, epsilon=1)
    assert plain(release.value)
    assert np.isfinite(np.array(release.interval(), float)).all()
    assert math.isnan(np.mean(np.clip([0.5, math.nan], 0, 1)))  # what clipping alone does


def test_05_a_missing_value_is_a_missing_value_however_it_is_spelled(record):
    spelled = [
        {"x": np.array([1.0, np.nan])},
        {"x": [1.0, None]},
        {"x": [1, "abc"]},
        pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"x": [1.0, None]}),
        pa.table({"x": [1, None]}),
    ]
    seen = set()
    for table in spelled:
        with hm.open(table, budget=9) as curator:
            seen.add(record(curator, hm.Sum("x", 0, 1), epsilon=1).calls[0][1])
            seen.add(
                record(curator, hm.Sum("x", 0, 1), epsilon=1, where="x is not None").calls[0][1]
            )
    assert len(seen) == 1


# 8. Nothing there: an ordinary noisy answer.


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}])
def test_08_empty_tables_and_empty_groups_get_noisy_answers(query, price):
    budget = hm.Approximate(200, 0.1)
    for column in (np.array([]), np.array([np.nan, np.nan]), np.array([5.0])):
        table = {"x": column, "k": np.arange(len(column))}
        with hm.open(table, budget=budget) as curator:
            assert plain(curator.ask(query, **price).value)
            assert plain(curator.ask(query, where="x > 1e9", **price).value)
            grouped = curator.ask(query, by=hm.Keys("k", [0, 77, None]), **price)
            assert all(plain(one.value) for one in grouped.values())
            first = curator.ask(query, **price).value  # held to its bounds it is often the same
            assert any(curator.ask(query, **price).value != first for _ in range(40))


# 10. Bounds from data: there is no way to leave them out.


@pytest.mark.parametrize("query", [hm.Sum, hm.Mean, hm.Variance, hm.StandardDeviation])
def test_10_bounds_must_be_given_and_are_never_taken_from_rows(query, loss):
    for bounds in ((), (0,), (None, 1), (0, None), (0, math.inf), (math.nan, 1), ("min", "max")):
        with pytest.raises((TypeError, hm.InvalidQuery)):
            query("x", *bounds)
    far = {"x": np.array([0.2, 0.4, 1e300])}, {"x": np.array([0.2, 0.4])}
    assert loss(query("x", 0, 1), *far, epsilon=1) <= 1


def test_10_edges_must_be_given():
    for edges in ((), (None,), (5,), (10,), ("auto",)):
        with pytest.raises((TypeError, hm.InvalidQuery)):
            hm.Histogram("x", *edges)


# 20. Wrong sensitivities, prices, domains.

WRONG = [
    0,
    -1,
    math.nan,
    math.inf,
    -math.inf,
    1e-320,
    5e-324,
    True,
    None,
    "x",
    "",
    1j,
    [1],
    10**400,
]


@pytest.mark.parametrize("price", WRONG, ids=lambda price: str(price)[:12])
def test_20_prices_that_are_no_prices_are_refused(price):
    with hm.open({"x": np.array([1.0])}, budget=1) as curator:
        for name in ("epsilon", "rho", "mu"):
            with pytest.raises(hm.InvalidQuery):
                curator.ask(hm.Count(), **{name: price})
        assert curator.ledger.entries() == []
    for kind in (hm.Pure, hm.ZCDP, hm.GDP):
        with pytest.raises(hm.InvalidQuery):
            kind(price)
    for mechanism in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian, Exponential):
        with pytest.raises(hm.InvalidQuery):
            mechanism(1, price)


@pytest.mark.parametrize("sensitivity", [-1, 0.5, math.nan, math.inf, None, "1", True])
def test_20_sensitivities_that_are_none_are_refused(sensitivity):
    for mechanism in (DiscreteLaplace, DiscreteGaussian, RoundedGaussian, Exponential):
        with pytest.raises(hm.InvalidQuery):
            mechanism(sensitivity, 1)


def test_20_rows_outside_the_declared_domain_are_clipped_not_believed(record):
    with hm.open({"x": np.array([1e7, -1e7, 0.5])}, budget=9) as curator:
        ((_, (total,), _),) = record(curator, hm.Sum("x", 0, 1), epsilon=1).calls
        release = curator.ask(hm.Sum("x", 0, 1), epsilon=1)
    assert total * release.estimate.step == Fraction(3, 2)


# 26. Nulls and divisions of an engine: no expression of the analyst can make them.


@pytest.mark.parametrize(
    "where",
    [
        "x % 0 == 1",
        "x / 0 > 1",
        "1 / x > 2",
        "x + 1 > 2",
        "abs(x) > 1",
        "x == y",
        "-x > 3",
        "x ** 2",
    ],
)
def test_26_a_filter_computes_nothing(where):
    with hm.open({"x": [1, 0], "y": [1, 2]}, budget=1) as curator:
        with pytest.raises(hm.InvalidQuery):
            curator.ask(hm.Count(), where=where, epsilon=1)
        assert curator.ledger.entries() == []
    for attempt in (lambda: hm.col("x") % 2, lambda: hm.col("x") + 1, lambda: hm.col("x") / 0):
        with pytest.raises(TypeError):
            attempt()


@pytest.mark.parametrize("cell", [None, math.nan, "", "abc", "nan", "\x00", "1e999"])
@pytest.mark.parametrize(
    "where", ["x > 0", "not (x > 0)", "x is None", "x != 'abc'", "x in [0, 1]", "not (x in [0])"]
)
def test_26_one_bad_cell_neither_fails_nor_silences_the_noise(loss, record, cell, where):
    table, neighbour = {"x": [1, 2, cell]}, {"x": [1, 2]}
    assert loss(hm.Count(), table, neighbour, where=where, epsilon=1) <= 1
    with hm.open(table, budget=9) as curator:
        tape = record(curator, hm.Count(), where=where, epsilon=1)
    assert all(mechanism.scale > 0 for mechanism, _, _ in tape.calls)


def test_26_the_largest_filter_is_answered_and_a_larger_one_refused_before_the_charge(record):
    """A filter that exhausts a stack would fail at a place that its author chooses."""
    x = hm.col("x")
    large = " or ".join(f"x=={number}" for number in range(500))
    deep = x > 0
    for level in range(100):
        deep = (deep & (x > -level)) if level % 2 else (deep | (x == level))
    with hm.open({"x": [1.0, 7.0, 600.0]}, budget=9) as curator:
        for where, held in ((large, 2), (hm.where(large), 2), (~hm.where(large), 1), (deep, 3)):
            ((_, integers, _),) = record(curator, hm.Count(), where=where, epsilon=1).calls
            assert integers == (held,)
        spent = curator.ledger.spent
        for where in (
            f"{large} or x > 1",
            " and ".join(["x > 1"] * 1600),
            "not " * 101 + "x > 1",
            "(" * 150 + "x > 1" + ")" * 150 + " or (x > 1)" * 500,
        ):
            with pytest.raises(hm.InvalidQuery):
                curator.ask(hm.Count(), where=where, epsilon=1)
        with pytest.raises(hm.InvalidQuery):
            reduce(operator.and_, [x > 0] * 3000)
        assert curator.ledger.spent == spent
