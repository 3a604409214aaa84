"""Parquet files, read in place and out of core."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from halfmask.errors import ReleaseFailed, SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared, kinds_of, refusal, rounded, stated
from halfmask.sources.engine import Engine, files_engine
from halfmask.sources.folder import PrivateFolder
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import FAILED, Table

__all__ = ["ParquetTable", "open_parquet", "reader", "table_of_parquet"]

_OPTIONS = "can_have_nan = true, hive_partitioning = false, utf8_validation = '{0}'"


def open_parquet(
    name: str,
    paths: Sequence[Path],
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> "ParquetTable":
    """Open one or more Parquet files of the same columns; their types are the schema."""
    engine = files_engine(paths, PrivateFolder(), threads)
    tops = [_tops(name, path, engine) for path in paths]
    names = [[column for column, _ in top] for top in tops]
    failure = _failure(name)
    types = [engine.types(reader([path]), failure) for path in paths]
    if any(other != (names[0], types[0]) for other in zip(names, types, strict=True)):
        raise SourceError(
            f"source: the files of {name} differ in their columns; open one kind only"
        )
    # Names that differ in case alone are two names here, and renamed in the engine.
    columns = [
        (public, engine_type if engine_type != "JSON" else _UNUSED, DUCKDB.identifier(engine_name))
        for public, (engine_name, engine_type) in zip(names[0], types[0], strict=True)
    ]
    _refuse_rounded(columns, [kind for _, kind in tops[0]], stated(schema))
    table = table_of_parquet(name, paths, columns, schema, engine)
    return ParquetTable(table, paths, columns)


_UNUSED = ""
"""The type of a column that is left out: of JSON, where the engine fails at a text that is none."""


class ParquetTable(Table):
    """Files of others, in whose texts there may be bytes that are no UTF-8: these are missing.

    The engine either fails at such bytes, or puts a question mark for each, which would make two
    identifiers one unit; or leaves them out. So a text of which it makes two different ones is
    none. Whether a column holds any is found out when it is first read.
    """

    def __init__(
        self, table: Table, paths: Sequence[Path], columns: Sequence[tuple[str, str, str]]
    ) -> None:
        super().__init__(table.name, table.schema, table._physical, table._table, table._engine)
        self._paths, self._columns, self.cut = paths, columns, table.cut
        self._broken: dict[int, bool] = {}

    def reading(self, names: Sequence[str]) -> str:
        """Write the files, without the broken texts of these columns."""
        broken = [
            i
            for i, (name, kind, _) in enumerate(self._columns)
            if name in names and kind == "VARCHAR" and self._is_broken(i)
        ]
        if not broken:
            return self._table
        cells = [cell for _, _, cell in self._columns]
        listed = [
            f"CASE WHEN b{i}.r IS NULL THEN a.c{i} END" if i in broken else f"a.c{i}"
            for i in range(len(cells))
        ]
        shown = ", ".join(f"{one} AS {cell}" for one, cell in zip(listed, cells, strict=True))
        joins = "".join(
            f" LEFT JOIN ({self._found(i)}) b{i} "
            f"ON a.file_index = b{i}.f AND a.file_row_number = b{i}.r"
            for i in broken
        )
        return f"(SELECT {shown} FROM {self._read('a', 'replace')}{joins})"

    def _is_broken(self, i: int) -> bool:
        if i not in self._broken:
            marked = f"SELECT 1 FROM {self._read('a', 'replace')} WHERE {_marked(i)} LIMIT 1"
            self._broken[i] = all(
                self._engine.rows(sql, ReleaseFailed(FAILED))
                for sql in (marked, f"{self._found(i)} LIMIT 1")  # this one reads all twice
            )
        return self._broken[i]

    def _found(self, i: int) -> str:
        """Write the query of the places of the broken texts of a column: file f, row r."""
        both = f"{self._read('a', 'replace')} JOIN {self._read('b', 'ignore')}"
        same = "a.file_index = b.file_index AND a.file_row_number = b.file_row_number"
        cells = [DUCKDB.cast(f"{one}.c{i}", DUCKDB.text) for one in "ab"]
        return (
            f"SELECT a.file_index AS f, a.file_row_number AS r FROM {both} ON {same} "
            f"WHERE {_marked(i)} AND {' <> '.join(cells)}"
        )

    def _read(self, alias: str, validation: str) -> str:
        """Write the files with columns c0, c1, ..., so that none has a name of the engine's own."""
        names = ", ".join(f"c{i}" for i in range(len(self._columns)))
        return f"{reader(self._paths, validation)} {alias}({names})"


def _marked(i: int) -> str:
    return f"contains({DUCKDB.cast(f'a.c{i}', DUCKDB.text)}, '?')"


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
    table = Table(name, public, physical, reader(paths), engine)
    table.cut = rounded((column, kind) for column, kind, _ in columns)
    return table


def reader(paths: Sequence[Path], validation: str = "replace") -> str:
    """Write the call that reads the files.

    Writers leave NaN out of a file's minimum and maximum; without can_have_nan the engine would
    trust these, drop our tests for NaN, and then fail on the row that holds one. Bytes that are no
    UTF-8 read as question marks, or are left out ("ignore"), and do not fail; a time in
    milliseconds that no microseconds can say does fail, and this engine has no way to make it
    missing.
    """
    listed = ", ".join(DUCKDB.string(str(path)) for path in paths)
    return f"read_parquet([{listed}], {_OPTIONS.format(validation)})"


def _refuse_rounded(
    columns: Sequence[tuple[str, str, str]], stored: Sequence[str], kinds: Mapping[str, Kind]
) -> None:
    """Refuse whole numbers of what the engine rounds to doubles: decimals of over 38 digits."""
    for (name, engine_type, _), kind in zip(columns, stored, strict=True):
        if engine_type == "DOUBLE" != kind and kinds.get(name) == "integer":
            raise refusal(name, "decimals of over 38 digits", "integer")


def _tops(name: str, path: Path, engine: Engine) -> list[tuple[str, str]]:
    """Return the names and types of the top columns as they stand in the file."""
    nodes = iter(
        engine.rows(
            f"SELECT name, num_children, type FROM parquet_schema({DUCKDB.string(str(path))})",
            _failure(name),
        )
    )

    def skip(children: int) -> None:
        for _ in range(children):
            skip(next(nodes)[1] or 0)

    tops = []
    for _ in range(next(nodes)[1] or 0):
        column, children, kind = next(nodes)
        tops.append((str(column), str(kind)))
        skip(children or 0)
    return tops


def _failure(name: str) -> SourceError:
    return SourceError(f"source: {name} does not read as a Parquet file")
