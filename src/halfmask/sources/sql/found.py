"""What rows themselves hold, as SQL: the cells of a grid, the keys of a column, points.

Like a tally, none of it can raise, whatever a row holds; and a unit's picks depend on nothing but
its own rows. So all sources give the same integers.
"""

from collections.abc import Sequence

from halfmask.plan import FoundKeys, GridCounts, OnGrid, Points
from halfmask.sources.sql.bound import Shape, bounded
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.emit import (
    Emission,
    moments_used,
    on_grid,
    row_sums,
    unit_features,
    unit_sums,
)
from halfmask.sources.sql.filters import condition
from halfmask.sources.sql.groups import indexed, key_columns
from halfmask.sources.sql.lots import BITS, NOBODY, entries, residue, with_lots

__all__ = ["emit_cells", "emit_keys", "emit_points"]

_BITS = 64
"""Of a BIGINT."""

_STATE, _TEXT, _NUMBER, _ROOM = 80, 24, 10, 3 * 2**29
"""Bytes of a unit, more of one of text, of a number held for it (measured: 95 a unit of three, 138
of eight), and of all of them: 1.6 GB, of the engine's 2. Longer texts are spilled (measured: 12
million units of three numbers and 1000 bytes each, within the engine's limit)."""

_SEVERAL = 10**6
"""DuckDB finds fewer than so many at once, and fails beyond."""


def emit_cells(counts: GridCounts, cells: Cells, table: str, salt: str = "halfmask") -> str:
    """Write the query (g, v, w) of the cells that hold weight, in no order."""
    bound, dialect = counts.unit, cells.dialect
    keys = [f"k{i}" for i in range(len(counts.groups))]
    shown = ["v", *keys, *(["u"] if bound else [])]
    listed = [f"{on_grid(counts.value, cells)} AS v"]
    listed += [
        f"{cell} AS {key}"
        for key, cell in zip(keys, key_columns(counts.groups, cells), strict=True)
    ]
    if bound is not None:
        listed.append(f"{cells.without_nan(bound.column)} AS u")
    where = condition(counts.where, True, cells)
    rows = f"SELECT {', '.join(listed)} FROM ({cells.select(table)}) c WHERE {where}"
    held = "v IS NOT NULL" + (" AND u IS NOT NULL" if bound else "")
    by = ", ".join(shown)
    # Counted before groups are looked for: few rows are joined.
    weights = f"SELECT {by}, COUNT(*) AS n FROM ({rows}) t WHERE {held} GROUP BY {by}"
    carried = ["v", "n", *(["u"] if bound else [])]
    if counts.groups:
        found = f"SELECT * FROM ({indexed(counts.groups, cells, weights, carried)}) i"
        weights = f"{found} WHERE g IS NOT NULL"
    else:
        weights = f"SELECT 0 AS g, {', '.join(carried)} FROM ({weights}) i"
    if bound is None and not counts.groups:
        return f"SELECT g, v, n * {counts.weight} AS w FROM ({weights}) s"
    weight = f"{dialect.cast(dialect.total.format('n'), dialect.wide)} * {counts.weight}"
    if bound is None:
        total = dialect.cast(weight, dialect.integer)
        return f"SELECT g, v, {total} AS w FROM ({weights}) s GROUP BY g, v"
    sums = f"SELECT u, g, v, {weight} AS w FROM ({weights}) s GROUP BY u, g, v"
    shape = Shape(
        sums=("w",),
        features=("w",),
        reach=counts.weight,
        unit=residue(cells.number(bound.column, "u"), dialect),
        picks=bound.groups is not None and bound.groups < counts.tally.size,
        shared="u" if bound.groups is None else "u, g",
        cells=("v",),
    )
    whole = bounded(sums, shape, bound, dialect, salt)
    return f"SELECT g, v, {dialect.cast('f0', dialect.integer)} AS w FROM ({whole}) h WHERE f0 > 0"


