"""Quantiles of weights on a public grid, each chosen exactly by its rank."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.quantile_ranks import Measure, Ranked
from halfmask.noise import Words, bernoulli_exp

__all__ = ["Line"]

Int64s = NDArray[np.int64]

NEAR: Final = 220
"""Cells whose weight is below exp(-220) of the best are drawn in bulk, and then looked at."""


@dataclass(frozen=True)
class Line:
    """Weights of found cells between two places, start <= place < stop.

    The weight of a cell is spread evenly over its places, so that a line can be cut at any place,
    also inside a cell that many rows share. F(t) is the weight before the place t.
    """

    cells: Int64s
    weights: Int64s
    measure: Measure
    start: int
    stop: int

    @classmethod
    def whole(cls, cells: Int64s, weights: Int64s, measure: Measure) -> "Line":
        """Take the line from end to end."""
        return cls(cells, weights, measure, measure.start, measure.stop)

    def before(self, place: int) -> "Line":
        """Return the part before a place."""
        return replace(self, stop=place)

    def after(self, place: int) -> "Line":
        """Return the part from a place on."""
        return replace(self, start=place)

    def choose(
        self, q: Fraction, rate: Fraction, *, even: bool, words: Words | None, offset: int = 0
    ) -> int:
        """Choose the place t of the quantile q with P(t) ∝ m(t) exp(-rate d(t)).

        m is the measure. d(t) = |F(t) - q F(stop) - offset|, the offset public; with `even`, all
        places of one cell have the least distance over the cell and its end: it is chosen whole.
        Privacy: a unit that adds or takes the weight w changes every d(t) by at most w max(q, 1-q);
        one that moves it, by w. For F(t) - q F(stop) = (1-q) L - q R, where L and R are the weights
        before and after t, and a minimum or an absolute value of such changes no more. So a choice
        is of bounded range 2 rate w max(q, 1-q), or 2 rate w. [McSherry & Talwar 2007, Thm 6]
        """
        ranked = self._ranked(q, even, offset)
        unit = rate / (q.denominator * self.measure.places)
        while True:
            place, credited = ranked.near(int(NEAR / unit) + 1).draw(unit, words)
            further = ranked.distance(place) - credited
            if further == 0 or bool(bernoulli_exp(unit * further, (), words)):
                return place

    def log_masses(
        self, q: Fraction, rate: Fraction, *, even: bool, offset: int = 0
    ) -> dict[int, float]:
        """Return the exact log probability of every place: for short lines."""
        ranked = self._ranked(q, even, offset)
        unit = rate / (q.denominator * self.measure.places)
        places = list(range(self.start, self.stop))
        weights = self.measure.weights(np.array(places) // self.measure.places).tolist()
        logs = [
            math.log(weight) - float(unit * ranked.distance(place))
            for place, weight in zip(places, weights, strict=True)
        ]
        top = max(logs)
        total = top + math.log(math.fsum(math.exp(log - top) for log in logs))
        return {place: log - total for place, log in zip(places, logs, strict=True)}

    def _ranked(self, q: Fraction, even: bool, offset: int = 0) -> Ranked:
        """Rank every found cell: F(t) - q F(stop) - offset, as integers in parts of a row."""
        k = self.measure.places
        low = int(np.searchsorted(self.cells, self.start // k))
        high = int(np.searchsorted(self.cells, -(-self.stop // k)))
        starts = np.maximum(self.cells[low:high] * k, self.start)
        lengths = np.minimum((self.cells[low:high] + 1) * k, self.stop) - starts
        weights: NDArray[Any] = self.weights[low:high]
        if q.denominator * k * (int(weights.sum()) + abs(offset)) >= 1 << 62:
            weights = weights.astype(object)
        sums = np.zeros(weights.size + 1, weights.dtype)
        np.cumsum(weights * lengths, out=sums[1:])
        ranks = q.denominator * sums - q.numerator * sums[-1] - q.denominator * k * offset
        return Ranked(
            self.measure,
            self.start,
            self.stop,
            starts,
            lengths,
            ranks,
            q.denominator * weights,
            even,
        )
