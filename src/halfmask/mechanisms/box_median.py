"""The median of many-dimensional data by nested boxes: the exponential mechanism on least ranks."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.grid_points import GridChoice
from halfmask.noise import Words, below_whole, weighted_huge

LOG2 = log(2)


@final
@dataclass(frozen=True, init=False)
class BoxMedian(GridChoice):
    """Choose a grid point θ with P(θ) ∝ exp(epsilon (2 depth(θ) - n) / (2 moved)).

    depth(θ) is the least number of rows on one side of θ along an axis, those level with it on
    both: min over j of min(#{i: x_ij <= θ_j}, #{i: x_ij >= θ_j}), Tukey's depth with the directions
    of the axes alone. The score 2 depth - n is twice -max |rank - n/2|. One row more adds 0 or 1 to
    each count and 1 to n, so each 2 count - n moves by exactly 1, and their minimum by at most 1.

    Privacy: epsilon-DP, as every `GridChoice`: a row changes the score by at most 1, n too.

    The points of depth k or more form the box of the k-th smallest to the k-th greatest value of
    each coordinate (#{x <= θ} >= k says that θ is not below the k-th smallest), so the boxes are
    nested. The depth is drawn by the exact number of points of that depth and their weight, then
    one of these points uniformly. Cost: sorting, and n d floating-point operations.

    Attributes:
        lower, upper: the box, an integer for each coordinate, both ends within.
        moved: how many rows come and go between neighbours: 1 for one row added or removed, 2 for
          one replaced; a unit of r rows moves r or 2 r.
        epsilon: the price.

    >>> import numpy as np
    >>> median = BoxMedian([-1000] * 3, [1000] * 3, moved=1, epsilon=50)
    >>> median.release(np.tile(np.arange(-40, 41)[:, None], 3))
    (0, 0, 0)

    """

    @property
    def _name(self) -> str:
        return "least ranks"

    def log_masses(self, points: NDArray[Any]) -> dict[tuple[int, ...], float]:
        """Return the log probability of every point of the grid, straight from the definition."""
        rows = self.inside(points)
        sides = [range(a, b + 1) for a, b in zip(self.lower, self.upper, strict=True)]
        depths = [
            [min((column <= cell).sum(), (column >= cell).sum()) for cell in side]
            for column, side in zip(rows.T, sides, strict=True)
        ]
        logs = np.array([2.0 * float(self.rate) * min(depth) for depth in product(*depths)])
        logs -= logs.max()
        logs -= log(np.exp(logs).sum())
        return dict(zip(product(*sides), logs.tolist(), strict=True))

    def _choose(self, points: NDArray[np.int64], words: Words) -> tuple[int, ...]:
        boxes = NestedBoxes(np.sort(points.T, axis=1), self.lower, self.upper)
        there = np.flatnonzero(boxes.occupied)
        chosen = weighted_huge(
            boxes.logs[there],
            boxes.error,
            lambda i: boxes.count(int(there[i])),
            2 * there,
            self.rate,
            words,
        )
        k = int(there[chosen])
        return boxes.point(k, below_whole(boxes.count(k), words))


@dataclass(frozen=True)
class NestedBoxes:
    """The grid points of depth k or more, for k = 0, 1, ...: boxes, each within the one before.

    columns: the values of each coordinate in rising order, (d, n).
    """

    columns: NDArray[np.int64]
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @cached_property
    def depths(self) -> int:
        """The number of boxes that hold a point: those of k = 0 .. depths - 1."""
        n = self.columns.shape[1]
        # The k-th smallest rises and the k-th greatest falls with k: the last k with room in all.
        least, most = 0, n
        while least < most:
            k = (least + most + 1) // 2
            if (self.columns[:, k - 1] <= self.columns[:, n - k]).all():
                least = k
            else:
                most = k - 1
        return least + 1

    def box(self, k: int) -> tuple[list[int], list[int]] | None:
        """Return both ends of box k as Python integers; None where it is empty."""
        if k == 0:
            return list(self.lower), list(self.upper)
        if k >= self.depths:
            return None
        n = self.columns.shape[1]
        low: list[int] = self.columns[:, k - 1].tolist()
        high: list[int] = self.columns[:, n - k].tolist()
        return low, high

    def _ends(self, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both ends of every box in coordinate j."""
        column, count = self.columns[j], self.depths - 1
        low = np.concatenate([[self.lower[j]], column[:count]])
        high = np.concatenate([[self.upper[j]], column[::-1][:count]])
        return low, high

    @cached_property
    def _sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Over coordinates: log2 of the widths, and ln of the part that the next box leaves."""
        sizes, left = np.zeros(self.depths), np.zeros(self.depths)
        for j in range(len(self.lower)):
            low, high = self._ends(j)
            widths = high - low + 1
            sizes += np.log2(widths.astype(float))
            with np.errstate(divide="ignore"):  # from 2^60 to 1 is, to floats, a shrinking by all
                left[:-1] += np.log1p((widths[1:] - widths[:-1]) / widths[:-1])
        left[-1] = -np.inf
        return sizes, left

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Whether a depth has points: its box is larger than the next."""
        occupied: NDArray[np.bool_] = self._sums[1] < 0  # log1p of anything below 0 is below 0
        return occupied

    @property
    def logs(self) -> NDArray[np.float64]:
        """log2 of the number of points of each depth, -inf for none, right to `error`.

        Their number is box (1 - Π (1 - shrunk part)), all terms of one sign: nothing cancels.
        """
        sizes, left = self._sums
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = sizes + np.log(-np.expm1(left)) / LOG2
        return logs

    @property
    def error(self) -> float:
        """A bound on the error of `logs`.

        Each of d terms of at most 62 is good to 2^-46, and their sums, at most 62 d, to 2^-52 of
        themselves at each addition.
        """
        d = len(self.lower)
        return float(d * 2.0**-44 + 62 * d * d * 2.0**-52)

    def count(self, k: int) -> int:
        """Return how many grid points have depth k, exactly."""
        return sum(self._parts(k))

    def _parts(self, k: int) -> list[int]:
        """Return how many points of depth k are in the next box before coordinate j, not at j."""
        (low, high), inner = self.box(k) or ([], []), self.box(k + 1)
        widths = [b - a + 1 for a, b in zip(low, high, strict=True)]
        if inner is None:
            kept = [0] * len(widths)
        else:
            kept = [b - a + 1 for a, b in zip(*inner, strict=True)]
        after = [1]
        for width in reversed(widths[1:]):
            after.append(after[-1] * width)
        parts, before = [], 1
        for width, narrow, rest in zip(widths, kept, reversed(after), strict=True):
            parts.append(before * (width - narrow) * rest)
            before *= narrow
        return parts

    def point(self, k: int, place: int) -> tuple[int, ...]:
        """Return the point of depth k at this place, 0 .. count(k) - 1, in a list of all."""
        parts = self._parts(k)
        leaves = 0
        while place >= parts[leaves]:
            place -= parts[leaves]
            leaves += 1
        (low, high), inner = self.box(k) or ([], []), self.box(k + 1)
        point = []
        for j, (a, b) in enumerate(zip(low, high, strict=True)):
            if inner is None or j > leaves:
                place, offset = divmod(place, b - a + 1)
                point.append(a + offset)
                continue
            first, last = inner[0][j], inner[1][j]
            if j < leaves:
                place, offset = divmod(place, last - first + 1)
                point.append(first + offset)
            else:  # beside the next box: below its first, or above its last
                place, offset = divmod(place, b - a - (last - first))
                point.append(a + offset if a + offset < first else a + offset + last - first + 1)
        return tuple(point)
