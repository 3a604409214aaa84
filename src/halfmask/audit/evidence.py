"""Evidence against a claim: the wealth of a gambler who bets that it is false.

If a mechanism is (epsilon, delta)-DP, then P(E | D) <= e^epsilon P(E | D') + delta for neighbours D
and D' and any event E. Draw one output from each, let a and b say whether E holds: the stake
lambda pays 1 + lambda (a - e^epsilon b - delta), on average at most 1, and never less than 0 while
lambda <= 1 / (e^epsilon + delta). Wealth that starts at 1 and is staked so again and again is a
non-negative supermartingale whatever pair, direction, event and lambda are chosen from what was
seen before, so it ever reaches 1/alpha with probability at most alpha.
[Ville 1939; Waudby-Smith & Ramdas 2024, Thm 1]

A Clopper-Pearson interval for each of the two probabilities has to split alpha over rounds, events
and sides, and adds up two margins; the gambler does neither, and stops whenever he likes.
"""

from math import log

import numpy as np
from numpy.typing import NDArray

__all__ = ["Evidence", "payoffs", "stakes"]

Array = NDArray[np.float64]

STEP = 1.01  # ratio of neighbouring hypotheses: certified bounds are at most 1 % too low
HIGHEST = 20.0
LOWEST_DELTA = 1e-9
BOLDEST = 1 - 1e-3  # part of the largest fair stake: one loss must not be ruin
DOUBT = np.array([0.0, 0.0, 0.5, 0.5])  # counts added to the past, in favour of the claim
NEWTON = 7
LUCK = 2.0
TINY = 1e-300
BEYOND = 1 + 1e-9  # a claim counts as violated when a bound this much above it is certified


def payoffs(epsilon: Array, delta: Array) -> Array:
    """Return a - e^epsilon b - delta in the order both, first only, second only, neither.

    Shape (hypotheses, 4). Exactly: the null's mean of a - e^epsilon b is at most delta.
    """
    ratio = np.exp(epsilon)
    return np.stack([1 - ratio - delta, 1 - delta, -ratio - delta, -delta], axis=-1)


def stakes(frequency: Array, pay: Array) -> tuple[Array, Array]:
    """Return the stakes of fastest growth (Kelly's), and that growth, by Newton's method.

    Args:
        frequency: shape (events, 4), how often each outcome is expected.
        pay: shape (hypotheses, 4), what one unit of stake gains.

    """
    f, x = frequency[:, None, :], pay[None, :, :]
    boldest = BOLDEST / -pay.min(axis=-1)
    mean, square = (f * x).sum(-1), (f * x * x).sum(-1)
    stake = np.clip(mean / np.maximum(square, TINY), 0.0, boldest / 2)  # the end is a barrier
    low, high = np.zeros_like(stake), np.broadcast_to(boldest, stake.shape)
    for _ in range(NEWTON):
        odds = x / (1 + stake[..., None] * x)
        slope, bend = (f * odds).sum(-1), (f * odds * odds).sum(-1)
        low, high = np.where(slope > 0, stake, low), np.where(slope > 0, high, stake)
        stake = stake + slope / np.maximum(bend, TINY)
        stake = np.where((stake < low) | (stake > high), (low + high) / 2, stake)
    return stake, (f * np.log1p(stake[..., None] * x)).sum(-1)


class Evidence:
    """The gambler's wealth against each of a ladder of hypotheses, all bet on at once.

    The ladder holds (epsilon', delta) for growing epsilon' and (epsilon, delta') for growing
    delta'; the claim itself stands on both. A lower bound is the highest rung up to which every
    rung is refuted: it is above the truth only if the rung at or next above the truth is refuted,
    although that one is true: with probability at most alpha.
    """

    def __init__(self, epsilon: float, delta: float, alpha: float) -> None:
        rungs = _ladder(epsilon, max(epsilon / 50, 1e-3), max(HIGHEST, 2 * epsilon))
        deltas = _ladder(delta, LOWEST_DELTA, 1 - 1e-9)
        self.claim = int(np.searchsorted(rungs, epsilon, "right"))  # the rung just above
        self.rungs, self.deltas = rungs, deltas
        self._pay = payoffs(
            np.concatenate([rungs, np.full(deltas.size, epsilon)]),
            np.concatenate([np.full(rungs.size, delta), deltas]),
        )
        self._needed = log(1 / alpha) + 1e-9
        self.wealth = np.zeros(self._pay.shape[0])  # logarithms
        self.highest = self.wealth.copy()

    def bet(self, past: Array, fresh: Array) -> Array:
        """Stake on the event that did best in the past, for each hypothesis, and be paid.

        Args:
            past: shape (events, 4), counts of outcomes seen before the fresh ones were drawn.
            fresh: shape (events, 4), the counts that pay.

        Returns:
            shape (events, hypotheses), what each event added to the logarithm of the wealth.

        """
        believed = past + DOUBT
        size = believed.sum(-1, keepdims=True)
        stake, growth = stakes(believed / size, self._pay)
        # The event was picked because it did well: shrink like James and Stein, since growth times
        # size is half the squared z-score, and one of 2 is no more than luck.
        trust = np.clip(1 - LUCK / np.maximum(growth * size, TINY), 0.0, 1.0)
        each = np.arange(self.wealth.size)
        best = (growth * trust).argmax(axis=0)
        paid = np.log1p((stake * trust)[best, each][:, None] * self._pay)
        gains = np.zeros_like(growth)
        gains[best, each] = (fresh[best] * paid).sum(-1)
        self.wealth += gains.sum(axis=0)
        self.highest = np.maximum(self.highest, self.wealth)
        return gains

    @property
    def epsilon(self) -> float:
        """The certified lower bound on epsilon; 0 when nothing is certified."""
        return float(self.rungs[self.reached - 1]) if self.reached else 0.0

    @property
    def reached(self) -> int:
        """How many rungs of epsilon are refuted from the lowest on."""
        return _run(self.highest[: self.rungs.size] >= self._needed)

    @property
    def delta(self) -> float:
        """The certified lower bound on delta at the claimed epsilon; 0 when none is certified."""
        refuted = _run(self.highest[self.rungs.size :] >= self._needed)
        return float(self.deltas[refuted - 1]) if refuted else 0.0

    @property
    def violated(self) -> bool:
        """Whether the claim, and every lower rung, is refuted."""
        return self.reached > self.claim


def _ladder(claim: float, lowest: float, highest: float) -> Array:
    """A geometric ladder of rungs that holds the claim."""
    count = int(log(highest / lowest) / log(STEP)) + 1
    if highest < 1:  # deltas: three rungs to a factor of two
        count = int(log(highest / lowest) / log(2) * 3)
    return np.union1d(np.geomspace(lowest, highest, count), [claim, claim * BEYOND])


def _run(refuted: NDArray[np.bool_]) -> int:
    """How many in a row from the start."""
    return int(refuted.size if refuted.all() else refuted.argmin())
