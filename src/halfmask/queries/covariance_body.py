"""The body of one record's contributions to a covariance matrix, priced whole.

With c = 2 (x - lower) / width - 1 in [-1, 1] and a = (c + 1) / 2, a record adds, for each column,
Bernstein's parts ((1-a)^2, 2a(1-a), a^2), which sum to 1 and tell its number, mean and square; and
for each pair of columns c_i c_j. All are weighted by public integers, so that one law of noise on
all of them has the least expected error of the whole matrix.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import OnGrid, cloud_of
from halfmask.privacy import Relation
from halfmask.queries.setting import Reach

__all__ = ["Body", "body_of"]

CELLS = 2**14
"""Grid cells a column spans, at least: squares of them are summed."""

FINE = 2**36
"""What the largest contribution of a column counts as, roughly."""

BLOCK = 2**16
"""Rows whose products are summed at a time: below 2^53, so sums of doubles are exact."""


@dataclass(frozen=True)
class Body:
    """Integer weights over exact integer sums.

    widths: the cells W_i that each column spans. own, pairs: the weights of each column's parts
    (out of W_i^2) and of each pair's product (out of W_i W_j), pairs in the order of combinations.

    Privacy: with B_i = own_i W_i^2 and P_ij = pairs_ij W_i W_j, a row has the L1 norm of at most
    sum B + sum P and the squared L2 norm of at most sum B^2 + sum P^2 (a vector of parts that sum
    to 1 has squared length 1 at most). Two rows lie at most 2 sum B + 2 floor(d^2/4) max P apart in
    L1, and 2 sum B^2 + 4 floor(d^2/4) max P^2 in squared L2: distances are convex in each c_i
    alone, so products differ most at corners c, c' of the cube, where c_i c_j and c'_i c'_j differ,
    by 2, just where one of i, j is among the k coordinates whose sign changed: in k (d - k) pairs.
    Rows of one unit add up (triangle inequality). tests/queries search for worse.
    """

    widths: tuple[int, ...]
    own: tuple[int, ...]
    pairs: tuple[int, ...]

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """The place of each pair of columns."""
        pairs = combinations(range(len(self.widths)), 2)
        return {pair: place for place, pair in enumerate(pairs)}

    @cached_property
    def wholes(self) -> tuple[list[int], list[int]]:
        """B_i and P_ij: the most that one row adds to the parts of a column, and to a pair."""
        W = self.widths
        own = [weight * w * w for weight, w in zip(self.own, W, strict=True)]
        pairs = [p * W[i] * W[j] for p, (i, j) in zip(self.pairs, self.places, strict=True)]
        return own, pairs

    def reach(self, relation: Relation, rows: int) -> Reach:
        """How far one unit of so many rows moves the weighted sums."""
        own, pairs = self.wholes
        l1 = sum(own) + sum(pairs)
        squared = sum(b * b for b in own) + sum(p * p for p in pairs)
        if relation is Relation.REPLACE:
            cut, most = len(self.widths) ** 2 // 4, max(pairs, default=0)
            l1 = max(l1, 2 * sum(own) + 2 * cut * most)
            squared = max(squared, 2 * sum(b * b for b in own) + 4 * cut * most * most)
        return Reach(rows * l1, rows * rows * squared)

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums of products of a block, a 1 put before each of its rows; see `Statistic`.

        Cells are below 2^16, so the products of a part sum to below 2^48: exact in doubles,
        whatever the order in which a library adds them.
        """
        d = len(self.widths) + 1
        total = np.zeros((d, d), dtype=np.int64)
        for start in range(0, len(block), BLOCK):
            part = np.ones((len(block[start : start + BLOCK]), d))
            part[:, 1:] = block[start : start + BLOCK]
            total += (part.T @ part).astype(np.int64)
        return total

    def sums(self, points: Any) -> tuple[int, ...]:
        """Return the exact weighted sums: three parts a column, then the pairs.

        points: (n, d) cells, each from 0 to its width.
        """
        (n, *first), *rest = cloud_of(points).total(self).tolist()
        second = [row[1:] for row in rest]
        parts: list[int] = []
        for i, (w, weight) in enumerate(zip(self.widths, self.own, strict=True)):
            s, square = first[i], second[i][i]
            low, middle = n * w * w - 2 * w * s + square, 2 * w * s - 2 * square
            parts += [weight * low, weight * middle, weight * square]
        for (i, j), weight in zip(self.places, self.pairs, strict=True):
            a, b = self.widths[i], self.widths[j]
            product = 4 * second[i][j] - 2 * b * first[i] - 2 * a * first[j] + n * a * b
            parts.append(weight * product)
        return tuple(parts)


def body_of(grids: tuple[OnGrid, ...], *, gaussian: bool) -> Body:
    """Weigh the contributions for the least expected squared error of all entries.

    A contribution with error e at weight 1 gets e^(2/3) for Laplace and e^(1/2) for Gaussian noise
    (Lagrange). e^2 is 2 for a pair, which stands twice in the matrix, and 8/3 for a column's parts
    in its variance, values spread evenly, with what its mean adds to its pairs.
    """
    d, power = len(grids), 1 / 4 if gaussian else 1 / 3
    own, pair = (8 / 3 + 4 / 9 * (d - 1)) ** power, 2**power
    W = tuple(grid.upper - grid.lower for grid in grids)
    weights = tuple(round(FINE * own / pair / (w * w)) or 1 for w in W)
    pairs = tuple(round(FINE / (W[i] * W[j])) or 1 for i, j in combinations(range(d), 2))
    return Body(W, weights, pairs)
