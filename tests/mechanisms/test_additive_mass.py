"""Log masses, tails, intervals and moments against sixty digits and against each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

SMALL_SCALES = [
    Fraction(1, 1000),
    0.11,
    0.4,
    0.999,
    1,
    1.5,
    Fraction(22, 3),
    31.9,
    32,
    63.9,
    1000.3,
]


@pytest.mark.parametrize("scale", SMALL_SCALES)
def test_masses_sum_to_one_and_give_the_standard_deviation(member, scale):
    mechanism = member.at(scale)
    k = np.arange(1, int(45 * scale) + 20)
    mass = np.exp(mechanism.log_mass(k))
    assert math.exp(mechanism.log_mass(0)) + 2 * math.fsum(mass) == pytest.approx(1, abs=1e-12)
    variance = 2 * math.fsum(k.astype(float) ** 2 * mass)
    assert mechanism.variance == pytest.approx(variance, rel=1e-12, abs=1e-300)
    assert mechanism.standard_deviation == pytest.approx(math.sqrt(variance), rel=1e-12, abs=1e-150)


@pytest.mark.parametrize("scale", [*SMALL_SCALES, 2**20 + 0.5, 2**40, Fraction(2**55)])
def test_log_mass_agrees_with_sixty_digits(member, scale):
    mechanism = member.at(scale)
    k = {0, 1, 2, 3, 10, 2**31, 2**62} | {int(scale * x) for x in (0.5, 1, 1.96, 3, 5, 9, 40)}
    with mp.workdps(150):
        for each in sorted(k):
            expected = float(mp.log(member.mass(mpf(mechanism.scale), each)))
            for signed in (each, -each):
                assert mechanism.log_mass(signed) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_log_mass_of_an_array_is_that_of_its_members(member):
    mechanism = member.at(3)
    k = [[-2, 0, 1], [5, 2**62, -(10**30)]]
    table = mechanism.log_mass(k)
    assert table.shape == (2, 3)
    assert table.tolist() == [[mechanism.log_mass(each) for each in row] for row in k]
    assert mechanism.log_mass(np.uint64(2**63)) == mechanism.log_mass(-(2**63))
    assert mechanism.log_mass(10**400) <= mechanism.log_mass(10**30) < -1e28


@pytest.mark.parametrize("scale", SMALL_SCALES)
def test_tail_is_the_sum_of_masses(member, scale):
    mechanism = member.at(scale)
    k = np.arange(1, int(45 * scale) + 20)
    mass = np.exp(mechanism.log_mass(k))
    assert mechanism.tail(-1) == 1
    for h in (0, 1, int(scale), int(3 * scale), int(8 * scale)):
        assert mechanism.tail(h) == pytest.approx(2 * math.fsum(mass[h:]), rel=1e-11, abs=1e-290)


@given(
    scale=st.fractions(Fraction(1, 1000), 3000, max_denominator=1000),
    confidence=st.decimals("0.01", "0.9999", places=4),
)
@settings(deadline=None, max_examples=60)
def test_interval_is_the_smallest_that_covers(member, scale, confidence):
    mechanism = member.at(scale)
    low, high = mechanism.interval(10**30, confidence)
    assert high - 10**30 == 10**30 - low >= 0
    mass = np.exp(mechanism.log_mass(np.arange(high - 10**30 + 1)))
    coverage = 2 * math.fsum(mass) - mass[0]
    assert coverage >= float(confidence) - 1e-13
    assert high == low or coverage - 2 * mass[-1] < float(confidence) + 1e-13


@pytest.mark.parametrize("scale", [2**20 + 0.3, 2**33, 3**25, 2**55])
@pytest.mark.parametrize("confidence", [0.3, 0.95, 1 - 1e-9])
def test_wide_interval_is_the_smallest_that_covers(member, scale, confidence):
    mechanism = member.at(scale)
    half = mechanism.interval(0, confidence)[1]
    with mp.workdps(80):
        s, miss = mpf(mechanism.scale), 1 - mpf(Fraction(str(confidence)))
        slack = 10 * miss / s**2  # the twin's own error; one step changes a tail by about miss/s
        assert member.wide_tail(s, half) <= miss + slack
        assert member.wide_tail(s, half - 1) > miss - slack
