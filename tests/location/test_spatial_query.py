"""The spatial median as a question: its metric, what it refuses, and that it ends."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.privacy import PrivacyUnit, Pure
from halfmask.procedures import Location, SpatialMedian
from halfmask.queries import Setting
from halfmask.queries.location import Box
from halfmask.sources import open_source


def setting(d):
    return Setting(open_source(np.zeros((3, d))).schema, PrivacyUnit())


@pytest.mark.parametrize(("center", "radius"), [(0, 5), ((1e6, 0.3, 7), 11.7), (1 / 3, (2, 2, 2))])
def test_one_radius_means_plain_distances(center, radius):
    """However many cells a column has: those far from 0 are longer."""
    region = Box.about(center, radius).of(["a", "b", "c"])
    assert len(set((np.array(region.lengths) / region.steps).tolist())) == 1


def test_distances_count_in_radii():
    region = Box.about(0, (1.0, 1000.0, 3.0)).of(["a", "b", "c"])
    worth = np.array(region.lengths) / region.steps * [1.0, 1000.0, 3.0]
    assert np.allclose(worth / worth[0], 1, atol=1e-5)


def test_a_column_in_another_unit_is_the_same_point():
    """With its own radius, a column a million times wider is found to a millionth as well."""
    X = np.random.default_rng(4).normal(size=(3000, 6)) + 2
    found = hm.spatial_median(X * [1, 1, 1, 1, 1, 1e6], epsilon=2, radius=[50.0] * 5 + [5e7])
    assert (np.abs(np.array(found.value) / [1, 1, 1, 1, 1, 1e6] - 2) < 0.3).all()


def test_rows_that_are_too_few_or_too_many_are_refused_before_they_cost():
    curator = hm.open(np.zeros((3, 20)), budget=1)
    with pytest.raises(hm.InvalidQuery, match=r"about \d+ would do"):
        curator.ask(SpatialMedian(0, 1e6, rows=100), epsilon=1)
    with pytest.raises(hm.InvalidQuery, match="hours"):
        curator.ask(SpatialMedian(0, 1e6, rows=10**9), epsilon=1)
    for rows in (0, True, 2.5):
        with pytest.raises(hm.InvalidQuery, match="rows"):
            SpatialMedian(0, 1, rows=rows)
    assert curator.remaining == Pure(1)


def test_more_columns_than_end_soon_are_not_chosen_for_the_user():
    price = Pure(1)
    few, many = (Location(0, 60, rows=10**5).chosen(setting(d), price) for d in (3, 4))
    assert isinstance(few, SpatialMedian)
    assert not isinstance(many, SpatialMedian)
    assert SpatialMedian(0, 60).expected(setting(5), price, 10**5).rmse < 1.06 / 10**2.5


def test_noise_doubles_where_a_row_is_replaced():
    query, schema = SpatialMedian(0, 60), setting(3).schema
    one, two = (
        query.prepare(Setting(schema, PrivacyUnit(relation=relation)), Pure(1)).measured.mechanism
        for relation in ("add_remove", "replace")
    )
    assert two.scale == 2 * one.scale
