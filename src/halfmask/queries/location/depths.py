"""How deep public places lie among the rows: exact integers, and how far a row moves them.

All is computed in a public frame, in which each coordinate is counted from the middle of its bounds
in about half their width. A row's part is the same wherever it stands, see `standard`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Selection
from halfmask.noise import Words, discrete_gaussian, seeded_words
from halfmask.plan import Cloud, cloud_of
from halfmask.queries.choosing import selection_for
from halfmask.queries.distribution import Drawn
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.medians import Middle
from halfmask.queries.location.signs import FINE, Signs
from halfmask.queries.location.standard import Frame
from halfmask.queries.measurement import Record

__all__ = ["Depth", "DepthChoice", "Halfspaces", "SpatialSums", "public_directions"]

Int64s = NDArray[np.int64]
Directions = tuple[tuple[float, ...], ...]

PUBLIC_SEED = 2014
MORE = 64


def public_directions(d: int) -> Directions:
    """Return the d axes and, from two coordinates on, 64 directions that everyone knows.

    They come from a seed that stands here: whoever asks cannot have picked them by the rows.

    >>> len(public_directions(1)), len(public_directions(3))
    (1, 67)
    """
    axes = np.eye(d)
    more = discrete_gaussian(2**20, (MORE, d), seeded_words(PUBLIC_SEED)) / 2.0**20
    return tuple(map(tuple, (axes if d == 1 else np.vstack([axes, more])).tolist()))


class Depth(ABC):
    """A depth as an integer for each place, in parts of a row."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """What a row is worth."""

    @abstractmethod
    def moves(self, rows: int, replaced: bool) -> int:
        """How far so many rows, added or removed, or replaced, move any score."""

    @abstractmethod
    def one_way(self, replaced: bool) -> bool:
        """Whether they move all scores the same way."""

    @abstractmethod
    def scores(self, cloud: Cloud, places: Int64s) -> list[int]:
        """Return the depth of each place, (m, d) cells, among the points."""


@dataclass(frozen=True)
class Halfspaces(Depth):
    """Rows on the emptier side of a place, along public directions: the least, or their sum.

    Both sides hold the rows that are level with the place.
    Privacy: on each side a row added is one row more or none, whatever floats do, since whether it
    counts depends on it and on public numbers alone. So each side, the least of them along a
    direction or along all, and the least of all, rises by 0 or 1; a sum over k directions by 0 to
    k; a row replaced moves them by as much, either way. [depth.sensitivity]
    """

    frame: Frame
    directions: Directions
    summed: bool = False

    @property
    def parts(self) -> int:
        """One, or one for each direction."""
        return len(self.directions) if self.summed else 1

    def moves(self, rows: int, replaced: bool) -> int:
        """Each row by its parts."""
        return rows * self.parts

    def one_way(self, replaced: bool) -> bool:
        """All counts rise with a row that is added."""
        return not replaced

    def scores(self, cloud: Cloud, places: Int64s) -> list[int]:
        """Count the rows on each side."""
        return self.counted(cloud, places)[0]

    def counted(self, cloud: Cloud, places: Int64s) -> tuple[list[int], int]:
        """Return the scores, and the number of the same rows: an engine's may come and go."""
        at = np.concatenate(list(self.projected(places)), axis=1)
        order = np.argsort(at, axis=1, kind="stable")
        k, m = at.shape
        counted = cloud.total(_Sides(self, np.take_along_axis(at, order, axis=1)))
        first, last = counted.astype(np.int64)
        at_most = np.cumsum(first, axis=1)[:, :m]  # rows whose first place at or above is no later
        at_least = np.cumsum(last[:, ::-1], axis=1)[:, ::-1][:, 1:]
        sides = np.empty((k, m), np.int64)
        np.put_along_axis(sides, order, np.minimum(at_most, at_least), axis=1)
        found: list[int] = (sides.sum(axis=0) if self.summed else sides.min(axis=0)).tolist()
        return found, int(first[0].sum())

    def projected(self, points: Int64s) -> Iterator[NDArray[np.float64]]:
        """Yield (k, b) blocks of coordinates along the directions."""
        rays = np.array(self.directions)
        for block in self.frame.blocks(points):
            total = np.zeros((len(rays), block.shape[1]))
            for ray, coordinate in zip(rays.T, block, strict=True):
                total += ray[:, None] * coordinate
            yield total


