"""Distribution checks accept the right law and reject scale x 2/3 and x 3/2, for every sampler.

False-alarm rate 1e-6 for each check that must accept. A new sampler joins by one line in SAMPLERS.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from halfmask import noise
from halfmask.audit import compare, fits
from halfmask.audit.significance import chi_square_sf, kolmogorov_sf
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    PermuteAndFlip,
    RoundedGaussian,
    Staircase,
)

N = 40_000
SCALES = [Fraction(1, 2), Fraction(9), Fraction(2**40)]


def laplace(scale):
    return DiscreteLaplace(scale.numerator, Fraction(scale.denominator))


def gaussian(scale):
    return DiscreteGaussian(scale.numerator**2, Fraction(scale.denominator**2, 2))


def rounded(scale):
    return RoundedGaussian(scale.numerator**2, Fraction(scale.denominator))


def stairs(scale):
    return Staircase(16, 16 / scale)


def probabilities(weights):
    weights = np.array(weights, float)
    return weights / weights.sum()


def falling(scale):
    """Scores whose probabilities fall by exp(-1/scale)."""
    return [-i for i in range(64)], 1 / scale


SAMPLERS = {
    "discrete laplace": (noise.discrete_laplace, laplace),
    "discrete gaussian": (noise.discrete_gaussian, gaussian),
    "rounded gaussian": (noise.rounded_gaussian, rounded),
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_sampler_fits_its_exact_law_and_no_other(name, scale):
    draw, law = SAMPLERS[name]
    assert law(scale).scale == pytest.approx(scale, rel=1e-15)
    samples = draw(scale, N)
    assert fits(samples, law(scale)).agree, str(fits(samples, law(scale)))
    for wrong in (Fraction(2, 3), Fraction(3, 2)):
        assert not fits(samples, law(scale * wrong)).agree
        assert not fits(draw(scale * wrong, N), law(scale)).agree


COUNTS = [1, 5, 0, 3] * 16
FAR = 600  # no value of scale 14 or less is beyond
LISTED = {
    "geometric": (
        noise.geometric,
        lambda scale: probabilities(np.exp(-np.arange(FAR) / float(scale))),
    ),
    "rounded laplace": (
        lambda scale, size: noise.rounded_laplace(scale, size) + FAR,
        lambda scale: np.diff(stats.laplace(FAR, float(scale)).cdf(np.arange(2 * FAR + 2) - 0.5)),
    ),
    "below": (
        lambda scale, size: noise.below(int(2 * scale), size),
        lambda scale: probabilities(np.ones(int(2 * scale))),
    ),
    "categorical": (
        lambda scale, size: noise.categorical(*falling(scale), size),
        lambda scale: probabilities(np.exp(-np.arange(64) / float(scale))),
    ),
    "weighted": (
        lambda scale, size: noise.weighted(COUNTS, *falling(scale), size),
        lambda scale: probabilities(COUNTS * np.exp(-np.arange(64) / float(scale))),
    ),
    "permutation": (
        lambda scale, size: [noise.permutation(int(scale))[0] for _ in range(size // 8)],
        lambda scale: probabilities(np.ones(int(scale))),
    ),
    "bernoulli exp": (
        lambda scale, size: noise.bernoulli_exp(1 / scale, size),
        lambda scale: [1 - math.exp(-1 / scale), math.exp(-1 / scale)],
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_a_sampler_of_few_values_fits_its_probabilities_and_no_others(name):
    draw, law = LISTED[name]
    scale = Fraction(9)
    samples = draw(scale, N)
    assert fits(samples, law(scale)).agree, str(fits(samples, law(scale)))
    for wrong in (Fraction(2, 3), Fraction(3, 2)):
        assert not fits(draw(scale * wrong, N), law(scale)).agree


@pytest.mark.parametrize("scale", [Fraction(9), Fraction(40), Fraction(200)], ids=str)
def test_staircase_noise_fits_its_law_and_no_other(scale):
    assert fits(stairs(scale).release([0] * N), stairs(scale)).agree
    for wrong in (Fraction(2, 3), Fraction(3, 2)):
        assert not fits(stairs(scale * wrong).release([0] * N), stairs(scale)).agree


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_two_samples_of_one_law_agree_and_of_two_scales_do_not(name, scale):
    draw, _ = SAMPLERS[name]
    assert compare(draw(scale, N), draw(scale, N // 2)).agree
    for wrong in (Fraction(2, 3), Fraction(3, 2)):
        assert not compare(draw(scale, N), draw(scale * wrong, N // 2)).agree


def test_families_of_one_variance_are_told_apart():
    sigma = 50
    laplaces = noise.discrete_laplace(Fraction(35355, 1000), N)
    assert not fits(laplaces, DiscreteGaussian(sigma**2, Fraction(1, 2))).agree
    assert not compare(laplaces, noise.discrete_gaussian(sigma, N)).agree


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_choices_fit_their_exact_probabilities(kind):
    choice, scores = kind(1, 1), (5, 4, 4, 0)
    drawn = [choice.release(scores) for _ in range(4000)]
    assert fits(drawn, np.exp(choice.log_mass(scores))).agree
    assert not fits(drawn, np.exp(kind(1, Fraction(9, 4)).log_mass(scores))).agree


def test_continuous_samplers_against_a_distribution_function():
    rng = np.random.default_rng()
    drawn = rng.laplace(0, 3, N)
    for scale, right in ((3, True), (2, False), (4.5, False)):
        assert fits(drawn, stats.laplace(scale=scale).cdf).agree is right


def test_what_a_law_cannot_give_is_a_difference_for_certain():
    samples = noise.discrete_laplace(3, N).astype(float)
    for strange in (math.inf, math.nan, 0.5):
        samples[0] = strange
        found = fits(samples, DiscreteLaplace(3, 1))
        assert found.p_value == 0
        assert not found.agree
        assert "impossible values: 1" in str(found)
    assert not fits([0, 1] * 200 + [2], [0.5, 0.5]).agree
    assert not fits(np.append(np.full(N, 0.25), np.nan), stats.uniform.cdf).agree


def test_low_bits_show_what_no_histogram_shows():
    """[Mironov 2012] A count of 0 and a count of 1 under one floating-point noise."""
    rng = np.random.default_rng()
    zero, one = rng.laplace(0, 1, N), 1 + rng.laplace(0, 1, N)
    found = compare(zero, one - 1)
    assert not found.agree
    shape, cells, bits = found.tests
    assert min(shape.p_value, cells.p_value) > 1e-7
    assert bits.p_value < 1e-20


def test_infinities_and_missing_values_are_values():
    samples = np.append(np.arange(500.0), [np.nan] * 200)
    assert compare(samples, samples[::-1]).agree
    assert not compare(samples, np.append(np.arange(500.0), [np.inf] * 10)).agree


def test_one_constant_fits_itself():
    assert compare(np.zeros(300), np.zeros(300)).agree
    assert fits(np.zeros(300), DiscreteLaplace(0, 1)).agree
    assert not compare(np.zeros(300), np.ones(300)).agree


def test_alarms_are_as_rare_as_stated():
    """At alpha = 0.05, of 400 comparisons of equal laws; the bound is passed once in a million."""
    rng = np.random.default_rng()
    false = [0, 0]
    for _ in range(400):
        a, b = rng.laplace(0, 1, (2, 1000))
        false[0] += not compare(a, b, alpha=0.05).agree
        false[1] += not fits(a, stats.laplace.cdf, alpha=0.05).agree
    assert max(false) <= stats.binom.isf(5e-7, 400, 0.055)  # a tenth for the limits' error


@given(st.floats(0.01, 30))
@settings(max_examples=300, deadline=None)
def test_kolmogorovs_survival_is_that_of_scipy(x):
    assert kolmogorov_sf(x) == pytest.approx(special.kolmogorov(x), rel=1e-10, abs=1e-300)


@given(st.floats(0, 2000), st.integers(1, 500))
@settings(max_examples=500, deadline=None)
def test_chi_squares_survival_is_that_of_scipy(x, degrees):
    assert chi_square_sf(x, degrees) == pytest.approx(
        special.chdtrc(degrees, x), rel=1e-9, abs=1e-290
    )


def test_bad_arguments_are_refused():
    good = np.zeros(300)
    for arguments, words in (
        ((good[:10], good), "a: 10 samples"),
        ((good, np.zeros((300, 2))), "b: of shape"),
        ((good, ["x"] * 300), "b: of shape"),
    ):
        with pytest.raises(InvalidQuery, match=words):
            compare(*arguments)
    with pytest.raises(InvalidQuery, match="alpha"):
        compare(good, good, alpha=0)
    with pytest.raises(InvalidQuery, match="law"):
        fits(good, [0.5, 0.4])
    with pytest.raises(InvalidQuery, match="law"):
        fits(good, lambda x: x + 7)
    with pytest.raises(ValueError, match="degrees"):
        chi_square_sf(1, 0)
