"""Samples fit the law, releases are exact, and what cannot be asked is refused.

Statistical tests draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    Staircase,
)
from halfmask.noise import seeded_words
from halfmask.privacy import Approximate, Pure

FALSE_ALARM = 1e-6


def chi_square(samples: np.ndarray, mechanism: Additive, edges: np.ndarray) -> float:
    """Return the p-value of samples in the cells (edge, next edge], tails included."""
    below = [
        mechanism.tail(int(-e) - 1) / 2 if e < 0 else 1 - mechanism.tail(int(e)) / 2 for e in edges
    ]
    share = np.diff([0.0, *below, 1.0])
    counts = np.bincount(np.searchsorted(edges, samples, side="left"), minlength=len(share))
    expected = share * len(samples)
    cells = expected > 100  # so that the false-alarm rate is as stated; the rest is one cell
    counts = np.append(counts[cells], counts[~cells].sum())
    expected = np.append(expected[cells], expected[~cells].sum())
    statistic = ((counts - expected) ** 2 / np.maximum(expected, 100)).sum()
    return float(chi2.sf(statistic, len(counts) - 1))


@pytest.mark.parametrize("scale", [0.4, Fraction(10, 3), 100, 2**40])
def test_samples_fit_the_law_and_no_other_scale(member, scale):
    mechanism = member.at(scale)
    samples = np.array(mechanism.release([0] * 20_000), dtype=np.int64)
    step = max(1, int(scale / 8))
    edges = np.arange(-40, 41) * step
    assert chi_square(samples, mechanism, edges) > FALSE_ALARM
    assert chi_square(samples, member.at(Fraction(scale) * 2 / 3), edges) < FALSE_ALARM
    assert chi_square(samples, member.at(Fraction(scale) * 3 / 2), edges) < FALSE_ALARM


def test_release_of_huge_values_is_exact_and_repeats_with_a_seed(member):
    mechanism = member.at(2**40)
    values = [10**30, -(10**30), 0, np.int64(2**62), np.uint64(2**64 - 1)]
    first = mechanism.release(values, seeded_words(7))
    assert first == mechanism.release(values, seeded_words(7))
    assert first != mechanism.release(values, seeded_words(8))
    assert all(type(value) is int for value in first)
    noise = [value - int(exact) for value, exact in zip(first, values, strict=True)]
    assert noise == mechanism._draw(5, seeded_words(7)).tolist()
    assert mechanism.release([]) == ()


def test_zero_sensitivity_releases_the_exact_value(member):
    mechanism = member.build(0, Fraction(1, 2))
    assert mechanism.release([10**30, -5]) == (10**30, -5)
    assert mechanism.log_mass([0, 1, -1]).tolist() == [0, -math.inf, -math.inf]
    assert mechanism.interval(7, 0.99) == (7, 7)
    assert mechanism.standard_deviation == mechanism.variance == mechanism.scale == 0
    assert (mechanism.tail(0), mechanism.tail(-1)) == (0, 1)
    assert mechanism.law == "no noise: no unit can change this statistic"
    assert mechanism.cost == member.build(1, Fraction(1, 2)).cost


def test_law_names_the_scale(member):
    assert member.build(4, Fraction(2)).law.endswith(" 2")
    assert member.build(1, Fraction(3)).law.endswith(" 0.333333")
    assert "scale" in member.at(1).law or "sigma" in member.at(1).law


TYPES = pytest.mark.parametrize(
    "build", [DiscreteLaplace, Staircase, DiscreteGaussian, RoundedGaussian]
)


@TYPES
@pytest.mark.parametrize("sensitivity", [True, 1.0, 0.5, "1", None, Fraction(1), math.nan, -1])
def test_sensitivity_must_be_a_whole_number(build, sensitivity):
    with pytest.raises(InvalidQuery, match=r"^sensitivity(_squared)?: .*(grid steps|0 or more)$"):
        build(sensitivity, 1)


@TYPES
@pytest.mark.parametrize("price", [0, -1, math.nan, math.inf, True, 1e-320, "free", None, 1e-13])
def test_price_must_be_exact_and_positive(build, price):
    with pytest.raises(InvalidQuery, match=r"^(epsilon|rho|mu): "):
        build(1, price)


@TYPES
def test_scale_beyond_the_sampler_is_refused_with_advice(build):
    with pytest.raises(InvalidQuery, match=r"coarser grid .* or a larger (epsilon|rho|mu)$"):
        build(2**200, 1)
    with pytest.raises(InvalidQuery, match="above 1e300"):
        build(10**1000, 1)


@TYPES
def test_numpy_integers_and_every_spelling_of_a_price_are_welcome(build):
    same = {build(np.int64(3), 0.1), build(3, "1/10"), build(np.uint8(3), Fraction(1, 10))}
    assert len(same) == 1


@TYPES
@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.5, math.nan, True, 1 - 1e-15, "sure"])
def test_confidence_must_lie_between_zero_and_one(build, confidence):
    with pytest.raises(InvalidQuery, match="confidence: "):
        build(1, 1).interval(0, confidence)


@TYPES
@pytest.mark.parametrize("k", [0.5, [1, 2.5], "3", True, np.array([1.0]), np.array([True])])
def test_log_mass_is_of_integers(build, k):
    with pytest.raises(InvalidQuery, match=r"^k: .* ask for those$"):
        build(1, 1).log_mass(k)


def test_a_price_that_the_noise_does_not_meet_is_refused():
    with pytest.raises(InvalidQuery, match=r"^price: .*for_approximate$"):
        RoundedGaussian(1, 10, Approximate(0.1, 1e-9))
    with pytest.raises(InvalidQuery, match=r"^price: .*Approximate"):
        RoundedGaussian(1, 1, Pure(1))
    with pytest.raises(InvalidQuery, match=r"^price: .*Approximate"):
        RoundedGaussian.for_approximate(1, Pure(1))
    with pytest.raises(InvalidQuery, match=r"^delta: 0 "):
        RoundedGaussian.for_approximate(1, Approximate(1, 0))


@given(squared=st.integers(1, 10**12), loss=st.fractions(Fraction(1, 1000), 100))
def test_sigma_is_rounded_up_and_hardly(squared, loss):
    """Canonne, Kamath & Steinke 2020, Thm 14; Dong, Roth & Su 2019, Thm 2.7: sigma >= this."""
    for sigma, least in (
        (DiscreteGaussian(squared, loss).scale, squared / (2 * loss)),
        (RoundedGaussian(squared, loss).scale, squared / loss**2),
    ):
        assert least <= sigma**2 <= least * (1 + Fraction(1, 2**49))
        assert Fraction(float(sigma)) == sigma
