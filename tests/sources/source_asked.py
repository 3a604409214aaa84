"""What may be asked of nasty rows; cells, keys and points by their definitions: for the laws."""

import itertools
import math
import operator
from collections import defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from source_tables import KINDS, LITERALS, ORDERS, conditions, grids, groupings

from halfmask.plan import (
    Everything,
    FoundKeys,
    GridCounts,
    Keys,
    OnGrid,
    Points,
    Tally,
    UnitBound,
    col,
)


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
    order = sorted({g for g, _ in weights}, key=lambda g: (twins.lot("halfmask", unit, [g]), g))
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
            lots = sorted((twins.lot("halfmask", unit, twins.key_entries(k)), k) for (k,) in keys)
            keys = {(k,): keys[(k,)] for _, k in lots[: bound.groups]}
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
        lots = sorted((lot_of(points, unit, point, twins), point) for point in listed)
        kept += [point for _, point in lots][: None if points.unit is None else points.rows]
    return sorted(kept)


def lot_of(points, unit, point, twins):
    pairs = zip(points.values, point, strict=True)
    return twins.lot("halfmask", unit, [e for g, v in pairs for e in twins.coordinate(v, g.reach)])


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


def picking(unit, most):
    """Groups and rows of which each unit keeps a few."""
    keys, grid = Keys("g", ["a", "A", "", "日本", None]), OnGrid("x", -16, 16, 0)
    tally = Tally(((1, 0, 0, 0), (0, 0, 1, 0)), grid, (keys,), unit=UnitBound(unit, 30, most))
    return tally, Points((grid, OnGrid("i", -(2**20), 2**20, 0)), unit=unit, rows=most)


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


@st.composite
def tallies(draw):
    value = draw(st.none() | grids())
    small = st.integers(-3, 3)
    p = v = q = st.just(0)
    if value is not None:
        p, v = small, st.sampled_from([0, 1, -1, 2])
        q = st.sampled_from([0, 1, -1]) if value.reach < 2**31 else q
    feature = st.tuples(st.sampled_from([0, 1, -1, 2**40]), p, v, q)
    unit = st.none()
    if draw(st.booleans()):
        norm = st.sampled_from([1, 2, 7, 1000, 2**30, 2**47 + 1, 2**54, 2**70 + 12345])
        unit = st.builds(UnitBound, st.sampled_from(["u", "n"]), norm,
                         st.sampled_from([None, 1, 2, 5]), st.just(value is None))  # fmt: skip
    return Tally(
        tuple(draw(st.lists(feature, min_size=1, max_size=4))),
        value,
        tuple(draw(st.lists(groupings(), max_size=2))),
        draw(st.just(Everything()) | conditions),
        draw(unit),
    )


def simple_filters(name):
    """Each operator beside each literal, alone and negated."""
    literals = LITERALS.get(name, [True, False])
    simple = [getattr(col(name), order)(x) for x in literals for order in ORDERS]
    simple = [p for p in simple if not isinstance(p.value, bool) or p.operator in ("==", "!=")]
    for predicate in [*simple, *(col(name).is_in([x]) for x in literals), col(name).is_missing()]:
        yield from (predicate, ~predicate)


def extreme_grids(column):
    """Fine and coarse steps, bounds of one sign or both."""
    for log2_step in (-1000, -60, -3, 0, 1, 60, 900):
        for lower, upper in ((-1, 1), (-(2**53), 2**53), (0, 2**20), (-7, -3)):
            yield OnGrid(column, lower, upper, log2_step, origin=lower)
