"""Cells, keys and points: the integers of exact twins from every source, and the unit's bound."""

from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_asked import (
    cells_of,
    counted,
    keyed,
    keys_of,
    naive_cells,
    naive_keys,
    naive_points,
    pointed,
    points_of,
)
from source_tables import in_csv, sources_of

from halfmask.errors import InvalidQuery
from halfmask.plan import (
    FoundKeys,
    GridCounts,
    Keys,
    OnGrid,
    Points,
    Tally,
    UnitBound,
    where,
)
from halfmask.sources import open_source

LOOSE = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@LOOSE
@given(counts=counted())
def test_cells_of_every_source_equal_the_twin(counts, rows, sources, csv_source, twins):
    expected = naive_cells(counts, rows, twins)
    for name, source in sources.items():
        assert cells_of(source, counts) == expected, name
    assert cells_of(csv_source, counts) == naive_cells(counts, in_csv(rows), twins)


@LOOSE
@given(found=keyed())
def test_keys_of_every_source_equal_the_twin(found, rows, sources, csv_source, twins):
    def typed(answer):
        return [(type(key), key, features) for key, features in answer]

    expected = typed(naive_keys(found, rows, twins))
    for name, source in sources.items():
        assert keys_of(source, found) == expected, name
    assert keys_of(csv_source, found) == typed(naive_keys(found, in_csv(rows), twins))


@LOOSE
@given(points=pointed())
def test_points_of_every_source_equal_the_twin(points, rows, sources, csv_source, twins):
    expected = naive_points(points, rows, twins)
    for name, source in sources.items():
        assert points_of(source, points) == expected, name
    assert points_of(csv_source, points) == naive_points(points, in_csv(rows), twins)


@settings(LOOSE, max_examples=5)
@given(
    data=st.data(),
    order=st.randoms(use_true_random=False),
    threads=st.sampled_from([1, 2, 7]),
)
def test_order_and_threads_change_nothing(data, order, threads, rows, twins, tmp_path_factory):
    counts, found, points = data.draw(counted()), data.draw(keyed()), data.draw(pointed())
    shuffled = order.sample(rows, len(rows))
    for source in sources_of(shuffled, tmp_path_factory.mktemp("order"), threads).values():
        assert cells_of(source, counts) == naive_cells(counts, rows, twins)
        assert tuple(source.found_keys(found)) == naive_keys(found, rows, twins)
        assert points_of(source, points) == naive_points(points, rows, twins)
        source.close()


