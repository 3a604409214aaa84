"""What a round costs in which each client takes part by the toss of a coin.

Privacy: let every client enter a round with probability q, independently (Poisson sampling), and
let the round on those who entered be mu-GDP for one client added or removed. Its worst pair is then
N(mu, 1) against N(0, 1), in both directions, and that of the sampled round is their mixture
(1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), in both directions. [Zhu, Dong & Wang 2022, Thm 11]
Of the two, mixture against N(0, 1) has the larger Renyi divergence, and at integer orders a it is
log(sum over k of C(a, k) (1 - q)^(a - k) q^k exp((k^2 - k) mu^2 / 2)) / (a - 1).
[Mironov, Talwar & Zhang 2019, Thm 5 and section 3.3] Divergences of rounds add up, adaptively
[Mironov 2017, Prop. 1], and their sum is worth an epsilon at each delta. [Canonne, Kamath &
Steinke 2020, Prop. 12]

Floats: all terms of the sum are positive, and 1 is taken out of it exactly, so the relative error
stays below 1e-11; results are raised by 1e-9.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["ORDERS", "sampled_divergences", "sampled_epsilon"]

ORDERS = (*range(2, 64), *(round(64 * 2 ** (i / 4)) for i in range(21)))
"""Every integer order is sound; these serve epsilon from about 0.01 on."""

_RAISED = 1 + 1e-9


def sampled_divergences(mu: float, rate: float) -> NDArray[np.float64]:
    """Return upper bounds of the Renyi divergences of one sampled round, one for each of ORDERS."""
    return np.array([_divergence(order, mu, rate) for order in ORDERS]) * _RAISED


def _divergence(order: int, mu: float, rate: float) -> float:
    log_choose, k = _log_binomials(order)
    exponent = (k * k - k) * (mu * mu / 2)
    with np.errstate(under="ignore"):
        log_expm1 = exponent + np.log(-np.expm1(-exponent))
        terms = log_choose + (order - k) * math.log1p(-rate) + k * math.log(rate) + log_expm1
        top = float(terms.max())
        log_sum = top + math.log(float(np.exp(terms - top).sum()))
    return float(np.logaddexp(0.0, log_sum)) / (order - 1)


@lru_cache(maxsize=len(ORDERS))
def _log_binomials(order: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log C(order, k) and k, for k = 2 .. order: the terms of k = 0, 1 sum up to 1."""
    logs = [math.log(math.comb(order, k)) for k in range(2, order + 1)]
    return np.array(logs), np.arange(2.0, order + 1)


def sampled_epsilon(mu: float, rounds: int, rate: float, delta: float) -> float:
    """Return an epsilon that so many rounds, sampled at this rate, stay within at delta.

    >>> round(sampled_epsilon(1.0, 100, 0.01, 1e-5), 2)
    1.22
    """
    total = rounds * sampled_divergences(mu, rate)
    a = np.array(ORDERS, dtype=np.float64)
    epsilons = total + np.log1p(-1 / a) - np.log(delta * a) / (a - 1)
    return max(0.0, float(epsilons.min())) * _RAISED
