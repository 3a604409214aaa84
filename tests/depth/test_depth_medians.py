"""Medians: certificates, naive twins, equivariance, and the data that trip Weiszfeld's steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask import InvalidQuery, depth

RNG = np.random.default_rng(11)
CLOUDS = {
    "gauss": RNG.normal(size=(2000, 20)),
    "cauchy": RNG.standard_cauchy(size=(2000, 5)),
    "outliers": np.concatenate([RNG.normal(size=(300, 3)), 1e9 + RNG.normal(size=(100, 3))]),
    "far offset": 1e8 + RNG.normal(size=(1000, 3)),
    "stretched": RNG.normal(size=(1000, 3)) * [1e6, 1, 1],
    "lattice": RNG.integers(-2, 3, size=(2001, 2)).astype(float),
    "heavy row": np.concatenate([np.zeros((60, 4)), RNG.normal(size=(100, 4)) + 1]),
    "light row": np.concatenate([np.zeros((1, 2)), RNG.normal(size=(100, 2)) + 0.05]),
    "almost a line": RNG.normal(size=(101, 2)) * [1, 1e-5],
    "triangle": np.array([[0.0, 0], [1, 0], [0.5, 0.01]]),
    "square and middle": np.array([[0.0, 0], [2, 0], [2, 2], [0, 2], [1, 1]]),
    "fewer rows than columns": RNG.normal(size=(6, 30)),
    "tiny": RNG.normal(size=(100, 3)) * 1e-200,
    "huge": RNG.normal(size=(100, 3)) * 1e149,
}


def certified(data, median):
    held = np.count_nonzero((data == median).all(axis=1))
    size = np.abs(data).max()
    middle = np.median(np.linalg.norm((data - median) / size, axis=1))
    rounding = 4 * np.spacing(size) / size / middle
    return depth.spatial_depth([median], data)[0] >= 1 - held / len(data) - 1e-10 - rounding


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_spatial_median_is_certified(cloud):
    data = CLOUDS[cloud]
    assert certified(data, depth.spatial_median(data))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=12),
    st.sampled_from([1.0, 0.1, 1e-6]),
)
def test_no_point_nearby_has_less_distance(data, scale):
    rows = np.array(data) * [1, scale]
    median = depth.spatial_median(rows)
    least = np.linalg.norm(rows - median, axis=1).sum()
    angles = np.arange(12) * np.pi / 6
    for step in (1e-3, 0.1, 1):
        for u in np.stack([np.cos(angles), scale * np.sin(angles)], axis=1):
            around = np.linalg.norm(rows - median - step * u, axis=1).sum()
            assert around >= least * (1 - 1e-9)


def test_rows_on_a_line_have_the_middle_of_the_median_interval():
    for u in ([1, 0, 0], [1, 2, -1], [0.1, 0.2, 0.3]):
        for line in ([5], [1, 4], [0, 1, 5, 9], [3, 3, 3, 8], [-2, 0, 7]):
            rows = np.outer(line, u) + 10
            expected = np.median(line) * np.array(u) + 10
            assert np.abs(depth.spatial_median(rows) - expected).max() < 1e-13 * 100
    assert depth.spatial_median([1, 2, 4, 100]).tolist() == [3]


MEDIANS = {
    "spatial": (depth.spatial_median, 1e-6),
    "by column": (depth.coordinatewise_median, 1e-9),
    "tukey": (depth.tukey_median, 1e-6),
}


@pytest.mark.parametrize("name", MEDIANS)
def test_medians_move_with_the_data(name):
    median, error = MEDIANS[name]
    data = RNG.normal(size=(40, 2))
    here = median(data)
    assert here.shape == (2,)
    assert np.abs(median(RNG.permutation(data)) - here).max() < error
    assert np.abs(median(data * 3 + [1e3, -5]) - (here * 3 + [1e3, -5])).max() < error * 10
    turn = np.array([[0, -1], [1, 0]])
    assert np.abs(median(data @ turn.T) - turn @ here).max() < error
    if name == "tukey":
        shear = np.array([[1, 0.7], [0, 50]])
        assert np.abs(median(data @ shear.T) - shear @ here).max() < error * 100


@pytest.mark.parametrize("name", MEDIANS)
def test_medians_of_odd_data(name):
    median, _ = MEDIANS[name]
    assert median([[3, 4]]).tolist() == [3, 4]
    assert median([[3, 4]] * 6).tolist() == [3, 4]
    assert median([1, 2, 9]).tolist() == [2]
    assert median([[1, 0], [2, 0], [9, 0]]).tolist() == [2, 0]
    for bad in ([], [[np.nan, 1]], [[[1]]]):
        with pytest.raises(InvalidQuery):
            median(bad)


def deepest_by_search(data):
    """Depths on a fine grid and at the rows."""
    low, high = data.min(axis=0), data.max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 41).T), axis=-1).reshape(-1, 2)
    return depth.tukey_depth(np.concatenate([grid, data]), data).max()


@pytest.mark.parametrize("n", [4, 5, 8, 13, 40, 101])
def test_nothing_found_is_deeper_than_the_tukey_median(n):
    for data in (
        RNG.normal(size=(n, 2)),
        RNG.standard_cauchy(size=(n, 2)),
        RNG.integers(-3, 4, size=(n, 2)).astype(float),
        RNG.exponential(size=(n, 2)) * [1e6, 1],
    ):
        found = depth.tukey_depth([depth.tukey_median(data)], data)[0]
        assert found >= deepest_by_search(data)


def test_symmetric_data_have_their_centre_as_tukey_median():
    half = RNG.normal(size=(30, 2))
    data = np.concatenate([half, -half])
    assert np.abs(depth.tukey_median(data)).max() < 0.1
    with_centre = np.concatenate([data, [[0, 0]]])
    assert depth.tukey_median(with_centre).tolist() == [0, 0]


def test_deepest_takes_the_mean_of_ties():
    points = np.array([[0, 0], [2, 0], [9, 9]])
    assert depth.deepest(points, [3, 3, 1]).tolist() == [1, 0]
    with pytest.raises(InvalidQuery, match="2 of them for 3 points"):
        depth.deepest(points, [3, 3])
