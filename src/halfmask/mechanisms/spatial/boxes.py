"""Proposals from boxes, cut in two where it pays: for few coordinates, whatever the rows.

In a box of middle m and half diagonal h, let a row lie at the distance r from m in the direction u,
and v be any vector of length at most 1. From each θ of the box the row lies in a direction that is
off from u by the angle arcsin(h/r) at most. So if r > h, with ⟨u, v⟩ = cos β and h/r = sin δ,

    ⟨u(x - θ), v⟩ >= cos(β + δ) = cos β cos δ - sin β sin δ,    and -1 where β + δ > π or r <= h.

Summed over rows it bounds ⟨S(θ), v⟩ <= ‖S(θ)‖ from below, the better the nearer v is to the
direction of S(m). On a line directions do not turn: δ = 0. As a box shrinks to one grid point the
bound tends to ‖S‖ there, so that enough cuts make acceptance as good as certain.

Floats: cosines and h/r are right to 2^-46. EDGE is added where a root must not be too small, taken
off where it must not be too large, and off each row for what is left; a sum of n numbers of at most
1 in size, in any order, is right to n² 2^-53.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log, prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.grid_points import GridChoice
from halfmask.mechanisms.spatial.sums import LEVEL_BITS, UnitSum
from halfmask.noise import Groups, Words, below

__all__ = ["Boxes"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

EDGE = 2.0**-42
ENTRIES = 1 << 20  # of one block of boxes and rows
AT_ONCE = 512  # boxes that are cut in one round
ENOUGH = 2.0  # rejected proposals for each accepted one, at which cutting stops
WORTH = 8  # or as many as an eighth of the parts: a proposal costs less than a cut
PATIENCE = 16  # proposals that fail before it goes on


@dataclass(frozen=True)
class Boxes:
    """A partition of the box of a mechanism, with a lower bound of ‖S‖ in each part.

    low, high: the ends of each part, (k, d), both within.
    levels: the bounds times 2^20; usual: ‖S‖ in each, about; it decides about cuts alone.
    """

    points: Whole
    steps: tuple[int, ...]
    mechanism: GridChoice
    low: Whole
    high: Whole
    levels: Whole
    usual: Floats

    @classmethod
    def of(cls, mechanism: GridChoice, points: Whole, steps: tuple[int, ...]) -> Self:
        """Cut the box of a mechanism until proposals are accepted often, as far as is known."""
        low, high = (np.array([side], np.int64) for side in (mechanism.lower, mechanism.upper))
        boxes = cls(points, steps, mechanism, low, high, *_bounds(points, steps, low, high))
        while (finer := boxes.cut(max(ENOUGH, len(boxes.low) / WORTH))) is not boxes:
            boxes = finer
        return boxes

    @cached_property
    def _widths(self) -> Whole:
        return self.high - self.low

    def cut(self, enough: float) -> Self:
        """Cut the parts that cause most rejections in two; itself where these are few enough."""
        sizes = np.log2(self._widths + 1.0).sum(axis=1)
        rate = float(self.mechanism.rate) / log(2)
        logs = sizes - rate * np.ldexp(self.levels.astype(float), -LEVEL_BITS)
        proposed = np.exp2(logs - logs.max())
        accepted = np.minimum(proposed, np.exp2(sizes - rate * self.usual - logs.max()))
        excess = np.where(self._widths.any(axis=1), proposed - accepted, 0.0)
        if excess.sum() <= enough * accepted.sum():
            return self
        order = np.argsort(-excess, kind="stable")[:AT_ONCE]
        order = order[: 1 + int(np.searchsorted(np.cumsum(excess[order]), excess.sum() / 2))]
        low, high = self._halves(order)
        kept = np.ones(len(self.low), np.bool_)
        kept[order] = False
        levels, usual = _bounds(self.points, self.steps, low, high)
        return type(self)(
            self.points,
            self.steps,
            self.mechanism,
            np.concatenate([self.low[kept], low]),
            np.concatenate([self.high[kept], high]),
            np.concatenate([self.levels[kept], levels]),
            np.concatenate([self.usual[kept], usual]),
        )

    def _halves(self, chosen: Whole) -> tuple[Whole, Whole]:
        """Cut parts of more than one grid point across their longest side."""
        low, high = self.low[chosen], self.high[chosen]
        rows = np.arange(len(chosen))
        side = (self._widths[chosen] * np.array(self.steps, float)).argmax(axis=1)
        middle = low[rows, side] + (high - low)[rows, side] // 2
        upto, beyond = high.copy(), low.copy()
        upto[rows, side], beyond[rows, side] = middle, middle + 1
        return np.concatenate([low, beyond]), np.concatenate([upto, high])

    @cached_property
    def _groups(self) -> Groups:
        counts = np.array([prod(row) for row in (self._widths + 1).tolist()], dtype=object)
        rate = self.mechanism.rate / 2**LEVEL_BITS
        return Groups(counts, -self.levels, rate)

    def attempt(self, words: Words) -> tuple[int, ...] | None:
        """Return a uniform point of a part, drawn by its weight, if it is accepted.

        Words: those of one draw of `weighted`, of `below` for each coordinate, and of
        `bernoulli_enclosed`.
        """
        part = int(self._groups.draw(1, words)[0])
        ends = zip(self.low[part].tolist(), self.high[part].tolist(), strict=True)
        place = tuple(a + int(below(b - a + 1, (), words)) for a, b in ends)
        total = UnitSum(self.points, np.array(place, np.int64), self.steps)
        level = int(self.levels[part])
        return place if total.accepts(level, self.mechanism.rate, words) else None

    def draw(self, words: Words) -> tuple[int, ...]:
        """Draw a point: proposals, and cuts between them where they fail."""
        boxes = self
        while True:
            for _ in range(PATIENCE):
                place = boxes.attempt(words)
                if place is not None:
                    return place
            boxes = boxes.cut(0.0)


def _bounds(points: Whole, steps: tuple[int, ...], low: Whole, high: Whole) -> tuple[Whole, Floats]:
    """Return the bounds in boxes, times 2^20, and about the greatest ‖S‖ that is usual in them.

    That is ‖S‖ at the middle, or, where more, half-way between the bound and an upper one: a large
    box with the median in its middle is not taken for one that is all median.
    """
    block = max(1, ENTRIES // max(points.size, 1))
    parts = [slice(at, at + block) for at in range(0, len(low), block)]
    found = [_block(points, np.array(steps, float), low[part], high[part]) for part in parts]
    levels, usual = (np.concatenate(each) for each in zip(*found, strict=True))
    return np.floor(np.ldexp(levels, LEVEL_BITS)).astype(np.int64), usual


def _block(points: Whole, steps: Floats, low: Whole, high: Whole) -> tuple[Floats, Floats]:
    n, d = points.shape
    gaps = (2 * points - (low + high)[:, None]).astype(np.float64) * steps  # all lengths twice
    half = np.sqrt(np.square((high - low) * steps).sum(axis=1))[:, None] * (1 + EDGE)
    lengths = np.sqrt(np.square(gaps).sum(axis=2))
    units = gaps / np.where(lengths > 0, lengths, 1.0)[:, :, None]
    sums = units.sum(axis=1)
    middles = np.sqrt(np.square(sums).sum(axis=1))
    along = sums / (np.where(middles > 0, middles, 1.0) * (1 + EDGE))[:, None]
    cosine = (units * along[:, None]).sum(axis=2)
    within = lengths <= half
    turn = np.divide(half, lengths, out=np.zeros_like(lengths), where=~within & (d > 1))
    square = turn * turn
    least, most = np.sqrt(np.maximum(1 - square - EDGE, 0)), np.sqrt(1 - square + EDGE)
    sine = np.sqrt(np.maximum(1 - cosine * cosine, 0) + EDGE)
    bound = np.where(cosine > 0, cosine * least, cosine * most) - sine * turn - EDGE
    bound[cosine < EDGE - least] = -1.0
    bound = np.where(within, np.where(half > 0, -1.0, 0.0), bound)  # a single point may be a row's
    levels = np.maximum(bound.sum(axis=1) - n * n * 2.0**-52, 0.0)
    chords = np.where(within, np.where(half > 0, 2.0, 0.0), np.sqrt(2 - 2 * least))
    return levels, np.maximum(middles, (levels + middles + chords.sum(axis=1)) / 2)
