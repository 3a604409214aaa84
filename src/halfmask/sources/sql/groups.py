"""Public groups as SQL: the index of a row's group, in the product order of the tally's groups.

Keys are joined, not compared one by one, so a hundred thousand of them cost no more per row than
two. A row that is in no public group has no index, and is dropped.
"""

from collections.abc import Sequence

from halfmask.plan import Bins, Groups, Keys, Reading, Scalar, reading
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.filters import literal

__all__ = ["indexed", "key_columns"]


def key_columns(groups: Groups, cells: Cells) -> list[str]:
    """Write, for each grouping, what a row shows of it: a key, or the index of a bin."""
    return [
        _bin(group, cells) if isinstance(group, Bins) else _key(group, cells) for group in groups
    ]


def indexed(groups: Groups, cells: Cells, rows: str, carried: Sequence[str]) -> str:
    """Write the query that adds the group's index g to rows with columns k0, k1, ..."""
    joins = []
    index = ""
    for i, group in enumerate(groups):
        part = f"t.k{i}"
        if isinstance(group, Keys):
            part, join = _join(group, i, cells)
            joins.append(join)
        index = f"({index} * {group.size} + {part})" if index else part
    listed = ", ".join([f"{index} AS g", *(f"t.{name}" for name in carried)])
    return f"SELECT {listed} FROM ({rows}) t{''.join(joins)}"


def _key(group: Keys, cells: Cells) -> str:
    return cells.without_nan(group.column, _reading(group, cells))


def _reading(group: Keys, cells: Cells) -> Reading | None:
    """The keys say how an unread column is read; a list of None alone, that it is not."""
    column = cells.schema.column(group.column)
    for value in group.values:
        if value is not None:
            return reading(column, _scalar(value), "keys")
    return None


def _scalar(value: object) -> Scalar:
    assert isinstance(value, str | int)  # noqa: S101
    return value


def _join(group: Keys, i: int, cells: Cells) -> tuple[str, str]:
    found = _reading(group, cells)
    listed = [
        f"({literal(_scalar(value), found, cells.dialect)}, {position})"
        for position, value in enumerate(group.values)
        if value is not None and found is not None
    ]
    missing = group.values.index(None) if None in group.values else None
    if not listed:
        return f"CASE WHEN t.k{i} IS NULL THEN {missing} END", ""
    table = f"(VALUES {', '.join(listed)}) AS j{i}(k, i) ON t.k{i} = j{i}.k"
    if missing is None:
        return f"j{i}.i", f" JOIN {table}"
    return f"CASE WHEN t.k{i} IS NULL THEN {missing} ELSE j{i}.i END", f" LEFT JOIN {table}"


def _bin(group: Bins, cells: Cells) -> str:
    cell = cells.read(group.column, "real")
    number = cells.dialect.number
    tree = _search(cell, group.edges, 0, group.size, cells.dialect)
    # NaN is above all numbers where an engine orders it, and so above the last edge ...
    inside = f"{cell} >= {number(group.edges[0])} AND {cell} <= {number(group.edges[-1])}"
    return f"CASE WHEN {inside} THEN {tree} END"


def _search(cell: str, edges: Sequence[float], low: int, high: int, dialect: Dialect) -> str:
    """A binary search as nested CASE: the depth is the logarithm of the number of bins."""
    if high - low == 1:
        return str(low)
    middle = (low + high) // 2
    left = _search(cell, edges, low, middle, dialect)
    right = _search(cell, edges, middle, high, dialect)
    return f"CASE WHEN {cell} < {dialect.number(edges[middle])} THEN {left} ELSE {right} END"
