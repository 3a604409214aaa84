"""What every mechanism checks once, in its constructor."""

import math
import operator
from fractions import Fraction

from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost, Pure

LARGEST_SCALE = 2**55  # beyond this the samplers' 64-bit integers could overflow


def whole_sensitivity(value: object, name: str) -> int:
    """Return a sensitivity as a Python int; refuse what is not a whole number of at least 0.

    >>> whole_sensitivity(3, "sensitivity")
    3
    >>> whole_sensitivity(0.5, "sensitivity")
    Traceback (most recent call last):
    halfmask.errors.InvalidQuery: sensitivity: 0.5 is not an integer; put the statistic on an \
integer grid and give its greatest change in grid steps
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidQuery(
            f"{name}: {value!r} is not an integer; put the statistic on an integer grid "
            "and give its greatest change in grid steps"
        ) from None
    if whole < 0:
        raise InvalidQuery(f"{name}: {whole} is negative; give 0 or more")
    return whole


def drawable(scale: Fraction, price: str) -> None:
    """Refuse a noise scale that the samplers cannot draw.

    >>> drawable(Fraction(2**56), "epsilon")
    Traceback (most recent call last):
    halfmask.errors.InvalidQuery: scale: the noise would have scale 7.2e+16, above 2^55; use a \
coarser grid (a smaller sensitivity) or a larger epsilon
    """
    if scale > LARGEST_SCALE:
        size = f"{float(scale):.2g}" if scale < 10**300 else "above 1e300"
        raise InvalidQuery(
            f"scale: the noise would have scale {size}, above 2^55; use a coarser grid "
            f"(a smaller sensitivity) or a larger {price}"
        )


def charged(pure: Pure, price: Cost | None) -> Cost:
    """Return what is charged for a pure epsilon: itself, or a price that covers it.

    >>> from halfmask.privacy import ZCDP
    >>> print(charged(Pure(1), ZCDP("1/2")))
    rho 0.5
    """
    if price is None:
        return pure
    worth = pure.in_measure(price.measure).amounts
    if any(needed > paid for needed, paid in zip(worth, price.amounts, strict=True)):
        raise InvalidQuery(
            f"price: noise of {pure} costs more than {price}; give a smaller epsilon"
        )
    return price


def root_up(square: Fraction) -> Fraction:
    """Return r with r² >= square and r at most 2^-51 (relative) above the root.

    r is a binary fraction of at most 53 bits: a root of that form is exact, and ``float(r)`` is r.

    >>> root_up(Fraction(9, 4)), float(root_up(Fraction(2)) ** 2 - 2) < 1e-15
    (Fraction(3, 2), True)
    """
    if square == 0:
        return Fraction(0)
    log2 = square.numerator.bit_length() - square.denominator.bit_length()
    shift = 52 - (log2 + 1) // 2  # so that root · 2^shift lies in (2^51, 2^53]
    scaled = square * Fraction(4) ** shift
    ceiling = -(-scaled.numerator // scaled.denominator)
    root = math.isqrt(ceiling - 1) + 1  # the ceiling of the root of an integer >= 1
    return root / Fraction(2) ** shift


def figure(scale: Fraction) -> str:
    """Write a scale: in full when it is an integer or large, else to six digits.

    >>> figure(Fraction(200000)), figure(Fraction(1, 3))
    ('200000', '0.333333')
    """
    return f"{float(scale):.6g}" if scale.denominator > 1 and scale < 10**6 else str(round(scale))
