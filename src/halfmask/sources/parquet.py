"""Parquet files, read in place and out of core."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from halfmask.errors import SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared, kinds_of
from halfmask.sources.engine import Engine, files_engine
from halfmask.sources.folder import PrivateFolder
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import Table

__all__ = ["open_parquet", "reader", "table_of_parquet"]


_OPTIONS = "can_have_nan = true, hive_partitioning = false, utf8_validation = 'replace'"


def open_parquet(
    name: str,
    paths: Sequence[Path],
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Table:
    """Open one or more Parquet files of the same columns; their types are the schema."""
    engine = files_engine(paths, PrivateFolder(), threads)
    names = [_names(name, path, engine) for path in paths]
    failure = _failure(name)
    types = [engine.types(reader([path]), failure) for path in paths]
    if any(other != (names[0], types[0]) for other in zip(names, types, strict=True)):
        raise SourceError(
            f"source: the files of {name} differ in their columns; open one kind only"
        )
    # Names that differ in case alone are two names here, and renamed in the engine.
    columns = [
        (public, engine_type, DUCKDB.identifier(engine_name))
        for public, (engine_name, engine_type) in zip(names[0], types[0], strict=True)
    ]
    return table_of_parquet(name, paths, columns, schema, engine)


def table_of_parquet(
    name: str,
    paths: Sequence[Path],
    columns: Sequence[tuple[str, str, str]],
    schema: Schema | Mapping[str, Kind] | None,
    engine: Engine,
) -> Table:
    """Make a table of files whose columns are given as (name, engine type, expression)."""
    public = declared(kinds_of(name, [(column, kind) for column, kind, _ in columns]), schema)
    cells = {column: (kind, cell) for column, kind, cell in columns}
    physical = {c.name: canonical(c.name, c.kind, *cells[c.name], DUCKDB) for c in public}
    return Table(name, public, physical, reader(paths), engine)


def reader(paths: Sequence[Path]) -> str:
    """Write the call that reads the files.

    Writers leave NaN out of a file's minimum and maximum; without can_have_nan the engine would
    trust these, drop our tests for NaN, and then fail on the row that holds one. Bytes that are no
    UTF-8 read as question marks, and do not fail; a time in milliseconds that no microseconds can
    say does fail, and this engine has no way to make it missing.
    """
    listed = ", ".join(DUCKDB.string(str(path)) for path in paths)
    return f"read_parquet([{listed}], {_OPTIONS})"


def _names(name: str, path: Path, engine: Engine) -> list[str]:
    """Return the names of the top columns as they stand in the file."""
    nodes = iter(
        engine.rows(
            f"SELECT name, num_children FROM parquet_schema({DUCKDB.string(str(path))})",
            _failure(name),
        )
    )

    def skip(children: int) -> None:
        for _ in range(children):
            skip(next(nodes)[1] or 0)

    names = []
    for _ in range(next(nodes)[1] or 0):
        column, children = next(nodes)
        names.append(str(column))
        skip(children or 0)
    return names


def _failure(name: str) -> SourceError:
    return SourceError(f"source: {name} does not read as a Parquet file")
