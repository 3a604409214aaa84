"""The places of a line ranked about a quantile, and the exact draw of one of them."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise import Ramps, Words

__all__ = ["Measure", "Ranked"]

Int64s = NDArray[np.int64]

_MOST_BITS: Final = 61
"""log2 of the places of a line, with their multiplicity: sums of them stay in 63 bits."""

PLACE_BITS = 20
"""log2 of the places of a cell, where it may be cut: a millionth of its rows."""


@dataclass(frozen=True)
class Measure:
    """How likely a place is before any row is seen: public, and the same for all tables.

    Cells first .. last, each cut into `places` places. Flat: all places weigh 1. With `octaves`,
    a place of a cell between 2^j and 2^(j+1) on either side of 0 weighs 2^(octaves - j), to the
    power of 1 + fall. With fall 0 every octave weighs the same, and a far value costs the logarithm
    of their number; with fall 1 each weighs half of the one before it: no bound overshoots far.
    """

    first: int
    last: int
    places: int
    octaves: int | None = None
    fall: int = 0

    @classmethod
    def of(cls, first: int, last: int, *, cut: bool, octaves: int | None = None) -> "Measure":
        """Cut cells as finely as 63 bits allow, up to PLACE_BITS; or not at all."""
        bits = octaves if octaves is not None else (last - first + 1).bit_length()
        places = 1 << max(0, min(PLACE_BITS, _MOST_BITS - bits)) if cut else 1
        return cls(first, last, places, octaves)

    @property
    def start(self) -> int:
        """The first place."""
        return self.first * self.places

    @property
    def stop(self) -> int:
        """The place after the last one."""
        return (self.last + 1) * self.places

    @property
    def odds(self) -> int:
        """The weight of all cells over that of the lightest."""
        if self.octaves is None:
            return self.last - self.first + 1
        return (2 * self.octaves + 3) << self.octaves * (1 + self.fall)

    def weights(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return the weight of one place of each cell."""
        if self.octaves is None:
            return np.ones(cells.size, np.int64)
        octave = np.frexp(np.maximum(np.abs(cells), 1).astype(np.float64))[1].astype(np.int64) - 1
        found: NDArray[Any] = np.left_shift(np.int64(1), self.octaves - octave)
        return found.astype(object) ** (1 + self.fall) if self.fall else found

    def breaks(self) -> Int64s:
        """Return the places at which the weight changes, rising."""
        powers = 1 << np.arange(1, (self.octaves or 0) + 1, dtype=np.int64)
        cells = np.concatenate([(1 - powers)[::-1], powers])
        return cells * self.places


