"""A folder or pattern of Parquet files that grows: some of its files may be read alone."""

from collections.abc import Collection, Mapping
from pathlib import Path

from halfmask.plan import Kind, Schema
from halfmask.sources.parquet import ParquetTable, open_parquet, reader
from halfmask.sources.table import Table

__all__ = ["Growing", "open_growing"]


class Growing(ParquetTable):
    """The files that were there when it was opened, by name."""

    files: Mapping[str, Path]

    def changed(self, name: str) -> int | None:
        """When a file was last written, in nanoseconds since 1970; None where it is gone."""
        try:
            return self.files[name].stat().st_mtime_ns
        except OSError:
            return None

    def place(self, name: str) -> str:
        """What a file keeps under another name, as far as its disk tells; empty where it is gone.

        Its number on the disk, and when it was written: numbers are given again.
        """
        try:
            state = self.files[name].stat()
        except OSError:
            return ""
        return f"{state.st_ino} {state.st_mtime_ns}" if state.st_ino else ""

    def only(self, names: Collection[str]) -> Table:
        """The table of these files alone: no other is opened, except for its columns' names."""
        paths = [path for name, path in self.files.items() if name in names]
        if paths:
            table = Table(self.name, self.schema, self._physical, reader(paths), self._engine)
            return ParquetTable(table, paths, self._columns)
        none = f"(SELECT * FROM {reader([next(iter(self.files.values()))])} WHERE FALSE)"
        return Table(self.name, self.schema, self._physical, none, self._engine)


def open_growing(
    name: str,
    files: Mapping[str, Path],
    schema: Schema | Mapping[str, Kind] | None,
    threads: int | None,
) -> Growing:
    """Open Parquet files of the same columns, under names that stay as others come."""
    whole = open_parquet(name, list(files.values()), schema, threads)
    growing = Growing(whole, whole._paths, whole._columns)
    growing.files = dict(files)
    return growing
