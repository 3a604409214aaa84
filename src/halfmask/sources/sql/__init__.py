"""Requests as SQL: one emitter, and one table of spellings per engine.

- `dialect`: everything that differs between engines, and all quoting; `postgres`: another table
- `grammar`: how text is read as a number, a truth value or a time
- `cells`, `filters`, `groups`, `bound`: reading, filtering, grouping, bounding a unit
- `emit`: a tally as one query
- `found`: cells, keys and points that the rows themselves hold
"""

from halfmask.sources.sql.cells import Cells, settled
from halfmask.sources.sql.dialect import DUCKDB, Dialect
from halfmask.sources.sql.emit import Emission, emit
from halfmask.sources.sql.found import emit_cells, emit_keys, emit_points
from halfmask.sources.sql.grammar import read_cell, read_text
from halfmask.sources.sql.postgres import POSTGRES, nearest
from halfmask.sources.sql.spark import SPARK

__all__ = [
    "DUCKDB",
    "POSTGRES",
    "SPARK",
    "Cells",
    "Dialect",
    "Emission",
    "emit",
    "emit_cells",
    "emit_keys",
    "emit_points",
    "nearest",
    "read_cell",
    "read_text",
    "settled",
]
