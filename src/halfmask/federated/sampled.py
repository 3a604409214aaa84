"""How strong a round may be in which each client takes part by the toss of a coin."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from halfmask.errors import InvalidQuery
from halfmask.federated.losses import sampled_delta
from halfmask.federated.renyi import sampled_epsilon

__all__ = ["largest_sampled_mu"]

_LEAST, _MOST = 2.0**-30, 2.0**5
_CLOSE = 1.0005


@lru_cache
def largest_sampled_mu(rounds: int, rate: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return mu, nearly the largest, so that so many sampled rounds stay within (epsilon, delta).

    Privacy: what is returned was found to be within, by Renyi divergences (`renyi`) or by masses of
    losses (`losses`): both are bounds from above, and the smaller one counts. The second is closer
    but where delta is below 1e-8 and rounds are many.

    >>> round(float(largest_sampled_mu(150, Fraction("0.01"), Fraction(1), Fraction("1e-5"))), 2)
    1.07
    """
    e, d = float(epsilon) * (1 - 1e-9), float(delta) * (1 - 1e-9)
    q = min(float(rate) * (1 + 1e-9), 1 - 1e-16)
    quick = _largest(lambda mu: sampled_epsilon(mu, rounds, q, d) <= e, _LEAST, _MOST)
    ends = (quick, 2 * quick) if quick else (_LEAST, _MOST)
    close = _largest(lambda mu: sampled_delta(mu, rounds, q, e, d) <= d, *ends)
    best = max(quick, close)
    if not best:
        raise InvalidQuery(
            f"epsilon: {float(epsilon):g} is too small to account for {rounds} sampled rounds at "
            f"delta {float(delta):g}; give a larger one, or a sampling_rate of 1"
        )
    return Fraction(best)


def _largest(within: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest that is within, nearly; 0 if `low` is not."""
    if not within(low):
        return 0.0
    while high > low * _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if within(middle) else (low, middle)
    return low
