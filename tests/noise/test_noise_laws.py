"""The samples follow their laws: chi-square against exact distribution functions.

False-alarm rate 1e-6 a test; every law must also be told from the same law at scale 2/3 and 3/2.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from halfmask import noise
from halfmask.errors import InvalidQuery

F = Fraction
ALARM = 1e-6
COUNT = 200_000
BINS = 40


def geometric_cdf(k, t):
    return -np.expm1(-np.maximum(k + 1.0, 0.0) / t)


def laplace_cdf(k, t):
    tail = np.exp(-(np.abs(k) + (k >= 0)) / t) / (1 + np.exp(-1 / t))
    return np.where(k >= 0, 1 - tail, tail)


def rounded_laplace_cdf(k, t):
    return stats.laplace.cdf(k + 0.5, scale=t)


def rounded_gaussian_cdf(k, sigma):
    return stats.norm.cdf((k + 0.5) / sigma)


def discrete_gaussian_cdf(k, sigma):
    if sigma > 100:  # equal to the rounded law within 1e-7, by Poisson summation and curvature
        return rounded_gaussian_cdf(k, sigma)
    reach = np.arange(-1000, 1001)
    mass = np.exp(-(reach**2) / (2 * sigma**2))
    return (np.cumsum(mass) / mass.sum())[np.clip(k + 1000, 0, 2000).astype(int)]


def bernoulli_cdf(k, x):
    return np.where(k < 0, 0.0, np.where(k < 1, -np.expm1(-x), 1.0))


SCORES = [0, 3, -1, 3, 10**12, 10**12 - 1, 10**12 - 3]


def categorical_cdf(k, rate):
    mass = np.exp(rate * (np.array(SCORES) - max(SCORES)))
    return np.where(k < 0, 0.0, (np.cumsum(mass) / mass.sum())[np.clip(k, 0, 6).astype(int)])


@dataclass(frozen=True)
class Law:
    sample: Any
    cdf: Any
    scales: tuple[Fraction, ...]


WIDE = (F(1, 3), F(1), F(7, 3), F(1000), F(10**6, 7), F(1 << 20), F(1 << 40), F(1 << 55) / 2)
LAWS = [
    Law(noise.geometric, geometric_cdf, WIDE),
    Law(noise.discrete_laplace, laplace_cdf, WIDE),
    Law(noise.rounded_laplace, rounded_laplace_cdf, WIDE),
    Law(noise.discrete_gaussian, discrete_gaussian_cdf, WIDE[1:]),
    Law(noise.rounded_gaussian, rounded_gaussian_cdf, WIDE),
    Law(noise.bernoulli_exp, bernoulli_cdf, (F(1, 100), F(1), F(3))),
    Law(
        lambda rate, size, words: noise.categorical(SCORES, rate, size, words),
        categorical_cdf,
        (F(1, 3), F(1), F(3, 2)),
    ),
]
CASES = [
    pytest.param(law, scale, id=f"{law.cdf.__name__[:-4]}-{float(scale):.3g}")
    for law in LAWS
    for scale in law.scales
]


def edges_of(cdf):
    """Integers that cut the law into at most BINS bins of about equal mass, from the law alone."""
    targets = np.arange(1, BINS) / BINS
    low, high = np.full(BINS - 1, -(1 << 61)), np.full(BINS - 1, 1 << 61)
    while (high - low > 1).any():
        middle = (low + high) // 2
        reached = cdf(middle) >= targets
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.unique(np.concatenate([high[:1] - 1, high]))


def p_value(values, cdf):
    """Chi-square; bins expected under 10 count as one, and a sample where none can be is fatal."""
    edges = edges_of(cdf)
    expected = len(values) * np.diff(np.concatenate([[0.0], cdf(edges), [1.0]]))
    observed = np.bincount(np.searchsorted(edges, values.astype(int)), minlength=len(edges) + 1)
    if observed[expected <= 0].any():
        return 0.0
    frequent = expected >= 10
    expected = np.append(expected[frequent], expected[~frequent].sum())
    observed = np.append(observed[frequent], observed[~frequent].sum())
    if expected[-1] < 10:  # too few for the chi-square law: with a neighbour
        expected = np.append(expected[:-2], expected[-2:].sum())
        observed = np.append(observed[:-2], observed[-2:].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, len(expected) - 1)


@pytest.mark.parametrize(("law", "scale"), CASES)
def test_follows_its_law(law, scale):
    values = law.sample(scale, COUNT, noise.secure_words())
    assert p_value(values, lambda k: law.cdf(k, float(scale))) > ALARM


@pytest.mark.parametrize("wrong", [F(2, 3), F(3, 2)], ids=str)
@pytest.mark.parametrize(("law", "scale"), CASES)
def test_tells_a_wrong_scale(law, scale, wrong):
    values = law.sample(scale * wrong, COUNT, noise.secure_words())
    assert p_value(values, lambda k: law.cdf(k, float(scale))) < ALARM


@pytest.mark.parametrize("law", LAWS[:5], ids=lambda law: law.cdf.__name__[:-4])
@pytest.mark.parametrize("scale", [F(1 << 20), F(1 << 32), F(1 << 33), F(1 << 40), F(1 << 55)])
def test_low_bits_are_uniform(law, scale):
    """At scale t the law of X mod 16 is uniform within 16/t: far below what 200 000 draws see."""
    counts = np.bincount(law.sample(scale, COUNT, noise.secure_words()) % 16, minlength=16)
    assert stats.chisquare(counts).pvalue > ALARM


def test_below_is_uniform():
    for bound in (2, 3, 24, 1000):
        counts = np.bincount(noise.below(bound, COUNT), minlength=bound)
        assert len(counts) == bound
        assert stats.chisquare(counts).pvalue > ALARM


def test_permutations_are_uniform():
    orders = np.array([noise.permutation(4) for _ in range(12_000)])
    counts = np.bincount(orders @ [64, 16, 4, 1])
    assert len(counts[counts > 0]) == 24
    assert stats.chisquare(counts[counts > 0]).pvalue > ALARM


def test_consecutive_samples_are_independent():
    values = np.sign(noise.discrete_laplace(1000, COUNT + 1))
    pairs = np.bincount((values[1:] + 1) * 3 + values[:-1] + 1, minlength=9).reshape(3, 3)
    pairs = pairs[[0, 2]][:, [0, 2]]
    assert stats.chi2_contingency(pairs).pvalue > ALARM


@pytest.mark.parametrize("law", LAWS[:5], ids=lambda law: law.cdf.__name__[:-4])
def test_shapes_and_types(law):
    for size, shape in ((0, (0,)), (1, (1,)), ((), ()), ((2, 3), (2, 3)), ((0, 4), (0, 4))):
        for scale in (3, 2.5, F(1, 3), 1 << 30, np.int64(5), np.float32(0.5)):
            values = law.sample(scale, size, noise.secure_words())
            assert isinstance(values, np.ndarray)
            assert values.shape == shape
            assert values.dtype == np.int64


@pytest.mark.parametrize("law", LAWS[:5], ids=lambda law: law.cdf.__name__[:-4])
@pytest.mark.parametrize(
    "scale", [0, -1, float("nan"), float("inf"), True, "1", None, 1j, 2**55 + 1, F(-1, 3)], ids=repr
)
def test_bad_scales_are_refused(law, scale):
    with pytest.raises(InvalidQuery, match=r"scale|sigma"):
        law.sample(scale, 3, noise.secure_words())


def test_a_float_counts_at_its_exact_value():
    for value in (0.1, 1e-3, 2.0**40 / 3):
        first = noise.discrete_laplace(value, 5000, noise.seeded_words(1))
        assert np.array_equal(first, noise.discrete_laplace(F(value), 5000, noise.seeded_words(1)))


@pytest.mark.parametrize("size", [-1, (2, -1), 1.5, "3", None, [3]], ids=repr)
def test_bad_sizes_are_refused(size):
    with pytest.raises(InvalidQuery, match="size"):
        noise.discrete_laplace(1, size)


@pytest.mark.parametrize("scores", [[], [1.5], ["a"], [[1, 2]], np.array([0.5])], ids=repr)
def test_bad_scores_are_refused(scores):
    with pytest.raises(InvalidQuery, match="scores"):
        noise.categorical(scores, 1, 1)


def test_bad_rates_exponents_and_bounds_are_refused():
    for rate in (-1, float("nan"), F(-1, 10**9)):
        with pytest.raises(InvalidQuery, match="rate"):
            noise.categorical([1], rate, 1)
        with pytest.raises(InvalidQuery, match="exponent"):
            noise.bernoulli_exp(rate, 1)
    for bound in (0, -5, 2**63 + 1, True):
        with pytest.raises(InvalidQuery, match="bound"):
            noise.below(bound, 1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, object])
def test_scores_of_every_integer_type(dtype):
    scores = np.array([0, 100, 100, 99], dtype)
    counts = np.bincount(noise.categorical(scores, 10, 4000), minlength=4)
    assert counts[0] == 0
    assert counts[3] < 20  # expected 0.09
    assert stats.binomtest(int(counts[1]), int(counts[1] + counts[2])).pvalue > ALARM


def test_a_hundred_thousand_candidates():
    scores = np.zeros(100_000, np.int64)
    scores[70_000] = 10  # exp(10) against 99 999
    hits = int((noise.categorical(scores, 1, COUNT) == 70_000).sum())
    chance = np.exp(10) / (np.exp(10) + 99_999)
    assert stats.binomtest(hits, COUNT, chance).pvalue > ALARM


def test_tiny_scales_are_silent():
    for scale in (F(1, 1024), F(1, 10**400), 5e-324):
        for sample in (noise.discrete_laplace, noise.geometric, noise.discrete_gaussian):
            assert not sample(scale, 1000).any()
