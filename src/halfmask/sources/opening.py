"""`open_source`: everything that halfmask can read, told apart by type and file name alone."""

import glob
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from halfmask.errors import InvalidQuery, SourceError, shown
from halfmask.plan import Kind, Public, Schema
from halfmask.privacy import PrivacyUnit
from halfmask.sources.columns import facts, fitting, stated, told_apart
from halfmask.sources.csvfile import open_csv
from halfmask.sources.frames import (
    Vectors,
    vectors_of_array,
    vectors_of_dict,
    vectors_of_pandas,
    vectors_of_polars,
)
from halfmask.sources.growing import open_growing
from halfmask.sources.join import Join, open_join
from halfmask.sources.memory import table_of_arrow, table_of_vectors
from halfmask.sources.parquet import open_parquet
from halfmask.sources.postgres import is_address, open_postgres
from halfmask.sources.relation import open_relation
from halfmask.sources.spark import open_spark
from halfmask.sources.table import Source

__all__ = ["open_source"]

_ACCEPTED = (
    "a path to .csv, .csv.gz or .parquet, a pandas, polars or Arrow table, a NumPy array, a dict "
    "of columns, a DuckDB relation, a Spark DataFrame, or a postgresql:// address"
)


def open_source(
    source: object,
    schema: Schema | Mapping[str, Kind | Public] | None = None,
    *,
    table: str | None = None,
    threads: int | None = None,
    unit: PrivacyUnit | None = None,
) -> Source:
    """Open a table; its names and kinds become public, its rows only through `tally`.

    source: a path to a .csv, .csv.gz or .parquet file, a folder or pattern of Parquet files, a
      pandas or polars frame, an Arrow table, an (n,) or (n, d) array, a dict of columns, a DuckDB
      relation, a Spark DataFrame (computed anew for each question), or the postgresql:// address
      of a database.
    schema: kinds of some or all columns, over those of the table's types; or what is publicly known
      of them (`Public`).
    table: the table or view of a database.
    threads: at most so many; by default all cores.
    unit: whom the promise protects; a `Join` needs it.

    SourceError if there is no such file, its extension or type is unknown, two columns share a
    name, or a column cannot be read as declared; InvalidQuery for a unit whose identifiers may be
    read as one another's. Rows raise nothing.

    >>> rows = open_source({"age": np.array([31.0, 47.0, np.nan])})
    >>> rows.schema.column("age").kind
    'real'
    """
    kinds, public = facts(schema)
    if isinstance(source, Join) and table is None:
        opened: Source = _open_joined(source, kinds, threads, unit)
    else:
        opened = _opened(source, kinds, table, threads)
    try:
        opened.schema = fitting(opened.schema, public)
        told_apart(opened.schema, None if unit is None else unit.column, kinds or {}, opened.cut)
    except InvalidQuery:
        opened.close()
        raise
    return opened


def _open_joined(
    join: Join, kinds: Mapping[str, Kind] | None, threads: int | None, unit: PrivacyUnit | None
) -> Source:
    def one(source: object, kinds: Mapping[str, Kind] | None) -> Source:
        if isinstance(source, Join):
            return _open_joined(source, kinds, threads, unit)
        return _opened(source, kinds, None, threads)

    return open_join(join, kinds, unit, one)


def _opened(
    source: object,
    schema: Schema | Mapping[str, Kind] | None,
    table: str | None,
    threads: int | None,
) -> Source:
    if isinstance(source, str) and is_address(source):
        return open_postgres(source, table, schema, threads)
    if table is not None:
        raise SourceError(
            f"table: {shown(table)} given, and the source is no database; leave it out"
        )
    if isinstance(source, str | Path):
        return _open_path(Path(source), schema, threads)
    if isinstance(source, duckdb.DuckDBPyRelation):
        return open_relation(source, schema, threads)
    kinds = stated(schema)
    if isinstance(source, np.ndarray):
        vectors = _read(vectors_of_array, source, kinds)
        return table_of_vectors("array", vectors, schema, threads)
    if isinstance(source, Mapping):
        return table_of_vectors("columns", _read(vectors_of_dict, source, kinds), schema, threads)
    return _open_frame(source, kinds, schema, threads)


def _open_frame(
    source: Any,
    kinds: Mapping[str, Kind],
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Source:
    """Tell frames apart by the module of their type, which need not be installed."""
    module, name = type(source).__module__.partition(".")[0], type(source).__name__
    if module == "pandas" and name == "Series":
        source, name = source.to_frame(source.name or "x0"), "DataFrame"
    if module == "polars" and name == "Series":
        source, name = source.to_frame(source.name or "x0"), "DataFrame"
    match module, name:
        case "pandas", "DataFrame":
            vectors = _read(vectors_of_pandas, source, kinds)
            return table_of_vectors("pandas frame", vectors, schema, threads)
        case "polars", "DataFrame":
            vectors = _read(vectors_of_polars, source, kinds)
            return table_of_vectors("polars frame", vectors, schema, threads)
        case "polars", "LazyFrame":
            raise SourceError("source: a lazy frame has no rows yet; call .collect() first")
        case "pyarrow", "Table":
            return table_of_arrow("Arrow table", source, schema, threads)
        case "pyspark", "DataFrame":
            if type(source).__module__.startswith("pyspark.pandas"):
                raise SourceError("source: a pandas frame on Spark; give what .to_spark() returns")
            return open_spark(source, schema)
    raise SourceError(f"source: a {module}.{name} cannot be opened; give {_ACCEPTED}")


def _read(
    reader: Callable[[Any, Mapping[str, Kind]], Vectors], source: Any, kinds: Mapping[str, Kind]
) -> Vectors:
    """Read a table in memory; what a foreign library says of a failure may hold rows."""
    try:
        return reader(source, kinds)
    except SourceError:
        raise
    except Exception:  # noqa: S110
        pass
    raise SourceError("source: a column in memory has a type that cannot be read; convert it")


def _open_path(
    path: Path, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Source:
    if path.is_dir():
        found = _listed(path, sorted(path.glob("**/*.parquet")))
        files = {match.relative_to(path).as_posix(): match.resolve() for match in found}
        return open_growing(path.name, files, schema, threads)
    if not path.exists() and glob.has_magic(str(path)):
        found = _listed(path, [Path(one) for one in sorted(glob.glob(str(path), recursive=True))])
        files = {match.absolute().as_posix(): match.resolve() for match in found}
        return open_growing(path.name, files, schema, threads)
    if not path.exists():
        raise SourceError(f"source: there is no file {str(path)!r}; check the path")
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return open_csv(path.name, path.resolve(), schema, threads)
    if name.endswith((".parquet", ".pq")):
        return open_parquet(path.name, [path.resolve()], schema, threads)
    raise SourceError(f"source: {path.name!r} has no known extension; give {_ACCEPTED}")


def _listed(path: Path, found: list[Path]) -> list[Path]:
    if not found or any(not match.name.lower().endswith((".parquet", ".pq")) for match in found):
        raise SourceError(f"source: {str(path)!r} is no folder or pattern of Parquet files alone")
    return found
