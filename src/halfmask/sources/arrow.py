"""Arrow columns made such that no cell of theirs can fail in an engine.

Arrow is spoken to through the module that the given table came from; it is not imported here.
"""

import sys
from importlib import import_module
from typing import Any

from halfmask.plan import Kind
from halfmask.sources.sql import read_cell

__all__ = ["readable"]

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def readable(column: Any, declared: Kind | None = None) -> Any | None:
    """Return a column with cells that its type cannot mean as nulls; None if no engine takes it.

    Missing are: text that is not UTF-8, a decimal with too many digits, a time in seconds or
    milliseconds that no microseconds can say. A column of nulls alone becomes text.
    """
    arrow = sys.modules["pyarrow"]
    kind, types = column.type, arrow.types
    if types.is_dictionary(kind):
        return readable(column.cast(kind.value_type), declared)
    if str(getattr(kind, "extension_name", "")) == "arrow.json":
        return readable(column.cast(kind.storage_type), declared)
    if types.is_null(kind):
        return column.cast(arrow.string())
    if types.is_float16(kind):
        return column.cast(arrow.float32())
    if types.is_timestamp(kind) and kind.unit != "ns":
        return _microseconds(column, kind.unit, arrow)
    if types.is_date64(kind):
        return _microseconds(column, "ms", arrow)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return column if _is_valid(column) else _decoded(column, arrow)
    if types.is_decimal(kind):
        return _decimals(column, declared, arrow)
    return column if _is_plain(kind, arrow) else None


def _is_plain(kind: Any, arrow: Any) -> bool:
    types = arrow.types
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_date32)
    named = str(getattr(kind, "extension_name", "")) == "arrow.uuid"
    return named or types.is_timestamp(kind) or any(test(kind) for test in tests)


def _is_valid(column: Any) -> bool:
    try:
        column.validate(full=True)
    except Exception:  # its words hold a cell
        return False
    return True


def _decoded(column: Any, arrow: Any) -> Any:
    letters = column.cast(arrow.large_string()).cast(arrow.large_binary()).to_pylist()
    return arrow.array([_text(one) for one in letters], arrow.large_string())


def _text(letters: bytes | None) -> str | None:
    try:
        return None if letters is None else letters.decode()
    except UnicodeDecodeError:
        return None


def _decimals(column: Any, declared: Kind | None, arrow: Any) -> Any:
    """Return decimals that an engine takes; others as they are declared, or as their scale says."""
    kind = column.type
    if kind.bit_width > 128 or kind.scale < 0:
        whole = declared == "integer" or (declared != "real" and kind.scale <= 0)
        cells = [read_cell("integer" if whole else "real", cell) for cell in column.to_pylist()]
        return arrow.array(cells, arrow.int64() if whole else arrow.float64())
    if _is_valid(column):
        return column
    most = 10 ** (kind.precision - kind.scale)
    kept = [cell if cell is None or abs(cell) < most else None for cell in column.to_pylist()]
    return arrow.array(kept, kind)


def _microseconds(column: Any, unit: str, arrow: Any) -> Any:
    """Count from 1970 in UTC, whatever the zone."""
    compute = import_module("pyarrow.compute")
    factor = _PER_SECOND["us"] // _PER_SECOND[unit]
    most = (2**63 - 1) // factor
    counts = column.cast(arrow.int64())
    inside = compute.and_(compute.less_equal(counts, most), compute.greater_equal(counts, -most))
    held = compute.if_else(inside, counts, arrow.scalar(None, arrow.int64()))
    return compute.multiply(held, factor).cast(arrow.timestamp("us"))
