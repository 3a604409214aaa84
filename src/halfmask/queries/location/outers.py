"""Sums of outer products of directions: which way the points spread about a public centre."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isqrt, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import cloud_of
from halfmask.privacy import Approximate, Pure
from halfmask.queries.distribution import Noisy
from halfmask.queries.location.measured import OfPoints
from halfmask.queries.location.sign_matrix import SignMatrix
from halfmask.queries.location.signs import FAR
from halfmask.queries.location.standard import Frame, squares
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Reach

__all__ = ["Outers"]

FINE = 2**17
"""The length of a direction in integers: sums of squares over a block stay below 2^53."""

GAUSSIAN = (29, 41)
"""Weights of the diagonal and of what is above it: 41^2 = 2 * 29^2 - 1, so the root of 2 nearly."""

LAPLACE = (4, 5)
"""The cube root of 2 nearly: of least error for noise by the L1 norm."""


@dataclass(frozen=True)
class Outers(OfPoints):
    """The sum over points of u u^T, u the direction of a point in the frame.

    Its entries on and above the diagonal, row by row. A point at the centre counts nothing, nor
    does one whose coordinates, held to [-FAR, FAR], are longer than `outer`.
    replaced: whether a unit is replaced, so that half of `moved` rows go and half come.
    weights: of the diagonal and of the rest, a and b, with b^2 <= 2 a^2.

    Privacy: a direction is rounded to integers and, were it longer than R = FINE + sqrt(d)/2 + 2 in
    exact integer arithmetic, dropped. The weighted vector of a symmetric matrix X is at most
    a ||X|| long (Frobenius norm: an entry above the diagonal stands there twice, and b^2 <= 2 a^2).
    k rows that come add a positive semidefinite A with ||A|| <= k R^2 (triangle inequality); where
    k others go, ||A - B||^2 <= ||A||^2 + ||B||^2 <= 2 k^2 R^4, as trace(A B) >= 0. In L1 a row
    adds at most (a + b (d - 1)/2) R^2, since (sum |u_i|)^2 <= d |u|^2. Noise by this reach is that
    of the mechanism's theorem. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1; for Gaussian noise
    Canonne, Kamath & Steinke 2020, Thm 14]
    """

    frame: Frame
    replaced: bool = False
    outer: float = inf
    weights: tuple[int, int] = GAUSSIAN

    @property
    def fitted(self) -> Self:
        """The same sums, weighted for the kind of noise that its price buys."""
        kinds: dict[type, tuple[tuple[int, int], ...]] = {
            Pure: (LAPLACE,),
            Approximate: (LAPLACE, GAUSSIAN),
        }
        made = [replace(self, weights=w) for w in kinds.get(type(self.price), (GAUSSIAN,))]
        return min(made, key=lambda one: one.error)

    @property
    def unit(self) -> int:
        """What a row of this very direction adds to a diagonal entry."""
        return self.weights[0] * FINE**2

    @property
    def error(self) -> float:
        """The expected Frobenius norm of the noise, in rows."""
        (a, b), d = self.weights, self.points.size
        one = self.mechanism.standard_deviation / self.unit
        return one * sqrt(d + d * (d - 1) * (a / b) ** 2)

    @property
    def radius(self) -> int:
        """The greatest length of a rounded direction."""
        return FINE + isqrt(self.points.size) // 2 + 2

    @property
    def reach(self) -> Reach:
        """How far neighbours' sums can lie apart."""
        (a, b), d, far = self.weights, self.points.size, self.moved * self.radius**2
        l2_squared = (a * far) ** 2
        return Reach(-(-far * (2 * a + b * (d - 1)) // 2), -(-l2_squared // (1 + self.replaced)))

    @property
    def mechanism(self) -> Additive:
        """The noise of each weighted sum."""
        return mechanism_for(self.reach, self.price)

    def of(self, block: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums of products over a block of points; see `Statistic`."""
        d = self.points.size
        total = np.zeros((d, d), dtype=np.int64)
        for part in self.frame.blocks(block):
            directions = self._directions(part)
            total += (directions @ directions.T).astype(np.int64)  # below 2^53: in any order
        return total

    def sums(self, points: Any) -> tuple[int, ...]:
        """Return the exact weighted sums, on and above the diagonal, row by row."""
        (a, b), d = self.weights, self.points.size
        whole = cloud_of(points).total(self).tolist()
        return tuple((a if i == j else b) * whole[i][j] for i in range(d) for j in range(i, d))

    def _directions(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        near = squares(np.clip(block, -FAR, FAR)) <= self.outer * self.outer
        length = np.sqrt(squares(block))
        weights = np.zeros(length.shape)
        np.divide(float(FINE), length, out=weights, where=near & (length > 0))
        directions: NDArray[np.float64] = np.rint(block * weights)
        # Whole numbers, so squares add up exactly: none is too long, whatever floats do.
        directions[:, ~(squares(directions) <= float(self.radius**2))] = 0
        return directions

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the sums with their noise; see `Distributed`."""
        return (Noisy(self.mechanism, self.sums(exact), Fraction(1, self.unit)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.mechanism.release(self.sums(exact), words)]

    def read(self, records: Sequence[Record]) -> tuple[SignMatrix, ...]:
        """Read noisy integers as a matrix."""
        names = tuple(grid.column for grid in self.points.values)
        noisy = (tuple(int(n or 0) for n in record) for record in records)
        return tuple(SignMatrix(n, names, self.weights, FINE, self.mechanism) for n in noisy)
