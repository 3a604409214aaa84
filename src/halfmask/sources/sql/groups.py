"""Public groups as SQL: the index of a row's group, in the product order of the tally's groups.

Keys are joined, not compared one by one, so a hundred thousand of them cost no more per row than
two. A row that is in no public group has no index, and is dropped.
"""

from collections.abc import Sequence
from math import inf, isfinite, nan

from halfmask.plan import Bins, Filters, Groups, Keys, Reading, Scalar, reading
from halfmask.sources.sql.cells import Cells
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.filters import condition, literal

__all__ = ["indexed", "key_columns"]


_FEW = 8
_LARGE, _FAR = 2.0**900, 2.0**40  # widths that doubles divide by, and that they resolve


def key_columns(groups: Groups, cells: Cells) -> list[str]:
    """Write, for each grouping, what a row shows of it: a key, or the index of a bin or filter."""
    return [_shown(group, cells) for group in groups]


def indexed(groups: Groups, cells: Cells, rows: str, carried: Sequence[str]) -> str:
    """Write the query that adds the group's index g to rows with columns k0, k1, ..."""
    joins = []
    index = ""
    for i, group in enumerate(groups):
        part = f"t.k{i}"
        if isinstance(group, Keys):
            part, join = _join(group, i, cells)
            joins.append(join)
        elif isinstance(group, Bins):
            last = group.size - 1
            part = f"CASE WHEN {part} > {last} THEN {last} ELSE {part} END"
        index = f"({index} * {group.size} + {part})" if index else part
    listed = ", ".join([f"{index} AS g", *(f"t.{name}" for name in carried)])
    return f"SELECT {listed} FROM ({rows}) t{''.join(joins)}"


def _shown(group: Keys | Bins | Filters, cells: Cells) -> str:
    match group:
        case Bins():
            return _bin(group, cells)
        case Filters():
            return _first_passed(group, cells)
    return _key(group, cells)


def _first_passed(group: Filters, cells: Cells) -> str:
    """Each row belongs to one group at most, whatever the filters say: the first that it passes."""
    tests = (condition(each, True, cells) for each in group.conditions)
    listed = " ".join(f"WHEN {test} THEN {i}" for i, test in enumerate(tests))
    return f"CASE {listed} END"


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
        f"({_key_literal(_scalar(value), found, cells.dialect)}, {position})"
        for position, value in enumerate(group.values)
        if value is not None and found is not None
    ]
    missing = group.values.index(None) if None in group.values else None
    rest = f" ELSE {len(group.values)}" if group.other else ""
    if not listed:
        return f"CASE WHEN t.k{i} IS NULL THEN {missing}{rest} END", ""
    table = f"(VALUES {', '.join(listed)}) AS j{i}(k, i) ON t.k{i} = j{i}.k"
    if missing is None and not group.other:
        return f"j{i}.i", f" JOIN {table}"
    null = f"WHEN t.k{i} IS NULL THEN {missing} " if missing is not None else ""
    index = f"CASE {null}WHEN j{i}.i IS NOT NULL THEN j{i}.i{rest} END"
    return index, f" LEFT JOIN {table}"


def _key_literal(value: Scalar, found: Reading, dialect: Dialect) -> str:
    """Write a key; null, which joins with nothing, where no cell can be it."""
    absent = dialect.cast("NULL", dialect.text)
    return literal(value, found, dialect) if dialect.holds(value) else absent


def _bin(group: Bins, cells: Cells) -> str:
    cell = _number(group, cells)
    number = cells.dialect.number
    width = _width(group.edges)
    step = _step(group.edges)
    if step is not None:
        return _stepped(group, step, cells)
    if width is None:
        index = _search(cell, group.edges, 0, group.size, cells.dialect)
    else:
        index = _computed(group, width, cells)
    # NaN is above all numbers where an engine orders it, and so above the last edge ...
    inside = f"{cell} >= {number(group.edges[0])} AND {cell} <= {number(group.edges[-1])}"
    return f"CASE WHEN {inside} THEN {index} END"


def _number(group: Bins, cells: Cells) -> str:
    return cells.micros(group.column) if group.timed else cells.read(group.column, "real")


def _finite(edges: Sequence[float]) -> Sequence[float]:
    return [edge for edge in edges if isfinite(edge)]


