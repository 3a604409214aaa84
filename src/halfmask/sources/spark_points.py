"""Points of a Spark table, added up where they are: each partition sends its sums, and no row.

The statistic travels to the workers by pickle, so they must be able to import this version of
halfmask, NumPy and PyArrow; local workers can, those of a cluster need it installed.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Statistic, added

__all__ = ["Partial", "whole"]


@dataclass(frozen=True)
class Partial:
    """What a worker does: from batches of points of one partition to one row, its sums as text."""

    statistic: Statistic
    size: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Add up."""
        import pyarrow as pa

        sums = added(self.statistic, map(self._block, batches), self.size)
        yield pa.RecordBatch.from_pydict({"sums": [" ".join(map(str, sums.ravel()))]})

    def _block(self, batch: Any) -> NDArray[np.int64]:
        columns = [batch.column(j).to_numpy(zero_copy_only=False) for j in range(self.size)]
        return np.array(columns, np.int64).reshape(self.size, batch.num_rows).T


def whole(statistic: Statistic, frame: Any, size: int) -> NDArray[Any]:
    """Return the sum over all partitions of a frame of points (v0, v1, ...)."""
    total = added(statistic, [], size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, which no row goes through
        partial = frame.mapInArrow(Partial(statistic, size), "sums STRING")
    for (sums,) in partial.collect():
        parts = np.array([int(part) for part in sums.split()], dtype=object)
        total = total + parts.reshape(total.shape)
    return total
