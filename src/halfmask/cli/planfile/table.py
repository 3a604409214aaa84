"""[table]: where the rows are, and whom the promise protects; [table.join]: the table beside it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfmask.cli.planfile.document import Document
from halfmask.cli.planfile.section import FLAG, TEXT, WHOLE, Form, Section
from halfmask.cli.planfile.spoken import declared
from halfmask.errors import InvalidQuery
from halfmask.sources import Join, is_address

__all__ = ["Table", "document_path", "rows_of", "secretive", "table_of"]

_SECRET = re.compile(":/[^@]*:[^@]*@|password=", re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """The arguments of `hm.open`.

    source: a file, or the address of a database.
    join: the other arguments of `hm.Join`, where another table is joined to it.
    """

    source: Path | str
    options: Mapping[str, Any]
    rows: int | None
    join: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What to call the table."""
        return self.source.name if isinstance(self.source, Path) else self.options.get("table", "")

    @property
    def opened(self) -> Path | str | Join:
        """What `hm.open` takes."""
        return self.source if self.join is None else Join(self.source, **self.join)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are read."""
        sources = (self.source, *([self.join["right"]] if self.join else []))
        return tuple(one for one in sources if isinstance(one, Path))


def table_of(table: Section) -> Table:
    """Read [table]; nothing is opened."""
    options: dict[str, Form[Any]] = {
        "table": TEXT,
        "unit": TEXT,
        "rows_per_unit": WHOLE,
        "groups_per_unit": WHOLE,
        "relation": TEXT,
    }
    table.only("source", "rows", "schema", "join", *options)
    given: dict[str, Any] = {
        key: table.need(key, form) for key, form in options.items() if key in table.values
    }
    schema = table.inside("schema")
    if schema.values:
        given["schema"] = {name: declared(schema, name) for name in schema.values}
    join = _join(table.inside("join"), table) if "join" in table.values else None
    return Table(_source(table), given, rows_of(table), join)


def _join(join: Section, table: Section) -> Mapping[str, Any]:
    """Read [table.join]: the right table, and how its rows are matched."""
    join.only("source", "on", "how", "public")
    right = join.need("source", TEXT)
    for section, source in ((join, right), (table, table.need("source", TEXT))):
        if is_address(source):
            raise section.refusal(
                "source", "tables of a database are joined there: name a view of it as `table`"
            )
    given: dict[str, Any] = {
        "right": document_path(join.document, right),
        "on": join.need("on", TEXT),
        "how": join.get("how", TEXT, "inner"),
        "public": join.get("public", FLAG, default=False),
    }
    with join.document.naming(join.place, join.values):
        Join("left", **given)
    return given


def _source(table: Section) -> Path | str:
    source = table.need("source", TEXT)
    if not is_address(source):
        return document_path(table.document, source)
    try:
        return secretive(source)
    except InvalidQuery as problem:
        raise table.refusal("source", problem) from None


def secretive(address: str) -> str:
    """Return the address of a database; InvalidQuery if it holds a password."""
    if _SECRET.search(address):
        raise InvalidQuery(
            "the address holds a password, and plans are shown; take it out, and give it in "
            "PGPASSWORD or in the password file"
        )
    return address


def rows_of(section: Section) -> int | None:
    """Return the public guess of how many rows there are."""
    rows = section.get("rows", WHOLE)
    if rows is not None and rows < 1:
        raise section.refusal("rows", f"{rows} rows cannot be supposed; give 1 or more")
    return rows


def document_path(document: Document, name: str) -> Path:
    """Find a file that a plan names: relative names start from the plan's own folder."""
    return document.path.parent / Path(name).expanduser()
