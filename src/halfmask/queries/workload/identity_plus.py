"""The optimised strategy for Laplace noise: each cell, and a few weighted sums of all of them."""

import base64
import zlib
from math import cos, pi

import numpy as np
from numpy.typing import NDArray

__all__ = ["identity_plus", "identity_plus_matrix"]

Matrix = NDArray[np.float64]

SCALE = 2**12
"""What a column of the integer matrix sums to, roughly."""

STEPS, RATE = 250, 0.1
"""Of the descent; for many cells the steps are fewer, which costs a hundredth."""


def identity_plus(gram: Matrix) -> str:
    """Optimise A = [I; T] D, with columns of L1 norm 1, for the queries of W'W = `gram`.

    Return the text of SCALE * A in integers. Descent from two fixed starts (sums over the nodes of
    a binary tree, and scattered weights); the better one is taken. No chance is involved, and what
    comes out is a strategy like any other, however good or bad the descent was.
    [McKenna, Miklau, Hay & Machanavajjhala 2018, OPT_0]
    """
    cells = len(gram)
    sums = min(64, cells // 12 + 2)
    starts = (_nodes, _scattered) if cells <= 512 else (_nodes,)
    steps = STEPS if cells <= 512 else STEPS // 2
    found = [_descend(start(cells, sums), gram, steps) for start in starts]
    _, weights = min(found, key=lambda pair: pair[0])
    norms = 1 + weights.sum(axis=0)
    rows = np.vstack([np.ones(cells), weights]) * (SCALE / norms)
    whole = np.rint(rows).astype("<u2")
    whole[0] = np.maximum(whole[0], 1)
    return base64.b85encode(zlib.compress(whole.tobytes(), 9)).decode()


def identity_plus_matrix(text: str, cells: int) -> NDArray[np.int64]:
    """Return the integer matrix of such a text."""
    flat = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<u2").astype(np.int64)
    own, *sums = flat.reshape(-1, cells)
    kept = [row for row in sums if row.any()]
    return np.vstack([np.diag(own), *kept])


def _error(weights: Matrix, gram: Matrix) -> tuple[float, Matrix]:
    """tr((A'A)^-1 W'W) and its gradient by T, in O(sums * cells^2) (Woodbury's identity).

    With s the column sums of [I; T], H = diag(s) gram diag(s) and P = (I + T T')^-1 T, so that
    (I + T'T)^-1 = I - T'P, the error is tr((I - T'P) H).
    """
    s, own = 1 + weights.sum(axis=0), np.diagonal(gram)
    P = np.linalg.solve(np.eye(len(weights)) + weights @ weights.T, weights)
    Q = ((P * s) @ gram) * s
    through = (Q * weights).sum(axis=0)
    error = float((own * s * s - through).sum())
    return error, 2 * ((Q @ weights.T) @ P - Q + own * s - through / s)


def _descend(start: Matrix, gram: Matrix, steps: int) -> tuple[float, Matrix]:
    """Descend in the square roots of T, which keeps T >= 0, by Adam.

    [Kingma & Ba 2015]
    """
    root, best = np.sqrt(start), (np.inf, start)
    mean, square = np.zeros_like(root), np.zeros_like(root)
    for step in range(1, steps + 1):
        error, gradient = _error(root * root, gram)
        if error < best[0]:
            best = (error, root * root)
        slope = 2 * root * gradient / error
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        rate = RATE * (1 + cos(pi * step / steps)) / 2
        ahead = mean / (1 - 0.9**step)
        root = root - rate * ahead / (np.sqrt(square / (1 - 0.99**step)) + 1e-12)
    return best


def _nodes(cells: int, sums: int) -> Matrix:
    """As many levels of a binary tree as fit."""
    weights, at, cell = np.full((sums, cells), 0.02), 0, np.arange(cells)
    parts = 1
    while at + parts <= sums and parts <= cells:
        weights[at + cell * parts // cells, cell] += 0.7
        at, parts = at + parts, 2 * parts
    weights[at:] += 0.1 * _scattered(cells, sums)[at:]
    return weights


def _scattered(cells: int, sums: int) -> Matrix:
    """Numbers in [0, 1) without a pattern that the workload could share."""
    i, j = np.arange(1, sums + 1)[:, None], np.arange(1, cells + 1)
    found: Matrix = (i * 0.7548776662 + j * 0.5698402910 + i * j * 0.3819660113) % 1
    return found
