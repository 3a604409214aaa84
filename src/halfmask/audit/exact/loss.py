"""The privacy loss of a mechanism, from its exact mass function over its whole support."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from halfmask.audit.exact.listed import Listed, above_one, difference, divergence, log_sum
from halfmask.audit.exact.steps import step_laws
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive, Selection, Staircase

__all__ = ["Loss", "exact_loss"]

_FAR = 64
"""How many scales out the mass is looked at: e^-64 is beyond any delta, and ratios have settled."""


class Loss(Protocol):
    """How well one answer tells apart two neighbouring statistics."""

    @property
    def epsilon(self) -> float:
        """The largest |log P(answer | one) - log P(answer | other)|; infinite for a Gaussian."""
        ...

    def delta(self, epsilon: float) -> float:
        """The least delta at this epsilon: the largest P(event | one) - e^epsilon P(event | other).

        It may be met by no event where `epsilon` holds on its own: then it is 0.
        """
        ...

    def renyi(self, order: float) -> float:
        """The Renyi divergence of this order, above 1: the larger of both directions."""
        ...


def exact_loss(
    mechanism: Additive | Selection,
    shift: int | Sequence[int],
    scores: Sequence[int] | None = None,
) -> Loss:
    """Compare a mechanism's answers on a statistic and on its neighbour, `shift` away.

    Args:
        mechanism: additive noise, or the choice of a candidate.
        shift: how far the neighbour moves the integers (for a choice: each score).
        scores: the scores before they move; for a choice alone.

    Accurate to 1e-12, absolute or relative, whichever is larger.

    >>> from halfmask.mechanisms import DiscreteLaplace, RoundedGaussian
    >>> exact_loss(DiscreteLaplace(sensitivity=4, epsilon=0.5), 4).epsilon
    0.5
    >>> round(exact_loss(RoundedGaussian(sensitivity_squared=25, mu=1), 5).delta(1.0), 6)
    0.126937

    """
    if isinstance(mechanism, Selection):
        return _choice(mechanism, shift, scores)
    if scores is not None:
        raise InvalidQuery("scores: noise is added whatever the integers are; leave them out")
    moved = (shift,) if isinstance(shift, int) else tuple(map(int, shift))
    if isinstance(mechanism, Staircase):
        return Listed(*step_laws(mechanism, moved))
    return _Noise(mechanism, tuple(abs(one) for one in moved if one))


def _choice(
    mechanism: Selection, shift: int | Sequence[int], scores: Sequence[int] | None
) -> Listed:
    if scores is None or isinstance(shift, int) or len(shift) != len(scores):
        raise InvalidQuery("scores: give the scores, and a shift for each of them")
    moved = [score + by for score, by in zip(scores, shift, strict=True)]
    return Listed(mechanism.log_mass(scores), mechanism.log_mass(moved))


@dataclass(frozen=True)
class _Noise:
    """Symmetric, log-concave noise on integers that move by `shift`, each above 0.

    Log-concave: log P(k) - log P(k - s) only falls in k, so its extremes are in the tails, and the
    event that tells most at an epsilon is a half-line. Checked in tests/audit for every mechanism.
    """

    mechanism: Additive
    shift: tuple[int, ...]

    @property
    def epsilon(self) -> float:
        return math.fsum(self._farthest(s) for s in self.shift)

    def delta(self, epsilon: float) -> float:
        if not self.shift:
            return 0.0
        if len(self.shift) > 1:
            raise InvalidQuery("delta: is computed for one integer; use renyi for a vector")
        if self.mechanism.scale == 0:
            return 1.0
        (s,) = self.shift
        last = self._last_above(epsilon, s)
        if last is None:
            return 0.0
        here, there = self._up_to(last), self._up_to(last - s)
        spared = math.exp(epsilon + math.log(there)) if there > 0 else 0.0
        return max(here - spared, 0.0)

    def renyi(self, order: float) -> float:
        return math.fsum(self._renyi(s, above_one(order)) for s in self.shift)

    def _ratio(self, k: int, s: int) -> float:
        """Return log P(k) - log P(k - s): how far an answer k speaks for the unmoved integer."""
        mass = self.mechanism.log_mass([k, k - s])
        return float(difference(mass[:1], mass[1:])[0])

    def _spread(self) -> int:
        return max(1, math.ceil(self.mechanism.scale))

    def _farthest(self, s: int) -> float:
        far = _FAR * self._spread()
        near, middle, end = (abs(self._ratio(-k, s)) for k in (0, far // 2, far))
        settled = abs(end - middle) <= 1e-11 * max(1.0, end)
        return max(near, middle, end) if settled else math.inf

    def _last_above(self, epsilon: float, s: int) -> int | None:
        """Return the last k with log P(k) - log P(k - s) above epsilon: before it all are."""
        low, high = -_FAR * self._spread() - s, _FAR * self._spread() + s
        if not self._ratio(low, s) > epsilon:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._ratio(middle, s) > epsilon else (low, middle)
        return low

    def _up_to(self, k: int) -> float:
        """Return P(noise <= k), from the exact tail."""
        beyond = self.mechanism.tail(-k - 1 if k < 0 else k)
        return beyond / 2 if k < 0 else 1 - beyond / 2

    def _renyi(self, s: int, order: float) -> float:
        if self.mechanism.scale == 0:
            return math.inf
        spread = self._spread()
        falls = self.mechanism.log_mass([0, spread, 2 * spread])
        if abs((falls[0] - falls[1]) - (falls[1] - falls[2])) < 1e-9:  # log-linear: Laplace
            return self._renyi_in_pieces(s, order)
        # Else smooth: the sum over every h-th integer, times h, is the whole sum but for
        # exp(-2 (pi sigma/h)²) of it (Poisson), which is nothing for h below sigma/16.
        stride = max(1, spread // 64)
        far = 40 * spread + math.ceil(order * s)
        k = np.arange(-(far // stride), far // stride + 1) * stride
        p, q = self.mechanism.log_mass(k), self.mechanism.log_mass(k - s)
        return divergence(p, q, order, math.log(stride))

    def _renyi_in_pieces(self, s: int, order: float) -> float:
        """Sum three geometric series, cut where the two laws have their kinks: at 0 and at s."""
        mass = self.mechanism.log_mass([0, s, 1])
        rate = float(mass[0] - mass[1]) / s

        def term(p: float, q: float) -> float:
            return order * p + (1 - order) * q

        step = -(2 * order - 1) * rate
        outer = -math.log(-math.expm1(-rate))
        left, right = term(mass[0], mass[1]) + outer, term(mass[1], mass[0]) + outer
        pieces = [left, right]
        if s > 1:  # k = 1, ..., s - 1
            count = (s - 1) * step
            inner = step + math.log(math.expm1(count) / math.expm1(step))
            pieces.append(term(mass[0], mass[1]) + inner)
        return log_sum(np.array(pieces)) / (order - 1)
