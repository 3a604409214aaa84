"""Sixty-digit arithmetic, and the normal tail in it.

Privacy conversions subtract two tails that may agree in ten digits and then must round in a known
direction. With 60 digits in hand no cancellation that can occur matters, and no formula needs
cases for small, large or nearly equal arguments.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["decimal", "in_sixty_digits", "normal_tail", "root", "round_down", "round_up"]

P = ParamSpec("P")
R = TypeVar("R")

_SIXTY = Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)
_SLACK = Decimal("1e-30")  # far above the error of sixty digits, far below the twelve kept
_ROOT_TWO_PI = Decimal("2.50662827463100050241576528481104525300698674060993831662992357634229")
_SERIES_BELOW = 6  # below: a series; above: a continued fraction
_WIDTH = Decimal("1e-14")  # relative width at which the search for a root ends
_EDGE = Decimal("1e-4")  # a step moves in by at least this part, so a good guess traps the root


def in_sixty_digits(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function whose decimal arithmetic shall be correctly rounded to 60 digits."""

    @wraps(function)
    def precise(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(_SIXTY):
            return function(*args, **kwargs)

    return precise


def decimal(amount: Fraction) -> Decimal:
    """Return a fraction to the digits of the context."""
    return Decimal(amount.numerator) / Decimal(amount.denominator)


def round_up(x: Decimal) -> Fraction:
    """Round a positive sixty-digit result to 12 digits, never below its true value."""
    return Fraction(Context(prec=12, rounding=ROUND_CEILING).plus(x + x * _SLACK))


def round_down(x: Decimal) -> Fraction:
    """Round a positive sixty-digit result to 12 digits, never above its true value."""
    return Fraction(Context(prec=12, rounding=ROUND_FLOOR).plus(x - x * _SLACK))


@in_sixty_digits
def normal_tail(x: Decimal) -> Decimal:
    """Return P(N(0, 1) > x), with a relative error below 1e-45.

    >>> f"{normal_tail(Decimal(2)):.12f}"
    '0.022750131948'
    """
    if x < 0:
        return 1 - normal_tail(-x)
    density = (-x * x / 2).exp() / _ROOT_TWO_PI
    if x < _SERIES_BELOW:
        return Decimal("0.5") - density * _series(x)
    return density * _mills_ratio(x)


@in_sixty_digits
def root(gap: Callable[[Decimal], Decimal]) -> tuple[Decimal, Decimal]:
    """Return points 1e-14 apart around the root of an increasing `gap` on (0, infinity).

    Regula falsi by the Illinois rule: a side that stays twice counts half. The answer rests on
    two signs alone: gap(low) < 0 <= gap(high).
    """
    low = high = Decimal(1)
    while (above := gap(high)) < 0:
        low, high = high, high * 4
    while (below := gap(low)) >= 0:
        low, high, above = low / 4, low, below
    side = 0
    while high - low > _WIDTH * high:
        part = min(max(-below / (above - below), _EDGE), 1 - _EDGE)
        middle = low + part * (high - low)
        value = gap(middle)
        if value < 0:
            low, below, above = middle, value, above / 2 if side < 0 else above
        else:
            high, above, below = middle, value, below / 2 if side > 0 else below
        side = -1 if value < 0 else 1
    return low, high


def _series(x: Decimal) -> Decimal:
    """Return x + x^3/3 + x^5/(3*5) + ...: all terms positive. [Abramowitz & Stegun, 26.2.11]."""
    term = total = x
    odd = 3
    while term > total * Decimal("1e-62"):
        term = term * x * x / odd
        total += term
        odd += 2
    return total


def _mills_ratio(x: Decimal) -> Decimal:
    """Return 1/(x + 1/(x + 2/(x + 3/(x + ...)))). [Abramowitz & Stegun, 26.2.14]."""
    below = x
    for k in range(40 + int(6000 / (x * x)), 0, -1):
        below = x + k / below
    return 1 / below
