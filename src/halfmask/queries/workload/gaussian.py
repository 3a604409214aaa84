"""The optimal strategy for Gaussian noise, by a convex problem with a certificate."""

import base64
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["gaussian_matrix", "gaussian_text", "optimum"]

Matrix = NDArray[np.float64]

SCALE = 2**20
"""What a column of the integer matrix is long, roughly."""

RIDGE = 1e-6
"""Weight of each cell on its own: keeps A invertible, so that rounding it costs nothing."""

STEPS, GAP, STRIDE = 30, 1.01, 2
"""The iteration ends when the error is within this factor of its lower bound.

Where all matrices commute one step of the iteration goes half of the way, in logarithms: so twice
its stride is taken.
"""

FINE = 64
"""Parts of an octave to which the dual weights are rounded."""


def optimum(gram: Matrix) -> tuple[Matrix, float, float]:
    """Minimise tr(X^-1 gram) over X = A'A with diag(X) <= 1.

    Return the dual weights v, the error reached and a lower bound of any strategy's. The optimum
    is X = v^-1/2 R v^-1/2 with R = (v^1/2 gram v^1/2)^1/2 and v = diag(R), diagonal v; by weak
    duality tr(R)^2 / sum(v) is a lower bound at any v > 0.
    [Li & Miklau 2013; Yuan et al. 2016; the iteration: Denisov et al. 2022, Thm 3.2]
    """
    held = _ridged(gram)
    weights, best = np.sqrt(np.diagonal(held)), (np.inf, np.sqrt(np.diagonal(held)))
    lower = 0.0
    for _ in range(STEPS):
        own, trace = _root_diagonal(held, weights)
        error = trace * float((own / weights).max())
        lower = max(lower, trace**2 / float(weights.sum()))
        if error < best[0]:
            best = (error, weights)
        if error <= GAP * lower:
            break
        weights = weights * (own / weights) ** STRIDE
        weights = np.maximum(weights, weights.max() * 1e-9)
    return best[1], best[0], lower


def gaussian_text(gram: Matrix) -> str:
    """Return the optimal strategy's dual weights as a text."""
    weights, _, _ = optimum(gram)
    octaves = np.rint(np.log2(weights / weights.max()) * FINE).astype("<i2")
    return base64.b85encode(zlib.compress(octaves.tobytes(), 9)).decode()


def gaussian_matrix(text: str, gram: Matrix) -> NDArray[np.int64]:
    """Return the integer matrix of such a text for the same queries.

    Another machine's last digits may move entries by one in 2^20, far below the noise.
    """
    octaves = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<i2")
    if len(octaves) != len(gram):
        return np.zeros((0, 0), dtype=np.int64)
    root = np.sqrt(np.exp2(octaves / FINE))
    values, vectors = np.linalg.eigh(_ridged(gram) * root[:, None] * root)
    values = np.maximum(values, values.max() * 1e-14)
    X = (vectors * np.sqrt(values)) @ vectors.T / root[:, None] / root
    A = np.linalg.cholesky(X / np.diagonal(X).max()).T  # the one triangular factor: no free sign
    found: NDArray[np.int64] = np.rint(A * SCALE).astype(np.int64)
    return found


def _ridged(gram: Matrix) -> Matrix:
    found: Matrix = gram + np.eye(len(gram)) * (RIDGE * np.trace(gram) / len(gram))
    return found


def _root_diagonal(gram: Matrix, weights: Matrix) -> tuple[Matrix, float]:
    """The diagonal and the trace of (w^1/2 gram w^1/2)^1/2."""
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(gram * root[:, None] * root)
    roots = np.sqrt(np.maximum(values, 0))
    found: Matrix = (vectors * vectors) @ roots
    return found, float(roots.sum())
