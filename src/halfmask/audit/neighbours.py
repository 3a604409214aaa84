"""Pairs of neighbours that have broken mechanisms before."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery

__all__ = ["Pair", "answer_pairs", "row_pairs"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets, whatever the mechanism takes for data, and their name."""

    name: str
    data: Any = field(repr=False)
    neighbour: Any = field(repr=False)


def row_pairs(
    lower: float, upper: float, *, rows: int = 10, columns: int = 0, relation: str = "add_remove"
) -> tuple[Pair, ...]:
    """Return tables that differ in one row, for mechanisms that bound rows to [lower, upper].

    Args:
        lower: the lower bound that the mechanism is told.
        upper: the upper bound.
        rows: how many rows the larger families have.
        columns: 0 for data of shape (n,), else (n, columns).
        relation: `add_remove` (one more row) or `replace` (one row changed).

    >>> [pair.name for pair in row_pairs(0, 1, rows=3)][:3]
    ['empty and one row', 'one row and two', 'equal rows']

    """
    if relation not in ("add_remove", "replace"):
        raise InvalidQuery(f"relation: {relation!r}; say 'add_remove' or 'replace'")
    if not lower < upper:
        raise InvalidQuery(f"bounds: lower {lower} is not below upper {upper}; swap them")
    tables = _tables(lower, upper, rows)
    made = _added if relation == "add_remove" else _replaced
    return tuple(
        Pair(name, _shaped(one, columns), _shaped(two, columns))
        for name, one, two in made(tables, lower, upper)
    )


def answer_pairs(answers: int, sensitivity: float = 1.0) -> tuple[Pair, ...]:
    """Return vectors of exact query answers that move by at most the sensitivity each.

    For mechanisms that take answers in place of rows, such as the sparse vector technique: the
    categories of Ding, Wang, Wang, Zhang & Kifer 2018, table 2, and two that single out the last.

    Args:
        answers: how many.
        sensitivity: by how much one unit may move each.

    >>> answer_pairs(3)[0].data.tolist(), answer_pairs(3)[0].neighbour.tolist()
    ([1.0, 1.0, 1.0], [2.0, 1.0, 1.0])

    """
    if answers < 1:
        raise InvalidQuery(f"answers: {answers} is not 1 or more")
    place, one = np.arange(answers), np.ones(answers)
    first, last, early = place == 0, place == answers - 1, place < answers // 2
    moved = {
        "one above": (one, one + first),
        "one below": (one, one - first),
        "all above": (one, one + 1),
        "all below": (one, one - 1),
        "first against rest": (1.0 * first, 1.0 - first),
        "last against rest": (1.0 * last, 1.0 - last),
        "halves crossed": (1.0 * early, 1.0 - early),
        "half below, half above": (one, np.where(early, 0.0, 2.0)),
    }
    return tuple(Pair(name, a * sensitivity, b * sensitivity) for name, (a, b) in moved.items())


def _tables(lower: float, upper: float, rows: int) -> dict[str, list[float]]:
    middle = (lower + upper) / 2
    return {
        "equal rows": [middle] * rows,
        "all at the lower bound": [lower] * rows,
        "all at the upper bound": [upper] * rows,
        "ties at both bounds": [lower] * (rows // 2) + [upper] * (rows - rows // 2),
        "all distinct": [lower + (upper - lower) * (i + 0.5) / rows for i in range(rows)],
    }


def _added(
    tables: dict[str, list[float]], lower: float, upper: float
) -> list[tuple[str, list[float], list[float]]]:
    """One more row; every table gets one at each bound, the first one also strange ones."""
    middle = (lower + upper) / 2
    pairs = [
        ("empty and one row", [], [upper]),
        ("one row and two", [lower], [lower, upper]),
    ]
    pairs += [(name, table, [*table, upper]) for name, table in tables.items()]
    pairs += [(name + ", lower", table, [*table, lower]) for name, table in tables.items()]
    table = tables["equal rows"]
    strange = _strange(lower, upper)
    pairs += [(name, table, [*table, value]) for name, value in strange.items()]
    return [*pairs, ("one row more of the same", table, [*table, middle])]


def _replaced(
    tables: dict[str, list[float]], lower: float, upper: float
) -> list[tuple[str, list[float], list[float]]]:
    """One row changed: the last goes to the bound that is farther, or to something strange."""
    pairs = [("one row", [lower], [upper])]
    for name, table in tables.items():
        end = upper if table[-1] < upper else lower
        pairs.append((name, table, [*table[:-1], end]))
    table = tables["equal rows"]
    strange = _strange(lower, upper)
    return pairs + [(name, table, [*table[:-1], value]) for name, value in strange.items()]


def _strange(lower: float, upper: float) -> dict[str, float]:
    far = 1000 * (upper - lower)
    return {
        "far outlier above": upper + far,
        "far outlier below": lower - far,
        "huge value": 1e308,
        "NaN": np.nan,
        "infinity": np.inf,
    }


def _shaped(rows: list[float], columns: int) -> Matrix:
    table = np.array(rows, np.float64)
    return np.repeat(table[:, None], columns, axis=1) if columns else table