@dataclass(frozen=True)
class SpatialSums(Depth):
    """Minus the length of the sum of directions from a place to the rows, in 2^-20, rounded up.

    Privacy: `signs` rounds each direction to integers of a length of at most its radius R, a whole
    number. So a row added moves the length of their exact sum by at most R and a row replaced by
    2 R (triangle inequality), and so its whole part too. [depth.sensitivity]
    """

    signs: Signs

    @property
    def parts(self) -> int:
        """The length of a direction."""
        return FINE

    def moves(self, rows: int, replaced: bool) -> int:
        """Each row by the greatest length of a rounded direction."""
        return rows * (2 if replaced else 1) * self.signs.radius

    def one_way(self, replaced: bool) -> bool:
        """Directions may pull either way."""
        return False

    def scores(self, cloud: Cloud, places: Int64s) -> list[int]:
        """Sum the directions, place by place."""
        scales = self.signs.frame.scales
        about = (Frame(tuple(place), scales) for place in places.astype(float).tolist())
        pulls = _Pulls(tuple(replace(self.signs, frame=frame) for frame in about))
        return [
            -isqrt(sum(part * part for part in total[:-1])) for total in cloud.total(pulls).tolist()
        ]


@dataclass(frozen=True, eq=False)
class _Sides:
    """How many rows stand before and at or before each mark, direction by direction.

    marks: (k, m), rising along each direction.
    """

    depth: Halfspaces
    marks: NDArray[np.float64]

    def of(self, block: Int64s) -> Int64s:
        """Return shape (2, k, m + 1); see `Statistic`."""
        k, m = self.marks.shape
        found = np.zeros((2, k, m + 1), np.int64)
        for part in self.depth.projected(block):
            for counts, side in zip(found, ("left", "right"), strict=True):
                for count, marks, row in zip(counts, self.marks, part, strict=True):
                    count += np.bincount(np.searchsorted(marks, row, side), minlength=m + 1)  # type: ignore[call-overload]
        return found


@dataclass(frozen=True)
class _Pulls:
    """Sums of directions from several places."""

    places: tuple[Signs, ...]

    def of(self, block: Int64s) -> Int64s:
        """Return one sum a place; see `Statistic`."""
        return np.array([signs.of(block) for signs in self.places])


@dataclass(frozen=True)
class DepthChoice(OfPoints):
    """The choice of one public place by its depth.

    places: cells of the grid. replaced: whether neighbours replace a unit's rows.

    Privacy: permute-and-flip, in rho the exponential mechanism, on exact integers of the depth's
    sensitivity. [McKenna & Sheldon 2020, Thm 1; McSherry & Talwar 2007, Thm 6]
    """

    depth: Depth
    places: tuple[tuple[int, ...], ...]
    replaced: bool

    @property
    def landmarks(self) -> tuple[tuple[int, ...], ...]:
        """The places that are chosen from."""
        return self.places

    @property
    def mechanism(self) -> Selection:
        """The choice."""
        rows = self.moved // 2 if self.replaced else self.moved
        moves, one_way = self.depth.moves(rows, self.replaced), self.depth.one_way(self.replaced)
        return selection_for(moves, one_way, self.price)

    @property
    def behind(self) -> float:
        """One scale of the choice, in rows."""
        return float(self.mechanism.scale / self.depth.parts)

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choice in words."""
        return (self.mechanism.law_in(Fraction(1, self.depth.parts)),)

    def scores(self, points: Any) -> list[int]:
        """Return the exact integer score of each place."""
        return self.depth.scores(cloud_of(points), np.array(self.places, np.int64))

    def distribution(self, exact: Any) -> tuple[Drawn, ...]:
        """Return the law of the choice; see `Distributed`."""
        law = self.mechanism.log_mass(self.scores(exact)).tolist()
        return (Drawn(0, {(i,): mass for i, mass in enumerate(law)}),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a place."""
        return [(self.mechanism.release(self.scores(exact), words),)]

    def read(self, records: Sequence[Record]) -> tuple[Middle, ...]:
        """Read which place was chosen."""
        return tuple(Middle((int(record[0] or 0),)) for record in records)
