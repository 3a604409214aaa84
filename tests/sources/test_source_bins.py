"""Bins of one width, or nearly: computed by arithmetic, and exact all the same."""

import math
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.plan import Bins, Schema, Tally
from halfmask.sources import open_source
from halfmask.sources.sql import groups

COUNT = ((1, 0, 0, 0),)
INF = math.inf
UNIFORM = {
    "fifty": np.linspace(0, 100, 51).tolist(),
    "tenths": [i / 10 for i in range(30)],
    "sums of tenths": np.cumsum(np.full(20, 0.1)).tolist(),
    "negative": np.linspace(-1e9, -3, 40).tolist(),
    "many": np.linspace(-1, 1, 5001).tolist(),
    "far": [2.0**39 + i for i in range(12)],
    "tiny": [i * 2.0**-890 for i in range(20)],
    "huge": [i * 2.0**890 for i in range(20)],
    "shaken": [i + 0.12 * (-1) ** i for i in range(40)],
}
STEPPED = {"fifty", "negative", "many", "far", "tiny", "huge"}  # low + i * step, to the last bit
OTHERS = {
    "few": [0.0, 1.0, 2.0],
    "uneven": [*map(float, range(10)), 11.5],
    "denormal": [i * 5e-324 for i in range(20)],
    "wider than doubles": [i * 1e307 for i in range(-17, 18)],
    "too far": [2.0**50 + i for i in range(12)],
}


def around(edges):
    """Each edge, its neighbours among doubles, and what is no number or beyond."""
    near = [y for e in edges for y in (math.nextafter(e, -INF), e, math.nextafter(e, INF))]
    middle = [a / 2 + b / 2 for a, b in pairwise(edges)]
    return [*near, *middle, math.nan, INF, -INF, 1.7e308, -1.7e308, 0.0, -0.0]


def check(edges, cells, twin):
    rows = [{"x": cell} for cell in cells]
    for low in ([], [-INF]):
        for high in ([], [INF]):
            tally = Tally(COUNT, None, (Bins("x", [*low, *edges, *high]),))
            found = open_source({"x": np.array(cells)}).tally(tally)
            assert found == twin(tally, rows, {"x": "real"})


@pytest.mark.parametrize("edges", (UNIFORM | OTHERS).values(), ids=UNIFORM | OTHERS)
def test_bins_hold_every_double_near_their_edges(edges, twin):
    assert (groups._width(edges) is not None) == (edges in UNIFORM.values())
    cells = around(edges)
    if len(edges) > 1000:  # the twin is slow
        index = np.searchsorted(edges, [c for c in cells if edges[0] <= c <= edges[-1]], "right")
        expected = np.bincount(np.minimum(index, len(edges) - 1) - 1, minlength=len(edges) - 1)
        tally = Tally(COUNT, None, (Bins("x", edges),))
        found = open_source({"x": np.array(cells)}).tally(tally)
        assert found == tuple((int(n),) for n in expected)
    else:
        check(edges, cells, twin)


def test_edges_are_computed_only_where_doubles_make_them_as_they_stand():
    stepped = {name for name, edges in (UNIFORM | OTHERS).items() if groups._step(edges)}
    assert stepped == STEPPED


@settings(max_examples=40, deadline=None)
@given(first=st.floats(-1e6, 1e6), width=st.floats(1e-4, 1e6), count=st.integers(9, 40))
def test_bins_of_one_width_equal_the_twin(first, width, count, twin):
    edges = [first + i * width for i in range(count)]
    check(edges, around(edges), twin)


@settings(max_examples=40, deadline=None)
@given(
    first=st.floats(-1e6, 1e6),
    width=st.floats(1e-4, 1e6),
    count=st.integers(9, 40),
    shake=st.lists(st.floats(-0.26, 0.26), min_size=40, max_size=40),
)
def test_bins_nearly_of_one_width_equal_the_twin(first, width, count, shake, twin):
    edges = [first + (i + s) * width for i, s in zip(range(count), shake, strict=False)]
    check(edges, around(edges), twin)


def test_text_is_binned_as_the_numbers_that_it_says(twin):
    cells = [repr(c) for c in around(UNIFORM["tenths"])] + ["x", None]
    tally = Tally(COUNT, None, (Bins("x", UNIFORM["tenths"]),))
    rows = [{"x": cell} for cell in cells]
    assert open_source({"x": cells}).tally(tally) == twin(tally, rows, {"x": "unread"})


MONTHS = [datetime(2025, 1, 1), datetime(2025, 2, 1), datetime(2025, 3, 1)]
HOURS = [datetime(2025, 3, 30) + timedelta(hours=hour) for hour in range(40)]


@pytest.mark.parametrize("edges", [MONTHS, HOURS], ids=["months", "hours"])
@pytest.mark.parametrize("kind", ["time", "unread"])
def test_times_are_binned_between_dates_to_the_microsecond(edges, kind):
    """A twin: comparisons of datetimes."""
    tick = timedelta(microseconds=1)
    cells = [moment for edge in edges for moment in (edge - tick, edge, edge + tick)]
    expected = [sum(a <= cell < b for cell in cells) for a, b in pairwise(edges)]
    expected[-1] += cells.count(edges[-1])
    column = np.array(cells, dtype="datetime64[us]")
    if kind == "unread":
        column = [cell.isoformat() for cell in cells] + ["never", "", None]
    for given_as in (edges, [edge.isoformat() for edge in edges]):
        tally = Tally(COUNT, None, (Bins("at", given_as),))
        source = open_source({"at": column})
        assert source.schema.column("at").kind == kind
        assert source.tally(tally) == tuple((count,) for count in expected)


def test_edges_of_times_and_of_numbers_go_with_columns_of_their_kind():
    schema = Schema.of({"at": "time", "x": "real"})
    with pytest.raises(InvalidQuery, match="holds real"):
        Bins("x", MONTHS).check(schema)
    with pytest.raises(InvalidQuery, match="holds time"):
        Bins("at", [0, 1]).check(schema)
    with pytest.raises(InvalidQuery, match="no list of numbers"):
        Bins("at", [MONTHS[0], 7])
    with pytest.raises(InvalidQuery, match="no list of numbers, or of dates"):
        Bins("at", ["soon", "later"])
