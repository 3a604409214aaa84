"""Linear algebra whose results are certain, and the same on any number of threads.

Only operations that IEEE 754 fixes are used, element by element in a fixed order, and products of
integers so small that floats hold every sum exactly.
"""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "certified_ratio",
    "cholesky",
    "gram",
    "inverse",
    "is_positive",
    "largest",
    "least",
    "product",
    "stretches",
]

Floats = NDArray[np.float64]

HALVINGS = 12


def gram(rows: Floats) -> tuple[Floats, float]:
    """Return G and e with  ±(rows' rows - G) <= e I.

    The rows are rounded to multiples of 2^-b such that all sums of products fit 52 bits: their
    products are exact in any order. A row's part along a unit vector moves by at most
    δ = √d 2^-b / 2, so the sum of squares by at most 2 √(n tr G) δ + n δ².
    """
    n, d = rows.shape
    greatest = float(np.square(rows).sum(axis=0).max(initial=0.0))
    if greatest == 0:
        return np.zeros((d, d)), 0.0
    scale = 2.0 ** math.floor((50 - math.log2(greatest)) / 2)
    whole = np.rint(rows * scale)
    found = (whole.T @ whole) / scale**2
    moved = math.sqrt(d) / scale / 2
    error = 2 * math.sqrt(n * float(np.trace(found))) * moved + n * moved**2
    return found, error * 1.001


def product(a: Floats, b: Floats) -> Floats:
    """Return a b; each entry is off by at most (d + 1) 2^-52 of the sum of its terms' sizes."""
    found = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        found += a[:, k, None] * b[k]
    return found


def inverse(a: Floats) -> Floats:
    """Return the inverse of a positive definite matrix, roughly; made symmetric."""
    d = a.shape[0]
    work = np.concatenate([a, np.eye(d)], axis=1)
    for k in range(d):
        work[k] /= work[k, k]
        column = work[:, k].copy()
        column[k] = 0.0
        work -= column[:, None] * work[k]
    found: Floats = (work[:, d:] + work[:, d:].T) / 2
    return found


def cholesky(a: Floats) -> Floats:
    """Return the lower triangular L with LL' = a, roughly, for a positive definite matrix."""
    d = a.shape[0]
    work, found = a.copy(), np.zeros((d, d))
    for k in range(d):
        found[k:, k] = work[k:, k] / math.sqrt(max(work[k, k], 2.0**-900))
        work[k + 1 :, k + 1 :] -= found[k + 1 :, k, None] * found[k + 1 :, k]
    return found


def is_positive(a: Floats, slack: float = 0.0) -> bool:
    """Whether a - slack I is certainly positive semidefinite; False says nothing.

    Cholesky's factors of a symmetric A, if they come to an end in floats, are those of a matrix
    within (d + 2) 2^-52 tr A of A. [Demmel 1989; Rump 2006, Thm 2.3]
    """
    d = a.shape[0]
    work = a - np.eye(d) * (slack + (d + 4) * 2.0**-51 * float(np.abs(np.diag(a)).sum()))
    for k in range(d):
        if not work[k, k] > 0:
            return False
        column = work[k + 1 :, k] / math.sqrt(work[k, k])
        work[k + 1 :, k + 1 :] -= column[:, None] * column
    return True


def stretches(m: Floats) -> tuple[float, float]:
    """Return bounds, from below (0 if none is certain) and from above, of ‖Mz‖ over unit z."""
    squared = product(m.T, m)
    squared = (squared + squared.T) / 2
    error = (m.shape[0] + 2) * 2.0**-52 * float(np.trace(squared)) * 1.01
    low, high = least(squared) - error, largest(squared) + error
    return math.sqrt(max(low, 0.0)) * (1 - 2.0**-40), math.sqrt(high) * (1 + 2.0**-40)


def least(a: Floats) -> float:
    """Return a lower bound, above 0, of the least eigenvalue of a symmetric matrix, or else 0.

    It is within a factor 2^(1/8) of the best one above 2^-40 of the mean eigenvalue.
    """
    mean = float(np.trace(a)) / a.shape[0]
    low, high = 0, 320  # in eighths of a power of 2 below the mean
    if not is_positive(a, mean * 2.0**-40):
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        if is_positive(a, mean * 2.0 ** (-middle / 8)):
            high = middle
        else:
            low = middle
    return mean * 2.0 ** (-high / 8) if mean > 0 else 0.0


def largest(a: Floats) -> float:
    """Return an upper bound of the greatest eigenvalue of a positive semidefinite matrix."""
    d = a.shape[0]
    trace = float(np.trace(a))
    low, high = trace / d, trace * 1.001
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if is_positive(np.eye(d) * middle - a):
            high = middle
        else:
            low = middle
    return high


def certified_ratio(b: Floats, slack: float, m: Floats, weight: float) -> float:
    """Return q >= 0 with  z'M'BMz >= q ‖Mz‖  for all unit z and every B >= b - slack I, or -inf.

    As ‖Mz‖ <= (λ ‖Mz‖² + 1/λ)/2 for any λ > 0 (`weight`), it is enough that
    M'BM - (q/2) (λ M'M + I/λ) is positive semidefinite, which Cholesky's factors certify.
    """
    d = m.shape[0]
    squared = product(m.T, m)
    middle = product(product(m.T, b), m) - slack * squared
    middle = (middle + middle.T) / 2
    bound = (weight * squared + np.eye(d) / weight) / 2
    bound = (bound + bound.T) / 2
    sizes = float(np.sqrt(np.square(m).sum()))
    rounding = 8 * (d + 4) ** 2 * 2.0**-52 * sizes**2 * (float(np.sqrt(np.square(b).sum())) + slack)
    most = float(np.trace(middle)) / float(np.trace(bound))
    if not (most > 0 and is_positive(middle, rounding)):
        return -math.inf
    low, high = 0.0, most * (1 + 2.0**-20)
    for _ in range(HALVINGS):
        middle_value = (low + high) / 2
        extra = rounding + middle_value * 8 * (d + 4) * 2.0**-52 * float(np.trace(bound))
        if is_positive(middle - middle_value * bound, extra):
            low = middle_value
        else:
            high = middle_value
    return low
