"""Vectors cut to a public length, as integers: what one row or one client can add to a sum."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["FINE", "cut"]

Matrix = NDArray[np.float64]

FINE = 2**24
"""Parts of the radius in which a cut vector is measured."""

_SHRUNK = FINE * (1 - 2.0**-40)
"""A little less, so that no rounding of a length or a quotient makes a vector longer than FINE."""


def cut(block: Matrix, radius: float) -> NDArray[np.bool_]:
    """Turn each row v into v / max(|v|, radius), in whole parts of FINE, in place.

    Return which rows were vectors: one with a NaN or an infinity, or of a length beyond 1e154,
    becomes zeros.

    Privacy: what becomes of a row depends on that row and on public numbers alone, to the last
    bit, and is an integer vector of length at most FINE. Proof: every operation on a row is
    elementwise and correctly rounded by IEEE 754, in an order that its place among other rows
    cannot change; cutting decimals off lengthens nothing; and the length is checked again, in
    integers.

    >>> rows = np.array([[0.0, 8.0], [1.0, 0.0], [np.nan, 0.0]])
    >>> cut(rows, 2.0), rows[:2] / FINE
    (array([ True,  True, False]), array([[0.        , 0.99999994],
           [0.49999994, 0.        ]]))
    """
    with np.errstate(all="ignore"):  # a warning would tell about a row
        length = np.sqrt(_added_by_halves(block * block))
        present = np.isfinite(length)
        block *= (_SHRUNK / np.maximum(length, radius))[:, None]
        block[~present] = 0
        np.trunc(block, out=block)
        squared = np.einsum("ij,ij->i", block, block)  # exact: integers up to 2^48
        block[~(squared <= FINE**2)] = 0  # never: proves the bound
    return present


def _added_by_halves(block: Matrix) -> NDArray[np.float64]:
    """Return the sum of each row, the right half added to the left until one number is left.

    Only elementwise additions: no blocking, alignment or thread can change their order, as they can
    that of `sum`. It overwrites the block.
    """
    width = block.shape[1]
    while width > 1:
        half = (width + 1) // 2
        block[:, : width - half] += block[:, half:width]
        width = half
    return block[:, 0] if width else np.zeros(len(block))
