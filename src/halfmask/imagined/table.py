"""A table made of what is supposed: evenly spread values once, normal points as often as asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmask.noise import Words, rounded_gaussian
from halfmask.plan import Everything, Held, Kind, Points, Schema
from halfmask.queries import Setting, Supposed
from halfmask.sources import Source, open_source

__all__ = ["NormalPoints", "even_table", "imagined_setting"]

_FINE = 2**20
"""Parts of a deviation."""


def imagined_setting(supposed: Supposed, setting: Setting) -> Setting | None:
    """Return the same setting on the columns that are supposed; None where those do not do.

    All rows pass the filter; one group stands for all; a unit has one row.
    """
    kinds: dict[str, Kind] = {
        column.name: "real"
        if column.kind == "unread" and column.name in supposed.columns
        else column.kind
        for column in setting.schema
    }
    wanted = {name: kinds[name] for name in supposed.columns}
    if setting.by is not None or not set(wanted.values()) <= {"real", "integer"}:
        return None
    unit = setting.unit.column
    if unit is not None:
        if kinds[unit] not in ("text", "integer", "unread") or unit in wanted:
            return None
        wanted = {unit: kinds[unit], **wanted}
    return Setting(Schema.of(wanted), setting.unit, Everything())


def even_table(supposed: Supposed, setting: Setting, rows: int, words: Words) -> Source:
    """Open rows of evenly spread values, each column in an order of its own."""
    shares = (np.arange(rows) + 0.5) / rows
    table: dict[str, Any] = {}
    if setting.unit.column is not None:
        table[setting.unit.column] = np.arange(rows)
    for name, (lower, upper) in supposed.even.items():
        order = np.argsort(words.words(rows), kind="stable")
        table[name] = lower + (upper - lower) * shares[order]
    return open_source(_typed(table, setting.schema), setting.schema)


def _typed(table: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Round what a column of integers holds, and write what a column of text does."""
    kinds = {column.name: column.kind for column in schema}
    made = {
        "integer": lambda values: np.floor(values).astype(np.int64),
        "text": lambda values: values.astype(str),
    }
    return {name: made.get(kinds[name], lambda x: x)(values) for name, values in table.items()}


@dataclass(frozen=True)
class NormalPoints:
    """Normal points about a middle, other ones at each request."""

    supposed: Supposed
    rows: int
    words: Words

    def cloud(self, request: Points) -> Held:
        """Return the points in the cells of a request."""
        drawn = rounded_gaussian(_FINE, (self.rows, request.size), self.words)
        found = np.empty(drawn.shape, dtype=np.int64)
        for column, value in enumerate(request.values):
            middle, deviation = self.supposed.normal[value.column]
            step = 2.0**value.log2_step
            x = middle + deviation / _FINE * drawn[:, column].astype(np.float64)
            cells = np.floor(np.clip(x, value.lower * step, value.upper * step) / step)
            found[:, column] = cells - value.origin
        return Held(found)