def emit_keys(found: FoundKeys, cells: Cells, table: str, salt: str = "halfmask") -> Emission:
    """Write the query of one row a found key, the key first, in the order of keys."""
    tally, bound, dialect = found.tally, found.tally.unit, cells.dialect
    used = moments_used(tally)
    listed = [f"{cells.without_nan(found.column)} AS k"]
    if set(used) & set("psq") and tally.value is not None:
        listed.append(f"{on_grid(tally.value, cells)} AS v")
    if bound is not None:
        listed.append(f"{cells.without_nan(bound.column)} AS u")
    where = condition(tally.where, True, cells)
    rows = f"SELECT {', '.join(listed)} FROM ({cells.select(table)}) c WHERE {where}"
    order = "ORDER BY k NULLS LAST"
    if bound is None:
        sums = row_sums(tally, used, dialect)
        return Emission(f"SELECT k, {sums} FROM ({rows}) t GROUP BY k {order}", used)
    key = cells.number(found.column, "k")
    shape = Shape(
        sums=tuple(used) if not bound.once else ("n",),
        features=unit_features(tally, bound, used, dialect),
        reach=tally.reach,
        unit=residue(cells.number(bound.column, "u"), dialect),
        picks=bound.groups is not None,
        shared="u" if bound.groups is None else "",
        group="k",
        entries=tuple(f"COALESCE({entry}, {NOBODY})" for entry in entries(key, None, dialect)),
    )
    sums = unit_sums(tally, bound, rows, used, ["k"], dialect)
    whole = bounded(sums, shape, bound, dialect, salt)
    return Emission(f"SELECT * FROM ({whole}) h {order}", None)


def emit_points(
    points: Points, cells: Cells, table: str, salt: str = "halfmask", count: int | None = None
) -> str:
    """Write the query (v0, v1, ...) of the rows that have every coordinate.

    A unit keeps the rows that draw its smallest lots (`lots`), and, where these tie, the smallest
    points. The count of the table's rows, where it is known, may change how, and never what.
    """
    names = [f"v{i}" for i in range(points.size)]
    listed = [
        f"{on_grid(value, cells)} AS {name}"
        for name, value in zip(names, points.values, strict=True)
    ]
    if points.unit is not None:
        listed.append(f"{cells.without_nan(points.unit)} AS u")
    where = condition(points.where, True, cells)
    rows = f"SELECT {', '.join(listed)} FROM ({cells.select(table)}) c WHERE {where}"
    if points.unit is None:
        return _whole(rows, names)
    packs = _packs(points, points.unit, count, cells)
    # A value that is missing has no lot, and is not among the fewest: not to test for it is faster.
    kept = _whole(rows, ["u"] if packs else ["u", *names])
    entered = [
        entry
        for value, name in zip(points.values, names, strict=True)
        for entry in entries(name, value.reach, cells.dialect)
    ]
    unit = residue(cells.number(points.unit, "u"), cells.dialect)
    drawn = with_lots(kept, ["u", *names], unit, entered, salt, cells.dialect)
    if packs:
        return _fewest(drawn, points.rows, points.values[0], cells.dialect)
    shown = ", ".join(names)
    rank = f"ROW_NUMBER() OVER (PARTITION BY u ORDER BY h, {shown})"
    ranked = f"SELECT {shown}, {rank} AS m FROM ({drawn}) r"
    return f"SELECT {shown} FROM ({ranked}) p WHERE m <= {points.rows}"


def _whole(rows: str, names: Sequence[str]) -> str:
    held = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return f"SELECT * FROM ({rows}) t WHERE {held}"


def _packs(points: Points, unit: str, count: int | None, cells: Cells) -> bool:
    """Whether lot and value fit a BIGINT, and a few of them for each unit fit the memory.

    Several of a unit are held until all rows were seen, and not spilled.
    """
    if points.size > 1 or BITS + _width(points.values[0]) >= _BITS:
        return False
    if points.rows == 1:
        return True
    text = cells.schema.column(unit).kind in ("text", "unread")
    each = _STATE + _TEXT * text + _NUMBER * points.rows
    room = count is not None and count * each <= _ROOM
    return bool(cells.dialect.fewest) and points.rows < _SEVERAL and room


def _width(value: OnGrid) -> int:
    return (value.upper - value.lower).bit_length()


def _fewest(drawn: str, most: int, value: OnGrid, dialect: Dialect) -> str:
    """Find each unit's smallest of lot and value in one BIGINT, without a sort."""
    base, low = 2 ** _width(value), dialect.whole(value.lower - value.origin)
    packed = f"SELECT u, h * {base} + (v0 - {low}) AS z FROM ({drawn}) r"
    least = dialect.fewest.format("z", most) if most > 1 else "MIN(z)"
    smallest = f"SELECT {least} AS z FROM ({packed}) s GROUP BY u"
    return f"SELECT z % {base} + {low} AS v0 FROM ({smallest}) p WHERE z IS NOT NULL"
