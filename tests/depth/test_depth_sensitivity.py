"""Sensitivities: search neighbouring data sets; none exceeds its bound, and each is attained."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from halfmask import depth
from halfmask.depth import sensitivity

RNG = np.random.default_rng(3)


def tukey_centred(points, data):
    return depth.tukey_depth(points, data) - len(data) / 2


def spatial_sum(points, data):
    return -len(data) * (1 - depth.spatial_depth(points, data))


def fixed(sens):
    return lambda n, d: sens


def along(call, **more):
    """Public directions, the same for every data set."""
    rays = {d: np.random.default_rng(4).integers(-2, 3, size=(5, d)) * 2 + 1 for d in (1, 2, 5)}
    return lambda points, data: call(points, data, rays[data.shape[1]], **more)


SCORES = {
    "tukey count": (depth.tukey_depth, fixed(sensitivity.TUKEY_COUNT), (1, 2)),
    "tukey along": (along(depth.tukey_depth), fixed(sensitivity.TUKEY_COUNT), (1, 2, 5)),
    "tukey centred": (tukey_centred, fixed(sensitivity.TUKEY_CENTRED), (1, 2)),
    "spatial sum": (spatial_sum, fixed(sensitivity.SPATIAL_SUM), (1, 2, 5)),
    "spatial": (depth.spatial_depth, lambda n, d: sensitivity.spatial(n), (1, 2, 5)),
    "integrated product": (
        along(depth.integrated_dual_depth),
        lambda n, d: sensitivity.integrated_dual(n),
        (1, 2, 5),
    ),
    "integrated minimum": (
        along(partial(depth.integrated_dual_depth, score="minimum")),
        lambda n, d: sensitivity.integrated_dual(n),
        (1, 2, 5),
    ),
    "simplicial": (depth.simplicial_depth, sensitivity.simplicial, (1, 2)),
}
CASES = [
    pytest.param(*SCORES[name][:2], d, id=f"{name}-{d}") for name in SCORES for d in SCORES[name][2]
]
RELATIONS = ("replace", "add_remove")


def tables(d, n):
    """Ties, far rows, lattices, rows all on one side, at one point, or about the point 0."""
    shapes = [
        RNG.integers(-1, 2, size=(n, d)).astype(float),
        RNG.normal(size=(n, d)),
        RNG.standard_cauchy(size=(n, d)) * 1e3,
        np.ones((n, d)) * [1e6] + RNG.normal(size=(n, d)),
        np.outer(np.where(np.arange(n) % 2, 1, -1), np.ones(d)),
        np.zeros((n, d)),
    ]
    halves = np.where(np.arange(n) < n / 2, 1.0, -1.0)
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return [*shapes, np.outer(halves, np.ones(d)), *([circle, circle + 0.1] if d == 2 else [])]


def moves(d):
    ends = list(product((-1.0, 0, 1), repeat=d))[:9]
    return np.array([*ends, [1e9] * d, [-1e9] * d, *RNG.normal(size=(1, d))])


def largest_move(score, d, relation, n):
    """Over tables with n rows (the larger of the two), their neighbours, and points."""
    points = np.concatenate([np.zeros((1, d)), moves(d)])
    worst = 0.0
    for data in tables(d, n):
        rest = data[1:]
        before = score(points, data if relation == "replace" else rest)
        afters = np.array(
            [
                score(points, np.concatenate([rest, [row]]))
                for row in np.concatenate([data, moves(d)])
            ]
        )
        worst = max(worst, float(np.abs(afters - before).max()))
    return worst


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("score", "bound", "d"), CASES)
def test_no_neighbour_exceeds_the_bound_and_one_nearly_attains_it(score, bound, d, relation):
    nearest = 0.0
    for n in (5, 8):
        allowed = float(getattr(bound(n, d), relation))
        worst = largest_move(score, d, relation, n)
        assert worst <= allowed * (1 + 1e-12)
        nearest = max(nearest, worst / allowed)
    assert nearest >= 0.8


def test_the_articles_square_root_of_d_is_exceeded():
    """2/n is attained, so sqrt(d)/n is too little below four dimensions."""
    for d in (1, 2, 3):
        ends = np.zeros((8, d))
        ends[:, 0] = [1, 1, 1, 1, 1, 1, 1, 1]
        other = ends.copy()
        other[0, 0] = -1
        at = np.zeros((1, d))
        moved = depth.spatial_depth(at, other) - depth.spatial_depth(at, ends)
        assert moved[0] == pytest.approx(2 / 8)
        assert moved[0] > d**0.5 / 8


@pytest.mark.parametrize("d", [1, 2])
def test_projection_and_mahalanobis_depth_have_no_bound(d):
    """One row of nine takes them from near 1 to near 0: it decides a tie of the median or drags."""
    at = np.zeros((1, d))
    directions = np.eye(d)
    data = np.concatenate([np.full((4, d), 0.0), np.full((4, d), 1e6)])
    low = np.concatenate([data, np.zeros((1, d))])
    high = np.concatenate([data, np.full((1, d), 1e6)])
    moved = depth.projection_depth(at, low, directions) - depth.projection_depth(
        at, high, directions
    )
    assert moved[0] > 0.99
    tight = np.random.default_rng(1).normal(size=(9, d)) * 1e-4 + 1
    wide = tight.copy()
    wide[0] = 1 - 1e9
    moved = depth.mahalanobis_depth(at, wide) - depth.mahalanobis_depth(at, tight)
    assert moved[0] > 0.8


def test_bounds_are_exact_fractions():
    assert sensitivity.spatial(7) == (Fraction(2, 7), Fraction(2, 7))
    assert sensitivity.simplicial(2, 2).replace == 1
    assert sensitivity.TUKEY_CENTRED.add_remove == Fraction(1, 2)
