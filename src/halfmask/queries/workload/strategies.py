"""Strategies: integer matrices whose noisy answers say the most about a workload.

Each has a text from which it is made anew, so that a record of noisy answers tells how to read it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.queries.workload.gaussian import gaussian_matrix
from halfmask.queries.workload.identity_plus import identity_plus_matrix
from halfmask.queries.workload.load import Load

__all__ = ["Norms", "Strategy", "strategy"]

Matrix = NDArray[np.float64]
Whole = NDArray[np.int64]

CLOSE = 1e-7
"""How near least squares must come to the cells (or queries) that a strategy says all of."""

EXACT = 2**53
"""Below it sums of integers in doubles are exact, in whatever order."""


@dataclass(frozen=True)
class Strategy:
    """An integer matrix A over the cells, and the least-squares estimate of them from A x + noise.

    covariance: (A'A)^-1, that of the estimate for noise of variance 1; a pseudo-inverse where A
      says nothing of some mixtures of cells.
    norms: how far its answers reach.
    """

    text: str
    matrix: Whole = field(compare=False, repr=False)
    covariance: Matrix = field(compare=False, repr=False)
    norms: "Norms"

    @property
    def name(self) -> str:
        """Its kind in words."""
        return _NAMES[self.text.partition(" ")[0]]

    def total(self, gram: Matrix) -> float:
        """The sum over the queries of W'W = `gram` of their variances, for noise of variance 1."""
        return float((self.covariance * gram).sum())

    def estimate(self, noisy: Matrix) -> Matrix:
        """The cells that fit the noisy answers best, in squares."""
        found: Matrix = self.covariance @ (self.matrix.T @ noisy)
        return found


@dataclass(frozen=True)
class Norms:
    """Exact norms of the columns a of an integer matrix.

    l1: the largest |a|_1. l2_squared: the largest |a|_2^2. apart_squared: the largest |a - b|_2^2
    of two columns, one of which may be zero, or an upper bound of it.
    """

    l1: int
    l2_squared: int
    apart_squared: int


@functools.lru_cache(maxsize=4)
def strategy(text: str, load: Load) -> Strategy:
    """Make the strategy of this text for a workload of merged cells."""
    kind, _, rest = text.partition(" ")
    makers: dict[str, Callable[[], Whole | None]] = {
        "identity": lambda: np.eye(load.cells, dtype=np.int64),
        "direct": load.whole,
        "tree": lambda: _tree(load.cells, int(rest)),
        "wavelet": lambda: _wavelet(load.cells),
        "plus": lambda: identity_plus_matrix(rest, load.cells),
        "gaussian": lambda: gaussian_matrix(rest, load.gram()),
    }
    matrix = makers[kind]() if kind in makers else None
    if matrix is None or matrix.shape[1] != load.cells:
        raise InvalidQuery(f"strategy: {kind!r} is not one of this version; ask anew")
    real = matrix.astype(np.float64)
    gram = real.T @ real
    own = kind == "direct"
    inverse = np.linalg.pinv(gram, 1e-12, True) if own else np.linalg.inv(gram)
    covariance = (inverse + inverse.T) / 2
    _sound(real if own else np.eye(load.cells), covariance @ gram)
    return Strategy(text, matrix, covariance, _norms(matrix, gram))


def _sound(rows: Matrix, through: Matrix) -> None:
    """Refuse a strategy through which the rows do not come back: too near to singular."""
    off = np.abs(rows @ through - rows).max(axis=1)
    if not (off <= CLOSE * np.abs(rows).max(axis=1)).all():
        raise InvalidQuery("strategy: its sums are too alike to be told apart")


def _norms(matrix: Whole, gram: Matrix) -> Norms:
    l1 = int(np.abs(matrix).sum(axis=0).max())
    l2_squared = int((matrix**2).sum(axis=0).max())
    if int(np.abs(matrix).max()) ** 2 * len(matrix) * 4 >= EXACT:
        return Norms(l1, l2_squared, 4 * l2_squared)
    own = np.diagonal(gram)  # an exact integer, as all of them are
    apart = max((own[:, None] + own - 2 * gram).max(), own.max())
    return Norms(l1, l2_squared, int(apart))


def _tree(cells: int, branches: int) -> Whole:
    """Sums over the nodes of a tree: all cells, then each node cut in `branches` near-equal parts.

    [Hay, Rastogi, Miklau & Suciu 2010; Qardaji, Yang & Li 2013]
    """
    spans, level = [], [(0, cells)]
    while level:
        spans += level
        level = [
            (start + (end - start) * i // branches, start + (end - start) * (i + 1) // branches)
            for start, end in level
            if end - start > 1
            for i in range(branches)
        ]
        level = [(start, end) for start, end in level if end > start]
    return _of_spans(spans, cells)


def _of_spans(spans: list[tuple[int, int]], cells: int) -> Whole:
    starts, ends = np.array(spans).T[:, :, None]
    cell = np.arange(cells)
    found: Whole = ((starts <= cell) & (cell < ends)).astype(np.int64)
    return found


def _wavelet(cells: int) -> Whole:
    """Haar's wavelet: the sum of all cells, and left half less right half at every scale.

    [Xiao, Wang & Gehrke 2010]
    """
    size, cell = 1 << (cells - 1).bit_length(), np.arange(cells)
    rows = [np.ones(cells, dtype=np.int64)]
    while size > 1:
        starts = np.arange(0, cells, size)[:, None]
        inside = (starts <= cell) & (cell < starts + size)
        sign = np.where(cell % size < size // 2, 1, -1)
        rows += list(inside * sign)
        size //= 2
    return np.array(rows)


_NAMES = {
    "identity": "cells",
    "direct": "the queries themselves",
    "tree": "a tree",
    "wavelet": "Haar's wavelet",
    "plus": "cells and optimised sums",
    "gaussian": "optimised sums",
}
