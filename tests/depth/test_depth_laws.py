"""Laws of all depths, each written once: who may be moved without a change, and where it is 0."""

from functools import partial

import numpy as np
import pytest

from halfmask import InvalidQuery, depth

RNG = np.random.default_rng(5)


class Member:
    """A depth with the maps that leave it alone, and the columns it takes."""

    def __init__(self, call, maps, columns, aimed=False, exact=True):
        self.call, self.maps, self.columns = call, maps, columns
        self.aimed, self.exact = aimed, exact

    def __call__(self, points, data, directions):
        more = (directions,) if self.aimed else ()
        return self.call(points, data, *more)


def minimum(points, data, directions):
    return depth.integrated_dual_depth(points, data, directions, score="minimum")


single = partial(depth.spatial_depth, dtype=np.float32)
AFFINE, ORTHOGONAL = ("shift", "rotate", "scale", "shear"), ("shift", "rotate", "scale")
MEMBERS = {
    "tukey": Member(depth.tukey_depth, AFFINE, (1, 2)),
    "tukey along": Member(depth.tukey_depth, AFFINE, (1, 2, 3, 7), aimed=True),
    "simplicial": Member(depth.simplicial_depth, AFFINE, (1, 2)),
    "spatial": Member(depth.spatial_depth, ORTHOGONAL, (1, 2, 3, 7)),
    "spatial single": Member(single, ORTHOGONAL, (1, 2, 3, 7), exact=False),
    "integrated product": Member(depth.integrated_dual_depth, AFFINE, (1, 2, 3, 7), aimed=True),
    "integrated minimum": Member(minimum, AFFINE, (1, 2, 3, 7), aimed=True),
    "projection": Member(depth.projection_depth, AFFINE, (1, 2, 3, 7), aimed=True),
    "mahalanobis": Member(depth.mahalanobis_depth, AFFINE, (1, 2, 3, 7)),
}
CASES = [
    pytest.param(member, d, id=f"{name}-{d}")
    for name, member in MEMBERS.items()
    for d in member.columns
]


def cloud(d, n=200):
    return RNG.normal(size=(n, d)), RNG.normal(size=(20, d)), RNG.normal(size=(15, d))


def maps(name, d):
    """A matrix and a shift."""
    eye = np.eye(d)
    if name == "shift":
        return eye, np.full(d, 1e6)
    if name == "scale":
        return eye * 1e-3, np.zeros(d)
    if name == "rotate":
        return np.linalg.qr(RNG.normal(size=(d, d)))[0], np.zeros(d)
    return eye + 0.9 * np.triu(RNG.uniform(-1, 1, size=(d, d)), 1) + np.diag(
        [1e3] + [0] * (d - 1)
    ), 0


@pytest.mark.parametrize(("member", "d"), CASES)
@pytest.mark.parametrize("name", AFFINE)
def test_maps_that_leave_it_alone(member, d, name):
    """Directions move along, as covectors; every depth but the spatial one is affine invariant."""
    data, points, directions = cloud(d)
    matrix, shift = maps(name, d)
    moved = member(
        points @ matrix.T + shift, data @ matrix.T + shift, directions @ np.linalg.inv(matrix)
    )
    difference = np.abs(moved - member(points, data, directions)).max()
    if name in member.maps or d == 1:
        assert difference <= (1e-8 if member.exact else 1e-5)
    else:
        assert difference > 1e-3


@pytest.mark.parametrize(("member", "d"), CASES)
def test_order_does_not_matter(member, d):
    data, points, directions = cloud(d)
    data = np.concatenate([data, data[:50]])
    mixed = member(points, RNG.permutation(data), RNG.permutation(directions))
    assert np.abs(mixed - member(points, data, directions)).max() <= 1e-6


@pytest.mark.parametrize(("member", "d"), CASES)
def test_each_point_is_alone(member, d):
    """An answer does not depend on the other points asked about; no points, no answers."""
    data, points, directions = cloud(d)
    together = member(points, data, directions)
    assert together.shape == (20,)
    alone = [member(point[None], data, directions)[0] for point in points]
    assert np.abs(together - alone).max() <= 1e-6
    assert member(np.zeros((0, d)), data, directions).shape == (0,)


@pytest.mark.parametrize(("member", "d"), CASES)
def test_the_middle_is_deep_and_far_is_not(member, d):
    data, _, directions = cloud(d)
    middle, far = member(np.array([np.zeros(d), np.full(d, 1e9)]), data, directions)
    assert middle > far
    assert 0 <= far <= 0.02 * (len(data) if member.call is depth.tukey_depth else 1)


@pytest.mark.parametrize(("member", "d"), CASES)
def test_odd_data_have_defined_answers(member, d):
    """One row, equal rows, a constant column, fewer rows than columns, a stretched axis."""
    many, points, directions = cloud(d)
    stretched = many * ([1e6] + [1] * (d - 1))
    constant = many * ([0] + [1] * (d - 1))
    for data in (
        many[:1],
        np.ones((5, d)),
        constant,
        many[: max(1, d - 1)],
        stretched,
        many.round(),
    ):
        answers = member(np.concatenate([points, data]), data, directions)
        assert np.isfinite(answers).all()
        assert (answers >= -1e-6).all()


@pytest.mark.parametrize(("member", "d"), CASES)
def test_bad_input_is_refused(member, d):
    data, points, directions = cloud(d, 10)
    for bad in (np.nan, np.inf, -np.inf, 1e200):
        spoilt = data.copy()
        spoilt[3, -1] = bad
        with pytest.raises(InvalidQuery, match="data: "):
            member(points, spoilt, directions)
        with pytest.raises(InvalidQuery, match="points: "):
            member(spoilt, data, directions)
    with pytest.raises(InvalidQuery, match="there are no rows; give at least one"):
        member(points, data[:0], directions)
    with pytest.raises(InvalidQuery, match="there are no columns"):
        member(points, data[:, :0], directions)
    with pytest.raises(InvalidQuery, match="points: shape"):
        member(np.zeros((3, d + 1)), data, directions)
    with pytest.raises(InvalidQuery, match="data: 3 dimensions"):
        member(points, data[None], directions)
    with pytest.raises(InvalidQuery, match="is no array of numbers"):
        member(points, [["a"] * d], directions)
    if member.aimed:
        for wrong, match in (
            (np.zeros((2, d)), "zero"),
            (np.ones((2, d + 1)), "shape"),
            (np.ones((0, d)), "at least 1"),
        ):
            with pytest.raises(InvalidQuery, match=match):
                member(points, data, wrong)


def test_what_a_depth_cannot_do_is_said():
    data = np.zeros((4, 3))
    with pytest.raises(InvalidQuery, match="directions: needed in 3 dimensions"):
        depth.tukey_depth(data, data)
    with pytest.raises(InvalidQuery, match="for one or two"):
        depth.simplicial_depth(data, data)
    with pytest.raises(InvalidQuery, match="score: "):
        depth.integrated_dual_depth(data, data, np.eye(3), score="sum")
    with pytest.raises(InvalidQuery, match="dtype: "):
        depth.spatial_depth(data, data, dtype=np.float16)


def test_one_point_may_be_given_without_brackets():
    data = RNG.normal(size=(30, 2))
    assert depth.spatial_depth(data[0], data) == depth.spatial_depth(data[:1], data)
