"""What rows themselves hold, as SQL: the cells of a grid, the keys of a column, points.

Like a tally, none of it can raise, whatever a row holds; and a unit's picks depend on nothing but
its own rows. So all sources give the same integers.
"""

from collections.abc import Sequence

from halfmask.plan import FoundKeys, GridCounts, Points
from halfmask.sources.sql.bound import Shape, bounded
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.emit import Emission, moments_used, on_grid, row_sums, unit_vectors
from halfmask.sources.sql.filters import condition
from halfmask.sources.sql.groups import indexed, key_columns

__all__ = ["emit_cells", "emit_keys", "emit_points"]


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
    sums = f"SELECT u, g, v, {weight} AS f0 FROM ({weights}) s GROUP BY u, g, v"
    shape = Shape(
        features=1,
        reach=counts.weight,
        unit=cells.written(bound.column, "u"),
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
    shape = Shape(
        features=len(tally.features),
        reach=tally.reach,
        unit=cells.written(bound.column, "u"),
        picks=bound.groups is not None,
        shared="u" if bound.groups is None else "",
        group="k",
        hashed=f"CASE WHEN k IS NULL THEN 'n' ELSE 's' || {dialect.cast('k', dialect.text)} END",
    )
    vectors = unit_vectors(tally, bound, rows, used, "k", dialect)
    whole = bounded(vectors, shape, bound, dialect, salt)
    return Emission(f"SELECT * FROM ({whole}) h {order}", None)


def emit_points(points: Points, cells: Cells, table: str, salt: str = "halfmask") -> str:
    """Write the query (v0, v1, ...) of the rows that have every coordinate.

    A unit keeps its rows with the smallest first 48 bits of md5(salt|unit|v0|v1|...), and, where
    these tie, of the smallest points: so only rows with the same points can tie. A unit of no more
    rows than it may keep is not ranked, where the engine gains by it.
    """
    dialect = cells.dialect
    names = [f"v{i}" for i in range(points.size)]
    listed = [
        f"{on_grid(value, cells)} AS {name}"
        for name, value in zip(names, points.values, strict=True)
    ]
    if points.unit is not None:
        listed.append(f"{cells.without_nan(points.unit)} AS u")
    where = condition(points.where, True, cells)
    rows = f"SELECT {', '.join(listed)} FROM ({cells.select(table)}) c WHERE {where}"
    shown = ", ".join(names)
    held = [*names, *(["u"] if points.unit is not None else [])]
    whole = " AND ".join(f"{name} IS NOT NULL" for name in held)
    kept = f"SELECT * FROM ({rows}) t WHERE {whole}"
    if points.unit is None:
        return kept
    hashed = ", ".join(
        [
            dialect.string(salt),
            cells.written(points.unit, "u"),
            *(dialect.cast(name, dialect.text) for name in names),
        ]
    )
    if not dialect.counts:
        return _ranked(kept, names, points.rows, hashed, dialect)
    many = f"SELECT u FROM ({kept}) l GROUP BY u HAVING COUNT(*) > {points.rows}"
    among = "SELECT 1 FROM many WHERE many.u = t.u"
    few = f"SELECT {shown} FROM ({kept}) t WHERE NOT EXISTS ({among})"
    rest = f"SELECT * FROM ({kept}) t WHERE EXISTS ({among})"
    ranked = _ranked(rest, names, points.rows, hashed, dialect)
    return f"{dialect.common.format('many', many)} {few} UNION ALL {ranked}"


def _ranked(kept: str, names: Sequence[str], most: int, hashed: str, dialect: Dialect) -> str:
    shown = ", ".join(names)
    digest = f"SUBSTR({dialect.digest.format(dialect.join.format(hashed))}, 1, 12)"
    rank = f"ROW_NUMBER() OVER (PARTITION BY u ORDER BY {digest}, {shown})"
    ranked = f"SELECT {shown}, {rank} AS m FROM ({kept}) r"
    return f"SELECT {shown} FROM ({ranked}) p WHERE m <= {most}"
