"""One tally as one SQL query: the only writer of queries that return integers.

read, filter, put on the grid -> sums by key -> public groups; with a unit: public groups -> sums
by unit and group -> scaled down to the bound -> sums by group. No value in any row can raise:
every cast acts on values that are already clipped, or read by a grammar (safety by data flow, not
by which branch of a CASE an engine evaluates), and sums are too wide to overflow.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from halfmask.plan import OnGrid, Tally, UnitBound
from halfmask.sources.sql.bound import Shape, bounded
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.filters import condition
from halfmask.sources.sql.groups import indexed, key_columns
from halfmask.sources.sql.lots import residue

__all__ = ["Emission", "emit", "moments_used", "on_grid", "row_sums", "unit_features", "unit_sums"]

_MOMENTS = ("n", "p", "s", "q")
"""Rows, values, sum of v, sum of v²: what the four coefficients of a feature multiply."""

_NARROW = 2**31


@dataclass(frozen=True)
class Emission:
    """A query, and how a row of it gives the features of the group whose index comes first."""

    sql: str
    moments: tuple[str, ...] | None

    def features(self, tally: Tally, sums: Sequence[int | None]) -> tuple[int, ...]:
        """Return the features of one group; the null sum of no rows is zero."""
        whole = [total or 0 for total in sums]
        if self.moments is None:
            return tuple(whole)
        found = dict(zip(self.moments, whole, strict=True))
        return tuple(
            sum(c * found.get(m, 0) for c, m in zip(feature, _MOMENTS, strict=True))
            for feature in tally.features
        )


def emit(tally: Tally, cells: Cells, table: str, salt: str = "halfmask") -> Emission:
    """Write the query of a tally that has been checked against the schema."""
    used = moments_used(tally)
    listed = [f"{key} AS k{i}" for i, key in enumerate(key_columns(tally.groups, cells))]
    if set(used) & set("psq") and tally.value is not None:
        listed.append(f"{on_grid(tally.value, cells)} AS v")
    if tally.unit is not None:
        listed.append(f"{cells.without_nan(tally.unit.column)} AS u")
    where = condition(tally.where, True, cells)
    rows = f"SELECT {', '.join(listed) or '1 AS w'} FROM ({cells.select(table)}) c WHERE {where}"
    if tally.unit is not None:
        return Emission(_by_unit(tally, tally.unit, rows, used, cells, salt), None)
    return Emission(_by_row(tally, rows, used, cells), used)


def moments_used(tally: Tally) -> tuple[str, ...]:
    """Return the moments that the features need: of n, p, s, q."""
    columns = zip(*tally.features, strict=True)
    return tuple(m for m, column in zip(_MOMENTS, columns, strict=True) if any(column)) or ("n",)


def on_grid(value: OnGrid, cells: Cells) -> str:
    """Write floor(clip(x) / step) - origin; null where x is missing.

    Both bounds are whole steps, so clipping first is exact. x * 2^-k is exact too: for k <= 0
    nothing is lost; for k > 0, flooring first leaves the same floor and no denormal product.
    """
    number = cells.dialect.number
    x = cells.read(value.column, "real")
    step = 2.0**value.log2_step
    low, high = number(value.lower * step), number(value.upper * step)
    clipped = (
        f"CASE WHEN {x} BETWEEN {low} AND {high} THEN {x} WHEN {x} < {low} THEN {low} "
        f"WHEN {x} <= {number(float('inf'))} THEN {high} END"
    )
    if value.log2_step > 0:
        clipped = cells.dialect.floor.format(clipped)
    scaled = f"({clipped}) * {number(2.0**-value.log2_step)}" if value.log2_step else clipped
    whole = cells.dialect.cast(f"FLOOR({scaled})", cells.dialect.integer)
    return f"{whole} - {cells.dialect.whole(value.origin)}" if value.origin else whole


def _moments(tally: Tally, used: Sequence[str], dialect: Dialect) -> dict[str, str]:
    narrow = tally.value is not None and tally.value.reach <= _NARROW
    square = "v * v" if narrow else f"{dialect.cast('v', dialect.wide)} * v"
    spelled = {
        "n": "COUNT(*)",
        "p": "COUNT(v)",
        "s": (dialect.short or dialect.total).format("v"),
        "q": dialect.total.format(square),
    }
    return {moment: spelled[moment] for moment in used}


def row_sums(tally: Tally, used: Sequence[str], dialect: Dialect) -> str:
    """Write the list of the moments' sums, each under its name."""
    moments = _moments(tally, used, dialect)
    return ", ".join(f"{sql} AS {moment}" for moment, sql in moments.items())


