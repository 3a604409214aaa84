"""Each depth against a naive twin: loops, fractions, one pair at a time."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask import depth

RNG = np.random.default_rng(20)


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def gaps(point, data):
    at = [Fraction(c) for c in point]
    rows = [[Fraction(c) - a for c, a in zip(row, at, strict=True)] for row in data]
    return [row for row in rows if any(row)], sum(not any(row) for row in rows)


def naive_tukey(point, data):
    """Sides of every line through the point and a row, turned a little either way."""
    away, at = gaps(point, data)
    best = len(away)
    for u in away:
        for side in (1, -1):
            open_side = sum(side * cross(u, v) > 0 for v in away)
            for along in (1, -1):
                on = sum(cross(u, v) == 0 and along * (u[0] * v[0] + u[1] * v[1]) > 0 for v in away)
                best = min(best, open_side + on)
    return best + at


def naive_simplicial(point, data):
    """Triangles with the point in the closed hull: not all strictly on one side of a line."""
    held = 0
    for triple in combinations(data, 3):
        _, at = gaps(point, triple)
        held += bool(at) or naive_tukey(point, triple) > 0
    return held / comb(len(data), 3)


def naive_spatial(point, data):
    total = np.zeros(len(point))
    for row in data:
        gap = row - point
        largest = np.abs(gap).max()
        if largest:
            total += gap / largest / np.linalg.norm(gap / largest)
    return 1 - np.linalg.norm(total) / len(data)


coordinates = st.one_of(
    st.integers(-2, 2).map(float),
    st.sampled_from([0.1, 0.2, 0.3, 1e-9, 1e6, 1 / 3, 1 + 2**-52, 1e17, -(2.0**-300)]),
    st.floats(-3, 3),
)
rows = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=7)


@settings(max_examples=100, deadline=None)
@given(data=rows, more=rows)
def test_planar_tukey_depth_is_exact(data, more):
    """Ties, duplicates, collinear rows, numbers of all sizes; at the rows and elsewhere."""
    points = np.array(data + more)
    expected = [naive_tukey(point, data) for point in points]
    assert depth.tukey_depth(points, np.array(data)).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(data=rows.filter(lambda data: len(data) >= 3), more=rows)
def test_planar_simplicial_depth_is_exact(data, more):
    points = np.array(data[:3] + more[:3])
    expected = [naive_simplicial(point, data) for point in points]
    assert depth.simplicial_depth(points, np.array(data)).tolist() == expected


@given(data=st.lists(st.integers(-3, 3), min_size=2, max_size=9), at=st.lists(st.integers(-4, 4)))
def test_depths_on_a_line_are_exact(data, at):
    expected = [min(sum(x <= t for x in data), sum(x >= t for x in data)) for t in at]
    assert depth.tukey_depth(at, data).tolist() == expected
    held = [sum(min(p) <= t <= max(p) for p in combinations(data, 2)) for t in at]
    assert depth.simplicial_depth(at, data).tolist() == [h / comb(len(data), 2) for h in held]
    signs = [1 - abs(sum((x > t) - (x < t) for x in data)) / len(data) for t in at]
    assert depth.spatial_depth(at, data).tolist() == signs


def test_a_large_lattice_is_counted_exactly():
    """Many rows on each line: 31 x 31, and its middle has known depths."""
    side = np.arange(-15, 16)
    lattice = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for scale in (1, 0.1, 1 / 3):  # decimals are not quite collinear, and symmetric all the same
        assert depth.tukey_depth([[0, 0]], lattice * scale).tolist() == [(31 * 31 + 1) // 2]
    on_line = np.stack([np.arange(101), np.arange(101)], axis=1)
    assert depth.tukey_depth([[50, 50], [0, 0], [50, 51]], on_line).tolist() == [51, 1, 0]


CLOUDS = {
    "gauss": RNG.normal(size=(700, 7)),
    "cauchy": RNG.standard_cauchy(size=(700, 5)),
    "far offset": 1e8 + RNG.normal(size=(700, 3)),
    "two tight clusters": np.repeat([[0.0, 0, 0], [1e9, 0, 0]], 700, axis=0)
    + RNG.normal(size=(1400, 3)),
    "lattice": RNG.integers(-2, 3, size=(700, 2)).astype(float),
    "stretched": RNG.normal(size=(700, 4)) * [1e6, 1, 1, 1e-6],
    "tiny": RNG.normal(size=(500, 3)) * 1e-200,
    "huge": RNG.normal(size=(500, 3)) * 1e149,
    "huge outlier": np.concatenate([RNG.normal(size=(500, 3)), [[1e150, 0, 0]]]),
    "all equal": np.ones((50, 3)),
    "one row": RNG.normal(size=(1, 4)),
}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_spatial_depth_agrees_with_its_twin(cloud):
    """At rows, beside them by one rounding, between them, and far off; also in float32."""
    data = CLOUDS[cloud]
    some = data[:: max(1, len(data) // 8)]
    points = np.concatenate(
        [some, np.nextafter(some, 1e300), some + 0.01 * (data[0] - some), data.mean(0)[None] * 3]
    )
    expected = np.array([naive_spatial(point, data) for point in points])
    assert np.abs(depth.spatial_depth(points, data) - expected).max() < 2e-14 * data.shape[1]
    single = depth.spatial_depth(points, data, dtype=np.float32)
    assert np.abs(single - expected).max() < 1e-5


def test_spatial_depth_is_the_same_in_blocks(monkeypatch):
    """More points than one block, more rows than one block, more near pairs than one part."""
    from halfmask.depth import spatial

    data = RNG.normal(size=(1000, 3)).round(1)
    whole = depth.spatial_depth(data, data)
    monkeypatch.setattr(spatial, "POINTS", 7)
    monkeypatch.setattr(spatial, "CACHE", 1)
    monkeypatch.setattr(spatial, "SPARE", 20)
    assert np.abs(depth.spatial_depth(data, data) - whole).max() < 1e-14


def naive_along(points, data, directions, score):
    total = np.zeros(len(points))
    for u in directions:
        share = np.array([np.mean(data @ u <= point @ u) for point in points])
        total += share * (1 - share) if score == "product" else np.minimum(share, 1 - share)
    return total / len(directions)


@pytest.mark.parametrize("score", ["product", "minimum"])
@pytest.mark.parametrize("spare", [1 << 20, 1])
def test_integrated_dual_depth_agrees_with_its_twin(score, spare, monkeypatch):
    from halfmask.depth import directions as module

    monkeypatch.setattr(module, "SPARE", spare)
    data, directions = RNG.integers(-3, 4, size=(300, 3)), RNG.integers(-3, 4, size=(40, 3))
    directions[:, 0] += directions.any(axis=1) == 0
    points = np.concatenate([data[:20], RNG.normal(size=(20, 3))])
    got = depth.integrated_dual_depth(points, data, directions, score=score)
    expected = naive_along(points, data, directions, score)
    assert np.abs(got - expected).max() < 1e-14


def test_projected_tukey_depth_is_never_below_the_exact_depth():
    """And reaches it along enough directions of the plane."""
    angles = np.arange(2000) * np.pi / 2000
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for data in (RNG.normal(size=(60, 2)), RNG.integers(-2, 3, size=(60, 2)).astype(float)):
        points = np.concatenate([data, RNG.normal(size=(40, 2))])
        exact = depth.tukey_depth(points, data)
        assert (depth.tukey_depth(points, data, circle[:20]) >= exact).all()
        assert (depth.tukey_depth(points, data, circle) == exact).mean() > 0.9


def test_the_share_of_projected_depths_that_miss_is_as_stated():
    """(1 - p)^k: 4000 sets of k directions; false alarm below 1e-6 by five standard deviations."""
    data = np.random.default_rng(7).normal(size=(40, 3))
    many = np.random.default_rng(8).normal(size=(200_000, 3))
    point = data.mean(axis=0)
    sides = (data - point) @ many.T >= 0
    counts = np.minimum(sides.sum(axis=0), (~sides).sum(axis=0))
    p = np.mean(counts <= np.sort(counts)[2000])
    k, slack = 50, int(np.sort(counts)[2000])
    draws = np.random.default_rng(9).normal(size=(4000, k, 3))
    missed = np.mean([depth.tukey_depth([point], data, u)[0] > slack for u in draws])
    expected = (1 - p) ** k
    assert abs(missed - expected) < 5 * (expected * (1 - expected) / 4000) ** 0.5 + k * p * 0.05


def test_projection_depth_agrees_with_its_twin():
    data, directions = RNG.normal(size=(301, 4)), RNG.normal(size=(60, 4))
    points = RNG.normal(size=(10, 4)) * 2
    seen, at = data @ directions.T, points @ directions.T
    middle = np.median(seen, axis=0)
    worst = np.max(np.abs(at - middle) / np.median(np.abs(seen - middle), axis=0), axis=1)
    got = depth.projection_depth(points, data, directions)
    assert np.abs(got - 1 / (1 + worst)).max() < 1e-13


def test_mahalanobis_depth_agrees_with_its_twin():
    data = RNG.normal(size=(9000, 5)) @ RNG.normal(size=(5, 5)) + 3
    points = data[:10] + RNG.normal(size=(10, 5))
    off = points - data.mean(axis=0)
    squares = np.einsum("ij,ij->i", off, np.linalg.solve(np.cov(data.T), off.T).T)
    assert np.abs(depth.mahalanobis_depth(points, data) - 1 / (1 + squares)).max() < 1e-12
