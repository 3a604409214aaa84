"""Sums of bounded directions: how the points pull at a public centre."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.queries.distribution import Noisy
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.standard import Frame, squares
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Reach

__all__ = ["Pull", "Signs"]

FINE = 2**20
"""Parts of the unit of length, to which each coordinate of a direction is rounded."""

COUNTED = 2**16
"""How many parts the greatest slope adds to the last sum, that of the slopes."""

FAR = 6.0
"""Scales at which a coordinate is held before a point is judged to lie too far out."""


@dataclass(frozen=True)
class Pull:
    """The noisy sum of directions, and that of their slopes.

    slope: by how much the sum of directions moves against the centre, for a step of `core`.
    deviation: the standard deviation of the noise in each sum, in directions.
    unsure: that of the noise in the slope.
    """

    total: tuple[float, ...]
    slope: float
    deviation: float
    unsure: float

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[float, ...]:
        """The sum of directions."""
        return self.total

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: a pull serves to move a centre."""


@dataclass(frozen=True)
class Signs(OfPoints):
    """The sum over points of psi(y), y the point in the frame: a direction of length at most 1.

    psi(y) = v / max(|v|, core) with v the coordinates of y held to [-cut, cut], and 0 where y,
    held to [-FAR, FAR], is longer than `outer`. Beside it, the sum of their slopes: core times the
    mean of the derivatives of psi_j by y_j, between 0 and 1, by which Newton's step is measured.

    Privacy: each direction is rounded to integers and, were it longer than R = FINE + sqrt(d)/2 + 1
    in exact integer arithmetic, dropped; each slope is rounded to an integer from 0 to COUNTED, and
    cut to that; so a row has the squared length of at most R^2 + COUNTED^2, and rows that differ
    between neighbours move the sum by at most their number times its root (triangle inequality):
    noise by this reach is the Gaussian mechanism's. [Canonne, Kamath & Steinke 2020, Thm 14]
    """

    frame: Frame
    cut: float
    core: float
    outer: float

    @property
    def radius(self) -> int:
        """The greatest length of a rounded direction."""
        return FINE + isqrt(self.points.size) // 2 + 2

    @property
    def reach(self) -> Reach:
        """How far neighbours' sums can lie apart."""
        squared = self.radius**2 + COUNTED**2
        entries = self.points.size * squared  # Cauchy-Schwarz, for the L1 norm
        one = isqrt(entries) + 1 + COUNTED
        return Reach(self.moved * one, self.moved**2 * squared)

    @property
    def mechanism(self) -> Additive:
        """The noise of each sum."""
        return mechanism_for(self.reach, self.price)

    def sums(self, points: Any) -> tuple[int, ...]:
        """Return the exact integer sums: the directions', then that of the slopes."""
        return tuple(cloud_of(points).total(self).tolist())

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over a block of points; see `Statistic`."""
        total = np.zeros(self.points.size + 1, dtype=np.int64)
        for part in self.frame.blocks(block):
            directions, slopes = self._directions(part)
            total[:-1] += directions.sum(axis=1)
            total[-1] += int(slopes.sum())
        return total

    def _directions(
        self, block: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        near = squares(np.clip(block, -FAR, FAR)) <= self.outer * self.outer
        v = np.clip(block, -self.cut, self.cut)
        squared = squares(v)
        length = np.maximum(np.sqrt(squared), self.core)
        weights = np.zeros(length.shape)
        np.divide(float(FINE), length, out=weights, where=near & (length > 0))
        slopes = self._slopes(block, v, squared, weights)
        v *= weights
        np.rint(v, out=v)
        # Whole numbers, so squares add up exactly: none is too long, whatever floats do.
        v[:, ~(squares(v) <= float(self.radius**2))] = 0
        return v.astype(np.int64), slopes

    def _slopes(
        self, block: NDArray[np.float64], v: NDArray[np.float64], squared: Any, weights: Any
    ) -> NDArray[np.int64]:
        """Return core times the mean derivative, in parts; weights: FINE over the lengths.

        A coordinate held at the cut does not move; a direction turns with what is across it.
        """
        free, along = np.zeros(weights.shape), np.zeros(weights.shape)
        for coordinate, held in zip(block, v, strict=True):
            moves = coordinate == held
            free += moves
            along += moves * (held * held)
        outside = squared > self.core * self.core
        along = np.divide(along, squared, out=np.zeros(weights.shape), where=outside)
        part = COUNTED / FINE / self.points.size
        slopes = np.rint((free - along) * weights * (self.core * part))
        whole = np.where(slopes > 0, np.minimum(slopes, COUNTED), 0)  # nor does a NaN count
        found: NDArray[np.int64] = whole.astype(np.int64)
        return found

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the sums with their noise; see `Distributed`."""
        return (Noisy(self.mechanism, self.sums(exact), Fraction(1, FINE)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.mechanism.release(self.sums(exact), words)]

    def read(self, records: Sequence[Record]) -> tuple[Pull, ...]:
        """Read noisy integers as sums of directions and of slopes."""
        deviation = self.mechanism.standard_deviation
        pulls = []
        for record in records:
            *total, slope = (int(n or 0) for n in record)
            parts = tuple(part / FINE for part in total)
            pulls.append(Pull(parts, slope / COUNTED, deviation / FINE, deviation / COUNTED))
        return tuple(pulls)
