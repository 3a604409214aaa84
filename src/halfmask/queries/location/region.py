"""Where points lie: public columns, their public bounds, and the grid between those."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import OnGrid, Points
from halfmask.privacy import Relation
from halfmask.queries.grid import Range, lay_grid, to_float
from halfmask.queries.location.standard import Frame
from halfmask.queries.setting import Setting

__all__ = ["Box", "Region"]

CELLS = Fraction(2**44)
"""Between the bounds of a column: a millionth of a millionth of their distance is one cell."""

EDGE = 2.0**-10
"""The part of the distance between two bounds that counts as their edge."""

SAID = 3
"""Columns that are named in a sentence."""

LONGEST = 2**40
"""Of a cell, where it is a million times longer than others: what exact arithmetic takes."""


@dataclass(frozen=True)
class Box:
    """Public bounds of points: those of each column, or the same for all.

    columns: names; None takes every numeric column of the table, in its order.
    lower, upper: a number, or one for each column; points outside are moved to the nearest bound.

    >>> Box(-100, 100).of(["x0", "x1"]).size
    2
    """

    lower: float | tuple[float, ...]
    upper: float | tuple[float, ...]
    columns: Any = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            if isinstance(self.columns, str) or not self.columns:
                raise InvalidQuery(
                    f"columns: {shown(self.columns)} is no list of names; give one as ['x', 'y']"
                )
            object.__setattr__(self, "columns", tuple(self.columns))
            if len(set(self.columns)) < len(self.columns):
                raise InvalidQuery("columns: one is named twice; name each once")
        for name in ("lower", "upper"):
            given = getattr(self, name)
            if not isinstance(given, str) and hasattr(given, "__iter__"):
                object.__setattr__(self, name, tuple(float(each) for each in given))
        for lower, upper in self.bounds(1 if self._lengths() == {1} else max(self._lengths())):
            Range(lower, upper)

    @classmethod
    def about(
        cls,
        center: float | Sequence[float],
        radius: float | Sequence[float],
        columns: Sequence[str] | None = None,
    ) -> "Box":
        """Return the box from center - radius to center + radius; each a number or one a column."""
        try:
            at, far = np.asarray(center, dtype=float), np.asarray(radius, dtype=float)
        except (TypeError, ValueError):
            at, far = np.zeros((1, 1)), np.zeros(1)
        if at.ndim > 1 or not np.isfinite(at).all():
            raise InvalidQuery(
                f"center: {shown(center)} is no point; give a number or one for each column"
            )
        if far.ndim > 1 or not np.isfinite(far).all() or not (far > 0).all():
            raise InvalidQuery(
                f"radius: {shown(radius)} is not positive; give a number that is sure to reach "
                "from the center to the points' own center, or one for each column"
            )
        try:
            low, high = at - far, at + far
        except ValueError:
            raise InvalidQuery(
                f"center: {at.size} coordinates, and {far.size} of radius; give as many of both"
            ) from None
        named = columns if columns is None or isinstance(columns, str) else tuple(columns)
        if low.ndim == 0:
            return cls(float(low), float(high), named)
        return cls(tuple(low.tolist()), tuple(high.tolist()), named)

    def _lengths(self) -> set[int]:
        sides = (self.lower, self.upper, self.columns)
        found = {len(side) if isinstance(side, tuple) else 1 for side in sides if side is not None}
        if len(found - {1}) > 1:
            raise InvalidQuery(
                f"bounds: lower, upper and columns have lengths {sorted(found)}; give one bound "
                "for each column, or a single number for all"
            )
        return found

    def bounds(self, size: int) -> list[tuple[float, float]]:
        """Return (lower, upper) of each of `size` columns."""
        lows = self.lower if isinstance(self.lower, tuple) else (self.lower,) * size
        highs = self.upper if isinstance(self.upper, tuple) else (self.upper,) * size
        if len(lows) != size or len(highs) != size:
            raise InvalidQuery(
                f"bounds: {max(len(lows), len(highs))} of them for {size} columns; give one for "
                "each, or a single number for all"
            )
        return list(zip(lows, highs, strict=True))

    def of(self, names: Sequence[str]) -> "Region":
        """Lay the grid over the columns: `columns`, or the numeric ones named here."""
        columns = self.columns or tuple(names)
        if not columns:
            raise InvalidQuery("columns: the table has no numeric column; name some in a schema")
        pairs = zip(columns, self.bounds(len(columns)), strict=True)
        return Region(tuple(lay_grid(name, Range(a, b), CELLS) for name, (a, b) in pairs))

    def region(self, setting: Setting) -> "Region":
        """Lay the grid over the columns of a table."""
        numeric = [c.name for c in setting.schema if c.kind in ("integer", "real")]
        unit = setting.unit.column
        region = self.of([name for name in numeric if name != unit])
        for grid in region.grids:
            setting.schema.numeric(grid.column)
        if setting.by is not None:
            raise InvalidQuery(
                "by: a location of points has no groups yet; ask with where= instead"
            )
        return region


@dataclass(frozen=True)
class Region:
    """A grid for each coordinate, and what one privacy unit may move on it."""

    grids: tuple[OnGrid, ...]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.grids)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(grid.column for grid in self.grids)

    def request(self, setting: Setting) -> Points:
        """What to ask of the rows."""
        unit = setting.unit
        return Points(self.grids, setting.where, unit.column, unit.rows)

    @staticmethod
    def moved(setting: Setting) -> int:
        """How many rows differ between neighbours: those that go, and those that come."""
        return setting.unit.rows * (1 if setting.unit.relation is Relation.ADD_REMOVE else 2)

    @property
    def steps(self) -> NDArray[np.float64]:
        """What a cell of each coordinate is worth."""
        return np.array([2.0**grid.log2_step for grid in self.grids])

    @property
    def widths(self) -> NDArray[np.float64]:
        """How many cells lie between the bounds of each coordinate."""
        return np.array([float(grid.upper - grid.lower) for grid in self.grids])

    @property
    def frame(self) -> Frame:
        """Points from the middle of their bounds, in about half the widths of these.

        Where all are as wide, a unit is a power of two of cells: rows that are level stay so.
        """
        middles = ((grid.lower + grid.upper) / 2 - grid.origin for grid in self.grids)
        unit = 2.0 ** ceil(log2(float(np.max(self.widths / 2 * self.lengths))))
        return Frame(tuple(middles), tuple(unit / length for length in self.lengths))

    @property
    def lengths(self) -> tuple[int, ...]:
        """How long a cell of each coordinate is, between bounds that count as equally far apart.

        Integers in one unit: equal bounds have equal ones, whatever rounding did to their cells.
        """
        cells = [grid.upper - grid.lower for grid in self.grids]
        lengths = [min(round(Fraction(max(cells) << 20, one)), LONGEST) for one in cells]
        shared = gcd(*lengths)
        return tuple(length // shared for length in lengths)

    def cells(self, point: Sequence[float]) -> tuple[int, ...]:
        """Turn coordinates into the cells that a row there has, held inside the bounds."""
        pairs = zip(self.grids, point, strict=True)
        steps = [(grid, floor(Fraction(x) / Fraction(2) ** grid.log2_step)) for grid, x in pairs]
        return tuple(min(max(v, g.lower), g.upper) - g.origin for g, v in steps)

    def place(self, cells: NDArray[np.float64]) -> tuple[float, ...]:
        """Turn cells (their middles where whole) into coordinates, held inside the bounds."""
        found = []
        for grid, cell in zip(self.grids, cells, strict=True):
            held = min(max(float(cell), float(grid.lower)), float(grid.upper))
            found.append(to_float(Fraction(held) * Fraction(2) ** grid.log2_step))
        return tuple(found)

    def edge(self, point: Sequence[float]) -> str:
        """Say in which columns a point lies at the edge of its bounds; nothing where in none.

        >>> Box(0, 8).of(["x", "y"]).edge((4, 8))
        'the point lies at the edge of the bounds in y: rows may lie beyond, widen them'
        """
        low = self.steps * [grid.lower for grid in self.grids]
        wide = self.steps * self.widths
        share = (np.array(point) - low) / wide
        near = np.flatnonzero((share < EDGE) | (share > 1 - EDGE)).tolist()
        names = ", ".join(self.names[j] for j in near[:SAID])
        more = f" and {len(near) - SAID} more columns" if len(near) > SAID else ""
        where = f"the point lies at the edge of the bounds in {names}{more}"
        return f"{where}: rows may lie beyond, widen them" if near else ""
