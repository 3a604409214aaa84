"""From a price and a reach to the mechanism: Laplace for epsilon, Gaussian for rho and mu."""

import math

from halfmask.mechanisms import Additive, DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries.setting import Reach

__all__ = ["mechanism_for", "strength"]


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