def test_times_are_cells_of_microseconds(rows, sources, csv_source):
    """From the year 1 to 9999, held to what a double counts exactly; by key as well."""
    grid, keys = OnGrid("t", -(2**53), 2**53, 0), Keys("b", [True, False])

    def counted(listed):
        micros = [(row["t"] - datetime(1970, 1, 1)) // timedelta(microseconds=1) for row in listed]
        return sorted(Counter(min(max(m, -(2**53)), 2**53) for m in micros).items())

    known = [row for row in rows if row["t"] is not None]
    by = [counted([row for row in known if row["b"] is truth]) for truth in (True, False)]
    for name, source in [*sources.items(), ("csv", csv_source)]:
        assert cells_of(source, GridCounts(grid)) == [counted(known)], name
        assert cells_of(source, GridCounts(grid, groups=(keys,))) == by, name


def test_keys_of_any_text_are_found_whole():
    """A NUL, a megabyte, quotes and odd letters: grouped, ordered by code points, handed back."""
    keys = ["", "a\0b", "a", "é", "e\u0301", "z" * 10**6, "z" * 10**6 + "y", "'\"\\", "🙂", None]
    with_keys = {"k": np.array(keys * 2, dtype=object), "u": np.arange(20) % 10}
    source = open_source(with_keys)
    order = [*sorted(key for key in keys if key is not None), None]
    plain = FoundKeys("k", Tally(((1, 0, 0, 0),)))
    assert source.found_keys(plain) == tuple((key, (2,)) for key in order)
    bounded = FoundKeys("k", Tally(((1, 0, 0, 0),), unit=UnitBound("u", 1, groups=1)))
    assert source.found_keys(bounded) == tuple((key, (1,)) for key in order)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u8", "u1", "?"])
@pytest.mark.parametrize("step", [-1000, -30, 0, 3, 900])
def test_arrays_give_the_same_points_with_and_without_the_engine(dtype, step):
    """A filter that is always true sends the same question through the engine."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**64, (500, 3), dtype=np.uint64)
    data = (
        bits.view("f8")
        if dtype == "f8"
        else bits.astype("u4").view("f4")
        if dtype == "f4"
        else bits
    )
    with np.errstate(all="ignore"):
        data = data.astype(dtype)
    masked = np.ma.array(data[:, 0], mask=rng.random(500) < 0.1)
    source = open_source({"a": masked, "b": data[:, 1], "c": data[:, 2]})
    for lower, upper in ((-1, 1), (-(2**53), 2**53), (5, 2**20)):
        grid = [OnGrid(name, lower, upper, step, origin=lower) for name in "abc"]
        direct, through = Points(tuple(grid)), Points(tuple(grid), where("not (a is None)"))
        assert source._direct(direct) is not None
        assert source._direct(through) is None
        assert points_of(source, direct) == points_of(source, through)


cell = st.sampled_from([np.nan, -np.inf, np.inf, -4.0, -1.5, 0.0, 0.5, 3.0, 1e308])
row = st.tuples(st.sampled_from([1, 2, 3]), st.integers(0, 4), cell)
mine = st.lists(st.tuples(st.just(9), st.integers(0, 4), cell), max_size=12)


def opened(rows):
    return open_source(np.array(rows, dtype=[("u", "i8"), ("g", "i8"), ("x", "f8")]))


def moved(left, right):
    """How far two maps from keys to vectors of integers lie apart, in each key that moved."""
    nothing = (0,) * max(map(len, [*left.values(), *right.values()]), default=0)
    pairs = [(left.get(k, nothing), right.get(k, nothing)) for k in {*left, *right}]
    distances = (sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs)
    return [distance for distance in distances if distance]


@settings(max_examples=60, deadline=None)
@given(
    others=st.lists(row, max_size=20),
    first=mine,
    second=mine,
    norm=st.integers(1, 100),
    groups=st.none() | st.integers(1, 3),
)
def test_one_unit_moves_cells_keys_and_points_by_its_bound(others, first, second, norm, groups):
    """Law 5 for what rows hold: whatever rows one unit has, and whatever it has instead."""
    grid = OnGrid("x", -8, 8, -1)
    counts = GridCounts(grid, 7, (Keys("g", [0, 1, 2]),), unit=UnitBound("u", norm, groups))
    tally = Tally(((1, 0, 0, 0), (0, 0, 1, 0)), grid, unit=UnitBound("u", norm, groups))
    found = FoundKeys("g", tally)
    points = Points((grid,), unit="u", rows=2)
    without, instead, full = (opened(others + extra) for extra in ([], second, first * 50))
    for neighbour, times in ((without, 1), (instead, 2)):
        for far in (
            [
                moved(
                    {c: (w,) for c, w in one},
                    {c: (w,) for c, w in two},
                )
                for one, two in zip(
                    cells_of(full, counts), cells_of(neighbour, counts), strict=True
                )
            ],
            [[d] for d in moved(dict(full.found_keys(found)), dict(neighbour.found_keys(found)))],
        ):
            sums = [sum(distances) for distances in far]
            if groups is None:
                assert sum(sums) <= times * norm
            else:
                assert max(sums, default=0) <= times * norm
                assert len([s for s in sums if s]) <= times * groups
        a, b = points_of(full, points), points_of(neighbour, points)
        assert sum(abs(a.count(p) - b.count(p)) for p in {*a, *b}) <= times * 2


def test_an_unbounded_unit_would_pass_the_bound():
    """The law above can fail."""
    rows = [(9, 0, 3.0)] * 100
    assert cells_of(opened(rows), GridCounts(OnGrid("x", -8, 8, -1))) == [[(6, 100)]]
    bounded = GridCounts(OnGrid("x", -8, 8, -1), unit=UnitBound("u", 2))
    assert cells_of(opened(rows), bounded) == [[(6, 2)]]


def test_no_rows_make_no_cells_keys_or_points():
    """The defined answers of an empty table."""
    empty, grid = opened([]), OnGrid("x", -8, 8, -1)
    assert cells_of(empty, GridCounts(grid, groups=(Keys("g", [1, 2]),))) == [[], []]
    assert empty.found_keys(FoundKeys("g", Tally(((1, 0, 0, 0),)))) == ()
    assert empty.points(Points((grid, grid))).shape == (0, 2)
    assert empty.points(Points((grid, grid), unit="u")).shape == (0, 2)


def test_a_real_column_makes_no_keys():
    with pytest.raises(InvalidQuery, match="makes no keys"):
        opened([]).found_keys(FoundKeys("x", Tally(((1, 0, 0, 0),))))
