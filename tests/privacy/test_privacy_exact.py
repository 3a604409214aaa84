"""Exact numbers: what was meant is what is charged, and nonsense is refused with advice."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.privacy import GDP, ZCDP, Approximate, Pure, exact, plain

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, TENTH),
        ("0.1", TENTH),
        (" 1e-1 ", TENTH),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.1"), TENTH),
        (TENTH, TENTH),
        (2, Fraction(2)),
        (np.float64(0.1), TENTH),
        (np.float32(0.1), TENTH),
        (np.float16(0.5), Fraction(1, 2)),
        (np.int8(3), Fraction(3)),
        (1e-12, Fraction(1, 10**12)),
        (1e6, Fraction(10**6)),
    ],
)
def test_a_number_is_what_it_was_meant_as(written, meant):
    result = exact(written, "epsilon")
    assert result == meant
    assert type(result) is Fraction


NONSENSE = [
    0,
    0.0,
    -0.0,
    "0",
    -1,
    -0.5,
    "-1/3",
    "1/-3",
    math.nan,
    math.inf,
    -math.inf,
    "nan",
    "inf",
    Decimal("nan"),
    Decimal("inf"),
    np.float64("nan"),
    np.float32("inf"),
    5e-324,  # subnormal
    2.2e-308,
    1e-13,
    Decimal("1e-999999"),
    "1e-999999999",
    "1e999999999",  # must not be built
    Decimal("1e999999"),
    10**400,
    Fraction(1, 10**400),
    1.7e308,
    1e6 + 1,
    True,
    False,
    np.True_,
    None,
    "",
    "abc",
    "1/0",
    "1/",
    "0.1/3",
    "9" * 10_000,
    [1],
    np.array([1.0]),
    1j,
    b"1",
]


@pytest.mark.parametrize("value", NONSENSE, ids=lambda v: f"{type(v).__name__}:{str(v)[:12]}")
@pytest.mark.parametrize("build", [Pure, ZCDP, GDP, lambda v: Approximate(v, 1e-6)])
def test_nonsense_is_refused_and_the_message_says_what_given_and_do(build, value):
    with pytest.raises(InvalidQuery) as refusal:
        build(value)
    message = str(refusal.value)
    assert message.split(":")[0] in {"epsilon", "rho", "mu"}
    assert len(message) < 400
    assert "give" in message or "write" in message


@pytest.mark.parametrize("delta", [1, 1.5, -1e-9, math.nan, 1e-19, True, "x", None])
def test_a_delta_outside_0_to_1_is_refused(delta):
    with pytest.raises(InvalidQuery, match=r"^delta:"):
        Approximate(1, delta)


def test_a_delta_may_be_exactly_zero():
    assert Approximate(1, 0).delta == 0


def test_mu_is_at_most_1000_since_its_square_is_charged():
    assert GDP(1000).squared == 10**6
    with pytest.raises(InvalidQuery, match=r"mu: .*1000"):
        GDP(1000.5)


@given(st.floats(min_value=1e-12, max_value=1e6))
def test_a_float_means_its_shortest_decimal(value):
    assert exact(value, "x") == Fraction(repr(value))


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**6, max_denominator=10**20))
def test_plain_is_exact(value):
    assert Fraction(plain(value)) == value
