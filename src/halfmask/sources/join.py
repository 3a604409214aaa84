"""Two tables joined by one column, inside one engine; contributions are bounded after the join."""

import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from halfmask.errors import InvalidQuery, ReleaseFailed, SourceError, shown
from halfmask.plan import Column, Kind, Schema, Sides
from halfmask.privacy import PrivacyUnit, Relation
from halfmask.sources.engine import Engine
from halfmask.sources.sql import DUCKDB, settled
from halfmask.sources.table import FAILED, Source, Table

__all__ = ["Join", "JoinedTable", "open_join"]

_names = count()


@dataclass(frozen=True)
class Join:
    """Two tables, joined where a column of one name holds the same value in both.

    Give it to `halfmask.open` in place of a table. Rows whose value is missing match nothing. What
    one unit adds is bounded after the join, however many rows of its own it has there.

    Args:
        left: a table as `open` takes it, or another Join; of a database: join there, by a view.
        right: a table as `open` takes it.
        on: the column that both have; it stands once in the joined table. No other name may stand
            in both.
        how: "inner", or "left": rows of the left table without a match stay, with missing values.
        public: whether the right table is public: its rows are nobody's. Then `on` may be any
            column; the unit is one of the left table, or a row of it, which must not match twice.

    Both private: `on` must be the unit's column.
    Privacy: a joined row is of the unit of its left row. Both private and joined on the unit: its
    right row is of the same unit, so the joined rows of a unit are determined by the rows of that
    unit alone; adding or removing it, in both tables, adds or removes exactly these. Right table
    public: the joined rows of a unit are determined by its left rows and by public facts. Either
    way neighbours before the join are neighbours after it, and what a unit adds is bounded there,
    as in any table. [post-composition with a transformation that keeps neighbours: McSherry 2009,
    Def. 4 and Thm 2]

    >>> Join("staff.csv", "visits.parquet", on="patient").how
    'inner'

    """

    left: Any
    right: Any
    on: str
    how: str = "inner"
    public: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.on, str):
            raise InvalidQuery(f"on: {shown(self.on)} is no name of a column; name one of both")
        if self.how not in ("inner", "left"):
            raise InvalidQuery(f'how: {shown(self.how)} is unknown; give "inner" or "left"')
        if not isinstance(self.public, bool):
            raise InvalidQuery(f"public: {shown(self.public)} given; give True or False")
        if isinstance(self.right, Join):
            raise InvalidQuery("join: the right table is a join; join tables on the left side")

    def check(self, unit: PrivacyUnit, left: Schema) -> None:
        """Refuse a unit of which a joined row could have two, or an unknown number."""
        replaced = unit.relation is Relation.REPLACE
        if not self.public and unit.column != self.on:
            raise InvalidQuery(
                f"unit: {shown(unit.column)} given, and two private tables are joined on "
                f"{self.on!r}: a row of the join would be of two units; join on the unit's column, "
                "or say public=True of a right table that is nobody's"
            )
        if not self.public and replaced:
            raise InvalidQuery(
                "relation: 'replace' takes the number of units for public, and of two private "
                "tables it is not; leave it out"
            )
        if unit.column is not None and unit.column not in left.names:
            raise InvalidQuery(
                f"unit: {unit.column!r} is no column of the left table, which is the private one; "
                "name one of its columns"
            )
        if replaced and self.how != "left":
            raise InvalidQuery(
                "relation: 'replace' takes the number of units for public, and how many find a "
                "match is not; use how='left', or leave it out"
            )


def open_join(
    join: Join,
    kinds: Mapping[str, Kind] | None,
    unit: PrivacyUnit | None,
    opened: Callable[[Any, Mapping[str, Kind] | None], Source],
) -> "JoinedTable":
    """Open both tables and join them; errors as `open_source`, and of a unit that does not fit."""
    if unit is None:
        raise SourceError("join: only halfmask.open opens one; give a table")
    sides = [_side(one, kinds or {}, opened) for one in (join.left, join.right)]
    for table, where in zip(sides, ("left", "right"), strict=True):
        if join.on not in table.schema.names:
            raise InvalidQuery(f"on: there is no {join.on!r} in the {where} table; name a column")
    left, right = sides
    for name in kinds or {}:
        if name not in right.schema.names:
            left.schema.column(name)
    join.check(unit, left.schema)
    joined = JoinedTable(left, right, join)
    if join.public and unit.column is None:
        joined.refuse_twice()
    return joined


def _side(
    source: Any,
    kinds: Mapping[str, Kind],
    opened: Callable[[Any, Mapping[str, Kind] | None], Source],
) -> Table:
    """Open one table; again, with those of the declared kinds that are of its columns."""
    table = opened(source, None)
    own = {name: kind for name, kind in kinds.items() if name in table.schema.names}
    if own:
        table.close()
        table = opened(source, own)
    if not isinstance(table, Table) or not isinstance(table._engine, Engine):
        table.close()
        raise SourceError(
            f"join: {table.name} is in an engine of its own; join there, by a view or a frame in "
            "which each row has its unit, and open that"
        )
    return table


