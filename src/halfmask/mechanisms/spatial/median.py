"""The spatial median by its own score: an exact sampler of the exponential mechanism."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor
from typing import Any, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms.grid_points import GridChoice
from halfmask.mechanisms.spatial.cell import Cell
from halfmask.mechanisms.spatial.envelope import Envelope
from halfmask.mechanisms.spatial.sums import UnitSum
from halfmask.noise import (
    Groups,
    ShellPoint,
    Words,
    bernoulli_enclosed,
    exp_minus,
    secure_words,
)
from halfmask.privacy import Number

__all__ = ["Proposals", "SpatialMedian"]

LEVEL_BITS = 20  # bounds are rounded down to multiples of 2^-20
PIECES = 1024
FAR_PIECES_AN_OCTAVE = 8
LARGEST_STEP = 2**40
POSITION_BITS = 128


@final
@dataclass(frozen=True, init=False)
class SpatialMedian(GridChoice):
    """Choose a grid point θ with P(θ) ∝ exp(-epsilon ‖S(θ)‖ / (2 moved)).

    S(θ) is the sum over rows of the unit vectors that point from θ to them, 0 for rows at θ; its
    length is 0 at the spatial median. A row more adds a vector of length at most 1, so it changes
    ‖S(θ)‖, a real number and no float, by at most 1: whatever the number of coordinates.

    Privacy: epsilon-DP, as every `GridChoice`: a row changes the score -‖S‖ by at most 1.

    The draw is exact, by rejection. z uniform in a spherical shell (all its digits, as needed) is
    moved to c + M z and rounded to the grid point θ. The shells weigh their exact volumes times
    exp(-m rate), m a certified lower bound of ‖S‖ in the shell, and θ is accepted with
    exp(-(‖S(θ)‖ - m) rate), decided by enclosures as close as it takes. As a cell of the grid is
    as large as any other, P(accepted θ) ∝ exp(-‖S(θ)‖ rate), whatever c, M and the bounds: these
    decide about the time alone. θ = c, where rows may coincide, is proposed by itself, as one cell.

    The number of proposals depends on the rows, and no limit on it can be private: two neighbours
    may have a good and a useless bound, and a refusal would tell them apart. So the draw goes on
    until one is accepted.

    Attributes:
        lower, upper: the box, an integer for each coordinate, both ends within.
        moved: how many rows come and go between neighbours: 1 for one row added or removed, 2 for
          one replaced; a unit of r rows moves r or 2 r.
        epsilon: the price.
        steps: how long a step of the grid is in each coordinate: integers, in one common unit.

    >>> import numpy as np
    >>> median = SpatialMedian([-1000] * 3, [1000] * 3, moved=1, epsilon=50)
    >>> median.release(np.repeat([[5, 6, 7]], 40, axis=0))
    (5, 6, 7)

    """

    steps: tuple[int, ...]

    def __init__(
        self,
        lower: Sequence[SupportsIndex],
        upper: Sequence[SupportsIndex],
        moved: SupportsIndex,
        epsilon: Number,
        steps: Sequence[int] | None = None,
    ) -> None:
        super().__init__(lower, upper, moved, epsilon)
        given = (1,) * self.size if steps is None else tuple(steps)
        if len(given) != self.size or not all(
            isinstance(step, int) and 1 <= step <= LARGEST_STEP for step in given
        ):
            raise InvalidQuery(
                f"steps: not {self.size} integers from 1 to 2^40; give the length of a grid step "
                "in each coordinate"
            )
        object.__setattr__(self, "steps", given)

    @property
    def _name(self) -> str:
        return "sums of unit vectors"

    def _choose(self, points: NDArray[np.int64], words: Words) -> tuple[int, ...]:
        return self.proposals(points).draw(words)

    def proposals(self, points: NDArray[Any]) -> "Proposals":
        """Return what draws are made from; building it is most of the work."""
        return Proposals(self, self.inside(points))


@dataclass(frozen=True)
class Proposals:
    """Shells around a centre, and the bounds in them."""

    mechanism: SpatialMedian
    points: NDArray[np.int64]

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.array(self.mechanism.steps, dtype=np.float64)

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
        return UnitSum(self.points, np.array(place, np.int64), self.mechanism.steps)

    @cached_property
    def envelope(self) -> Envelope:
        """The bound around the centre."""
        gaps = (self.points - self.centre).astype(np.float64) * self._weights
        finest = float(min(self.mechanism.steps))
        return Envelope(gaps, finest, float(self.mechanism.rate))

    @cached_property
    def radii(self) -> list[int]:
        """The ends of the shells in ‖z‖, the last so that the shells hold the whole box.

        A point of the box is within `reach` of c, so its z is within reach / narrowest.
        """
        ends = zip(self.mechanism.lower, self.mechanism.upper, self.centre.tolist(), strict=True)
        reach = math.fsum(
            ((max(c - a, b - c) + 1) * step) ** 2
            for (a, b, c), step in zip(ends, self.mechanism.steps, strict=True)
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
        pad = math.sqrt(math.fsum(step * step for step in self.mechanism.steps)) / 2
        inner = np.array(self.radii[:-1], dtype=np.float64) * (1 - 2.0**-40)
        inner -= pad / bound.narrowest * (1 + 2.0**-30)
        found = bound.at(np.maximum(inner, bound.finest / bound.widest * (1 - 2.0**-30)))
        levels: NDArray[np.int64] = np.floor(np.ldexp(found, LEVEL_BITS)).astype(np.int64)
        return levels

    @cached_property
    def cell(self) -> "Cell":
        """The volume of a cell of the grid beside that of a ball in z of radius 1."""
        whole, k = self.envelope.matrix
        return Cell(tuple(np.diag(whole).tolist()), k, self.mechanism.steps)

    @cached_property
    def shells(self) -> Groups:
        """The shells by volume and bound; last the cell of c, as no less than it is."""
        shift, most = self.cell.count
        powers = [radius**self.mechanism.size << shift for radius in self.radii]
        volumes = [b - a for a, b in pairwise(powers)]
        rate = self.mechanism.rate / 2**LEVEL_BITS
        centred = floor(self._sum(self.centre).near[0] * 2**LEVEL_BITS)
        scores = -np.append(self.levels, centred)
        return Groups(np.array([*volumes, most], dtype=object), scores, rate)

    def draw(self, words: Words | None = None) -> tuple[int, ...]:
        """Draw a point.

        Words: for each proposal those of one draw of `weighted`, of `ShellPoint`, and of
        `bernoulli_enclosed`.
        """
        source = secure_words() if words is None else words
        while True:
            place = self.attempt(source)
            if place is not None:
                return place

    def attempt(self, words: Words) -> tuple[int, ...] | None:
        """Return a proposal if it is accepted."""
        shell = int(self.shells.draw(1, words)[0])
        centre = tuple(self.centre.tolist())
        if shell == self.levels.size:
            return centre if self._accepts(centre, shell, words) else None
        place = self._propose(shell, words)
        if place is None or place == centre:
            return None
        return place if self._accepts(place, shell, words) else None

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
            self.centre.tolist(), moves, sizes, self.mechanism.steps, strict=True
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

        For c, behind the last shell, by as much less often as it was proposed more often.
        """
        total, rate = self._sum(place), self.mechanism.rate
        level = Fraction(-int(self.shells.scores[shell]), 1 << LEVEL_BITS)

        def chance(bits: int) -> tuple[int, int]:
            least, most = total.near if bits <= POSITION_BITS // 2 else total.within(bits + 64)
            excess = [max(end - level, Fraction(0)) * rate for end in (least, most)]
            low, high = exp_minus(excess[1], bits)[0], exp_minus(excess[0], bits)[1]
            if shell < self.levels.size:
                return low, high
            shares = self.cell.share(bits + 64)
            return floor(low * shares[0]), ceil(high * shares[1])

        return bool(bernoulli_enclosed(chance, 1, words)[0])
