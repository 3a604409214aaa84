"""Checks and exact readings of the samplers' arguments."""

from fractions import Fraction
from math import isfinite, prod
from numbers import Integral, Rational, Real
from operator import index

import numpy as np

from halfmask.errors import InvalidQuery

__all__ = ["Number", "Size", "read_rational", "read_scale", "read_size"]

Number = int | float | Fraction
Size = int | tuple[int, ...]

LARGEST_SCALE = 1 << 55


def read_rational(value: object, name: str) -> Fraction:
    """The exact value of a number; a float counts at its exact binary value."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidQuery(f"{name}: {value!r} is no number; give an int, a float or a Fraction")
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    if not isfinite(value):
        raise InvalidQuery(f"{name}: {value!r} is not finite; give a finite number")
    return Fraction(float(value))


def read_scale(value: object, name: str = "scale") -> Fraction:
    """The exact value of a scale: above 0 and at most 2^55."""
    scale = read_rational(value, name)
    if not 0 < scale <= LARGEST_SCALE:
        raise InvalidQuery(f"{name}: {value!r} is outside (0, 2^55]; choose a coarser grid")
    return scale


def read_size(size: Size) -> tuple[int, tuple[int, ...]]:
    """The number of draws, and the shape in which to give them."""
    try:
        shape = tuple(index(n) for n in size) if isinstance(size, tuple) else (index(size),)
    except TypeError:
        raise InvalidQuery(f"size: {size!r} is no size; give an int or a tuple of ints") from None
    if any(n < 0 for n in shape):
        raise InvalidQuery(f"size: {size!r} is negative; give sizes of at least 0")
    return prod(shape), shape
