"""Proposals from shells around a centre, and from the whole box far out: for many coordinates."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.grid_points import GridChoice
from halfmask.mechanisms.spatial.cell import Cell
from halfmask.mechanisms.spatial.envelope import Envelope
from halfmask.mechanisms.spatial.sums import LEVEL_BITS, UnitSum
from halfmask.noise import Groups, ShellPoint, Words, bernoulli_enclosed, secure_words

__all__ = ["Proposals"]

PIECES = 1024
FAR_PIECES_AN_OCTAVE = 8
POSITION_BITS = 128


@dataclass(frozen=True)
class Proposals:
    """Shells around a centre, and the bounds in them."""

    mechanism: GridChoice
    points: NDArray[np.int64]
    steps: tuple[int, ...]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.steps, dtype=np.float64)

    @cached_property
    def centre(self) -> NDArray[np.int64]:
        """About the spatial median of the rows (Weiszfeld's steps), as a grid point of the box."""
        if not len(self.points):
            ends = zip(self.mechanism.lower, self.mechanism.upper, strict=True)
            middle: NDArray[np.int64] = np.array([(a + b) // 2 for a, b in ends])
            return middle
        start = np.median(self.points[:: max(1, len(self.points) // 5000)], axis=0)
        base = np.rint(start).astype(np.int64)
        gaps = (self.points - base).astype(np.float64) * self._weights
        at = np.zeros(self.mechanism.size)
        for _ in range(60):
            far = np.sqrt(np.square(gaps - at).sum(axis=1))
            weights = 1 / np.maximum(far, max(float(np.median(far)) * 1e-6, 1e-3))
            moved = (gaps * weights[:, None]).sum(axis=0) / float(weights.sum())
            change, at = float(np.abs(moved - at).max()), moved
            if change < 1e-7 * float(np.median(far)):
                break
        found = base + np.rint(at / self._weights).astype(np.int64)
        nearest: NDArray[np.int64] = self.points[np.square(gaps - at).sum(axis=1).argmin()]
        # The pull of the rows elsewhere is no stronger than those at the nearest: it is the median.
        together = int((self.points == nearest).all(axis=1).sum())
        if self._sum(nearest).near[0] <= together:
            return nearest
        held: NDArray[np.int64] = self.mechanism.inside(found[None])[0]
        return held

    def _sum(self, place: Any) -> UnitSum:
        return UnitSum(self.points, np.array(place, np.int64), self.steps)

    @cached_property
    def envelope(self) -> Envelope:
        """The bound around the centre."""
        gaps = (self.points - self.centre).astype(np.float64) * self._weights
        finest = float(min(self.steps))
        return Envelope(gaps, finest, float(self.mechanism.rate))

    @cached_property
    def radii(self) -> list[int]:
        """The ends of the shells in ‖z‖, the last so that the shells hold the whole box.

        A point of the box is within `reach` of c, so its z is within reach / narrowest.
        """
        ends = zip(self.mechanism.lower, self.mechanism.upper, self.centre.tolist(), strict=True)
        reach = math.fsum(
            ((max(c - a, b - c) + 1) * step) ** 2
            for (a, b, c), step in zip(ends, self.steps, strict=True)
        )
        last = math.ceil(math.sqrt(reach) / self.envelope.narrowest * (1 + 2.0**-30)) + 1
        near = [4 * 2**20 * (i + 1) // PIECES for i in range(PIECES)]
        octaves = max(0, math.ceil(math.log2(last / near[-1])))
        far = [
            round(near[-1] * 2 ** (i / FAR_PIECES_AN_OCTAVE))
            for i in range(1, octaves * FAR_PIECES_AN_OCTAVE + 1)
        ]
        inner = [radius for radius in [*near, *far] if radius < last]
        return [0, *inner, last]

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """In each shell a lower bound of ‖S‖ at what it is rounded to, times 2^20.

        Rounding moves a point by at most half a cell, `pad`, and leaves all but c `finest` away.
        """
        bound = self.envelope
        pad = math.sqrt(math.fsum(step * step for step in self.steps)) / 2
        inner = np.array(self.radii[:-1], dtype=np.float64) * (1 - 2.0**-40)
        inner -= pad / bound.narrowest * (1 + 2.0**-30)
        found = bound.at(np.maximum(inner, bound.finest / bound.widest * (1 - 2.0**-30)))
        levels: NDArray[np.int64] = np.floor(np.ldexp(found, LEVEL_BITS)).astype(np.int64)
        return levels

    @cached_property
    def cell(self) -> Cell:
        """The volume of a cell of the grid beside that of a ball in z of radius 1."""
        whole, k = self.envelope.matrix
        return Cell(tuple(np.diag(whole).tolist()), k, self.steps)

    @cached_property
    def shells(self) -> Groups:
        """The shells by volume and bound; then the cell of c, and those far out, as no less."""
        shift, most = self.cell.count
        used, _, level = self.far
        powers = [radius**self.mechanism.size << shift for radius in self.radii[: used + 1]]
        centred = floor(self._sum(self.centre).near[0] * 2**LEVEL_BITS)
        counts = [*(b - a for a, b in pairwise(powers)), most, most * self._cells]
        levels = [*self.levels[:used].tolist(), centred, level]
        size = len(counts) if used < self.levels.size else len(counts) - 1
        rate = self.mechanism.rate / 2**LEVEL_BITS
        return Groups(np.array(counts[:size], object), -np.array(levels[:size]), rate)

    @property
    def _cells(self) -> int:
        """The number of grid points in the box."""
        ends = zip(self.mechanism.lower, self.mechanism.upper, strict=True)
        return math.prod(b - a + 1 for a, b in ends)

    @cached_property
    def far(self) -> tuple[int, int, int]:
        """(k, R², level): the first k shells reach all within R of c; a bound of ‖S‖ beyond.

        Points beyond are proposed uniformly in the box: in many coordinates a ball that holds the
        box is far larger than it. k is where all proposals weigh least, which few rows make small;
        k shells for a ball of Mz reach the points whose cells, `pad` around them, lie within.
        """
        bound, rate = self.envelope, float(self.mechanism.rate) / math.log(2)
        pad = math.sqrt(math.fsum(step * step for step in self.steps)) / 2
        reach = np.array(self.radii, float) * bound.narrowest * (1 - 2.0**-30) - pad
        within = np.floor(np.maximum(reach, 0.0))
        tiny = bound.finest / bound.widest * (1 - 2.0**-30)
        beyond = bound.at(np.maximum(within / bound.widest * (1 - 2.0**-30), tiny))
        d, cells = self.mechanism.size, math.log2(self._cells * self.cell.count[1])
        ends = np.array(self.radii, float)
        with np.errstate(divide="ignore"):
            parts = -np.expm1(d * np.log(ends[:-1] / ends[1:]))
        sizes = d * np.log2(ends[1:]) + np.log2(parts)
        shells = np.logaddexp2.accumulate(sizes - rate * np.ldexp(self.levels, -LEVEL_BITS))
        rest = cells - self.cell.count[0] - rate * beyond
        rest[-1] = -np.inf  # none are left
        used = int(np.logaddexp2(np.append(-np.inf, shells), rest).argmin())
        return used, int(within[used]) ** 2, math.floor(math.ldexp(beyond[used], LEVEL_BITS))

    def _is_far(self, place: tuple[int, ...]) -> bool:
        """Whether a point is left to proposals from the whole box."""
        used, square, _ = self.far
        ends = zip(place, self.centre.tolist(), self.steps, strict=True)
        return used < self.levels.size and sum(((x - c) * w) ** 2 for x, c, w in ends) >= square

    def draw(self, words: Words | None = None) -> tuple[int, ...]:
        """Draw a point.

        Words: for each proposal those of one draw of `weighted`, of `ShellPoint` (of `below` for
        each coordinate, far out), and of `bernoulli_enclosed`.
        """
        source = secure_words() if words is None else words
        while True:
            place = self.attempt(source)
            if place is not None:
                return place

    def attempt(self, words: Words) -> tuple[int, ...] | None:
        """Return a proposal if it is accepted."""
        group, used = int(self.shells.draw(1, words)[0]), self.far[0]
        centre = tuple(self.centre.tolist())
        if group == used:
            return centre if self._accepts(centre, group, words) else None
        place = self._propose(group, words) if group < used else self.mechanism.anywhere(words)
        if place is None or place == centre or self._is_far(place) != (group > used):
            return None
        return place if self._accepts(place, group, words) else None

    def _propose(self, shell: int, words: Words) -> tuple[int, ...] | None:
        """Return a uniform point of the shell, moved and rounded; None outside the box."""
        point = ShellPoint(self.mechanism.size, self.radii[shell], self.radii[shell + 1], words)
        bits = POSITION_BITS
        while (place := self._rounded(point.enclosure(bits), bits)) is None:
            point.refine()
            bits += 64
        box = zip(self.mechanism.lower, place, self.mechanism.upper, strict=True)
        return place if all(a <= x <= b for a, x, b in box) else None

    @cached_property
    def _matrix(self) -> tuple[NDArray[Any], list[int], int]:
        """M and the sums of its sizes by row, as Python integers over 2^k."""
        whole, k = self.envelope.matrix
        return whole.astype(object), np.abs(whole).sum(axis=1).tolist(), k

    def _rounded(self, enclosed: tuple[list[int], int] | None, bits: int) -> tuple[int, ...] | None:
        """Round c + W^-1 M z to the grid, a half upwards; None where z is not known well enough."""
        if enclosed is None:
            return None
        matrix, sizes, k = self._matrix
        centre, error = enclosed
        moves = matrix.dot(np.array(centre, dtype=object)).tolist()
        place = []
        for base, move, size, step in zip(
            self.centre.tolist(), moves, sizes, self.steps, strict=True
        ):
            one = step << (k + bits) if k + bits >= 0 else step
            if k + bits < 0:
                return None
            least, most = (
                (2 * (move + side * size * error) + one) // (2 * one) for side in (-1, 1)
            )
            if least != most:
                return None
            place.append(base + least)
        return tuple(place)

    def _accepts(self, place: tuple[int, ...], shell: int, words: Words) -> bool:
        """Whether a coin of exp(-(‖S(place)‖ - level) rate) shows heads.

        For c and far points, behind the last shell, by as much less often as a cell was proposed
        more often.
        """
        total, rate, level = self._sum(place), self.mechanism.rate, -int(self.shells.scores[shell])
        if shell < self.far[0]:
            return total.accepts(level, rate, words)

        def chance(bits: int) -> tuple[int, int]:
            low, high = total.chance(level, rate, bits)
            shares = self.cell.share(bits + 64)
            return floor(low * shares[0]), ceil(high * shares[1])

        return bool(bernoulli_enclosed(chance, 1, words)[0])
