"""Subspaces: another one each round, public, unbiased, and nothing to privacy."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.federated import PrivateRobustAggregator, Subspace
from halfmask.noise import seeded_words

X = np.random.default_rng(0).normal(size=(5, 37))


def test_what_is_sent_is_the_projection_onto_orthonormal_rows():
    plane = Subspace(37, 12, seed=3)
    rows = plane.down(4, np.eye(37)).T
    assert rows.shape == (12, 37)
    np.testing.assert_allclose(plane.down(4, X), X @ rows.T, atol=1e-12)
    np.testing.assert_allclose(plane.lift(4, np.ones(12)), rows.T @ np.ones(12) * 64 / 12)
    longer = np.linalg.norm(plane.down(4, X), axis=1) - np.linalg.norm(X, axis=1)
    assert (longer < 1e-12).all()


def test_all_turned_coordinates_give_the_update_back():
    plane = Subspace(64, 64, seed=1)
    np.testing.assert_allclose(plane.lift(0, plane.down(0, np.arange(64.0))), np.arange(64.0))


def test_lifted_updates_are_right_in_the_mean():
    """Over 4000 subspaces: each coordinate within 5 standard errors (37 x 6e-7 false alarms)."""
    plane, x = Subspace(37, 8, seed=9), X[0]
    lifted = np.array([plane.lift(r, plane.down(r, x)) for r in range(4000)])
    off = np.abs(lifted.mean(axis=0) - x) / (lifted.std(axis=0) / 4000**0.5)
    assert off.max() < 5
    spread = np.square(lifted).sum(axis=1).mean() / (x @ x)
    assert abs(spread - 37 / 8) < 1  # what it costs: the root of that in length


def test_rounds_and_seeds_have_subspaces_of_their_own():
    first = Subspace(37, 8, seed=1)
    assert np.array_equal(first.down(0, X), Subspace(37, 8, seed=1).down(0, X))
    assert not np.allclose(first.down(0, X), first.down(1, X))
    assert not np.allclose(first.down(0, X), Subspace(37, 8, seed=2).down(0, X))


def test_the_aggregate_is_lifted_and_the_noise_is_that_of_what_was_sent():
    plane = Subspace(37, 12, seed=1)
    settings = {"rounds": 3, "population": 5, "radius": 1.0, "warm_start": 0}
    one = PrivateRobustAggregator(1, 1e-5, **settings, subspace=plane, words=seeded_words(1))
    bare = PrivateRobustAggregator(1, 1e-5, **settings, words=seeded_words(1))
    for number in range(3):
        assert one.round == number
        sent = plane.down(one.round, X)
        np.testing.assert_allclose(one(sent), plane.lift(number, bare(sent)))
    assert one.noise().standard_deviation == bare.noise().standard_deviation
    assert "Subspace(parameters=37, size=12, seed=1)" in repr(one)


def test_liars_and_wrong_shapes():
    plane = Subspace(37, 12)
    assert np.isnan(plane.down(0, np.full(37, np.nan))).all()
    plane.down(0, np.full((2, 37), 1e308))  # no warning
    one = PrivateRobustAggregator(1, 1e-5, 3, 5, radius=1.0, warm_start=0, subspace=plane)
    with pytest.raises(hm.InvalidQuery, match="the subspace has 12"):
        one(X)
    assert one.rounds_left == 3
    with pytest.raises(hm.InvalidQuery, match="does not end in 37"):
        plane.down(0, X.T)
    with pytest.raises(hm.InvalidQuery, match="say warm_start=0"):
        PrivateRobustAggregator(1, 1e-5, 3, 5, radius=1.0, subspace=plane)
    with pytest.raises(hm.InvalidQuery, match="subspace"):
        PrivateRobustAggregator(1, 1e-5, 3, 5, radius=1.0, warm_start=0, subspace=12)
    for wrong in (
        {"parameters": 0, "size": 1},
        {"parameters": 5, "size": 6},
        {"parameters": 5.0, "size": 2},
    ):
        with pytest.raises(hm.InvalidQuery):
            Subspace(**wrong)
