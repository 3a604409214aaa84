"""Exact choices with integers of any magnitude."""

import numpy as np
import pytest
from scipy.stats import chisquare

from halfmask.errors import InvalidQuery
from halfmask.noise import below_whole, read_bits, seeded_words, weighted, weighted_huge

ALARM = 1e-6


@pytest.mark.parametrize("unit", [1, 2**62, 10**40])
def test_integers_below_a_bound_are_uniform(unit):
    drawn = [below_whole(6 * unit) // unit for _ in range(6000)]
    assert chisquare(np.bincount(drawn, minlength=6)).pvalue > ALARM


def test_a_bound_below_one_is_refused():
    with pytest.raises(InvalidQuery, match="bound"):
        below_whole(0)


def test_bits_are_the_top_ones_of_the_words():
    words = seeded_words(4).words(2).tolist()
    assert read_bits(100, seeded_words(4)) == ((words[0] << 64) + words[1]) >> 28


def test_huge_groups_are_drawn_as_groups_whose_counts_are_all_at_hand():
    """The same ceilings, whatever the stated error of the logarithms, so the same draws."""
    generator = np.random.default_rng(2)
    counts = [int(c) << 300 for c in generator.integers(1, 1000, 200)]
    scores = generator.integers(-5, 5, 200)
    logs = np.array([np.log2(float(c >> 300)) + 300 for c in counts])
    for seed in range(50):
        expected = int(weighted(counts, scores, 1, 1, seeded_words(seed))[0])
        for error in (0.0, 2.0**-30, 0.25):
            drawn = weighted_huge(logs, error, counts.__getitem__, scores, 1, seeded_words(seed))
            assert drawn == expected


def test_a_rate_out_of_range_is_refused():
    with pytest.raises(InvalidQuery, match="rate"):
        weighted_huge(np.zeros(1), 0.0, lambda i: 1, np.zeros(1, np.int64), -1)
