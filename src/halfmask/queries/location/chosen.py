"""What epsilon each of several choices has, given the price of all."""

from fractions import Fraction
from math import isqrt

from halfmask.errors import InvalidQuery
from halfmask.privacy import ZCDP, Cost, Pure

__all__ = ["chosen_epsilon"]


def chosen_epsilon(price: Cost, choices: int) -> Fraction:
    """Return the epsilon of each of `choices` exponential mechanisms that cost `price` together.

    Privacy: k choices of epsilon e compose to k e, and to k e^2/8 in zCDP, by bounded range.
    [Cesar & Rogers 2021, Lemma 3.4; Dwork, McSherry, Nissim & Smith 2006, Thm 3]

    >>> from halfmask.privacy import Pure, ZCDP
    >>> chosen_epsilon(Pure(1), 4), chosen_epsilon(ZCDP(1), 8)
    (Fraction(1, 4), Fraction(1, 1))
    """
    match price:
        case Pure():
            return price.epsilon / choices
        case ZCDP():
            square = 8 * price.rho / choices
            return Fraction(isqrt(int(square * 10**24)), 10**12)  # rounded down
        case _:
            raise InvalidQuery(
                f"price: {price} given; choices have a proved price in epsilon and in rho alone, "
                "give one of those"
            )
