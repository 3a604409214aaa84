"""The public grid of a quantile: numbers, whole numbers or times; with bounds or without."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import ceil, floor

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Measure
from halfmask.plan import Kind, OnGrid, instant, microseconds
from halfmask.queries.grid import Range, lay_grid, to_float

__all__ = ["REAL_STEP", "Answer", "Bound", "QuantileGrid", "micros"]

Bound = float | str | datetime | None
Answer = int | float | str

_CELLS = Fraction(2**31)
"""Cells between bounds of a real column: so fine that few values share one by chance."""

_WHOLE_BITS = 50
"""Whole numbers without bounds lie within 2^50."""

_REAL_BITS, REAL_STEP = 52, -12
"""Numbers without bounds lie within 2^40, in steps of 2^-12: the cells are exact in doubles."""

_TIMES = ("1900-01-01", "2200-01-01")
_EPOCH = datetime(1970, 1, 1)


def micros(bound: object) -> int:
    """Return a date, a datetime or an ISO text as microseconds since 1970.

    >>> micros("1970-01-02")
    86400000000
    """
    moment = datetime(bound.year, bound.month, bound.day) if type(bound) is date else bound
    return microseconds(instant(moment, "bounds"))  # type: ignore[arg-type]


@dataclass(frozen=True)
class QuantileGrid:
    """Cells of a column: how they are laid, weighed before any row is seen, and read back.

    places: into how many a cell is cut where later choices split it; None: as finely as may be.
    """

    grid: OnGrid
    kind: Kind
    octaves: int | None = None
    fall: int = 0
    places: int | None = None

    @classmethod
    def lay(cls, column: str, kind: Kind, lower: Bound, upper: Bound) -> "QuantileGrid":
        """Lay the grid; InvalidQuery for bounds that do not fit the column's kind."""
        timed = isinstance(lower, str | date)
        if kind == "time":
            if lower is not None and not timed:
                raise InvalidQuery(
                    f"bounds: {lower} of column {column!r}, which holds times; give dates or "
                    "datetimes"
                )
            low, high = _TIMES if lower is None else (lower, upper)
            return cls(OnGrid(column, micros(low), micros(high), 0), kind)
        if timed:
            raise InvalidQuery(
                f"bounds: {lower!r} is a time, and column {column!r} holds "
                f"{'undeclared text' if kind == 'unread' else kind}; give numbers, or declare the "
                "column 'time' in the schema"
            )
        if lower is None:
            bits, step = (_WHOLE_BITS, 0) if kind == "integer" else (_REAL_BITS, REAL_STEP)
            return cls(OnGrid(column, -(2**bits), 2**bits, step), kind, bits)
        bounds = Range(lower, upper)
        low, high = ceil(bounds.lower), floor(bounds.upper)
        if kind == "integer" and low < high and max(abs(low), abs(high)) <= 2**53:
            return cls(OnGrid(column, low, high, 0), kind)
        return cls(lay_grid(column, bounds, _CELLS), "real")

    def measure(self, *, cut: bool) -> Measure:
        """Return the public measure of its cells; `cut` where later choices split them."""
        measure = Measure.of(self.grid.lower, self.grid.upper, cut=cut, octaves=self.octaves)
        places = self.places if cut and self.places is not None else measure.places
        return replace(measure, fall=self.fall, places=places)

    def coarse(self, most: int) -> "QuantileGrid":
        """Lay at most so many cells over the same bounds, each cut in two at most."""
        grid = self.grid.coarser(most)
        octaves = None
        if self.octaves is not None:
            octaves = max(1, self.octaves - (grid.log2_step - self.grid.log2_step))
        return replace(self, grid=grid, octaves=octaves, places=2)

    @property
    def width(self) -> float | None:
        """The distance between the bounds in units of the column (seconds of time), if any."""
        if self.octaves is not None:
            return None
        cells = (self.grid.upper - self.grid.lower) * Fraction(2) ** self.grid.log2_step
        return to_float(cells / 10**6 if self.kind == "time" else cells)

    def read(self, cell: int) -> Answer:
        """Return what a cell stands for: its lower end, a whole number, or a time in ISO text."""
        if self.kind == "time":
            return (_EPOCH + timedelta(microseconds=cell)).isoformat()
        if self.kind == "integer":
            return cell
        return to_float(cell * Fraction(2) ** self.grid.log2_step)
