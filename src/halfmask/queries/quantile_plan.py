"""How several quantiles share a price: which is chosen when, and with how much of it."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from halfmask.privacy import Cost
from halfmask.queries.pricing import range_epsilon

__all__ = ["Node", "QuantilePlan"]

_FINE = 1024
"""The denominators of quantiles within parts of a line."""


@dataclass(frozen=True)
class Node:
    """One choice: which quantile, its rank q in its part of the line, and the rate per weight.

    low, high: the quantiles that the part lies between, -1 and their number where it has no end.
    alone: whether no later choice is made within the part. offset: public weight added to the rank.
    """

    index: int
    q: Fraction
    low: int
    high: int
    alone: bool
    rate: Fraction = Fraction(0)
    offset: int = 0


@dataclass(frozen=True)
class QuantilePlan:
    """Choices in levels; those of one level look at disjoint parts of the line.

    A part ends at quantiles that were chosen before, so a unit's weight is split among the parts of
    a level. [the splitting: Kaplan, Schnapp & Stemmer 2022; parts that cut a cell of equal values:
    see `Line`]
    Privacy: a unit with the weight w_k in part k adds 2 rate_k w_k max(q_k, 1 - q_k) to the bounded
    range of its level, and with rate_k = e/(2 w max(q_k, 1 - q_k)) all parts together add at most
    e, since the w_k sum to at most w. If it is replaced, that is at most twice as much; where there
    is one part, 2 rate w. Ranges add up over independent choices; levels compose.
    """

    levels: tuple[tuple[Node, ...], ...]

    @classmethod
    def best(
        cls, quantiles: tuple[Fraction, ...], price: Cost, weight: int, *, moves: bool, split: bool
    ) -> "QuantilePlan":
        """Take the plan with the lower expected squared error in rank, from public facts.

        weight: the most that one unit has. moves: whether a unit may be replaced. split: whether it
        may have, or come to have, rows in several groups.
        """
        plans = [cls._of(levels, price, weight, moves, split) for levels in _shapes(quantiles)]
        return min(plans, key=lambda plan: sum(plan.variances()))

    @classmethod
    def _of(
        cls, shape: list[list[Node]], price: Cost, weight: int, moves: bool, split: bool
    ) -> "QuantilePlan":
        epsilon = range_epsilon(price, len(shape))

        def rated(node: Node, parts: int) -> Node:
            worst = max(node.q, 1 - node.q)
            if moves:
                worst = 2 * worst if split or parts > 1 else Fraction(1)
            return replace(node, rate=epsilon / (2 * weight * worst))

        return cls(tuple(tuple(rated(node, len(level)) for node in level) for level in shape))

    def shifted(self, offsets: tuple[int, ...]) -> "QuantilePlan":
        """Add public weights to the ranks of the quantiles, rising."""
        return QuantilePlan(
            tuple(
                tuple(replace(node, offset=offsets[node.index]) for node in level)
                for level in self.levels
            )
        )

    @property
    def size(self) -> int:
        """The number of quantiles."""
        return sum(map(len, self.levels))

    @property
    def cut(self) -> bool:
        """Whether any part is split again."""
        return any(not node.alone for level in self.levels for node in level)

    def variances(self) -> list[float]:
        """The expected squared error in rank of each quantile, in weights: 2/rate² a choice.

        The error of the rank q between two chosen ends is 1-q times the one's and q times the
        other's, and its own.
        """
        errors: dict[int, dict[int, float]] = {-1: {}, self.size: {}}
        own = {}
        for level in self.levels:
            for node in level:
                own[node.index] = 2 / float(node.rate) ** 2
                low, high = errors[node.low], errors[node.high]
                q = float(node.q)
                mixed = {i: (1 - q) * low.get(i, 0.0) + q * high.get(i, 0.0) for i in {*low, *high}}
                errors[node.index] = {**mixed, node.index: 1.0}
        return [
            math.fsum(share**2 * own[i] for i, share in errors[index].items())
            for index in range(self.size)
        ]


def _shapes(quantiles: tuple[Fraction, ...]) -> list[list[list[Node]]]:
    """Each quantile for itself on the whole line; and all by halves."""
    count = len(quantiles)
    ranked = sorted(quantiles)
    apart = [[Node(i, q, -1, count, alone=True)] for i, q in enumerate(ranked)]
    return [apart] if count == 1 else [apart, _halved(ranked)]


def _halved(ranked: list[Fraction]) -> list[list[Node]]:
    ends = [Fraction(0), *ranked, Fraction(1)]
    levels, parts = [], [(0, len(ranked))]
    while parts:
        level, following = [], []
        for first, last in parts:
            middle = (first + last) // 2
            low, high = ends[first], ends[last + 1]
            q = ((ranked[middle] - low) / (high - low)).limit_denominator(_FINE)
            level.append(Node(middle, q, first - 1, last, alone=last - first == 1))
            following += [(a, b) for a, b in ((first, middle), (middle + 1, last)) if a < b]
        levels.append(level)
        parts = following
    return levels
