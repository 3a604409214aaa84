"""What a private shape is read as."""

from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from halfmask.queries import checked
from halfmask.queries.location import entries

__all__ = ["Shape"]

Matrix = NDArray[np.float64]
Table = tuple[tuple[float, ...], ...]
Brackets = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True, eq=False)
class Shape:
    """A symmetric positive definite matrix: the shape of points, or their scatter.

    standard: the shape in units of `scales`, which are in those of the columns.
    relative: the standard deviation of the noise in a diagonal entry, for a shape of ones.
    size: what the shape is multiplied by; None makes its trace the number of columns.
    found: whether the stages succeeded, as far as their noisy answers show.
    """

    names: tuple[str, ...]
    standard: Matrix = field(repr=False)
    scales: NDArray[np.float64] = field(repr=False)
    relative: float
    size: float | None
    found: bool = True

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy sums."""
        return (
            "projected to the nearest positive semidefinite matrix",
            "eigenvalues raised to the noise's, and corrected for what directions hide",
            "given the trace of the number of columns"
            if self.size is None
            else "given the size of median lengths",
        )

    @property
    def doubt(self) -> str:
        """A warning where the stages may have failed."""
        return "" if self.found else "too few points for this price: the shape may be far off"

    @cached_property
    def _units(self) -> NDArray[np.float64]:
        """What a row and a column of the standard shape are multiplied by."""
        if self.size is not None:
            return self.scales * sqrt(self.size)
        units: NDArray[np.float64] = self.scales / self.scales.max()
        trace = float((np.diagonal(self.standard) * units * units).sum())
        units *= sqrt(len(self.names) / trace)
        return units

    @property
    def value(self) -> Table:
        """The matrix, in squared units of the columns; of trace d where there is no size."""
        found = self.standard * np.outer(self._units, self._units)
        return _table(found)

    @property
    def raw(self) -> Table:
        """The shape in units of the columns' scales, before it was given a trace or a size."""
        return _table(self.standard)

    @property
    def deviations(self) -> Matrix:
        """The standard deviation of the noise of the last step in each entry, to first order.

        With V = R^2 the shape, the last step adds R N R, N noise of deviation s on and s/sqrt(2)
        off the diagonal: s^2/2 (V_ii V_jj + V_ij^2) is the variance of an entry.
        """
        own = np.diagonal(self.standard)
        spread = np.sqrt((np.outer(own, own) + self.standard**2) / 2)
        found: Matrix = self.relative * spread * np.outer(self._units, self._units)
        return found

    @property
    def error(self) -> float:
        """The expected Frobenius norm of the noise of the last step, to first order."""
        return float(np.linalg.norm(self.deviations))

    def interval(self, confidence: float = 0.95) -> Brackets:
        """Bracket where the same steps would have ended without noise in the last, to first order.

        Each entry on its own; neither sampling error nor the noise of the size is counted.
        """
        far = NormalDist().inv_cdf((1 + checked(confidence)) / 2)
        value, wide = np.array(self.value), far * self.deviations
        low, high = (value - wide).tolist(), (value + wide).tolist()
        pairs = (zip(a, b, strict=True) for a, b in zip(low, high, strict=True))
        return tuple(tuple(row) for row in pairs)

    def cells(
        self, confidence: float = 0.95
    ) -> list[tuple[str, float, float | None, float | None]]:
        """The entries on and above the diagonal; with intervals where the stages succeeded."""
        made = entries(self.names, self.value, self.interval(confidence))
        return [(name, x, *(pair if self.found else (None, None))) for name, x, *pair in made]


def _table(matrix: Matrix) -> Table:
    return tuple(map(tuple, matrix.tolist()))
