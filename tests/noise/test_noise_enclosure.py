"""The exact exponential, and the bound on the 32-bit logarithm that the filter trusts."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfmask.noise.enclosure import exp_minus, pi_between
from halfmask.noise.lanes import LOG32_ERROR


@given(
    st.fractions(min_value=0, max_value=400, max_denominator=10**30)
    | st.integers(0, 500).map(Fraction)
    | st.floats(0, 1e-3).map(Fraction),
    st.integers(1, 600),
)
def test_encloses_the_exponential_tightly(x, bits):
    lower, upper = exp_minus(x, bits)
    mp.mp.prec = 2 * bits + 700
    value = mp.ldexp(mp.exp(-mp.mpf(x.numerator) / x.denominator), bits)
    assert lower <= value <= upper
    assert upper - lower <= (2 if x else 0)


def test_huge_exponents_cost_nothing():
    assert exp_minus(Fraction(10**1000), 64) == (0, 1)


@pytest.mark.parametrize("exponent", [-31, -10, -3, -2, -1, 0])
def test_32_bit_logarithm_is_twice_as_good_as_assumed(exponent):
    """Every one of the 2^23 floats of a binade; the filter allows 8 units in the last place."""
    start = np.float32(2.0**exponent).view(np.int32)
    for block in range(0, 1 << 23, 1 << 19):
        x = np.arange(start + block, start + block + (1 << 19), dtype=np.int32).view(np.float32)
        right = np.log(x.astype(np.float64))
        error = np.abs(np.log(x) - right)
        assert (error <= LOG32_ERROR / 2 * np.abs(right) + 2.0**-40).all()


@pytest.mark.parametrize("bits", [0, 1, 10, 64, 65, 300, 2000])
def test_encloses_pi_tightly(bits):
    lower, upper = pi_between(bits)
    with mp.workprec(bits + 60):
        assert lower <= mp.pi * mp.mpf(2) ** bits <= upper
    assert upper - lower <= 2
