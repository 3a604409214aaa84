"""Cells that try a query: at and beyond its bounds, on its edges, its keys, its filters, missing.

They come from the public tallies of the query and the public kinds of the columns alone.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise

from halfmask.errors import InvalidQuery
from halfmask.plan import (
    Among,
    Bins,
    Comparison,
    Filters,
    Keys,
    Kind,
    OnGrid,
    Predicate,
    Schema,
    Tally,
    instant,
)

__all__ = ["cell_of", "cells_of"]

_MOST = 14
"""Cells tried of one column; the first are the ones that move sums most."""

_FIRST_EDGES = 3
_FIRST_KEYS = 3


def cells_of(column: str, tallies: Iterable[Tally], schema: Schema) -> tuple[object, ...]:
    """List cells of a column worth trying, in the column's kind, each once, None among them."""
    kind = schema.column(column).kind
    marks = [mark for tally in tallies for mark in _marks(column, tally)]
    cells = [cell for mark in (*marks, None, *_STRANGE[kind]) for cell in _in_kind(mark, kind)]
    kept: dict[str, object] = {}
    for cell in cells:
        kept.setdefault(repr(cell), cell)
    first = list(kept.values())[: _MOST - 1]
    return tuple(first if None in first else [*first, None])


def cell_of(mark: object, kind: Kind) -> object:
    """Write a mark as a cell of a column of that kind; None where there is no such cell."""
    return next(_in_kind(mark, kind), None)


def _marks(column: str, tally: Tally) -> Iterator[object]:
    if tally.value is not None and tally.value.column == column:
        yield from _of_grid(tally.value)
    for group in tally.groups:
        if isinstance(group, Filters):
            yield from _of_filters(column, group.conditions)
        elif group.column == column:
            yield from _of_bins(group) if isinstance(group, Bins) else _of_keys(group)
    yield from _of_filters(column, [tally.where])


def _of_filters(column: str, conditions: Iterable[Predicate]) -> Iterator[object]:
    """Literals, their neighbours, and what lies between two of them."""
    literals = [one for condition in conditions for one in _literals(column, condition)]
    for literal in literals:
        yield from _around(literal)
    numbers = sorted({one for one in literals if isinstance(one, int | float)})
    yield from (low / 2 + high / 2 for low, high in pairwise(numbers))
    times = sorted({moment for one in literals for moment in _moments(one)})
    yield from (low + (high - low) / 2 for low, high in pairwise(times))


def _moments(literal: object) -> Iterator[datetime]:
    if isinstance(literal, datetime | str):
        with suppress(InvalidQuery):  # text that is a time in no query
            yield instant(literal, "where")


def _of_grid(grid: OnGrid) -> Iterator[float]:
    """Both bounds, beyond them, the middle, and a value between two steps."""
    step = 2.0**grid.log2_step
    low, high = grid.lower * step, grid.upper * step
    width = high / 2 - low / 2  # halves cannot overflow
    yield from (high, low, high + width, low - width, low + width, low + width / 1.5)
    yield from (math.inf, -math.inf)


def _of_bins(bins: Bins) -> Iterator[object]:
    """Inside the first and the last bins, on edges, and just below an edge."""
    if bins.timed:
        for edge in (*bins.edges[:_FIRST_EDGES], bins.edges[-1]):
            moment = datetime(1970, 1, 1) + timedelta(microseconds=edge)
            yield moment
            yield from _moved(moment, timedelta(microseconds=-1))
        return
    edges = [edge for edge in bins.edges if math.isfinite(edge)]
    if not edges:
        yield 0.0
        return
    shown = dict.fromkeys((*edges[:_FIRST_EDGES], edges[-1]))
    for edge in shown:
        yield from (edge, math.nextafter(edge, -math.inf))
    yield edges[-1] + 1.0


def _of_keys(keys: Keys) -> Iterator[object]:
    yield from keys.values[:_FIRST_KEYS]
    yield keys.values[-1]


def _literals(column: str, predicate: Predicate) -> Iterator[object]:
    if isinstance(predicate, Comparison) and predicate.column == column:
        yield predicate.value
    if isinstance(predicate, Among) and predicate.column == column:
        yield from predicate.values[:_FIRST_KEYS]
    for part in predicate._parts():
        yield from _literals(column, part)


def _around(literal: object) -> Iterator[object]:
    """A filter's literal, and its neighbours on both sides."""
    yield literal
    match literal:
        case bool():
            yield not literal
        case int() | float():
            yield from (literal + 1, literal - 1)
        case datetime():
            yield from _moved(literal, timedelta(days=1), timedelta(days=-1))
        case str():
            yield literal + "x"


def _moved(moment: datetime, *steps: timedelta) -> Iterator[datetime]:
    """Neighbours of a time that are in the calendar."""
    for step in steps:
        with suppress(OverflowError):
            yield moment + step


_STRANGE: Mapping[Kind, tuple[object, ...]] = {
    "integer": (0, 2**63 - 1, -(2**63)),
    "real": (0.0, math.nan, 1e308, -5e-324),
    "text": ("other", ""),
    "time": (datetime(1970, 1, 1), datetime(2262, 1, 1)),
    "boolean": (True, False),
    "unread": ("abc", "0", "NaN", "1e999", "7 "),
}
"""Cells of each kind that have broken something somewhere."""


def _in_kind(mark: object, kind: Kind) -> Iterator[object]:
    """Write a mark as a cell of a column of that kind: nothing where there is no such cell."""
    if mark is None:
        yield None
    elif kind == "unread":
        yield mark if isinstance(mark, str) else _spelled(mark)
    elif kind == "real" and isinstance(mark, int | float):
        yield float(mark)
    elif kind == "integer" and isinstance(mark, int | float):
        yield _whole(mark)
    elif kind == "boolean" and isinstance(mark, bool | int | float):
        yield bool(mark)
    elif (kind == "text" and isinstance(mark, str)) or (
        kind == "time" and isinstance(mark, datetime)
    ):
        yield mark
    elif kind == "time" and isinstance(mark, str):
        yield from _instants(mark)


def _instants(text: str) -> Iterator[datetime]:
    for moment in _moments(text):
        yield moment
        yield from _moved(moment, timedelta(days=1))


def _spelled(mark: object) -> str:
    if isinstance(mark, bool):
        return "true" if mark else "false"
    if isinstance(mark, datetime):
        return mark.isoformat()
    return repr(mark)


def _whole(mark: float) -> int:
    if math.isinf(mark):
        return 2**63 - 1 if mark > 0 else -(2**63)
    return min(max(math.floor(mark), -(2**63)), 2**63 - 1)
