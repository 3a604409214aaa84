"""Vectors and Arrow tables as tables of the engine."""

from collections.abc import Mapping
from typing import Any

from halfmask.errors import SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared, kinds_of
from halfmask.sources.engine import Engine, memory_engine
from halfmask.sources.frames import Vectors
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import Table

__all__ = ["table_of_arrow", "table_of_vectors"]

_UNREADABLE = "source: the table in memory cannot be read by the engine"


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
    engine.connection.register("given", parts)
    table = "given"
    if any(vector.data.dtype == object for vector in vectors.values()):
        table = "held"
        # The engine's type of an array of objects depends on its values: all null is no text.
        listed = ", ".join(
            f"CAST({part} AS VARCHAR) AS {part}" if data.dtype == object else part
            for part, data in parts.items()
        )
        engine.rows(f"CREATE TEMP TABLE held AS SELECT {listed} FROM given", failure)
        engine.connection.unregister("given")
    kinds: dict[str, Kind] = {column: vector.kind for column, vector in vectors.items()}
    types = dict(engine.types(table, failure))
    columns = {column: (cells[column], types[f"d{i}"]) for i, column in enumerate(vectors)}
    return _table(name, declared(kinds, schema), columns, table, engine)


def table_of_arrow(
    name: str, arrow: Any, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Table:
    """Copy an Arrow table into the engine, which would else send it filters of another meaning.

    (Arrow and the engine disagree on how NaN compares.)
    """
    names = list(arrow.column_names)
    engine, failure = memory_engine(threads), SourceError(_UNREADABLE)
    engine.connection.register("given", arrow.rename_columns([f"d{i}" for i in range(len(names))]))
    types = engine.types("given", failure)
    kinds = kinds_of(name, [(names[i], kind) for i, (_, kind) in enumerate(types)])
    columns = {names[i]: typed for i, typed in enumerate(types) if names[i] in kinds}
    listed = ", ".join(given for given, _ in columns.values())
    engine.rows(f"CREATE TEMP TABLE held AS SELECT {listed} FROM given", failure)
    engine.connection.unregister("given")
    return _table(name, declared(kinds, schema), columns, "held", engine)


def _table(
    name: str,
    schema: Schema,
    columns: Mapping[str, tuple[str, str]],
    table: str,
    engine: Engine,
) -> Table:
    physical = {}
    for column in schema:
        cell, engine_type = columns[column.name]
        physical[column.name] = canonical(column.name, column.kind, engine_type, cell, DUCKDB)
    return Table(name, schema, physical, table, engine)
