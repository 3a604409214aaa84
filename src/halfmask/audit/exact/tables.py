"""Small simulated tables and their neighbours, read by the real source.

Every table is made of cells from `cells`; no row of anybody's table is ever among them.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Any

from halfmask.audit.exact.cells import cell_of, cells_of
from halfmask.errors import InvalidQuery
from halfmask.plan import (
    Everything,
    Filters,
    FoundKeys,
    GridCounts,
    Keys,
    Kind,
    Or,
    Points,
    Predicate,
    Request,
    Schema,
    Tallies,
    Tally,
)
from halfmask.plan.predicates import joined
from halfmask.privacy import PrivacyUnit, Relation
from halfmask.sources import Source, open_source

__all__ = ["Pair", "Row", "Rows", "Simulation"]

Exact = Any
"""The exact integers that answer a request; None where the table could not be read."""

Row = dict[str, object]
Rows = tuple[Row, ...]

_ROWS = 26
"""Different rows that are tried."""

_OUTSIDE = 6
"""Of them, rows that the filter leaves out."""

_COMBINED = 4096
"""Combinations of cells among which they are looked for."""

_NUMBER = "halfmask row number"


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables."""

    one: Rows
    other: Rows


@dataclass(frozen=True)
class Simulation:
    """Tables that try these requests, for one declared unit.

    suppose: how many of the declared units one person really is; 1 where the declaration is true.
    landmarks: public places at which rows stand, beside those of the requests.
    """

    requests: tuple[Request[Any], ...]
    schema: Schema
    unit: PrivacyUnit
    suppose: int = 1
    landmarks: tuple[dict[str, float], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.suppose, bool) or not 1 <= self.suppose <= 1000:
            raise InvalidQuery(
                f"suppose: {self.suppose} units; suppose that one person is 1 to 1000"
            )

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Tallies of the same columns, bounds, groups and filters."""
        return tuple(tally for request in self.requests for tally in _tallies(request))

    @cached_property
    def columns(self) -> dict[str, Kind]:
        """The columns that are read, and their public kinds."""
        names = dict.fromkeys(name for request in self.requests for name in request.columns())
        return {name: self.schema.column(name).kind for name in names}

    def exact(self, rows: Rows) -> dict[Request[Any], Exact]:
        """Have the real source compute the exact integers of a table."""
        with closing(self.opened(rows)) as source:
            return {request: _answered(source, request) for request in self.requests}

    def answer(self, rows: Rows, request: Request[Any]) -> Exact:
        """Have the real source answer one request about a table."""
        with closing(self.opened(rows)) as source:
            return _answered(source, request)

    def pairs(self) -> Iterator[Pair]:
        """Enumerate neighbours: everything that one unit may add, among others of three kinds."""
        everyone = self._people()
        for base, step in zip(self.bases(), (1, 1, 3), strict=True):
            people = everyone[::step]
            tables = [_inserted(base, person, at) for at, person in enumerate(people)]
            if self.unit.relation is Relation.ADD_REMOVE:
                yield from (Pair(table, base) for table in tables)
                continue
            placed = [_inserted(base, person, 0) for person in people]
            for i, one in enumerate(placed):
                yield from (Pair(one, other) for other in placed[:i])

    @cached_property
    def rows(self) -> Rows:
        """Rows to try, without their unit: near a first one that passes the filter, and beyond."""
        domains = {
            name: cells_of(name, self.tallies, self.schema)
            for name in self.columns
            if name != self.unit.column
        }
        found = [dict(zip(domains, cells, strict=True)) for cells in _combinations(domains)]
        passing = self._passing(found)
        inside = [row for row, passed in zip(found, passing, strict=True) if passed]
        outside = [row for row, passed in zip(found, passing, strict=True) if not passed]
        first = (inside or outside)[0]
        inside.sort(key=lambda row: sum(repr(row[name]) != repr(first[name]) for name in row))
        return (*self._placed(first), *inside[: _ROWS - _OUTSIDE], *outside[:_OUTSIDE])

    def _placed(self, first: Row) -> Iterator[Row]:
        """Put the first row at each landmark; whose row it is, is told by the unit alone."""
        for place in self.landmarks:
            values = {name: x for name, x in place.items() if name != self.unit.column}
            yield {**first, **{name: cell_of(x, self.columns[name]) for name, x in values.items()}}

    def _passing(self, rows: list[Row]) -> list[bool]:
        """Ask the real source which rows a filter keeps, and puts into a group."""
        filters = {_counted(tally) for tally in self.tallies}
        if Everything() in filters:
            return [True] * len(rows)
        numbers = Keys(_NUMBER, range(len(rows)))
        unit = {self.unit.column: None} if self.unit.column else {}
        passed = [False] * len(rows)
        with closing(self.opened([unit | row for row in rows])) as source:
            for where in filters:
                kept = _answered(source, Tally(((1, 0, 0, 0),), groups=(numbers,), where=where))
                for number, (count,) in enumerate(kept or ()):
                    passed[number] |= count > 0
        return passed

    def opened(self, rows: Sequence[Row]) -> Source:
        """Open a table as the real source would."""
        columns: dict[str, list[object]] = {n: [row[n] for row in rows] for n in self.columns}
        columns[_NUMBER] = list(range(len(rows)))
        return open_source(columns, {**self.columns, _NUMBER: "integer"}, threads=1)

    def _people(self) -> list[Rows]:
        """Everything that one person may add, by kinds of behaviour."""
        if self.unit.column is None:
            copies = [(row,) * self.suppose for row in self.rows]
            if self.suppose == 1:
                return copies
            halves = [a[: self.suppose // 2] + b[self.suppose // 2 :] for a, b in _couples(copies)]
            return copies + halves + [tuple(islice(self.rows, self.suppose))]
        shapes = tuple(self._shapes())
        people = [self.named(shape, at) for at, shape in enumerate(shapes)]
        if self._unit_is_asked():  # then a name matters: each with the first shape
            people += [self.named(shapes[0], at) for at in range(len(self.identities[0]))]
        if self.unit.relation is Relation.ADD_REMOVE:  # rows of nobody: dropped
            people.append(tuple({self.unit.column: None, **row} for row in self.rows[:2]))
        return people

    def _shapes(self) -> Iterator[Rows]:
        """Rows of one unit: as many as allowed and more, all alike, of two kinds, of all kinds."""
        most = self.unit.rows
        for row in self.rows:
            yield (row,) * (most + 1)
        yield self.rows
        yield from (a * most + b * most for a, b in _couples([(row,) for row in self.rows]))
        for row in self.rows[:4]:
            yield (row,)
            yield (row,) * (most + 40)

    def named(self, shape: Rows, at: int) -> Rows:
        """Give the rows to the person's units, each of which has them all; names take turns."""
        assert self.unit.column is not None  # noqa: S101
        people, _ = self.identities
        names = [people[(at + k) % len(people)] for k in range(self.suppose)]
        return tuple({**row, self.unit.column: name} for name in names for row in shape)

    @cached_property
    def identities(self) -> tuple[Sequence[object], Sequence[object]]:
        """Names for whoever comes and goes, and names of the others, before and behind."""
        assert self.unit.column is not None  # noqa: S101
        kind = self.columns.get(self.unit.column, "text")
        made = _names(kind, self.suppose + 7)
        if not self._unit_is_asked():
            return made[2:-4] or made[:1], made[:2] + made[-4:] if len(made) > 2 else made[1:]
        cells = cells_of(self.unit.column, self.tallies, self.schema)
        asked = [cell for cell in cells if cell is not None and cell == cell]
        return asked, [name for name in made if name not in asked]

    def _unit_is_asked(self) -> bool:
        """Whether the unit's column is also a value, a key, or in a filter."""
        return any(
            self.unit.column in (tally.value and tally.value.column, *tally.where.columns())
            or self.unit.column in [group.column for group in tally.groups]
            for tally in self.tallies
        )

    def bases(self) -> list[Rows]:
        """The others: nobody, a crowd of all kinds, and people who are all alike."""
        if self.unit.column is None:
            return [(), self.rows[:: max(1, len(self.rows) // 7)], self.rows[:1] * 4]
        column, (_, others) = self.unit.column, self.identities
        crowd = [
            {column: name, **self.rows[(3 * i + j) % len(self.rows)]}
            for i, name in enumerate(others)
            for j in range(1 + i % (self.unit.rows + 2))
        ]
        nobody = [{column: None, **row} for row in self.rows[:2]]
        alike = [{column: name, **self.rows[0]} for name in others[:3]] * (self.unit.rows + 2)
        return [(), tuple(crowd + nobody), tuple(alike)]


def _answered(source: Source, request: Request[Any]) -> Exact:
    """Have a source answer; None where it raised anything."""
    with suppress(Exception):  # whether rows can make it fail is part of what is compared
        return request.answered_by(source)
    return None


def _counted(tally: Tally) -> Predicate:
    """The filter of the rows that count, as far as groups are filters too."""
    where = tally.where
    for group in tally.groups:
        if isinstance(group, Filters):
            with suppress(InvalidQuery):  # more conditions than one filter may have
                where &= joined(Or, group.conditions)
    return where


def _tallies(request: Request[Any]) -> tuple[Tally, ...]:
    match request:
        case Tally():
            return (request,)
        case Tallies(tallies=tallies):
            return tallies
        case GridCounts() | FoundKeys():
            return (request.tally,)
        case Points(values=values, where=where):
            return tuple(Tally(((0, 1, 0, 0),), value, where=where) for value in values)
    raise TypeError(f"no table is known that tries a request of type {type(request).__name__}")


def _inserted(base: Rows, person: Rows, at: int) -> Rows:
    """Put the person's rows in front, amid or behind the others', by turns."""
    place = (at % 3) * len(base) // 2
    return base[:place] + person + base[place:]


def _couples(kinds: Sequence[Rows]) -> list[tuple[Rows, Rows]]:
    """Pair the first kinds with each other, and the first with some of the rest."""
    close = [(a, b) for i, a in enumerate(kinds[:4]) for b in kinds[:i]]
    return close + [(kinds[0], b) for b in kinds[4::3]]


def _combinations(domains: dict[str, tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Combine cells: all ways, or evenly spread ones where there are too many."""
    total = prod(map(len, domains.values()))
    if total <= _COMBINED:
        return list(product(*domains.values()))
    step = int(total * 0.6180339887) | 1
    return [_numbered(i * step % total, domains) for i in range(_COMBINED)]


def _numbered(number: int, domains: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
    cells = []
    for domain in domains.values():
        number, digit = divmod(number, len(domain))
        cells.append(domain[digit])
    return tuple(cells)


def _names(kind: Kind, count: int) -> list[object]:
    """Make up names of units, of a column's kind."""
    start = datetime(2001, 1, 1)
    made: dict[Kind, list[object]] = {
        "integer": [7 * i + 1 for i in range(count)],
        "real": [i + 0.5 for i in range(count)],
        "text": [f"p{i}" for i in range(count)],
        "unread": [f"p{i}" for i in range(count)],
        "time": [start + timedelta(days=i) for i in range(count)],
        "boolean": [True, False],
    }
    return made[kind]
