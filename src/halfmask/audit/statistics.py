"""What the auditor looks at in an output: numbers computed from each row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.samples import Matrix

__all__ = ["Statistic", "column", "lowest_bit", "plain_statistics"]

Vector = NDArray[np.float64]

ALL_PAIRS = 5  # up to so many columns every difference is looked at, else those of neighbours
COLUMNS = 32
ZERO = 2000.0  # the exponent given to the lowest bit of 0, which has none


@dataclass(frozen=True)
class Statistic:
    """A number from each row of a matrix of outputs; NaN counts as infinity."""

    name: str
    of: Callable[[Matrix], Vector] = field(repr=False, compare=False)

    def __call__(self, outputs: Matrix) -> Vector:
        """Return shape (size,), without NaN."""
        values = self.of(outputs)
        return np.where(np.isnan(values), np.inf, values)


def plain_statistics(outputs: Matrix) -> Iterator[Statistic]:
    """Yield the statistics that need no learning, for outputs like these."""
    width = outputs.shape[1]
    for j in range(min(width, COLUMNS)):
        yield column(j, width)
    if width > 1:
        yield Statistic("smallest", lambda y: y.min(axis=1))
        yield Statistic("largest", lambda y: y.max(axis=1))
        yield Statistic("sum", _quiet(lambda y: y.sum(axis=1)))
        yield Statistic("range", _quiet(lambda y: y.max(axis=1) - y.min(axis=1)))
        for i, j in _differences(min(width, COLUMNS)):
            yield _difference(i, j)
    if not (outputs == np.rint(outputs)).all():
        yield Statistic("lowest bit", lambda y: lowest_bit(y).min(axis=1))
        for j in range(width if 1 < width <= ALL_PAIRS else 0):
            yield _lowest_bit(j)


def column(j: int, width: int) -> Statistic:
    """Return the statistic that is one column."""
    return Statistic(f"x{j}" if width > 1 else "x", lambda y: y[:, j])


def _difference(i: int, j: int) -> Statistic:
    return Statistic(f"x{j} - x{i}", _quiet(lambda y: y[:, j] - y[:, i]))


def _lowest_bit(j: int) -> Statistic:
    return Statistic(f"lowest bit of x{j}", lambda y: lowest_bit(y[:, j]))


def lowest_bit(values: Matrix) -> Matrix:
    """Return the exponent of the lowest set bit: 0 for odd integers, -1 for odd halves.

    Floating-point noise lies on a grid that depends on its size, so the lowest bit can tell what
    was added to it. [Mironov 2012, section 4]

    >>> lowest_bit(np.array([1.0, 12.0, 0.75])).tolist()
    [0.0, 2.0, -2.0]
    """
    bits = values.view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | ((exponent > 0).astype(np.int64) << 52)
    lowest = (mantissa & -mantissa).astype(np.float64)
    trailing = (lowest.view(np.int64) >> 52) - 1023
    place = trailing + np.maximum(exponent, 1) - 1075
    return np.where(mantissa == 0, ZERO, place.astype(np.float64))


def _differences(width: int) -> list[tuple[int, int]]:
    if width <= ALL_PAIRS:
        return list(combinations(range(width), 2))
    return [(j - 1, j) for j in range(1, width)] + [(0, width - 1)]


def _quiet(function: Callable[[Matrix], Vector]) -> Callable[[Matrix], Vector]:
    """Infinities subtract to NaN here, silently."""

    def quiet(outputs: Matrix) -> Vector:
        with np.errstate(invalid="ignore", over="ignore"):
            return function(outputs)

    return quiet
