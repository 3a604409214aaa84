"""Cells, keys and points: the integers of exact twins from every source, and the unit's bound."""

import hashlib
import itertools
import math
import operator
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_tables import KINDS, conditions, grids, groupings, in_csv, sources_of

from halfmask.errors import InvalidQuery
from halfmask.plan import (
    Everything,
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


def by_unit(request, bound, rows, twins, cell_of):
    """The rows of each unit (each row its own without a bound), by what `cell_of` shows of them."""
    units = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows):
        unit = number if bound is None else row[bound.column]
        cell = cell_of(row)
        if None not in (unit, cell) and unit == unit and twins.holds(request, row, KINDS):
            units[unit][cell].append(row)
    return units


def shrunk(weight, norm, length):
    return weight if length <= norm else int(Fraction(weight * norm, length))


def naive_cells(counts, rows, twins):
    """The definition of grid counts."""
    sizes = [group.size for group in counts.groups]

    def cell_of(row):
        found = [twins.group_of(group, row, KINDS) for group in counts.groups]
        _, present, v, _ = twins.moments(row, KINDS, counts.value)
        if None in found or not present:
            return None
        g = 0
        for index, size in zip(found, sizes, strict=True):
            g = g * size + index
        return g, v

    answer = [defaultdict(int) for _ in range(math.prod(sizes))]
    for unit, cells in by_unit(counts.where, counts.unit, rows, twins, cell_of).items():
        weights = {cell: counts.weight * len(listed) for cell, listed in cells.items()}
        for (g, v), weight in bounded_cells(weights, unit, counts.unit, twins).items():
            answer[g][v] += weight
    return [sorted((v, w) for v, w in cells.items() if w) for cells in answer]


def bounded_cells(weights, unit, bound, twins):
    if bound is None:
        return weights
    if bound.groups is None:
        return {c: shrunk(w, bound.norm, sum(weights.values())) for c, w in weights.items()}
    order = sorted({g for g, _ in weights}, key=lambda g: (twins.digest("halfmask", unit, g), g))
    kept = order[: bound.groups]
    totals = {g: sum(w for (h, _), w in weights.items() if h == g) for g in kept}
    return {(g, v): shrunk(w, bound.norm, totals[g]) for (g, v), w in weights.items() if g in kept}


def naive_keys(found, rows, twins):
    """The definition of found keys."""
    tally, bound = found.tally, found.tally.unit
    answer = {}
    for unit, keys in by_unit(
        tally.where, bound, rows, twins, lambda r: (r[found.column],)
    ).items():
        if bound is not None and bound.groups is not None:
            order = sorted(keys, key=lambda k: (twins.digest("halfmask", unit, tagged(k[0])), k[0]))
            keys = {key: keys[key] for key in order[: bound.groups]}
        vectors = {key: vector_of(tally, listed, twins) for key, listed in keys.items()}
        everything = twins.total(itertools.chain(*vectors.values()))
        for key, vector in vectors.items():
            if bound is not None:
                length = everything if bound.groups is None else twins.total(vector)
                vector = [shrunk(f, bound.norm, length) for f in vector]
            before = answer.get(key[0], [0] * len(vector))
            answer[key[0]] = list(map(operator.add, before, vector))
    order = sorted(answer, key=lambda key: (key is None, "" if key is None else key))
    if any(isinstance(key, int) for key in answer):
        order = sorted(answer, key=lambda key: (key is None, 0 if key is None else key))
    return tuple((key, tuple(answer[key])) for key in order)


def tagged(key):
    if key is None:
        return "n"
    return f"s{str(key).lower() if isinstance(key, bool) else key}"


def vector_of(tally, listed, twins):
    if tally.unit is not None and tally.unit.once:
        return [feature[0] for feature in tally.features]
    moments = [twins.moments(row, KINDS, tally.value) for row in listed]
    return [sum(sum(map(operator.mul, f, m)) for m in moments) for f in tally.features]


def naive_points(points, rows, twins):
    """The definition of points, as a sorted list of tuples."""
    units = defaultdict(list)
    for number, row in enumerate(rows):
        unit = number if points.unit is None else row[points.unit]
        found = [twins.moments(row, KINDS, value) for value in points.values]
        whole = unit is not None and unit == unit and all(present for _, present, _, _ in found)
        if whole and twins.holds(points.where, row, KINDS):
            units[unit].append(tuple(v for _, _, v, _ in found))
    kept = []
    for unit, listed in units.items():
        texts = sorted(
            ((hashlib.md5(text.encode()).hexdigest()[:12], text), point)
            for point in listed
            for text in ["|".join(map(str, ("halfmask", unit, *point)))]
        )
        kept += [point for _, point in texts][: None if points.unit is None else points.rows]
    return sorted(kept)


@st.composite
def bounds(draw, once=False):
    column = draw(st.sampled_from(["u", "n"]))
    norm = draw(st.sampled_from([1, 2, 7, 1000, 2**30, 2**54]))
    return UnitBound(column, norm, draw(st.sampled_from([None, 1, 2, 5])), once)


@st.composite
def counted(draw):
    return GridCounts(
        draw(grids()),
        draw(st.sampled_from([1, 3, 2**20])),
        tuple(draw(st.lists(groupings(), max_size=2))),
        draw(st.just(Everything()) | conditions),
        draw(st.none() | bounds()),
    )


@st.composite
def keyed(draw):
    value = draw(st.none() | grids())
    small = st.integers(-3, 3)
    feature = st.tuples(
        small, *((st.just(0),) * 3 if value is None else (small, small, st.just(0)))
    )
    features = tuple(draw(st.lists(feature, min_size=1, max_size=3)))
    condition = draw(st.just(Everything()) | conditions)
    unit = draw(st.none() | bounds(once=value is None and draw(st.booleans())))
    return FoundKeys(
        draw(st.sampled_from(["g", "n", "i", "b", "s"])),
        Tally(features, value, where=condition, unit=unit),
    )


@st.composite
def pointed(draw):
    return Points(
        tuple(draw(st.lists(grids(), min_size=1, max_size=3))),
        draw(st.just(Everything()) | conditions),
        draw(st.sampled_from([None, "u", "n"])),
        draw(st.sampled_from([1, 2, 50])),
    )


def cells_of(source, counts):
    return [
        list(zip(cells.tolist(), weights.tolist(), strict=True))
        for cells, weights in source.grid_counts(counts)
    ]


def keys_of(source, found):
    """Keys with their types: True is not 1."""
    return [(type(key), key, features) for key, features in source.found_keys(found)]


def points_of(source, points):
    found = source.points(points)
    assert found.dtype == np.int64
    assert found.shape[1] == points.size
    return sorted(map(tuple, found.tolist()))


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
