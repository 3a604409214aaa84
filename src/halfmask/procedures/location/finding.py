"""Coordinate medians and the scales about them, found by choices or by comparisons."""

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Points
from halfmask.privacy import Cost
from halfmask.procedures.location.budget import LENGTHENED
from halfmask.procedures.location.halving import Asked, halved, halvings
from halfmask.procedures.procedure import Measure
from halfmask.queries.location import Frame, Medians, Region, Scales, Windows

__all__ = ["Finding", "drawn_together"]

Vector = NDArray[np.float64]

UNSURE = 3.0
"""The deviation of a natural logarithm of a scale that is found by comparisons, times the root of
the sum of their squared strengths: 1.9 for normal points, 3 where a quarter are outliers."""


NEAR, PART = 8.0, 1 / 8
"""Smallest deviations between the ends of what is likely of a median, where no more is asked, and
the part of the bounds' distance that this may be: a middle before any answer tells nothing."""


@dataclass(frozen=True)
class Finding:
    """Where points lie, about, and how far they spread in each coordinate: in cells.

    medians, scales: the prices.
    """

    region: Region
    points: Points
    moved: int
    medians: Cost
    scales: Cost

    def chosen(self, measure: Measure) -> tuple[Vector, Vector]:
        """Choose among all cells, and among the rungs of a ladder: in one pass each."""
        (middle,) = measure(Medians(self.points, self.moved, self.medians))
        centre = np.array(middle.cells, dtype=float)
        frame = Frame(tuple(centre.tolist()), (1.0,) * len(centre))
        widest = float(self.region.widths.max())
        (lengths,) = measure(Scales(self.points, self.moved, self.scales, frame, widest))
        return centre, np.array(lengths.values) / NormalDist().inv_cdf(0.75)

    def halved(
        self, measure: Measure, rows: float, octaves: float
    ) -> tuple[Vector, Vector, Fraction]:
        """Compare with the middle of what is likely, again and again.

        Return centre, scales, and which part of the medians' price it took: no more is asked where
        all coordinates are sure to lie near.
        rows: about how many there are. octaves: doublings of a deviation between the bounds.
        """
        low = np.array([grid.lower - grid.origin for grid in self.points.values], dtype=float)
        high = low + self.region.widths
        times = halvings(octaves)
        part = self.medians.share(Fraction(1, times))

        def above(place: Vector) -> Asked:
            return self._inside(measure, part, place, high + 1)

        near = min(NEAR / 2**octaves, PART) * self.region.widths
        middle, asked = halved(low, high, rows, times, above, near)
        centre, taken = np.floor(middle), Fraction(asked, times)
        far = np.full(len(low), np.log2(self.region.widths.max()) + 1)
        times = halvings(LENGTHENED)
        part = self.scales.share(Fraction(1, times))

        def beyond(length: Vector) -> Asked:
            r = np.floor(np.exp2(length))
            inside, deviation = self._inside(measure, part, centre - r, centre + r + 1)
            return -inside, deviation

        lengths, _ = halved(np.zeros(len(low)), far, rows, times, beyond)
        noise = Windows(self.points, self.moved, part, (), ()).mechanism.standard_deviation
        unsure = UNSURE / sqrt(times) * noise / rows
        scales = np.exp(drawn_together(lengths * log(2), unsure))
        return centre, scales / NormalDist().inv_cdf(0.75), taken

    def _inside(self, measure: Measure, part: Cost, low: Vector, high: Vector) -> Asked:
        windows = (tuple(map(int, end)) for end in (low.tolist(), high.tolist()))
        (excess,) = measure(Windows(self.points, self.moved, part, *windows))
        return np.array(excess.values, dtype=float), excess.deviation


def drawn_together(logs: Vector, unsure: float) -> Vector:
    """Draw logarithms of scales to their mean, as far as noise explains how they differ.

    [James & Stein 1961; Efron & Morris 1973, for the mean in place of a fixed point]
    """
    d, mean = len(logs), logs.mean()
    spread = ((logs - mean) ** 2).sum()
    kept = max(0.0, 1 - (d - 3) * unsure**2 / spread) if d > 3 and spread else 1.0
    drawn: Vector = mean + kept * (logs - mean)
    return drawn
