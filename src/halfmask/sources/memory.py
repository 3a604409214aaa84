"""Vectors and Arrow tables as tables of the engine."""

from collections.abc import Callable, Mapping
from typing import Any

from halfmask.errors import SourceError
from halfmask.plan import Cloud, Kind, Points, Schema
from halfmask.sources.arrow import readable
from halfmask.sources.columns import NULL, canonical, declared, kinds_of, rounded, stated
from halfmask.sources.direct import DirectPoints
from halfmask.sources.engine import Engine, memory_engine
from halfmask.sources.frames import Vectors
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import Table

__all__ = ["table_of_arrow", "table_of_vectors"]

_UNREADABLE = "source: the table in memory cannot be read by the engine"


def _through_the_engine(points: Points) -> Cloud | None:
    return None


def table_of_vectors(
    name: str, vectors: Vectors, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Table:
    """Give the vectors to the engine: numbers in place, without a copy; text copied once."""
    engine, failure = memory_engine(threads), SourceError(_UNREADABLE)
    parts: dict[str, Any] = {}
    cells = {}
    for i, (column, vector) in enumerate(vectors.items()):
        parts[f"d{i}"] = vector.data
        cells[column] = f"d{i}"
        if vector.missing is not None:
            parts[f"m{i}"] = vector.missing
            cells[column] = f"CASE WHEN m{i} THEN NULL ELSE d{i} END"
    engine.register(parts, failure)
    table = "given"
    if any(vector.data.dtype == object for vector in vectors.values()):
        table = "held"
        # The engine's type of an array of objects depends on its values: all null is no text.
        listed = ", ".join(
            f"CAST({part} AS VARCHAR) AS {part}" if data.dtype == object else part
            for part, data in parts.items()
        )
        engine.rows(f"CREATE TEMP TABLE held AS SELECT {listed} FROM given", failure)
        engine.unregister()
    kinds: dict[str, Kind] = {column: vector.kind for column, vector in vectors.items()}
    types = dict(engine.types(table, failure))
    columns = {column: (cells[column], types[f"d{i}"]) for i, column in enumerate(vectors)}
    public = declared(kinds, schema)
    direct = DirectPoints(vectors, public) if table == "given" else _through_the_engine
    made = _table(name, public, columns, table, engine, direct)
    made.cut = frozenset(column for column, vector in vectors.items() if vector.cut)
    return made


def table_of_arrow(
    name: str, arrow: Any, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Table:
    """Copy an Arrow table into the engine, which would else send it filters of another meaning.

    (Arrow and the engine disagree on how NaN compares.) It has an engine of its own: Arrow has many
    types, and a cell that breaks an engine must break no other table.
    """
    failure = SourceError(_UNREADABLE)
    names, parts = _readable(arrow, stated(schema), failure)
    engine = memory_engine(threads, alone=True)
    engine.register(parts, failure)
    types = dict(engine.types("given", failure))
    nulls = [str(kind) == "null" for kind in arrow.schema.types]
    found = [(n, NULL if nulls[i] else types.get(f"d{i}", "")) for i, n in enumerate(names)]
    kinds = kinds_of(name, found)
    columns = {n: (f"d{i}", kind) for i, (n, kind) in enumerate(found) if n in kinds}
    listed = ", ".join(cell for cell, _ in columns.values())
    engine.rows(f"CREATE TEMP TABLE held AS SELECT {listed} FROM given", failure)
    engine.unregister()
    return _table(name, declared(kinds, schema), columns, "held", engine)


def _readable(arrow: Any, kinds: Mapping[str, Kind], failure: SourceError) -> tuple[list[str], Any]:
    """Return all names, and the columns that an engine takes, named by their places."""
    try:
        names = list(arrow.column_names)
        cleaned = [readable(arrow.column(i), kinds.get(name)) for i, name in enumerate(names)]
        kept = {f"d{i}": column for i, column in enumerate(cleaned) if column is not None}
        return names, type(arrow).from_arrays(list(kept.values()), names=list(kept))
    except Exception:  # noqa: S110
        pass
    raise failure


def _table(
    name: str,
    schema: Schema,
    columns: Mapping[str, tuple[str, str]],
    table: str,
    engine: Engine,
    direct: Callable[[Points], Cloud | None] = _through_the_engine,
) -> Table:
    physical = {}
    for column in schema:
        cell, engine_type = columns[column.name]
        physical[column.name] = canonical(column.name, column.kind, engine_type, cell, DUCKDB)
    made = Table(name, schema, physical, table, engine, direct=direct)
    made.cut = rounded((column, engine_type) for column, (_, engine_type) in columns.items())
    return made