def _by_row(tally: Tally, rows: str, used: Sequence[str], cells: Cells) -> str:
    """Sum by what the rows show, and only then look for public groups: few rows are joined."""
    listed = row_sums(tally, used, cells.dialect)
    if not tally.groups:
        return f"SELECT 0 AS g, {listed} FROM ({rows}) t"
    keys = ", ".join(f"k{i}" for i in range(len(tally.groups)))
    sums = f"SELECT {keys}, {listed} FROM ({rows}) t GROUP BY {keys}"
    found = indexed(tally.groups, cells, sums, used)
    totals = ", ".join(cells.dialect.total.format(moment) for moment in used)
    # Rows in no group are dropped by whoever reads the answer: engines push a filter down to the
    # rows, and so compute their groups twice.
    return f"SELECT g, {totals} FROM ({found}) i GROUP BY g"


def _by_unit(
    tally: Tally, bound: UnitBound, rows: str, used: Sequence[str], cells: Cells, salt: str
) -> str:
    dialect = cells.dialect
    if tally.groups:
        carried = ["u", "v"] if set(used) & set("psq") else ["u"]
        rows = (
            f"SELECT * FROM ({indexed(tally.groups, cells, rows, carried)}) i WHERE g IS NOT NULL"
        )
    shape = Shape(
        sums=tuple(used) if not bound.once else ("n",),
        features=unit_features(tally, bound, used, dialect),
        reach=tally.reach,
        unit=residue(cells.number(bound.column, "u"), dialect),
        picks=bound.groups is not None and bound.groups < tally.size,
        shared="u" if bound.groups is None and tally.size > 1 else "",
        grouped=bool(tally.groups),
    )
    sums = unit_sums(tally, bound, rows, used, shape.kept, dialect)
    return bounded(sums, shape, bound, dialect, salt)


def unit_sums(
    tally: Tally,
    bound: UnitBound,
    rows: str,
    used: Sequence[str],
    by: Sequence[str],
    dialect: Dialect,
) -> str:
    """Write the query (u, by, moments): the sums of each unit in each group, unbounded."""
    moments = _unit_moments(tally, bound, used, dialect)
    listed = ", ".join(
        f"{sql if m in 'np' else f'COALESCE({sql}, 0)'} AS {m}" for m, sql in moments.items()
    )
    keys = ", ".join(["u", *by])
    return f"SELECT {keys}, {listed} FROM ({rows}) t WHERE u IS NOT NULL GROUP BY {keys}"


def unit_features(
    tally: Tally, bound: UnitBound, used: Sequence[str], dialect: Dialect
) -> tuple[str, ...]:
    """Write the features by the moments that `unit_sums` shows."""
    moments = _unit_moments(tally, bound, used, dialect)
    return tuple(_feature(feature, moments, dialect) for feature in tally.features)


def _unit_moments(
    tally: Tally, bound: UnitBound, used: Sequence[str], dialect: Dialect
) -> dict[str, str]:
    return {"n": "1"} if bound.once else _moments(tally, used, dialect)


def _feature(feature: Sequence[int], moments: dict[str, str], dialect: Dialect) -> str:
    held = {m: dialect.cast(m, dialect.wide) if m in "np" else m for m in moments}
    terms = [
        held[m] if c == 1 else f"{dialect.whole(c)} * {held[m]}"
        for c, m in zip(feature, _MOMENTS, strict=True)
        if c and m in moments
    ]
    return " + ".join(terms) or dialect.cast("0", dialect.wide)
