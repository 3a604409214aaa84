"""How far one record moves a depth: the sensitivities that a private choice by depth may use.

Two relations: *replace*, n public, one row exchanged for any other; *add_remove*, one row more or
less, and then n is the larger number of rows. Each bound holds for every point, every data set, and
every number d of columns (and for sums, within any public set of candidates or directions). All but
the projection and the Mahalanobis depth have one; those two move from near 0 to near 1 (tests show
it), so no noise smaller than their whole range would do, and none is offered.
"""

from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "SPATIAL_SUM",
    "TUKEY_CENTRED",
    "TUKEY_COUNT",
    "Sensitivity",
    "integrated_dual",
    "simplicial",
    "spatial",
]


class Sensitivity(NamedTuple):
    """The most by which one record moves a score, under each relation."""

    replace: Fraction
    add_remove: Fraction


TUKEY_COUNT = Sensitivity(Fraction(1), Fraction(1))
"""The count of the emptiest closed halfspace.

In each halfspace a row added is 0 or 1 row more, a row replaced -1, 0 or 1; and if every function
of a family moves by at most 1, so does their least. Any family of directions will do.
"""

TUKEY_CENTRED = Sensitivity(Fraction(1), Fraction(1, 2))
"""The count less n/2: a row added moves the count by 0 or 1, so the difference by -1/2 or 1/2."""

SPATIAL_SUM = Sensitivity(Fraction(2), Fraction(1))
"""Minus the length of the sum of the unit vectors from the point to the rows.

By the triangle inequality | |s + u - v| - |s| | <= |u - v| <= 2 and | |s + u| - |s| | <= |u| <= 1,
where u and v are unit vectors or zero. d does not enter.
"""


def spatial(n: int) -> Sensitivity:
    """Spatial depth: 2/n, whatever d.

    Replace: the sum's 2 over n. Add, from n - 1 rows with sum s to n: the mean moves by
    (s + u)/n - s/(n - 1) = ((n - 1) u - s)/(n (n - 1)), of length at most 2 (n - 1)/(n (n - 1)).

    >>> spatial(50).replace
    Fraction(1, 25)
    """
    return Sensitivity(Fraction(2, n), Fraction(2, n))


def integrated_dual(n: int) -> Sensitivity:
    """Integrated dual depth by either score: 1/n, for directions chosen without the data.

    Along each direction F moves by at most 1/n: replaced, by one of n indicators; added, by
    (indicator - F)/n. F(1 - F) and min(F, 1 - F) have slopes of at most 1 on [0, 1], and a mean
    over directions moves by no more than its worst term.

    >>> integrated_dual(50).add_remove
    Fraction(1, 50)
    """
    return Sensitivity(Fraction(1, n), Fraction(1, n))


def simplicial(n: int, d: int) -> Sensitivity:
    """Simplicial depth: (d + 1)/n, and never more than 1.

    It is the mean over all choices of d + 1 rows; a share (d + 1)/n of them holds a given row.
    Replace: the others' indicators stay. Add: the new mean is (1 - (d + 1)/n) of the old one and
    (d + 1)/n of that of the choices with the new row, both in [0, 1].

    >>> simplicial(50, 2).replace
    Fraction(3, 50)
    """
    share = min(Fraction(d + 1, n), Fraction(1))
    return Sensitivity(share, share)
