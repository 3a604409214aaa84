"""Points that stay in their engine: sums of them come out, and the counts of a column's cells."""

from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import ReleaseFailed
from halfmask.plan import Cloud, Statistic

__all__ = ["FAILED", "Far"]

FAILED = (
    "the engine failed after the price was charged; the charge stays, and the reason is not "
    "shown, since it may tell rows"
)


class _Runs(Protocol):
    def rows(self, sql: str, error: Exception) -> list[tuple[Any, ...]]: ...
    def columns(self, sql: str, error: Exception) -> dict[str, NDArray[Any]]: ...


class Far(Cloud):
    """A query of points (v0, v1, ...) of a far engine, run anew for each question.

    summed: adds up a statistic where the rows are, or of batches of them; it raises no word of the
      engine's.
    """

    def __init__(
        self, engine: _Runs, sql: str, size: int, summed: Callable[[Statistic], NDArray[Any]]
    ) -> None:
        self._engine, self._sql, self._size, self._summed = engine, sql, size, summed

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self._size

    def __len__(self) -> int:
        sql = f"SELECT COUNT(*) FROM ({self._sql}) q"
        ((rows,),) = self._engine.rows(sql, ReleaseFailed(FAILED))
        return int(rows)

    def total(self, statistic: Statistic) -> NDArray[Any]:
        """Have the engine add; see `Cloud`."""
        return self._summed(statistic)

    def cells(self, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Have the engine count, and sort here; see `Cloud`."""
        sql = f"SELECT v{j} AS v, COUNT(*) AS w FROM ({self._sql}) q GROUP BY v{j}"
        found = self._engine.columns(sql, ReleaseFailed(FAILED))
        cells, weights = (np.asarray(found[name], np.int64) for name in "vw")
        order = np.argsort(cells)
        return cells[order], weights[order]

    def array(self) -> NoReturn:
        """Refuse: whoever needs all points is refused before the price is charged."""
        raise ReleaseFailed(FAILED)
