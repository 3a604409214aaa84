r"""CSV files: a fixed dialect, read line by line as text into a typed snapshot.

The dialect: UTF-8 (a byte order mark is skipped), comma, double quote doubled inside quotes, a
header line with the names. **One line is one record**, whatever it holds: so no line can change
how another is read. A line is dropped, and nothing else happens, when it has more or fewer fields
than the header, is not valid UTF-8, is longer than 2 MB, is blank, holds the control
character U+001F, or leaves a quote unbalanced
(text after a closing quote, or a quoted field that goes on in the next line: fields with line
breaks are not supported). Lines end in ``\n``, ``\r`` or ``\r\n``. An empty field, quoted or not,
is missing.
"""

import codecs
import csv
import gzip
import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from halfmask.errors import SourceError
from halfmask.plan import Kind, Schema
from halfmask.sources.columns import canonical, declared
from halfmask.sources.engine import PrivateFolder, files_engine
from halfmask.sources.sql import DUCKDB
from halfmask.sources.table import Table

__all__ = ["header", "open_csv"]

_LONGEST = 1 << 20
_NEVER = "\x1f"  # the unit separator: each line is read whole, as one field
_FIELD = ',("(?:[^"]|"")*"|[^",][^,]*|)'


def open_csv(
    name: str, path: Path, schema: Schema | Mapping[str, Kind] | None, threads: int | None
) -> Table:
    """Read a CSV file into a private snapshot; columns without a declared kind stay unread."""
    names = header(path)
    public = declared(dict.fromkeys(names, "unread"), schema)
    folder = PrivateFolder()
    engine = files_engine([path], folder, threads)
    before = path.stat()
    digest = _digest(path)
    snapshot = DUCKDB.string(str(folder.path / "rows.parquet"))
    fields = ", ".join(
        f"{canonical(c.name, c.kind, 'VARCHAR', f'c{i}', DUCKDB)} AS c{i}"
        for i, c in enumerate(public)
    )
    query = f"SELECT {fields} FROM ({_records(path, len(names))}) r"
    engine.rows(
        f"COPY ({query}) TO {snapshot} (FORMAT parquet)",
        SourceError(f"source: {name} could not be copied into a snapshot; is the disk full?"),
    )
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        engine.close()
        raise SourceError(f"source: {name} changed while it was read; open it again")
    table = f"read_parquet({snapshot}, can_have_nan = true)"
    physical = {c.name: f"c{i}" for i, c in enumerate(public)}
    return Table(name, public, physical, table, engine, lambda: digest)


def header(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file, which are public."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as file:
            line = file.readline(_LONGEST)
        text = line.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except (OSError, EOFError) as problem:
        raise SourceError(f"source: {path.name} cannot be read; {problem}") from None
    except UnicodeDecodeError:
        raise SourceError(f"source: the header of {path.name} is not UTF-8; convert it") from None
    text = text.partition("\r")[0].rstrip("\n")
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


def _records(path: Path, count: int) -> str:
    """Write the query of the valid lines' fields c0, c1, ...; empty ones null."""
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
            "max_line_size = 2000000",
        ]
    )
    lines = f"SELECT line FROM read_csv({DUCKDB.string(str(path))}, {options}) l"
    valid = f"regexp_full_match(',' || line, {DUCKDB.string(f'({_FIELD})+')})"
    quoted = f"CASE WHEN {valid} THEN regexp_extract_all(',' || line, '{_FIELD}', 1) END"
    split = (
        f"SELECT CASE WHEN contains(line, '\"') THEN {quoted} ELSE string_split(line, ',') END "
        f"AS f FROM ({lines}) s WHERE line <> ''"
    )
    fields = ", ".join(f"{_unquoted(f'f[{i + 1}]')} AS c{i}" for i in range(count))
    return f"SELECT {fields} FROM ({split}) s WHERE len(f) = {count}"


def _unquoted(field: str) -> str:
    inner = f"replace({field}[2:-2], '\"\"', '\"')"
    return f"nullif(CASE WHEN starts_with({field}, '\"') THEN {inner} ELSE {field} END, '')"


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(partial(file.read, 1 << 20), b""):
            found.update(block)
    return found.hexdigest()
