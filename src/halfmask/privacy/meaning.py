"""What a price means: how well anyone can tell, from the answers, whether one unit was there.

An attacker who knows everything but one unit's rows tests "it is not in the table" against "it is".
A price bounds the errors of every such test; all that is said here is read off that bound.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy.conversions import gdp_epsilon, zcdp_epsilon
from halfmask.privacy.cost import Cost
from halfmask.privacy.currencies import GDP, ZCDP, Approximate, Pure
from halfmask.privacy.exact import SMALLEST_DELTA, Number, exact

__all__ = ["Meaning"]

_NORMAL = NormalDist()
_ORDERS = np.logspace(-3, 4, 57)
"""Orders less one, 0.001 to 10 000: any set of them gives a true bound, these nearly the best."""

_STEPS = 60
"""Halvings of an interval: its ends are then one double apart, nearly."""


@dataclass(frozen=True)
class Meaning:
    """What an attacker can do at most with all the answers of one price; floats, right to 1e-9.

    Under the relation `replace` read "has these rows rather than those" for "is in the table".

    >>> from halfmask.privacy import Pure
    >>> print(Meaning(Pure(1)).in_words())
    Whoever bets at even odds that one unit is in the table, or not, wins at most 73.2 % of the time
    >>> round(Meaning(Pure(1)).posterior(0.01), 4)
    0.0267
    """

    price: Cost

    def type_two(self, type_one: float) -> float:
        """The least rate of misses (type II) of a test with this rate of false alarms (type I).

        Privacy: the trade-off curve of the price.
        Pure, (epsilon, delta): max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)).
        [Wasserman & Zhou 2010, Thm 2.4; Kairouz, Oh & Viswanath 2015, Thm 2.1]
        GDP: Phi(Phi^-1(1 - a) - mu). [Dong, Roth & Su 2022, Def. 2.6]
        zCDP: the least b for which the two answers of the test, as bits of chances a and 1 - b,
        differ by at most rho times the order in each Renyi divergence, both ways round: a bound by
        data processing. [van Erven & Harremoes 2014, Thm 9; Balle et al. 2020]
        """
        a = _chance(type_one, "type_one")
        match self.price:
            case Pure():
                return _chords(a, float(self.price.epsilon), 0.0)
            case Approximate():
                return _chords(a, float(self.price.epsilon), float(self.price.delta))
            case GDP():
                return _gaussian(a, float(self.price.mu))
            case ZCDP():
                return _renyi(a, float(self.price.rho))
            case _:
                raise TypeError(f"no errors are known for a price of {type(self.price).__name__}")

    @property
    def advantage(self) -> float:
        """The largest membership advantage: true alarms less false ones. 0 is blind, 1 certain.

        Privacy: the curves are convex and symmetric, so the sum of both errors is least where they
        are equal: 1 - 2p with p = type_two(p). Pure: tanh(epsilon/2); GDP: 2 Phi(mu/2) - 1.
        [Yeom et al. 2018, Def. 4; Kairouz, Oh & Viswanath 2015, Thm 2.1; Dong, Roth & Su 2022]
        """
        low, high = 0.0, 0.5
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.type_two(middle) > middle else (low, middle)
        return 1 - 2 * low

    def guess(self, prior: float = 0.5) -> float:
        """The largest chance to guess right, for one who gave "in" the chance `prior` beforehand.

        Privacy: one less the least of prior * type II + (1 - prior) * type I over all tests, which
        is convex in type I. At even odds: (1 + advantage) / 2. [Bayes' test; see `type_two`]
        """
        p = _chance(prior, "prior")
        if p == 0.5:
            return (1 + self.advantage) / 2

        def wrong(a: float) -> float:
            return p * self.type_two(a) + (1 - p) * a

        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if wrong(first) <= wrong(second) else (first, high)
        return max(1 - min(wrong(low), wrong((low + high) / 2), wrong(high)), p, 1 - p)

    def loss(self, chance: Number | None = None) -> float:
        """The largest factor, as a logarithm, by which answers change the odds of being in.

        chance: that of answers which may tell more; None is 1e-6, or twice the delta of the price.
            A pure price has none, whatever is given.
        Privacy: epsilon for a pure price. [Dwork, McSherry, Nissim & Smith 2006, Def. 1] At
        (epsilon, delta), the mean of max(0, 1 - e^(epsilon - loss)) is at most delta, so a loss
        beyond epsilon + t has a chance of at most delta / (1 - e^-t). [the mean: Canonne, Kamath &
        Steinke 2020, Lemma 9; then Markov's inequality] rho and mu: the best of a few deltas.
        """
        price = self.price
        if isinstance(price, Pure) or (isinstance(price, Approximate) and not price.delta):
            return float(price.epsilon)
        if chance is None:
            chance = 2 * price.delta if isinstance(price, Approximate) else Fraction(1, 10**6)
        allowed = exact(chance, "chance", smallest=SMALLEST_DELTA * 1000, largest=Fraction(2))
        if isinstance(price, Approximate):
            part = float(price.delta / allowed)
            return float(price.epsilon) - math.log1p(-part) if part < 1 else math.inf
        parts = [Fraction(1, 2**k) for k in range(1, 8)]
        return min(_epsilon(price, allowed * part) - math.log1p(-float(part)) for part in parts)

    def posterior(self, prior: float, chance: Number | None = None) -> float:
        """The largest belief that the unit is in, after the answers, of one who believed `prior`.

        Privacy: Bayes: the odds grow by e^loss at most; see `loss` for what `chance` leaves out.

        >>> from halfmask.privacy import GDP
        >>> f"{Meaning(GDP(1)).posterior(0.5):.3f}"
        '0.996'
        """
        p = _chance(prior, "prior")
        shrunk = math.exp(-self.loss(chance))
        return p / (p + (1 - p) * shrunk) if p else 0.0

    def in_words(self, prior: float = 0.5) -> str:
        """Say in one sentence what the price means; the figure is rounded up."""
        odds = "even odds" if prior == 0.5 else f"prior odds of {100 * prior:g} %"
        most = min(math.ceil(1000 * self.guess(prior) - 1e-6) / 10, 100.0)
        return (
            f"Whoever bets at {odds} that one unit is in the table, or not, wins at most "
            f"{most:.1f} % of the time"
        )


def _chance(value: object, name: str) -> float:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number <= 1:
        raise InvalidQuery(f"{name}: {shown(value)} is no chance from 0 to 1; give one such as 0.5")
    return float(number)


def _chords(a: float, epsilon: float, delta: float) -> float:
    steep = math.exp(min(epsilon, 700.0)) * a
    return max(0.0, 1 - delta - steep, math.exp(-epsilon) * (1 - delta - a))


def _epsilon(price: Cost, delta: Fraction) -> float:
    match price:
        case ZCDP():
            return float(zcdp_epsilon(price.rho, delta))
        case GDP():
            return float(gdp_epsilon(price.mu, delta))
        case _:
            raise TypeError(f"no epsilon is known for a price of {type(price).__name__}")


def _gaussian(a: float, mu: float) -> float:
    if a in (0.0, 1.0):
        return 1.0 - a
    return _NORMAL.cdf(-_NORMAL.inv_cdf(a) - mu)


def _renyi(a: float, rho: float) -> float:
    if a in (0.0, 1.0):
        return 1.0 - a
    low, high = 0.0, 1 - a
    for _ in range(_STEPS):
        middle = (low + high) / 2
        within = middle == 1 or (middle > 0 and _may(a, middle, rho))
        low, high = (low, middle) if within else (middle, high)
    return low


def _may(a: float, b: float, rho: float) -> bool:
    """Whether a test of a rho-zCDP pair may have errors a and b, both inside (0, 1)."""
    null = np.array([math.log(a), math.log1p(-a)])  # the test says "in", and "not in"
    real = np.array([math.log1p(-b), math.log(b)])
    for p, q in ((null, real), (real, null)):
        inside = np.logaddexp(*(p[:, None] + _ORDERS * (p - q)[:, None]))
        if np.any(inside > _ORDERS * (1 + _ORDERS) * rho):
            return False
    return True
