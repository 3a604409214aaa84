"""From a price and a reach to the mechanism: Laplace for epsilon, Gaussian for rho and mu."""

import math
from typing import Any

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive, DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries.setting import Reach

__all__ = ["mechanism_for", "price_of", "strength"]


def mechanism_for(reach: Reach, price: Cost) -> Additive:
    """Return the least noise that the price buys for integers of this reach.

    Privacy: each branch is the theorem of the mechanism that it builds.
    """
    match price:
        case Pure():
            return DiscreteLaplace(reach.l1, price.epsilon)
        case Approximate():
            gaussian = RoundedGaussian.for_approximate(reach.l2_squared, price)
            laplace = DiscreteLaplace(reach.l1, price.epsilon)
            return min(laplace, gaussian, key=lambda mechanism: mechanism.standard_deviation)
        case ZCDP():
            return DiscreteGaussian(reach.l2_squared, price.rho)
        case GDP():
            return RoundedGaussian(reach.l2_squared, price.mu)
        case _:
            raise TypeError(f"no noise is known for a price of type {type(price).__name__}")


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
