r"""CSV files: a fixed dialect, read as text into a typed snapshot at the first tally.

The dialect: UTF-8 (a byte order mark is skipped), comma, double quote doubled inside quotes, a
header line with the names. Fields in quotes may hold line breaks (each reads as ``\n``), as
RFC 4180 says; an empty field, quoted or not, is missing.

**Each record is one row**, whatever it holds. One that does not read is a row whose fields are all
missing: too many or too few fields, invalid UTF-8, text after a closing quote, a quote that nothing
closes, a blank line, more than 1 MiB, a carriage return alone outside quotes, a control character
U+001E or U+001F. So there are as many rows as line feeds outside quoted fields after the header,
and one more if text follows the last. A quote that nothing closes makes a record of its own line
alone; `csvlines` says how records are told apart.
"""

import codecs
import csv
import gzip
import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from halfmask.errors import ReleaseFailed, SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared
from halfmask.sources.csvlines import BREAK, LONGEST, records
from halfmask.sources.engine import files_engine
from halfmask.sources.folder import PrivateFolder
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import FAILED, Table

__all__ = ["header", "open_csv"]

_NEVER = "\x1f"  # the unit separator: each line is read whole, as one field
_FIELD = f',("(?:[^"]|"")*"|[^",{BREAK}][^,{BREAK}]*|)'


def open_csv(
    name: str, path: Path, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Table:
    """Open a CSV file by its header; columns without a declared kind stay unread."""
    seen = _state(path)
    names = header(path)
    public = declared(dict.fromkeys(names, "unread"), schema)
    folder = PrivateFolder()
    engine = files_engine([], folder, threads)
    fields = ", ".join(
        f"{canonical(c.name, c.kind, 'VARCHAR', f'c{i}', DUCKDB)} AS c{i}"
        for i, c in enumerate(public)
    )
    lines, rows = folder.path / "lines", folder.path / "rows.parquet"
    copy = (
        f"COPY (SELECT {fields} FROM ({_fields(lines, len(names))}) r) "
        f"TO {DUCKDB.string(str(rows))} (FORMAT parquet)"
    )
    snapshot = _Snapshot(path, seen, lines, lambda: engine.rows(copy, ReleaseFailed(FAILED)))
    table = f"read_parquet({DUCKDB.string(str(rows))}, can_have_nan = true)"
    physical = {c.name: f"c{i}" for i, c in enumerate(public)}
    return Table(name, public, physical, table, engine, snapshot.digest)


class _Snapshot:
    """The file as it was at opening, copied once, when the first tally needs rows."""

    def __init__(self, path: Path, seen: object, lines: Path, copy: Callable[[], object]) -> None:
        self._path, self._seen, self._lines, self._copy = path, seen, lines, copy
        self._lock = threading.Lock()
        self._digest: str | None = None

    def digest(self) -> str:
        """Take the snapshot if there is none, and return the digest of what was read.

        ReleaseFailed if the file is not what it was at opening, is damaged, or finds no room.
        """
        with self._lock:
            if self._digest is None:
                digest = self._written()
                if digest is None or _state(self._path) != self._seen:
                    raise ReleaseFailed(FAILED)
                self._copy()
                self._lines.unlink()
                self._digest = digest
            return self._digest

    def _written(self) -> str | None:
        """Write the records, and return the digest of the file; None if that fails."""
        try:
            with self._path.open("rb") as file, self._lines.open("wb") as lines:
                hashing = _Hashing(file)
                packed = self._path.suffix.lower() == ".gz"
                stream = gzip.GzipFile(fileobj=cast(BinaryIO, hashing)) if packed else hashing
                lines.write(b"line\n")
                lines.writelines(records(cast(BinaryIO, stream)))
                return hashing.found.hexdigest()
        except (OSError, EOFError, zlib.error):
            return None


class _Hashing:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.found = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.found.update(block)
        return block


def _state(path: Path) -> Any:
    """Return what changes when a file is written; None if it is gone."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def header(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file, which are public."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            line = file.readline(LONGEST)
        text = line.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except (OSError, EOFError, zlib.error) as problem:
        raise SourceError(f"source: {path.name} cannot be read; {problem}") from None
    except UnicodeDecodeError:
        raise SourceError(f"source: the header of {path.name} is not UTF-8; convert it") from None
    if len(line) == LONGEST:
        raise SourceError(f"source: the header of {path.name} is longer than 1 MiB; shorten it")
    text = text.rstrip("\r\n")
    if "\r" in text:
        raise SourceError(f"source: the lines of {path.name} end in no line feed; convert it")
    try:
        names = next(csv.reader([text], strict=True), [])
    except csv.Error as problem:
        raise SourceError(f"source: the header of {path.name}: {problem}") from None
    if not text.strip():
        raise SourceError(f"source: {path.name} has no header; put column names in its first line")
    return _checked(path, names)


def _checked(path: Path, names: list[str]) -> list[str]:
    for position, name in enumerate(names):
        if not name:
            raise SourceError(f"source: column {position + 1} of {path.name} has no name; add one")
        if names.count(name) > 1:
            raise SourceError(
                f"source: two columns of {path.name} are named {name!r}; rename one of them"
            )
    return names


def _fields(lines: Path, count: int) -> str:
    """Write the query of the records' fields c0, c1, ...; empty ones null, and all of a bad one."""
    options = ", ".join(
        [
            "columns = {'line': 'VARCHAR'}",
            f"delim = {DUCKDB.string(_NEVER)}",
            "quote = ''",
            "escape = ''",
            "auto_detect = false",
            "header = false",
            "skip = 1",
            "ignore_errors = true",
            "strict_mode = false",
            f"max_line_size = {2 * LONGEST}",
        ]
    )
    read = f"SELECT line FROM read_csv({DUCKDB.string(str(lines))}, {options}) l"
    valid = f"regexp_full_match(',' || line, {DUCKDB.string(f'({_FIELD})+')})"
    quoted = f"CASE WHEN {valid} THEN regexp_extract_all(',' || line, '{_FIELD}', 1) END"
    split = (
        f"SELECT CASE WHEN contains(line, '\"') OR contains(line, {DUCKDB.string(BREAK)}) "
        f"THEN {quoted} ELSE string_split(line, ',') END AS f FROM ({read}) s"
    )
    whole = f"SELECT CASE WHEN len(f) = {count} THEN f END AS f FROM ({split}) s"
    fields = ", ".join(f"{_unquoted(f'f[{i + 1}]')} AS c{i}" for i in range(count))
    return f"SELECT {fields} FROM ({whole}) s"


def _unquoted(field: str) -> str:
    inner = f"replace(replace({field}[2:-2], '\"\"', '\"'), chr({ord(BREAK)}), chr(10))"
    return f"nullif(CASE WHEN starts_with({field}, '\"') THEN {inner} ELSE {field} END, '')"