class JoinedTable(Table):
    """Two tables joined inside the engine of the left one; the right one is copied there.

    sides: from which table each column is.
    """

    def __init__(self, left: Table, right: Table, join: Join) -> None:
        self._left, self._right, self._join = left, right, join
        self._lock = threading.Lock()
        self._copy: Path | None = None
        kept = [column for column in right.schema if column.name != join.on]
        for column in kept:
            if column.name in left.schema.names:
                raise SourceError(
                    f"join: both tables have a column {column.name!r}; rename one of them"
                )
        _alike(left.schema.column(join.on), right.schema.column(join.on))
        lefts, rights = left.schema.names, tuple(column.name for column in kept)
        also = (join.on,) if join.how == "inner" else ()
        self.sides = Sides(lefts, (*also, *rights), join.on, join.how)
        self._view = f"joined{next(_names)}"
        physical = {name: f"a{i}" for i, name in enumerate(lefts)}
        physical |= {c.name: f"b{i}" for i, c in enumerate(right.schema) if c.name in rights}
        super().__init__(
            f"{left.name} joined with {right.name} on {join.on}",
            Schema((*left.schema, *kept)),
            physical,
            self._view,
            left._engine,
            self._joined,
        )
        self.cut = left.cut | right.cut

    def refuse_twice(self) -> None:
        """Refuse a public table of which two rows could match one row: read openly."""
        most: Any = None
        with suppress(ReleaseFailed):  # whose words are about a charge
            _ = self._right.digest  # has a file read
            rows = _renamed(self._right, "b", self._join.on)
            counted = f"SELECT COUNT(k) - COUNT(DISTINCT k) FROM ({rows}) r"
            ((most,),) = self._right._engine.rows(counted, _failed())
        if most is None:
            raise SourceError("join: the public table could not be read")
        if most:
            raise SourceError(
                f"join: the public table has a value of {self._join.on!r} in more than one row, so "
                "that a private row would become several; keep one row for each value, or name the "
                "column that tells units apart (unit=...)"
            )

    def _joined(self) -> None:
        """Have both tables read, and the right one copied, at the first request."""
        with self._lock:
            if self._copy is None:
                _ = self._left.digest, self._right.digest
                self._copy = self._copied()
                self._right.close()

    def _copied(self) -> Path:
        """Copy the right table to where the left one's engine may read, and make the view."""
        engine, other = _engine(self._left), _engine(self._right)
        rows = _renamed(self._right, "b", self._join.on)
        types = other.types(f"({rows})", _failed())
        written = other.written(_recast(types, "VARCHAR", f"({rows}) w"), _failed())
        place = engine.room(_failed()) / f"{self._view}.parquet"
        try:
            shutil.move(written, place)
            moved = True
        except OSError:
            moved = False
        if not moved:
            raise _failed()
        held = f"read_parquet({DUCKDB.string(str(place))}, can_have_nan = true)"
        engine.rows(self._query(_recast(types, "HUGEINT", held)), _failed())
        return place

    def _query(self, right: str) -> str:
        """Write the view; a missing key equals nothing, in an inner and in a left join."""
        left, word = _renamed(self._left, "a", self._join.on), self._join.how.upper()
        return (
            f"CREATE TEMP VIEW {self._view} AS SELECT {', '.join(self._physical.values())} "
            f"FROM ({left}) l {word} JOIN ({right}) r ON l.k = r.k"
        )

    def close(self) -> None:
        """Let go of files and memory; a second call does nothing."""
        if self._copy is not None:
            self._copy.unlink(missing_ok=True)
        self._right.close()
        self._left.close()


def _failed() -> ReleaseFailed:
    return ReleaseFailed(FAILED)


def _engine(table: Table) -> Engine:
    assert isinstance(table._engine, Engine)  # noqa: S101
    return table._engine


def _renamed(table: Table, letter: str, on: str) -> str:
    """Write the query of a table's columns as letter0, letter1, ..., and of the key as k."""
    cells = (table._physical[name] for name in table.schema.names)
    listed = ", ".join(f"{cell} AS {letter}{i}" for i, cell in enumerate(cells))
    place = table.schema.names.index(on)
    key = settled(f"{letter}{place}", table.schema.column(on).kind, DUCKDB)
    rows = table.reading(table.schema.names)
    return f"SELECT *, {key} AS k FROM (SELECT {listed} FROM {rows}) c"


def _recast(types: list[tuple[str, str]], huge: str, rows: str) -> str:
    """Write integers of 128 bits in another type, since a Parquet file does not hold them."""
    listed = (
        f"CAST({name} AS {huge}) AS {name}" if kind == "HUGEINT" else name for name, kind in types
    )
    return f"SELECT {', '.join(listed)} FROM {rows}"


def _alike(left: Column, right: Column) -> None:
    """Refuse keys of two kinds: text that reads as a number would match, or not, by chance."""
    kinds = {"text" if one.kind == "unread" else one.kind for one in (left, right)}
    if len(kinds) > 1:
        raise SourceError(
            f"join: {left.name!r} holds {left.kind} in one table and {right.kind} in the other; "
            f"declare it in the schema, as in schema={{{left.name!r}: 'integer'}}"
        )
