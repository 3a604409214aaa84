"""Coordinates in which points of a private shape are round."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from halfmask.procedures.location.elliptical import root_and_inverse, shape_of
from halfmask.queries.location import Frame, SignMatrix, Whitened

__all__ = ["Turned"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Turned:
    """A public centre and scales, a shape of trace d in units of these, its root and its inverse.

    Points of this shape are round in the coordinates of `frame`.
    """

    centre: NDArray[np.float64]
    scales: NDArray[np.float64]
    shape: Matrix
    root: Matrix
    inverse: Matrix

    @classmethod
    def round(cls, centre: NDArray[np.float64], scales: NDArray[np.float64]) -> "Turned":
        """Return the coordinates in units of the scales."""
        one = np.eye(len(centre))
        return cls(centre, scales, one, one, one)

    @property
    def frame(self) -> Frame:
        """The frame: all of it public."""
        plain = Frame(tuple(self.centre.tolist()), tuple(self.scales.tolist()))
        turned = bool((self.inverse != np.eye(len(self.centre))).any())
        return Whitened.by(plain, self.inverse) if turned else plain

    def moved(self, step: NDArray[np.float64]) -> "Turned":
        """Return the same about a centre that lies `step` away, in coordinates of the frame."""
        centre = self.centre + self.scales * (self.root @ step)
        return Turned(centre, self.scales, self.shape, self.root, self.inverse)

    def by(self, signs: SignMatrix) -> "Turned":
        """Turn by what the sign covariance in these coordinates says of the shape.

        Eigenvalues below the largest of the noise are raised to it.
        """
        d = len(self.centre)
        found = shape_of(signs.matrix, signs.deviation * sqrt(2 * d))
        shape = self.root @ found @ self.root
        shape = (shape + shape.T) * (d / (2 * np.trace(shape)))
        return Turned(self.centre, self.scales, shape, *root_and_inverse(shape))
