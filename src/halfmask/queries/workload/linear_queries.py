"""Linear queries: weighted sums of the counts of public cells, many at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.plan import Bins, Groups, Keys
from halfmask.queries.histogram import between
from halfmask.queries.workload.load import MatrixLoad
from halfmask.queries.workload.measured import OfCells

__all__ = ["LinearQueries", "cell_names", "cells_of"]

BITS = 22
"""To which coefficients that are no integers are rounded, below the largest one."""


@dataclass(frozen=True)
class LinearQueries(OfCells):
    """Many weighted sums of counts in public cells, from one price, each with the least noise.

    cells: edges of bins, as for `Histogram`, or `Keys`. matrix: one row of coefficients a query,
    one column a cell; integers below 2^22 are taken as they are, other coefficients are rounded to
    2^-22 of the power of two at or above the largest.
    The answers are read off a strategy of sums that the workload decides: the cells, the queries
    themselves, a tree, a wavelet, or an optimised matrix, whichever has the least expected error.
    Privacy: that of the noise in the strategy's sums, by their exact integer reach; see `reach_of`.
    [Li, Miklau, Hay, McGregor & Rastogi 2015, Prop. 5]

    >>> LinearQueries("age", [0, 18, 65, 120], [[1, 1, 0], [0, 1, 1]])
    LinearQueries('age', [0.0, 18.0, 65.0, 120.0], 2 x 3 coefficients 4cf934b5679e)
    """

    column: str
    cells: Bins | Keys
    matrix: tuple[tuple[float, ...], ...]

    def __init__(self, column: str, cells: Sequence[float] | Keys, matrix: Any) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "cells", cells_of(column, cells))
        load = _load(matrix, self.cells.size)
        rounded = np.ldexp(load.coefficients.astype(float), -load.bits)
        object.__setattr__(self, "matrix", tuple(map(tuple, rounded.tolist())))

    @cached_property
    def load(self) -> MatrixLoad:
        """The coefficients as integers: those of `matrix`, exactly."""
        return _load(self.matrix, self.cells.size)

    def __repr__(self) -> str:
        cells = list(self.cells.edges) if isinstance(self.cells, Bins) else self.cells
        load = self.load
        size = f"{load.queries} x {load.cells} coefficients {load.key.hex()[:12]}"
        return f"LinearQueries({self.column!r}, {cells!r}, {size})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"weighted numbers of rows by {self.column}"

    @property
    def bins(self) -> tuple[str, ...]:
        """The queries by number."""
        return tuple(f"query {i}" for i in range(1, len(self.matrix) + 1))

    @property
    def groups(self) -> Groups:
        """The cells of the one column."""
        return (self.cells,)


def cells_of(column: str, cells: Sequence[float] | Keys) -> Bins | Keys:
    """Read edges or keys as public groups of one column."""
    if isinstance(cells, Keys):
        if cells.column != column:
            raise InvalidQuery(
                f"cells: keys of {cells.column!r} given for column {column!r}; name the same column"
            )
        return cells
    return Bins(column, cells)  # type: ignore[arg-type]  # which reads any list of numbers


def cell_names(cells: Bins | Keys) -> tuple[str, ...]:
    """The cells in words."""
    if isinstance(cells, Keys):
        return tuple("missing" if label is None else str(label) for label in cells.labels)
    return tuple(between(low, high) for low, high in pairwise(cells.edges))


def _load(matrix: Any, cells: int) -> MatrixLoad:
    coefficients = _numbers(matrix)
    if coefficients.ndim != 2 or coefficients.shape[1] != cells or not len(coefficients):
        raise InvalidQuery(
            f"matrix: of shape {coefficients.shape} for {cells} cells; give one row of {cells} "
            "coefficients for each query"
        )
    largest = float(np.abs(coefficients).max())
    if not 1e-100 < largest < 1e100:
        raise InvalidQuery(
            f"matrix: its largest coefficient is {largest}; give finite ones, not all 0, that are "
            "between 1e-100 and 1e100"
        )
    whole = bool((coefficients == np.rint(coefficients)).all()) and largest < 2**BITS
    bits = 0 if whole else BITS - math.frexp(math.nextafter(largest, 0))[1]
    return MatrixLoad(np.rint(np.ldexp(coefficients, bits)).astype(np.int64), bits)


def _numbers(matrix: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(
            "matrix: not a table of numbers; give a list of equally long lists, or an array"
        ) from None
