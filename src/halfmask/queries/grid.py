"""The public power-of-two grid of a bounded column: fine against the noise, small in int64."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import OnGrid

__all__ = ["Range", "cells_against_noise", "lay_grid", "native", "to_float", "written"]


LARGEST = Fraction(1e290)
"""Sums of a hundred million such values are still doubles."""


@dataclass(frozen=True)
class Range:
    """Two finite public bounds, lower below upper.

    >>> Range(0, 100).width
    Fraction(100, 1)
    """

    lower: Fraction
    upper: Fraction

    def __init__(self, lower: object, upper: object) -> None:
        object.__setattr__(self, "lower", _finite(lower, "lower"))
        object.__setattr__(self, "upper", _finite(upper, "upper"))
        if self.lower > self.upper:
            raise InvalidQuery(f"bounds: lower {lower} is above upper {upper}; swap them")
        if self.lower == self.upper:
            raise InvalidQuery(
                f"bounds: lower and upper are both {lower}; every value would be clipped to it, "
                f"give an upper bound above the lower one"
            )

    @property
    def width(self) -> Fraction:
        """Upper less lower."""
        return self.upper - self.lower


def _finite(bound: object, name: str) -> Fraction:
    try:
        if isinstance(bound, bool | str):
            raise TypeError
        number = Fraction(bound)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(
            f"bounds: {name} is {shown(bound)}; give a finite number that is known without the data"
        ) from None
    if abs(number) > LARGEST:
        raise InvalidQuery(f"bounds: {name} {bound} is beyond 1e290; give a tighter bound")
    return Fraction(number)


def native(value: Any) -> Any:
    """Return a NumPy scalar as Python's own number, anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def cells_against_noise(strength: float, rows: int, degree: int = 1) -> Fraction:
    """How many grid cells the bounds should span so that the noise spans about 2^38 of them.

    For degree 2 the sums hold squares of cells, so the cells are fewer. Public facts only.
    """
    cells = strength / rows * 2.0**38 if degree == 1 else math.sqrt(strength / rows * 2.0**40)
    top, bottom = (2.0**44, 2.0**12) if degree == 1 else (2.0**24, 2.0**10)
    return Fraction(min(max(cells, bottom), top))


def lay_grid(column: str, bounds: Range, cells: Fraction) -> OnGrid:
    """Lay the finest power-of-two grid with at most twice `cells` cells; bounds snap inwards."""
    log2_step = _floor_log2(bounds.width / cells)
    reach = max(abs(bounds.lower), abs(bounds.upper))
    log2_step = max(log2_step, _floor_log2(reach) - 51, -1000)
    step = Fraction(2) ** log2_step
    lower, upper = math.ceil(bounds.lower / step), math.floor(bounds.upper / step)
    if upper - lower < 2**10:
        raise InvalidQuery(
            f"bounds: {to_float(bounds.lower)} and {to_float(bounds.upper)} are too close for "
            f"numbers of 53 bits; subtract a public constant from the column first"
        )
    return OnGrid(column, lower, upper, log2_step)


def _floor_log2(number: Fraction) -> int:
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


def written(number: float) -> str:
    """Write a public number in full, thousands apart: 1 250 000, not 1.25e+06.

    >>> written(1_250_000.0)
    '1 250 000'
    """
    return f"{float(number):,.15g}".replace(",", " ")


def to_float(number: Fraction) -> float:
    """Round to a double; beyond the largest one, return the largest."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.nextafter(math.inf, 0), 1 if number > 0 else -1)
