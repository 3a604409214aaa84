"""DuckDB relations, copied out of their own connection."""

from collections.abc import Mapping

import duckdb

from halfmask.errors import SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import kinds_of
from halfmask.sources.engine import files_engine
from halfmask.sources.folder import PrivateFolder
from halfmask.sources.parquet import table_of_parquet
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import Table

__all__ = ["open_relation"]


def open_relation(
    relation: duckdb.DuckDBPyRelation,
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Table:
    """Copy a relation into a private snapshot: rows as they are now, under our own settings.

    (Queries on another's connection would run with its settings; and over files it may fold tests
    for NaN away.) As text go integers of 128 bits, which a Parquet file does not hold, and JSON,
    which would fail where it is none when it is read from a file.
    """
    types = list(zip(relation.columns, map(str, relation.types), strict=True))
    columns, listed = [], []
    for name in kinds_of("relation", types):
        cell, engine_type = DUCKDB.identifier(name), dict(types)[name]
        huge, as_text = "HUGEINT" in engine_type, "HUGEINT" in engine_type or engine_type == "JSON"
        listed.append(f"CAST({cell} AS VARCHAR) AS {cell}" if as_text else cell)
        columns.append((name, engine_type, f"CAST({cell} AS {engine_type})" if huge else cell))
    folder = PrivateFolder()
    path = folder.path / "rows.parquet"
    try:
        relation.project(", ".join(listed)).write_parquet(str(path))
        failed = False
    except Exception:
        failed = True
    if failed:
        raise SourceError("source: the relation failed while it was read; its reason is not shown")
    engine = files_engine([], folder, threads)
    return table_of_parquet("relation", [path], columns, schema, engine)
