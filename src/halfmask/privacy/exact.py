"""Exact numbers: what a person writes for a price becomes the fraction that they meant."""

from decimal import ROUND_CEILING, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from numbers import Rational

import numpy as np

from halfmask.errors import InvalidQuery, shown

__all__ = ["LARGEST", "SMALLEST", "SMALLEST_DELTA", "Number", "at_most", "exact", "plain"]

Number = int | float | str | Decimal | Fraction
"""What a price may be written as."""

SMALLEST = Fraction(1, 10**12)
"""One unit of the ledger: no price is smaller."""
SMALLEST_DELTA = Fraction(1, 10**18)
"""One unit of delta in the ledger."""
LARGEST = Fraction(10**6)
"""No price is larger: above it there is no privacy left to account for (exp(10^6) : 1)."""

_MAX_TEXT = 100  # characters; a longer text is no price and would only cost time
_MAX_EXPONENT = 40  # powers of ten, far outside [SMALLEST, LARGEST]: 1e999999999 must not be built


def exact(
    value: object,
    name: str,
    *,
    smallest: Fraction = SMALLEST,
    largest: Fraction = LARGEST,
) -> Fraction:
    """Return the fraction that `value` was meant as: 0.1 is one tenth, "1/3" a third.

    Takes int, float, Decimal, Fraction, str and NumPy scalars. A float stands for the shortest
    decimal that reads back as the same float. Raises InvalidQuery for anything else, for bool,
    NaN, infinity, zero, negative values and values outside [smallest, largest].

    >>> exact(0.1, "epsilon")
    Fraction(1, 10)
    >>> exact("1/3", "epsilon")
    Fraction(1, 3)
    """
    amount = _fraction(value, name)
    if amount <= 0:
        raise InvalidQuery(f"{name}: must be above 0, given {shown(value)}; give a positive number")
    if amount < smallest:
        raise InvalidQuery(
            f"{name}: must be at least {float(smallest):g}, given {shown(value)}; "
            "give a larger number"
        )
    if amount > largest:
        raise InvalidQuery(
            f"{name}: must be at most {float(largest):g}, given {shown(value)}; "
            "give a smaller number"
        )
    return amount


def plain(amount: Fraction) -> str:
    """Write a fraction exactly: as a decimal where that ends, else as "p/q".

    >>> plain(Fraction(1, 10)), plain(Fraction(1, 3)), plain(Fraction(1, 10**9))
    ('0.1', '1/3', '1e-9')
    """
    context = Context(prec=60)
    decimal = context.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    if context.flags[Inexact]:
        return str(amount)
    decimal = decimal.normalize(context)
    return f"{decimal:f}" if decimal == 0 or decimal >= Decimal("1e-3") else f"{decimal:e}"


def _fraction(value: object, name: str) -> Fraction:
    if isinstance(value, bool | np.bool_):
        raise InvalidQuery(
            f"{name}: must be a number, given {shown(value)}; give a number such as 0.5"
        )
    if isinstance(value, Rational):  # int, Fraction and NumPy integers
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        return _parse(value, name)
    if isinstance(value, Decimal):
        return _decimal(value, name)
    if isinstance(value, float):
        return _decimal(Decimal(repr(float(value))), name)
    if isinstance(value, np.floating):
        return _decimal(Decimal(str(value)), name)
    raise InvalidQuery(
        f"{name}: must be a number, given a {type(value).__name__}; give a number such as 0.5"
    )


def _parse(text: str, name: str) -> Fraction:
    over, slash, under = text.strip().partition("/")
    try:
        if len(text) > _MAX_TEXT:
            raise ValueError
        if slash:
            return Fraction(int(over), int(under))
        number = Decimal(over)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise InvalidQuery(
            f'{name}: must be a number, given {shown(text)}; write "0.5" or "1/3"'
        ) from None
    return _decimal(number, name)


def _decimal(number: Decimal, name: str) -> Fraction:
    if not number.is_finite():
        raise InvalidQuery(f"{name}: must be finite, given {number:.3g}; give a number such as 0.5")
    if number and abs(number.adjusted()) > _MAX_EXPONENT:
        side = "small" if number.adjusted() < 0 else "large"
        raise InvalidQuery(
            f"{name}: {number:.3g} is too {side}; give a number between {float(SMALLEST):g} "
            f"and {float(LARGEST):g}"
        )
    return Fraction(number)


def at_most(number: Fraction) -> str:
    """Write a number rounded up to two digits.

    >>> at_most(Fraction(520044381809, 10**19))
    '5.3e-8'
    """
    context = Context(prec=2, rounding=ROUND_CEILING)
    found = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return plain(Fraction(found))
