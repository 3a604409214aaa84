"""Uniform points of spherical shells: their laws, and the certainty of their digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from halfmask.noise import ShellPoint, secure_words, seeded_words
from halfmask.noise.sphere import floor_root

ALARM = 1e-6
DRAWS = 3000
INNER, OUTER = 1000, 1300


def drawn(size, count=DRAWS):
    points = []
    for _ in range(count):
        centre, error = ShellPoint(size, INNER, OUTER, secure_words()).enclosure(64)
        assert error < 2**20
        points.append([x / 2**64 for x in centre])
    return np.array(points)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_radius_and_projections_have_the_law_of_a_uniform_point(size):
    """t^d is uniform; a coordinate of a direction squared is Beta(1/2, (d-1)/2)."""
    points = drawn(size)
    lengths = np.sqrt(np.square(points).sum(axis=1))
    powers = (lengths**size - INNER**size) / (OUTER**size - INNER**size)
    assert kstest(powers, "uniform").pvalue > ALARM
    if size == 1:
        assert abs((points > 0).mean() - 0.5) < 5 / 2 / DRAWS**0.5
        return
    axes = np.random.default_rng(size).normal(size=(3, size))
    for axis in [*np.eye(size)[[0, -1]], *axes]:
        along = points @ axis / lengths / np.linalg.norm(axis)
        assert kstest(along**2, "beta", (0.5, (size - 1) / 2)).pvalue > ALARM
        assert abs((along > 0).mean() - 0.5) < 5 / 2 / DRAWS**0.5


def test_a_radius_of_another_dimension_is_seen():
    lengths = np.sqrt(np.square(drawn(7)).sum(axis=1))
    assert kstest((lengths**2 - INNER**2) / (OUTER**2 - INNER**2), "uniform").pvalue < ALARM


@given(st.integers(1, 9), st.integers(0, 2**32), st.sampled_from([0, 1, 10**12]))
@settings(max_examples=60, deadline=None)
def test_more_digits_lie_within_the_ends_of_fewer(size, seed, inner):
    point = ShellPoint(size, inner, 2 * inner + 3, seeded_words(seed))
    while (first := point.enclosure(60)) is None:
        point.refine()
    point.refine()
    centre, error = point.enclosure(120)
    for rough, fine in zip(first[0], centre, strict=True):
        assert abs((rough << 60) - fine) <= (first[1] << 60) + error
    assert error <= first[1] << 60
    square = sum(x * x for x in centre)
    assert (inner << 120) - size * error <= square**0.5 <= ((2 * inner + 3) << 120) + size * error


@given(st.integers(0, 10**400), st.integers(1, 300))
@settings(max_examples=200, deadline=None)
def test_roots_are_exact(number, degree):
    root = floor_root(number, degree)
    assert root**degree <= number < (root + 1) ** degree
