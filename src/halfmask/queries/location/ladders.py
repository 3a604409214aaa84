"""Medians of distances from a public centre, chosen from a public ladder of lengths.

Lengths are positive and of unknown size, so the ladder is geometric: each rung is 2^(1/8) times
the one below, and the answer is off by at most 9 % of itself however fine the grid of the points.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Exponential
from halfmask.noise import Words
from halfmask.queries.distribution import Drawn
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.standard import Frame, squares
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import range_epsilon

__all__ = ["Lengths", "Radii", "Scales"]

PER_OCTAVE = 8


@dataclass(frozen=True)
class Lengths:
    """Lengths chosen from a ladder: post-processing of their places on it."""

    values: tuple[float, ...]

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[float, ...]:
        """The lengths."""
        return self.values

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: a length serves to choose what is measured next."""


@dataclass(frozen=True)
class _Ladder(OfPoints):
    """Medians of lengths, each by the exponential mechanism over the rungs of the ladder.

    The score of a rung t is -|2 #(lengths below t) - #(lengths)|: a row that comes or goes changes
    both counts, or one of them, by 1, and so the score by exactly 1.
    Privacy: epsilon-DP for each choice, with sensitivity the number of rows that differ between
    neighbours; the choices compose. [McSherry & Talwar 2007, Thm 6] In zCDP each is
    epsilon^2/8. [Cesar & Rogers 2021, Lemma 3.4]
    """

    frame: Frame

    @property
    def mechanism(self) -> Exponential:
        """One choice."""
        return Exponential(self.moved, range_epsilon(self.price, self.choices))

    @property
    @abstractmethod
    def choices(self) -> int:
        """How many lengths are chosen."""

    @property
    @abstractmethod
    def rungs(self) -> NDArray[np.float64]:
        """The lengths of the ladder, rising."""

    @abstractmethod
    def below(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return shape (choices, rungs): how many lengths lie below each rung."""

    def scores(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the exact integer scores, shape (choices, rungs)."""
        scores: NDArray[np.int64] = -np.abs(2 * self.below(points) - len(points))
        return scores

    def distribution(self, exact: Any) -> tuple[Drawn, ...]:
        """Return the law of each length; see `Distributed`."""
        laws = (self.mechanism.log_mass(row.tolist()) for row in self.scores(exact))
        return tuple(Drawn(i, dict(enumerate(law.tolist()))) for i, law in enumerate(laws))

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Choose a rung for each length."""
        choose = self.mechanism.release
        return [tuple(choose(row.tolist(), words) for row in self.scores(exact))]

    def read(self, records: Sequence[Record]) -> tuple[Lengths, ...]:
        """Read rungs as lengths."""
        rungs = self.rungs
        return tuple(Lengths(tuple(float(rungs[int(i or 0)]) for i in one)) for one in records)


def _counts(places: NDArray[np.int64], rungs: int) -> NDArray[np.int64]:
    """Turn each length's number of rungs at or below it into how many lengths lie below each."""
    total: NDArray[np.int64] = np.cumsum(np.bincount(places, minlength=rungs + 1)[:rungs])
    return total


@dataclass(frozen=True)
class Scales(_Ladder):
    """The median distance of each coordinate from the centre, in cells.

    widest: the number of cells between the bounds of the widest coordinate.
    """

    widest: float

    @property
    def choices(self) -> int:
        """One for each coordinate."""
        return self.points.size

    @property
    def rungs(self) -> NDArray[np.float64]:
        """From one cell to the width of the bounds."""
        octaves = int(np.ceil(np.log2(self.widest))) + 1
        return np.exp2(np.arange(octaves * PER_OCTAVE) / PER_OCTAVE)

    def below(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compare each coordinate's distance with the rungs."""
        rungs = self.rungs
        counts = np.zeros((self.choices, len(rungs)), dtype=np.int64)
        for block in self.frame.blocks(points):
            for j, coordinate in enumerate(np.abs(block)):
                places = np.searchsorted(rungs, coordinate, side="right")
                counts[j] += _counts(places, len(rungs))
        return counts


@dataclass(frozen=True)
class Radii(_Ladder):
    """The median length of the points about the centre, coordinates cut off at each of `cuts`.

    A point's coordinates are held to [-cut, cut] scales before its length is taken, so that one
    far coordinate cannot hide the others.
    per_octave: rungs to a doubling.
    """

    cuts: tuple[float, ...]
    per_octave: int = PER_OCTAVE

    @property
    def choices(self) -> int:
        """One for each cut."""
        return len(self.cuts)

    @property
    def rungs(self) -> NDArray[np.float64]:
        """From a 64th of the root of the dimension to the longest length that a cut leaves."""
        root = self.points.size**0.5
        first, last = np.log2(root / 64), np.log2(root * max(self.cuts))
        return np.exp2(np.arange(first, last + 1 / self.per_octave, 1 / self.per_octave))

    def below(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compare squared lengths with squared rungs."""
        squared = self.rungs * self.rungs
        counts = np.zeros((self.choices, len(squared)), dtype=np.int64)
        for block in self.frame.blocks(points):
            for i, cut in enumerate(self.cuts):
                lengths = squares(np.clip(block, -cut, cut))
                places = np.searchsorted(squared, lengths, side="right")
                counts[i] += _counts(places, len(squared))
        return counts