def _width(edges: Sequence[float]) -> float | None:
    """Return the width of bins that are nearly of one width; None where they are not, or few."""
    inner = _finite(edges)
    if len(inner) <= _FEW:
        return None
    width = inner[-1] / (len(inner) - 1) - inner[0] / (len(inner) - 1)
    if not 1 / _LARGE < width < _LARGE or max(map(abs, inner)) > width * _FAR:
        return None
    uniform = all(abs(e - inner[0] - i * width) <= width / 4 for i, e in enumerate(inner))
    return width if uniform else None


def _step(edges: Sequence[float]) -> float | None:
    """Return the step of which doubles make each edge, but the last, as they stand: low + i * step.

    None where there is none, or the edges are few. These are then as good as a list to look up.
    """
    width = _width(edges)
    if width is None or not all(map(isfinite, edges)):
        return None
    inner = range(len(edges) - 1)
    return next(
        (
            step
            for step in (width, edges[1] - edges[0], (edges[-1] - edges[0]) / len(inner))
            if step > 0 and all(edges[0] + i * step == edges[i] for i in inner)
        ),
        None,
    )


def _stepped(group: Bins, step: float, cells: Cells) -> str:
    """Compute a bin as `_computed` does, and the edges beside it too: three times as fast.

    The guess is null outside of all bins, and so is what is computed of it. The last edge belongs
    to the last bin, and its place may be off: what is computed to lie above it is put there.
    """
    dialect, number = cells.dialect, cells.dialect.number
    low, high = group.edges[0], group.edges[-1]
    near = number(low + step / 2**20)  # held at the first edge up to here: no product underflows
    held = (
        f"CASE WHEN {{0}} BETWEEN {near} AND {number(high)} THEN {{0}} "
        f"WHEN {{0}} BETWEEN {number(low)} AND {near} THEN {number(low)} END"
    )
    cell, one = _number(group, cells), number(1.0)
    place = f"({held} - {number(low)}) * {number(1 / step)}"
    guess = cells.computed(cell, dialect.floor.format(place))
    own = f"{number(low)} + {guess} * {number(step)}"
    following = f"{number(low)} + ({guess} + {one}) * {number(step)}"
    index = (
        f"CASE WHEN {cell} >= {following} THEN {guess} + {one} "
        f"WHEN {cell} < {own} THEN {guess} - {one} ELSE {guess} END"
    )
    return dialect.cast(index, dialect.small)


def _computed(group: Bins, width: float, cells: Cells) -> str:
    """Compute a bin, and correct it by exact comparisons with the edges on both sides.

    Every edge is within a quarter of a width of its place, and the arithmetic is off by less than
    2^-10 widths, so the floor is off by one at most: b - 1 and b + 1 are the only others. A cell
    before the first edge, or nearly on it, is held at a 2^-20 of a width after it: no product
    underflows, where an engine would raise.
    """
    dialect, number = cells.dialect, cells.dialect.number
    inner = _finite(group.edges)
    low, high = number(inner[0]), number(inner[-1])
    apart = f"GREATEST(LEAST({{0}}, {high}) - {low}, {number(width / 2**20)})"
    place = dialect.cast(f"FLOOR({apart} * {number(1 / width)})", dialect.small)
    cell = _number(group, cells)
    guess = cells.computed(cell, place)
    before = int(group.edges[0] == -inf)
    # No cell reaches the last edge (written as NaN): the last bin holds it.
    edges = [-inf, *group.edges[:-1], nan, nan]
    listed = dialect.array.format(", ".join(map(number, edges)))
    own, following = (dialect.item.format(listed, f"{guess} + {before + k}") for k in (2, 3))
    steps = [dialect.cast(f"{cell} >= {edge}", dialect.small) for edge in (own, following)]
    return f"{guess} + {dialect.whole(before - 1)} + {steps[0]} + {steps[1]}"


def _search(cell: str, edges: Sequence[float], low: int, high: int, dialect: Dialect) -> str:
    """A binary search as nested CASE: the depth is the logarithm of the number of bins."""
    if high - low == 1:
        return str(low)
    middle = (low + high) // 2
    left = _search(cell, edges, low, middle, dialect)
    right = _search(cell, edges, middle, high, dialect)
    return f"CASE WHEN {cell} < {dialect.number(edges[middle])} THEN {left} ELSE {right} END"
