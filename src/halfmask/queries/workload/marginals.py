"""Marginals: counts by every combination of so many of several columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import prod

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Bins, Groups, Keys
from halfmask.queries.workload.linear_queries import cell_names, cells_of
from halfmask.queries.workload.load import MatrixLoad
from halfmask.queries.workload.measured import OfCells

__all__ = ["Marginals"]

MOST = 2048
"""Cells of the product of all columns."""


@dataclass(frozen=True)
class Marginals(OfCells):
    """How many rows are in each cell of every table of `order` of the columns.

    columns: {name: edges, or texts as keys, or Keys}. A row that is missing or outside the cells in
    any of the columns counts nowhere, so that all tables speak of the same rows: they agree.
    The product of all columns has up to 2048 cells.
    Privacy: as `LinearQueries`. [Li, Miklau, Hay, McGregor & Rastogi 2015, Prop. 5]

    >>> Marginals({"age": [0, 18, 65], "dept": ["ops", "r&d"]}, order=1).bins
    ('age 0 to 18', 'age 18 to 65', 'dept ops', 'dept r&d')
    """

    columns: Mapping[str, Bins | Keys] = field(hash=False)
    order: int = 2

    def __init__(
        self, columns: Mapping[str, Sequence[float] | Sequence[str] | Keys | Bins], order: int = 2
    ) -> None:
        if not isinstance(columns, Mapping):
            raise InvalidQuery(
                f"columns: {shown(columns)} given; write {{'age': [0, 18, 65], 'dept': ['a', 'b']}}"
            )
        axes = {name: _axis(name, cells) for name, cells in columns.items()}
        whole = isinstance(order, int) and not isinstance(order, bool)
        if not whole or not 1 <= order <= len(axes):
            raise InvalidQuery(
                f"order: {shown(order)} of {len(axes)} columns; give a whole number from 1 to the "
                "number of columns"
            )
        object.__setattr__(self, "columns", axes)
        object.__setattr__(self, "order", order)
        size = prod(axis.size for axis in axes.values())
        if size > MOST:
            raise InvalidQuery(
                f"columns: their product has {size} cells, above {MOST}; use fewer columns, or "
                "wider cells"
            )

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"number of rows by {self.order} of {', '.join(self.columns)}"

    @cached_property
    def bins(self) -> tuple[str, ...]:
        """The cells of all tables in words."""
        named = {
            name: [f"{name} {cell}" for cell in cell_names(axis)]
            for name, axis in self.columns.items()
        }
        return tuple(
            ", ".join(cell)
            for table in combinations(named, self.order)
            for cell in product(*(named[name] for name in table))
        )

    @property
    def groups(self) -> Groups:
        """The cells of all columns."""
        return tuple(self.columns.values())

    @cached_property
    def load(self) -> MatrixLoad:
        """One query a cell of a table: a one for each cell of the product that lies in it."""
        sizes = [axis.size for axis in self.columns.values()]
        rows = []
        for table in combinations(range(len(sizes)), self.order):
            matrix = np.ones((1, 1), dtype=np.int64)
            for place, size in enumerate(sizes):
                part = np.eye(size, dtype=np.int64) if place in table else np.ones((1, size), int)
                matrix = np.kron(matrix, part)
            rows.append(matrix)
        return MatrixLoad(np.vstack(rows), 0)


def _axis(name: str, cells: Sequence[float] | Sequence[str] | Keys | Bins) -> Bins | Keys:
    if isinstance(cells, Bins):
        return cells_of(name, cells.edges)
    if isinstance(cells, list | tuple) and cells and all(isinstance(cell, str) for cell in cells):
        return Keys(name, cells)
    return cells_of(name, cells)  # type: ignore[arg-type]
