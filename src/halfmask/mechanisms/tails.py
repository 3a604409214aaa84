"""Tails of the noise laws in sixty-digit decimals, so that intervals are exact integers.

Sixty digits decide which half-width is the smallest that covers; floats would be some hundreds
out at scale 2^55.
"""

import functools
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from halfmask.privacy.normal import decimal, normal_tail

DIGITS = 60
MARGIN = Decimal("1e-18")  # tails below are better than this; intervals lean to the wide side
ROOT_TWO_PI = Decimal("2.50662827463100050241576528481104525300698674060993831662992357634229")


def precise() -> AbstractContextManager[Context]:
    """Work with sixty decimal digits, and without underflow, inside a ``with`` block."""
    return localcontext(Context(prec=DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX))


def normal_density(z: Decimal) -> Decimal:
    """Return the standard normal density."""
    return (-z * z / 2).exp() / ROOT_TWO_PI


@functools.cache
def _midpoint_coefficients(count: int) -> tuple[Fraction, ...]:
    """Return B_2j(1/2)/(2j)!, j = 0, 1, ...: the power series in x² of (x/2)/sinh(x/2)."""
    found = [Fraction(1)]
    for j in range(1, count):
        terms = (found[j - i] / (4**i * math.factorial(2 * i + 1)) for i in range(1, j + 1))
        found.append(-sum(terms, Fraction(0)))
    return tuple(found)


def discrete_gaussian_tail(sigma: Fraction, k: int) -> Decimal:
    """Return P(|K| > k) for P(K = k) ∝ exp(-k²/(2 sigma²)), k >= 0, to 18 digits while it matters.

    Small sigma: the sums themselves. Large sigma: the midpoint rule of Euler and Maclaurin turns
    the sum into the normal tail at k + 1/2 and odd derivatives of the density; the constant is
    sigma√(2π) to thousands of digits by Poisson summation.
    """
    if sigma < 32:
        ratio = decimal(-1 / (2 * sigma**2)).exp()
        above = _sum_from(ratio, k + 1)
        return 2 * above / (1 + 2 * _sum_from(ratio, 1))
    s = decimal(sigma)
    z = (Decimal(k) + Decimal("0.5")) / s
    before, hermite = Decimal(1), z  # He_0 and He_1
    correction = Decimal(0)
    coefficients = _midpoint_coefficients(9)
    for j in range(1, len(coefficients)):
        correction += decimal(coefficients[j]) * hermite / s ** (2 * j)
        for m in (2 * j - 1, 2 * j):
            before, hermite = hermite, z * hermite - m * before
    return max(Decimal(0), 2 * normal_tail(z) + 2 * normal_density(z) * correction)


def _sum_from(ratio: Decimal, start: int) -> Decimal:
    """Return the sum over k >= start of ratio^(k²), for start >= 1."""
    term = total = ratio ** (start * start)
    factor, square = ratio ** (2 * start + 1), ratio * ratio
    while term > total.scaleb(-DIGITS):
        term *= factor
        factor *= square
        total += term
    return total


def smallest(covers: Callable[[int], bool], guess: int) -> int:
    """Return the smallest integer h >= 0 with ``covers(h)``, for a predicate that stays true.

    Strides that double away from the guess bracket the answer, then halving finds it.

    >>> smallest(lambda h: h * h >= 1000, guess=7)
    32
    """
    high = max(guess, 0)
    stride = 1
    while not covers(high):
        high += stride
        stride *= 2
    low, stride = high - 1, 1
    while low >= 0 and covers(low):
        high, low, stride = low, low - stride, 2 * stride
    low = max(low, -1)
    while high - low > 1:
        middle = (low + high) // 2
        if covers(middle):
            high = middle
        else:
            low = middle
    return high