@dataclass(frozen=True)
class Ranked:
    """Found cells, and how far before each of them and after the last the quantile is passed.

    ranks: rising, one more than cells: negative before the quantile. rises: of each place of a
    cell. The places between two cells have the rank there; those of a cell rise, or with `even`
    lie as near as the cell's nearest end.
    """

    measure: Measure
    start: int
    stop: int
    starts: Int64s
    lengths: Int64s
    ranks: NDArray[Any]
    rises: NDArray[Any]
    even: bool

    def distance(self, place: int) -> int:
        """Return how far a place is from the quantile."""
        i = int(np.searchsorted(self.starts, place, "right")) - 1
        if i < 0 or place >= int(self.starts[i]) + int(self.lengths[i]):
            return abs(int(self.ranks[i + 1]))
        low, high = int(self.ranks[i]), int(self.ranks[i + 1])
        if self.even:
            return max(0, low, -high)
        return abs(low + (place - int(self.starts[i])) * int(self.rises[i]))

    def near(self, most: int) -> "Ranked":
        """Leave out cells farther than `most`: their places then count as near as the first kept.

        So a far place is credited with a distance that is too small, never too large.
        """
        low = int(np.searchsorted(self.ranks[1:], -most))
        high = int(np.searchsorted(self.ranks[:-1], most, "right"))
        kept = slice(low, high)
        return replace(
            self,
            starts=self.starts[kept],
            lengths=self.lengths[kept],
            ranks=self.ranks[low : high + 1],
            rises=self.rises[kept],
        )

    def draw(self, unit: Fraction, words: Words | None) -> tuple[int, int]:
        """Draw a place t with P(t) ∝ m(t) exp(-unit distance(t)); return it and its distance."""
        firsts, *gaps = self._gaps()
        starts, signs, *cells = _even(self) if self.even else _sloped(self)
        counts = self.measure.weights(starts // self.measure.places)
        lengths, distances, rises = cells
        columns = zip(gaps, (lengths, counts, distances, rises), strict=True)
        lengths, counts, distances, rises = (np.concatenate(pair) for pair in columns)
        i, p = Ramps(lengths, counts, distances, rises, unit).draw(words)
        credited = int(distances[i]) + p * int(rises[i])
        if i < firsts.size:
            return int(firsts[i]) + p, credited
        i -= firsts.size
        return int(starts[i]) + int(signs[i]) * p, credited

    def _gaps(self) -> tuple[NDArray[Any], ...]:
        """Return the places between cells: (starts, lengths, weights, distances, rises)."""
        low = np.concatenate([[self.start], self.starts + self.lengths])
        high = np.concatenate([self.starts, [self.stop]])
        which = np.arange(low.size)
        if self.measure.octaves is not None:
            breaks = self.measure.breaks()
            at = np.searchsorted(low, breaks, "right") - 1
            inside = (at >= 0) & (breaks > low[at]) & (breaks < high[at])
            breaks, at = breaks[inside], at[inside]
            low, which = np.concatenate([low, breaks]), np.concatenate([which, at])
            order = np.argsort(low, kind="stable")
            low, which = low[order], which[order]
            high = np.sort(np.concatenate([high, breaks]))
        there = high > low
        low, high, which = low[there], high[there], which[there]
        weights = self.measure.weights(low // self.measure.places)
        zeros = np.zeros(low.size, np.int64)
        return low, high - low, weights, np.abs(self.ranks[which]), zeros


def _even(ranked: Ranked) -> tuple[NDArray[Any], ...]:
    """Every cell at its least distance: (starts, signs, lengths, distances, rises)."""
    zeros = np.zeros(ranked.starts.size, np.int64)
    gaps = np.maximum(np.maximum(ranked.ranks[:-1], -ranked.ranks[1:]), zeros)
    return ranked.starts, zeros + 1, ranked.lengths, gaps, zeros


def _sloped(ranked: Ranked) -> tuple[NDArray[Any], ...]:
    """Every cell from its nearest place on; the one that holds the quantile in two halves."""
    starts, sizes, rises = ranked.starts, ranked.lengths, ranked.rises
    before, after = ranked.ranks[:-1], ranked.ranks[1:]
    below = after <= 0
    signs = np.where(below, -1, 1)
    nearest = np.where(below, starts + sizes - 1, starts)
    gaps = np.where(below, rises - after, before)
    (both,) = np.nonzero((before < 0) & (after > 0))
    if both.size == 0:
        return nearest, signs, sizes, gaps, rises
    (i,) = both.tolist()
    rank, rise, start = int(before[i]), int(rises[i]), int(starts[i])
    last = -rank // rise  # the last place at or before the quantile
    rest = int(sizes[i]) - last - 1
    sizes = sizes.copy()
    nearest[i], signs[i], sizes[i], gaps[i] = start + last, -1, last + 1, -(rank + last * rise)
    columns = [nearest, signs, sizes, gaps, rises]
    if rest:
        added = [start + last + 1, 1, rest, rank + (last + 1) * rise, rise]
        columns = [
            np.append(column, np.array([one], column.dtype))
            for column, one in zip(columns, added, strict=True)
        ]
    return tuple(columns)
