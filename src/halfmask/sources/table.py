"""A table behind an engine: the one class that runs tallies."""

from collections.abc import Callable
from typing import Protocol

from halfmask.errors import ReleaseFailed
from halfmask.plan import Schema, Tally
from halfmask.sources.engine import Engine
from halfmask.sources.sql import DUCKDB, Cells, emit

__all__ = ["FAILED", "Source", "Table"]

FAILED = (
    "the engine failed after the price was charged; the charge stays, and the reason is not "
    "shown, since it may tell rows"
)


class Source(Protocol):
    """Rows that answer tallies with exact integers, and nothing else."""

    schema: Schema
    name: str

    def tally(self, tally: Tally) -> tuple[tuple[int, ...], ...]:
        """Return (groups, features) integers, groups in the product order of the tally."""
        ...

    def close(self) -> None:
        """Let go of files and memory."""
        ...


class Table:
    """A table in DuckDB.

    physical: an expression of the canonical type of its kind for each column name.
    """

    def __init__(
        self,
        name: str,
        schema: Schema,
        physical: dict[str, str],
        table: str,
        engine: Engine,
        digest: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.name = name
        self.schema = schema
        self._physical = physical
        self._table = table
        self._engine = engine
        self._digest = digest

    def __repr__(self) -> str:
        return f"<source {self.name!r}: {', '.join(self.schema.names)}>"

    def tally(self, tally: Tally) -> tuple[tuple[int, ...], ...]:
        """Return (groups, features) exact integers, groups in the product order of the tally.

        InvalidQuery if the schema cannot serve it; ReleaseFailed, without a reason, if the engine
        fails (a broken file, a full disk).
        """
        tally.check(self.schema)
        self._digest()  # a file that is copied before its rows are read is copied now
        emission = emit(tally, Cells(self.schema, self._physical, DUCKDB), self._table)
        answer = [(0,) * len(tally.features)] * tally.size
        for group, *sums in self._engine.rows(emission.sql, ReleaseFailed(FAILED)):
            answer[group] = emission.features(tally, sums)
        return tuple(answer)

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the file, in hexadecimal; None where the table is no file."""
        return self._digest()

    def close(self) -> None:
        """Let go of files and memory; a second call does nothing."""
        self._engine.close()
