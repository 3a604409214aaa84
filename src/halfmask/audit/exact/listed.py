"""Two laws on the same finitely many answers, and how well an answer tells them apart."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery

__all__ = ["Listed", "above_one", "difference", "divergence", "log_sum"]

Masses = NDArray[np.float64]

_ORDERS = (1 + 1e-6, *(1 + 2.0 ** (k / 2) for k in range(-12, 25)))
"""Orders at which a divergence is compared with rho: it is smooth between them."""

_ROUNDED = 1e-9
"""How far, relatively, a sum of masses may be off: no more than that is spared an infinite loss."""

_TOGETHER = 1e-11
"""Log ratios closer than this are one: far below what is claimed of any price."""


@dataclass(frozen=True)
class Listed:
    """The log masses of both laws, answer by answer."""

    one: Masses
    other: Masses

    @classmethod
    def of(cls, one: Mapping[Any, float], other: Mapping[Any, float]) -> "Listed":
        """Put two laws beside each other; what one does not list is impossible there."""
        answers = list(dict.fromkeys([*one, *other]))
        laws = (np.array([law.get(a, -math.inf) for a in answers]) for law in (one, other))
        return cls(*laws)

    def lumped(self) -> "Listed":
        """Add up the answers of each log ratio: it is all that an answer tells (sufficiency)."""
        ratios = np.round(difference(self.one, self.other) / _TOGETHER) * _TOGETHER
        kept = ~(np.isneginf(self.one) & np.isneginf(self.other))
        levels, places = np.unique(ratios[kept], return_inverse=True)
        laws = []
        for masses in (self.one[kept], self.other[kept]):
            total = np.bincount(places, np.exp(masses), len(levels))
            with np.errstate(divide="ignore"):
                laws.append(np.log(total))
        return Listed(*laws)

    def joint(self, second: "Listed") -> "Listed":
        """Pair the answers with those of an independent second."""
        one = np.add.outer(self.one, second.one).ravel()
        return Listed(one, np.add.outer(self.other, second.other).ravel()).lumped()

    @property
    def epsilon(self) -> float:
        """The largest |log P(answer | one) - log P(answer | other)|."""
        return float(np.abs(difference(self.one, self.other)).max(initial=0.0))

    def delta(self, epsilon: float) -> float:
        """The least delta at this epsilon."""
        excess = (np.exp(p) - np.exp(epsilon + q) for p, q in self._both)
        return max(math.fsum(np.maximum(more, 0.0)) for more in excess)

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon at this delta, above 0: infinite where impossible answers weigh more.

        delta(epsilon) falls in steps that are linear in exp(epsilon), between the log ratios.
        """
        found = 0.0
        for p, q in self._both:
            ratios = difference(p, q)
            order = np.argsort(-ratios)
            here, there = np.cumsum(np.exp(p[order])), np.cumsum(np.exp(q[order]))
            if np.exp(p[np.isneginf(q)]).sum() > delta * (1 + _ROUNDED):
                return math.inf
            with np.errstate(divide="ignore", invalid="ignore"):
                cut = np.log((here - delta) / there)  # epsilon at which the first i weigh delta
            sure = cut[np.isfinite(cut)]
            found = max(found, float(sure.max(initial=0.0)))
        return found

    def renyi(self, order: float) -> float:
        """The Renyi divergence of this order, above 1: the larger of both directions."""
        return max(divergence(p, q, above_one(order)) for p, q in self._both)

    @property
    def rho(self) -> float:
        """The least rho of zCDP, but for what lies between the orders that are tried."""
        return max(self.renyi(float(order)) / float(order) for order in _ORDERS)

    @property
    def mu(self) -> float:
        """The least mu of GDP: at every vertex of the trade-off, which suffices by convexity.

        [Dong, Roth & Su 2022, Def. 4 and the convexity of G_mu]
        """
        normal, least = NormalDist(), 0.0
        for p, q in self._both:
            order = np.argsort(-difference(p, q))
            kept, power = np.exp(q[order]), np.exp(p[order])
            false, missed = np.cumsum(kept), np.cumsum(power[::-1])[::-1]
            right = np.cumsum(kept[::-1])[::-1]  # 1 - false, without cancellation
            for i in range(len(order) - 1):
                a, b, rest = float(false[i]), float(missed[i + 1]), float(right[i + 1])
                if a <= 0 or b <= 0:
                    if a < 1 and b < 1:
                        return math.inf
                    continue
                first = normal.inv_cdf(rest) if a > 0.5 else -normal.inv_cdf(a)
                least = max(least, first - normal.inv_cdf(min(b, 1 - 1e-16)))
        return least

    @cached_property
    def _both(self) -> tuple[tuple[Masses, Masses], tuple[Masses, Masses]]:
        """Both directions."""
        return (self.one, self.other), (self.other, self.one)


def difference(p: Masses, q: Masses) -> Masses:
    """Return p - q, where two impossible answers differ by 0."""
    both = np.isneginf(p) & np.isneginf(q)
    result: Masses = np.subtract(p, q, out=np.zeros_like(p), where=~both)
    return result


def divergence(p: Masses, q: Masses, order: float, weight: float = 0.0) -> float:
    """Return the Renyi divergence of p from q; every answer stands for exp(weight) of them."""
    possible = ~np.isneginf(p)
    if np.isneginf(q[possible]).any():
        return math.inf
    terms = order * p[possible] + (1 - order) * q[possible]
    return (log_sum(terms) + weight) / (order - 1)


def log_sum(logs: Masses) -> float:
    """Return log of the sum of exp."""
    top = float(logs.max())
    return top + math.log(math.fsum(np.exp(logs - top)))


def above_one(order: float) -> float:
    """Return the order, checked."""
    if not 1 < order < math.inf:
        raise InvalidQuery(f"order: {order} is not a finite number above 1; give 2, for instance")
    return float(order)
