"""Parquet files, read in place and out of core."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from halfmask.errors import SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared, kind_of
from halfmask.sources.dialect import DUCKDB
from halfmask.sources.engine import Engine, PrivateFolder, files_engine
from halfmask.sources.table import Table

__all__ = ["open_parquet", "open_relation"]


def open_parquet(
    name: str,
    paths: Sequence[Path],
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Table:
    """Open one or more Parquet files of one shape; their types are the schema."""
    engine = files_engine(paths, PrivateFolder(), threads)
    return _table(name, paths, schema, engine)


def _table(
    name: str,
    paths: Sequence[Path],
    schema: Schema | Mapping[str, Kind] | None,
    engine: Engine,
) -> Table:
    # Writers leave NaN out of a file's minimum and maximum; without can_have_nan the engine would
    # trust these, drop our tests for NaN, and then fail on the row that holds one.
    listed = ", ".join(DUCKDB.string(str(path)) for path in paths)
    table = f"read_parquet([{listed}], can_have_nan = true)"
    types = engine.types(table, SourceError(f"source: {name} does not read as a Parquet file"))
    kinds: dict[str, Kind] = {column: kind for column, kind_ in types if (kind := kind_of(kind_))}
    public = declared(kinds, schema)
    engine_types = dict(types)
    physical = {
        c.name: canonical(c.name, c.kind, engine_types[c.name], DUCKDB.identifier(c.name), DUCKDB)
        for c in public
    }
    return Table(name, public, physical, table, engine)


def open_relation(
    relation: duckdb.DuckDBPyRelation,
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Table:
    """Copy a relation into a private snapshot: rows as they are now, under our own settings.

    (Queries on another's connection would run with its settings, and an engine may fold tests for
    NaN away in a relation over files.) Huge integers are kept as text, which the file can hold.
    """
    types = list(zip(relation.columns, map(str, relation.types), strict=True))
    kinds: dict[str, Kind] = {name: kind for name, kind_ in types if (kind := kind_of(kind_))}
    if len(kinds) < sum(kind_of(kind_) is not None for _, kind_ in types):
        raise SourceError("source: two columns of the relation share a name; rename one of them")
    if not kinds:
        raise SourceError("source: no column holds numbers, text, truth values or times")
    huge = {name for name, kind_ in types if "HUGEINT" in kind_}
    folder = PrivateFolder()
    path = folder.path / "rows.parquet"
    listed = ", ".join(
        f"CAST({cell} AS VARCHAR) AS {cell}" if name in huge else cell
        for name in kinds
        for cell in [DUCKDB.identifier(name)]
    )
    try:
        relation.project(listed).write_parquet(str(path))
        failed = False
    except duckdb.Error:
        failed = True
    if failed:
        raise SourceError("source: the relation failed while it was read; its reason is not shown")
    return _table("relation", [path], schema, files_engine([], folder, threads))
