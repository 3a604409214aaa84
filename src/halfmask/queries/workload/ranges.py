"""Range counts and running counts over public edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Bins, Groups, Periods, instant, scalar
from halfmask.queries.grid import written
from halfmask.queries.histogram import between
from halfmask.queries.workload.load import RangeLoad
from halfmask.queries.workload.measured import OfCells

__all__ = ["Prefixes", "Ranges"]

Edge = float | str
"""A number, or a time as an ISO text."""

MOST = 2**20
"""Ranges of one question."""


@dataclass(frozen=True)
class Ranges(OfCells):
    """How many rows lie in each of many ranges: low <= value < high, low and high among the edges.

    The last edge belongs to ranges that end there. ranges: pairs of edges, or "all".
    The answers are read off the sums that serve these ranges best, as for `LinearQueries`; they
    agree with each other: ranges that add up have counts that do.
    Privacy: as `LinearQueries`. [Li, Miklau, Hay, McGregor & Rastogi 2015, Prop. 5]

    >>> Ranges("age", [0, 18, 40, 65, 120], [(0, 65), (18, 120)]).bins
    ('0 to 65', '18 to 120')
    >>> len(Ranges("age", [0, 18, 40, 65, 120]).bins)
    10
    """

    column: str
    edges: tuple[float, ...]
    ranges: tuple[tuple[float, float], ...] | Literal["all"] = "all"

    def __init__(
        self, column: str, edges: Sequence[float], ranges: Sequence[Sequence[float]] | str = "all"
    ) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "edges", _numbers(column, edges))
        object.__setattr__(self, "ranges", ranges if ranges == "all" else _pairs(ranges))
        cells = len(self.edges) - 1
        number = cells * (cells + 1) // 2 if self.ranges == "all" else len(self.ranges)
        if not 1 <= number <= MOST:
            raise InvalidQuery(f"ranges: {number} of them; give between 1 and {MOST}")
        places = {edge: place for place, edge in enumerate(self.edges)}
        for low, high in () if self.ranges == "all" else self.ranges:
            if low not in places or high not in places or not low < high:
                raise InvalidQuery(
                    f"ranges: {written(low)} to {written(high)} is no range between two edges; "
                    "add its ends to the edges, the lower one first"
                )

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"number of rows in ranges of {self.column}"

    @property
    def bins(self) -> tuple[str, ...]:
        """The ranges in words."""
        load, edges = self.load, self.edges
        pairs = zip(load.starts.tolist(), load.ends.tolist(), strict=True)
        return tuple(between(edges[start], edges[end]) for start, end in pairs)

    @cached_property
    def load(self) -> RangeLoad:
        """The ranges as places of edges."""
        cells = len(self.edges) - 1
        if self.ranges == "all":
            starts, ends = np.triu_indices(cells)
            return RangeLoad(cells, starts, ends + 1)
        places = {edge: place for place, edge in enumerate(self.edges)}
        found = np.array([[places[low], places[high]] for low, high in self.ranges])
        return RangeLoad(cells, found[:, 0], found[:, 1])

    @property
    def groups(self) -> Groups:
        """The bins between the edges."""
        return (Bins(self.column, self.edges),)


@dataclass(frozen=True)
class Prefixes(OfCells):
    """How many rows lie from the first edge to below each later one: a cumulative distribution.

    edges: numbers; or, of a column of times, dates, datetimes, ISO texts, or `Periods`, such as
    months. The last edge belongs to the last count.
    Privacy: as `LinearQueries`. [Li, Miklau, Hay, McGregor & Rastogi 2015, Prop. 5]

    >>> Prefixes("age", [0, 18, 65]).bins
    ('0 to 18', '0 to 65')
    >>> Prefixes("at", Periods("2026-01-01", "month", 2)).bins
    ('2026-01-01 to 2026-02-01', '2026-01-01 to 2026-03-01')
    """

    column: str
    edges: tuple[Edge, ...]

    def __init__(self, column: str, edges: Sequence[Edge | date] | Periods) -> None:
        listed: Any = edges.edges if isinstance(edges, Periods) else edges
        bins = Bins(column, listed)
        plain = tuple(map(_iso, listed)) if bins.timed else bins.edges
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "edges", plain)

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"running number of rows by {self.column}"

    @property
    def bins(self) -> tuple[str, ...]:
        """The ranges in words."""
        first, *later = self.edges
        return tuple(_between(first, edge) for edge in later)

    @cached_property
    def load(self) -> RangeLoad:
        """The ranges as places of edges."""
        cells = len(self.edges) - 1
        return RangeLoad(cells, np.zeros(cells, dtype=np.int64), np.arange(1, cells + 1))

    @property
    def groups(self) -> Groups:
        """The bins between the edges."""
        return (Bins(self.column, self.edges),)  # type: ignore[arg-type]  # which reads times too


def _iso(edge: Any) -> str:
    """A time as the shortest text that says it."""
    moment = instant(scalar(edge, "edges"), "edges")
    return moment.isoformat().removesuffix("T00:00:00")


def _between(low: Edge, high: Edge) -> str:
    if isinstance(low, str) or isinstance(high, str):
        return f"{low} to {high}"
    return between(low, high)


def _numbers(column: str, edges: Sequence[float]) -> tuple[float, ...]:
    bins = Bins(column, edges)  # type: ignore[arg-type]  # which reads any list of numbers
    if bins.timed:
        raise InvalidQuery("edges: times are given; ranges have edges of numbers, Prefixes of both")
    return bins.edges


def _pairs(ranges: Any) -> tuple[tuple[float, float], ...]:
    try:
        return tuple((float(low), float(high)) for low, high in ranges)
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(
            f'ranges: {shown(ranges)} given; write pairs of edges like [(0, 18)], or "all"'
        ) from None
