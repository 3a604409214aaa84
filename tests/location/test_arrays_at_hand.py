"""Centres of whatever holds points: lists and frames as arrays, clear refusals, edges told."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import halfmask as hm

X = np.random.default_rng(0).normal((3, -2), size=(600, 2))
X[0, 0] = np.nan
LISTED = [[None if x != x else x for x in row] for row in X.tolist()]


class Tensor:
    """What only NumPy knows how to read."""

    def __array__(self, dtype=None, copy=None):
        return X.astype(dtype or float)


ESTIMATORS = {
    "robust": (hm.robust_location, {"delta": "1e-6"}),
    "coordinates": (hm.coordinatewise_median, {}),
    "box": (hm.box_median, {}),
    "spatial": (hm.spatial_median, {}),
}


@pytest.mark.parametrize(
    "points",
    [
        LISTED,
        tuple(map(tuple, LISTED)),
        [np.array(row) for row in X],
        Tensor(),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}),
    ],
    ids=["lists", "tuples", "arrays", "tensor", "pandas", "polars"],
)
def test_points_come_in_many_shapes(points):
    found = hm.box_median(points, epsilon=4, radius=20)
    assert np.abs(np.array(found.value) - [3, -2]).max() < 0.6


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_lists_are_taken_by_all(estimator):
    ask, price = ESTIMATORS[estimator]
    found = ask(LISTED, epsilon=8, radius=20, **price)
    assert np.abs(np.array(found.value) - [3, -2]).max() < 0.6


def test_what_a_mask_covers_is_missing_in_a_list_of_rows_too():
    hidden = np.ma.array([[3.0, -2.0]] * 600 + [[15.0, 15.0]] * 900, mask=False)
    hidden[600:] = np.ma.masked
    for points in (hidden, list(hidden), tuple(hidden)):
        found = hm.box_median(points, epsilon=8, radius=20)
        assert np.abs(np.array(found.value) - [3, -2]).max() < 0.6


def test_a_list_of_numbers_is_one_column():
    assert len(hm.box_median(list(range(100)), epsilon=4, radius=200).value) == 1


@pytest.mark.parametrize(
    "points",
    [[[1, 2], [3]], [[[1, 2]]], [[1, [2]]]],
    ids=["ragged", "too deep", "nested"],
)
def test_what_is_no_table_of_numbers_is_refused_without_showing_it(points):
    with pytest.raises(
        hm.InvalidQuery, match=r"^X: it is no table of numbers; give a row for each"
    ):
        hm.box_median(points, epsilon=1, radius=10)


@pytest.mark.parametrize("cell", ["abc", "", 1j, object(), None, 10**400, pd.NA, True])
def test_no_cell_of_a_list_decides_whether_there_is_an_answer(cell):
    found = hm.box_median([*LISTED, [3.0, cell]], epsilon=4, radius=20)
    assert np.abs(np.array(found.value) - [3, -2]).max() < 0.6
    assert len(hm.box_median([[cell, cell]], epsilon=1, radius=10).value) == 2


EDGE = "the point lies at the edge of the bounds in"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_points_beyond_the_bounds_are_told(estimator):
    """Wherever the box ends before them, in one column or in both; never where it does not."""
    ask, price = ESTIMATORS[estimator]
    points = np.random.default_rng(1).normal(size=(2000, 2))
    for shift, doubt in (([0, 500], "x1"), ([-500, 500], "x0, x1"), ([0, 0], "")):
        found = ask(points + shift, epsilon=4, radius=100, **price)
        assert found.doubt == (f"{EDGE} {doubt}: rows may lie beyond, widen them" if doubt else "")
        assert (f"CAUTION: {EDGE}" in str(found)) == bool(doubt)


def test_many_columns_at_the_edge_are_counted():
    points = np.full((500, 6), 1e9)
    doubt = hm.box_median(points, epsilon=9, radius=1).doubt
    assert doubt == f"{EDGE} x0, x1, x2 and 3 more columns: rows may lie beyond, widen them"


@pytest.mark.parametrize("rows", [1000, 20_000])
@pytest.mark.parametrize("value", [3.3, 0.0])
def test_a_constant_column_is_found_beside_others(rows, value):
    """Its scale is a cell, by halving and by choices alike."""
    points = np.random.default_rng(2).normal(size=(rows, 4))
    points[:, 2] = value
    found = hm.robust_location(points, epsilon=1, delta="1e-6", radius=100)
    assert abs(found.value[2] - value) < 1e-6
    assert not found.doubt
