"""From a price and a reach to the mechanism: the least noise that the price buys."""

import math
from fractions import Fraction
from typing import Any

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    Staircase,
)
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries.setting import Reach

__all__ = ["mechanism_for", "price_of", "range_epsilon", "strength"]

_WORTH = 0.99
"""Staircase noise is taken where it is smaller by a hundredth: its law is known to fewer."""

_STRONG = 1.4
"""Below this strength Gaussian noise is smaller than pure noise at any rho or mu."""


def mechanism_for(reach: Reach, price: Cost) -> Additive:
    """Return the noise of least standard deviation that the price buys for integers of this reach.

    A pure epsilon buys staircase noise where a unit moves one integer alone, else Laplace noise;
    an (epsilon, delta), rho or mu buys Gaussian noise, or the pure noise that it covers: that is
    less for large prices of single numbers, since an epsilon costs about rho = epsilon there.
    Privacy: each is the theorem of its mechanism; `Pure.in_measure` says what an epsilon costs.
    """
    match price:
        case Pure():
            return _pure(reach, price)
        case Approximate():
            gaussian = RoundedGaussian.for_approximate(reach.l2_squared, price)
            return _least(gaussian, _pure(reach, Pure(price.epsilon), price))
        case ZCDP():
            discrete = DiscreteGaussian(reach.l2_squared, price.rho)
            if strength(price) < _STRONG:
                return discrete
            return _least(discrete, _pure(reach, price.largest_pure(), price))
        case GDP():
            rounded = RoundedGaussian(reach.l2_squared, price.mu)
            if strength(price) < _STRONG:
                return rounded
            return _least(rounded, _pure(reach, price.largest_pure(), price))
        case _:
            raise TypeError(f"no noise is known for a price of type {type(price).__name__}")


def _pure(reach: Reach, pure: Pure, price: Cost | None = None) -> Additive:
    laplace = DiscreteLaplace(reach.l1, pure.epsilon, price)
    if not reach.alone or not Staircase.takes(reach.l1):
        return laplace
    staircase = Staircase(reach.l1, pure.epsilon, price)
    worth = staircase.standard_deviation < _WORTH * laplace.standard_deviation
    return staircase if worth else laplace


def _least(first: Additive, second: Additive) -> Additive:
    return min(first, second, key=lambda mechanism: mechanism.standard_deviation)


def range_epsilon(price: Cost, choices: int = 1) -> Fraction:
    """Return the largest epsilon such that so many choices of that bounded range cost the price.

    Privacy: bounded range epsilon implies epsilon-DP, epsilon²/8-zCDP [Cesar & Rogers 2021, Lemma
    3.4], and mu-GDP with mu = 2 Phi^-1(e^(epsilon/2)/(1 + e^(epsilon/2))), that of (epsilon/2)-DP.
    Proof of the last: a likelihood ratio within [e^(t-epsilon), e^t] is, in the convex order, below
    the one with its two ends alone and mean 1; so the pair is post-processed from a test of one
    bit with P(1) = p and P'(1) = p', logit p' - logit p = epsilon, whose trade-off curve bends at
    (p, 1 - p') alone. The convex curve of mu-GDP is below it iff mu >= probit p' - probit p. With
    g(z) = logit Phi(z), g' = m(z) + m(-z), m the inverse Mills ratio, which is convex [Sampford
    1953]; so g'' = m'(z) - m'(-z) >= 0 for z >= 0: probit rises slowest, against logit, far from 0,
    and the difference is greatest where the two are opposite: p' = e^(epsilon/2)/(1 +
    e^(epsilon/2)).

    >>> range_epsilon(Pure(1), 4), range_epsilon(ZCDP(1), 8)
    (Fraction(1, 4), Fraction(1, 1))
    """
    each = price.share(Fraction(1, choices))
    match each:
        case Pure() | Approximate():
            return each.epsilon
        case ZCDP():
            epsilon = Fraction(math.isqrt(int(8 * each.rho * 10**24)), 10**12)
        case GDP():
            epsilon = 2 * each.largest_pure().epsilon
        case _:
            raise TypeError(f"no choice is known for a price of type {type(price).__name__}")
    if epsilon <= 0:
        raise InvalidQuery(f"price: {price} is too small for a choice; give a larger price")
    return epsilon


def strength(price: Cost) -> float:
    """Sensitivity over noise scale that the price buys, roughly: it sets grids, not privacy."""
    match price:
        case Pure() | Approximate():
            return float(price.epsilon)
        case ZCDP():
            return math.sqrt(2 * price.rho)
        case GDP():
            return float(price.mu)
        case _:
            raise TypeError(f"no noise is known for a price of type {type(price).__name__}")


def price_of(epsilon: Any = None, delta: Any = None, rho: Any = None, mu: Any = None) -> Cost:
    """Read a price as an analyst writes it: epsilon (with a delta or not), rho, or mu."""
    given = {"epsilon": epsilon, "rho": rho, "mu": mu}
    named = [name for name, amount in given.items() if amount is not None]
    if len(named) != 1:
        raise InvalidQuery(
            f"price: {' and '.join(named) or 'none'} given; give one of epsilon, rho or mu, "
            f"such as epsilon=0.5"
        )
    if delta is not None and epsilon is None:
        raise InvalidQuery(f"delta: goes with epsilon, not with {named[0]}; leave it out")
    if epsilon is not None:
        return Pure(epsilon) if delta in (None, 0) else Approximate(epsilon, delta)
    return ZCDP(rho) if rho is not None else GDP(mu)
