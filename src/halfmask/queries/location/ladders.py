"""Medians of distances from a public centre, chosen from a public ladder of lengths.

Lengths are positive and of unknown size, so the ladder is geometric: each rung is 2^(1/8) times
the one below, and the answer is off by at most 9 % of itself however fine the grid of the points.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Exponential
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.queries.distribution import Drawn
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.standard import Frame, squares
from halfmask.queries.location.steps import Steps
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

    A rung stands for the lengths that are nearer to it than to others: those before its mark and
    not before the last one's. Its score is -max(0, 2 #(before) - n, n - 2 #(before or of it)), n
    the number of lengths: 0 where it holds a median, so that equal lengths have a rung of their
    own. A row that comes or goes changes each of the three by at most 1, and so their maximum.
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
    def lengths(self, block: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield, for each choice, what is compared with `marks` of a block of the frame."""

    @property
    @abstractmethod
    def marks(self) -> NDArray[np.float64]:
        """The ends of what each rung stands for, as lengths are compared with them."""

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return shape (choices, rungs + 1), how many lengths have so many marks at or below them.

        See `Statistic`.
        """
        steps = Steps.of(self.marks)
        found = np.zeros((self.choices, steps.count + 1), dtype=np.int64)
        for part in self.frame.blocks(block):
            for counts, lengths in zip(found, self.lengths(part), strict=True):
                counts += np.bincount(steps.places(lengths), minlength=steps.count + 1)
        return found

    def below(self, points: Any) -> NDArray[np.int64]:
        """Return shape (choices, rungs): how many lengths lie below the mark of each rung."""
        return self._below(points)[:, :-1]

    def _below(self, points: Any) -> NDArray[np.int64]:
        """Return the same, and last how many lengths there are."""
        total: NDArray[np.int64] = cloud_of(points).total(self).astype(np.int64)
        return np.cumsum(total, axis=1)

    def scores(self, points: Any) -> NDArray[np.int64]:
        """Return the exact integer scores, shape (choices, rungs)."""
        below = self._below(points)
        upto, n = below[:, :-1], below[:, -1:]
        before = np.pad(upto[:, :-1], ((0, 0), (1, 0)))
        scores: NDArray[np.int64] = -np.maximum(0, np.maximum(2 * before - n, n - 2 * upto))
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

    @property
    def marks(self) -> NDArray[np.float64]:
        """Half a rung above each."""
        return self.rungs * 2 ** (0.5 / PER_OCTAVE)

    def lengths(self, block: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield each coordinate's distances."""
        yield from np.abs(block, out=block)


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

    @property
    def marks(self) -> NDArray[np.float64]:
        """The squares of half a rung above each."""
        return self.rungs * self.rungs * 2 ** (1 / self.per_octave)

    def lengths(self, block: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yield squared lengths."""
        for cut in self.cuts:
            yield squares(np.clip(block, -cut, cut))
