"""The normal tail to 45 significant digits, in decimal arithmetic.

Privacy conversions subtract two tails that may agree in ten digits and then must round in a known
direction. With 60 digits in hand no cancellation that can occur matters, and the functions below
need no case distinctions for small, large or nearly equal arguments.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["WORK", "decimal", "normal_tail", "round_down", "round_up"]

WORK = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Where conversions compute; each operation is correctly rounded to 60 digits."""

_SLACK = Decimal("1e-30")  # far above any error of WORK, far below the 12 digits that are kept
_ROOT_TWO_PI = Decimal("2.50662827463100050241576528481104525300698674060993831662992357634229")
_SERIES_BELOW = Decimal(6)  # below: series; above: continued fraction


def decimal(amount: Fraction) -> Decimal:
    """Return a fraction to 60 digits."""
    return WORK.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def round_up(x: Decimal) -> Fraction:
    """Round a positive result of WORK to 12 significant digits, never below its true value."""
    return Fraction(Context(prec=12, rounding=ROUND_CEILING).plus(WORK.multiply(x, 1 + _SLACK)))


def round_down(x: Decimal) -> Fraction:
    """Round a positive result of WORK to 12 significant digits, never above its true value."""
    return Fraction(Context(prec=12, rounding=ROUND_FLOOR).plus(WORK.multiply(x, 1 - _SLACK)))


def normal_tail(x: Decimal) -> Decimal:
    """Return P(N(0, 1) > x), with a relative error below 1e-45.

    >>> f"{normal_tail(Decimal(2)):.12f}"
    '0.022750131948'
    """
    if x < 0:
        return WORK.subtract(Decimal(1), normal_tail(-x))
    density = WORK.divide(WORK.exp(WORK.divide(WORK.multiply(x, -x), Decimal(2))), _ROOT_TWO_PI)
    if x < _SERIES_BELOW:
        return WORK.subtract(Decimal("0.5"), WORK.multiply(density, _series(x)))
    return WORK.multiply(density, _mills_ratio(x))


def _series(x: Decimal) -> Decimal:
    """Return x + x^3/3 + x^5/(3*5) + ...: all terms positive. [Abramowitz & Stegun, 26.2.11]."""
    square = WORK.multiply(x, x)
    term = total = x
    odd = 3
    while term > 0 and term.adjusted() > total.adjusted() - WORK.prec - 2:
        term = WORK.divide(WORK.multiply(term, square), Decimal(odd))
        total = WORK.add(total, term)
        odd += 2
    return total


def _mills_ratio(x: Decimal) -> Decimal:
    """Return 1/(x + 1/(x + 2/(x + 3/(x + ...)))). [Abramowitz & Stegun, 26.2.14]."""
    below = x
    for k in range(40 + int(6000 / (x * x)), 0, -1):
        below = WORK.add(x, WORK.divide(Decimal(k), below))
    return WORK.divide(Decimal(1), below)
