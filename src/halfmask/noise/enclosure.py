"""Exact arithmetic: the exponential of a rational number between two integers, as close as asked.

All samplers take their last decision here. Only unbounded integers are used, rounded outwards, so
an enclosure is a theorem and no property of the platform's mathematical library.
"""

from fractions import Fraction
from math import isqrt

__all__ = ["exp_minus", "pi_between"]

GUARD_BITS = 16


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers (a, b) with a <= 2^bits exp(-x) <= b, for x >= 0; b - a is 0 (x = 0) or 1 or 2.

    exp(y) for y = x / 2^r < 1/2 by its series with all terms rounded down and up, the reciprocal,
    then r squarings; a relative error grows by a factor 2 with each squaring, hence the guard bits.

    >>> exp_minus(Fraction(1), 20)
    (385749, 385750)
    """
    if x == 0:
        return 1 << bits, 1 << bits
    if x > bits:  # exp(-x) < 2^-bits
        return 0, 1
    r = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    p = bits + 2 * r + GUARD_BITS + isqrt(bits)
    one = 1 << p
    scaled = (x.numerator << p) // (x.denominator << r)
    lower, upper = _exp_series(scaled, scaled + 1, p)
    lower, upper = (one << p) // upper, _rounded_up(one << p, lower)
    for _ in range(r):
        lower, upper = (lower * lower) >> p, _rounded_up(upper * upper, one)
    drop = p - bits
    return lower >> drop, _rounded_up(upper, 1 << drop)


def _rounded_up(a: int, b: int) -> int:
    return -(-a // b)


def _exp_series(y_lower: int, y_upper: int, p: int) -> tuple[int, int]:
    """Lower and upper bounds of 2^p exp(y) for 2^p y between the arguments and y <= 1/2."""
    lower = upper = low = high = 1 << p
    n = 0
    while high > 1:
        n += 1
        low = (low * y_lower >> p) // n
        high = _rounded_up(_rounded_up(high * y_upper, 1 << p), n)
        lower += low
        upper += high
    return lower, upper + 2  # the rest is less than the last term, which is at most 1


def pi_between(bits: int) -> tuple[int, int]:
    """Integers (a, b) with a <= 2^bits pi <= b; b - a is 1 or 2.

    pi = 16 arctan(1/5) - 4 arctan(1/239) (Machin 1706), the terms of the series rounded down.

    >>> pi_between(10)
    (3216, 3217)
    """
    p = bits + GUARD_BITS + bits.bit_length()
    total = terms = 0
    for factor, inverse in ((16, 5), (-4, 239)):
        power, n = (1 << p) // inverse, 0
        while power:
            total += factor * (-1) ** n * (power // (2 * n + 1))
            power //= inverse * inverse
            n += 1
        terms += abs(factor) * 3 * (n + 2)  # a power is off by 2 at most, a quotient by 1 more
    drop = p - bits
    return (total - terms) >> drop, -(-(total + terms) >> drop)
