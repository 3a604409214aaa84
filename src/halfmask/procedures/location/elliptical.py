"""How the eigenvalues of a sign covariance belong to those of the shape of elliptical points.

Both matrices have the same eigenvectors. For points of shape with eigenvalues l, the sign
covariance has d_i = E[l_i z_i^2 / sum_j l_j z_j^2], z normal, whatever the tails: far axes are
seen shorter than they are. [Durre, Tyler & Vogel 2016, Prop. 1 for the integral]
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["root_and_inverse", "seen", "shape_of", "unseen"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LOGS = np.linspace(-45.0, 45.0, 721)
"""Of the integral's variable: the integrand is smooth and dies on both sides, so sums converge."""

TURNS, ENOUGH = 400, 1e-10


def seen(eigenvalues: Vector) -> Vector:
    """Return the eigenvalues of the sign covariance, of sum 1, of points with these eigenvalues.

    d_i = integral over x > 0 of l_i / (2 (1 + l_i x)) prod_j (1 + l_j x)^(-1/2) dx, in ln x.

    >>> seen(np.array([4.0, 1.0])).round(6).tolist()
    [0.666667, 0.333333]
    """
    x = np.exp(LOGS)[:, None] / eigenvalues.max()
    grown = eigenvalues * x
    rest = np.exp(-np.log1p(grown).sum(axis=1, keepdims=True) / 2)
    found: Vector = (grown / (1 + grown) * rest).sum(axis=0)
    found /= found.sum()
    return found


def unseen(signs: Vector) -> Vector:
    """Return the eigenvalues, of sum 1, whose sign covariance has these; all above 0.

    Each turn multiplies what is seen too small, in the proportion in which it is.

    >>> unseen(np.array([2 / 3, 1 / 3])).round(6).tolist()
    [0.8, 0.2]
    """
    wanted: Vector = signs / signs.sum()
    found = wanted.copy()
    for _ in range(TURNS):
        factor = wanted / seen(found)
        found = found * factor
        found /= found.sum()
        if np.abs(factor - 1).max() < ENOUGH:
            break
    return found


def shape_of(signs: Matrix, least: float) -> Matrix:
    """Return the shape, of trace d, whose points have this sign covariance.

    least: what smaller eigenvalues are raised to; at most their mean.
    """
    values, vectors = np.linalg.eigh(signs)
    d = len(values)
    held = np.maximum(values, min(max(least, 1e-9 / d), 1 / d))
    found: Matrix = (vectors * (d * unseen(held))) @ vectors.T
    return found


def root_and_inverse(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return the symmetric root of a positive definite matrix, and the inverse of that."""
    values, vectors = np.linalg.eigh(matrix)
    roots = np.sqrt(np.maximum(values, values.max() * 1e-15))
    return (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T
