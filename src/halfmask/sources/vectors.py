"""One column in memory, as an engine can take it: a typed array and where it is missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.plan import Kind, Reading
from halfmask.sources.sql import read_cell

__all__ = ["Vector", "of_array", "of_cells", "of_scalars"]


@dataclass(frozen=True)
class Vector:
    """A column: kind, data and, where the data cannot say it, a mask of missing cells.

    cut: whether times were finer than microseconds.
    """

    kind: Kind
    data: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    cut: bool = False


def of_array(
    data: NDArray[Any], declared: Kind | None, missing: NDArray[np.bool_] | None = None
) -> Vector | None:
    """Return a NumPy column by its type; None for a type that halfmask has no use for.

    Objects and strings are text, unless declared otherwise; a cell that is no text is missing.
    """
    if isinstance(data, np.ma.MaskedArray):
        missing, data = np.ma.getmaskarray(data), np.ma.getdata(data)
    kind = data.dtype.kind
    if data.ndim == 1 and kind in "OUT":
        return of_cells(data.tolist(), declared or "text", missing)
    if kind == "M":
        return _instants(data, missing)
    if kind not in "biuf" or data.ndim != 1:
        return None
    data = data.astype(data.dtype.newbyteorder("="), copy=False)
    if kind == "f" and data.dtype.itemsize not in (4, 8):
        if declared == "integer":  # to the last digit, which doubles would round
            return of_cells(data, declared, missing)
        with np.errstate(all="ignore"):  # what is beyond a double is infinite, and no warning
            data = data.astype(np.float64)
    return Vector("boolean" if kind == "b" else "real" if kind == "f" else "integer", data, missing)


def _instants(data: NDArray[Any], missing: NDArray[np.bool_] | None) -> Vector:
    """Take times to the microsecond; those of a coarser unit that do not fit are missing."""
    unit, step = np.datetime_data(data.dtype)
    finer, lost = unit in ("ns", "ps", "fs", "as"), None
    if (unit, step) == ("ns", 1):
        counts = data.astype(np.int64)  # NumPy's own way to microseconds wraps around near the ends
        instants = (counts // 1000).astype("datetime64[us]")
        lost = (counts > _LAST) | (counts < -_LAST)
    else:
        instants = data.astype("datetime64[us]")
    if not finer and (unit, step) != ("us", 1):
        lost = instants.astype(data.dtype) != data
    if lost is not None:
        missing = lost if missing is None else missing | lost
    return Vector("time", instants, missing, cut=finer)


def of_cells(
    cells: Iterable[object], kind: Kind, missing: NDArray[np.bool_] | None = None
) -> Vector:
    """Read Python objects as a declared kind; a cell that does not read so is missing."""
    if kind == "unread":
        return Vector("unread", _objects([read_cell("text", cell) for cell in cells]), missing)
    read = [read_cell(kind, cell) for cell in cells]
    if kind == "text":
        return Vector(kind, _objects(read), missing)
    filler, dtype = _FILLERS[kind]
    absent = np.fromiter((cell is None for cell in read), bool, len(read))
    data = np.array([filler if cell is None else cell for cell in read], dtype)
    return Vector(kind, data, absent if missing is None else absent | missing)


def of_scalars(cells: Iterable[object]) -> Vector:
    """Write bare Python values as text that each query reads as the kind it needs.

    A list has no type, and none is guessed from its values. Integers, doubles and decimals that
    differ have other texts, as any of them may be a unit.
    """
    return Vector("unread", _objects([_spelled(cell) for cell in cells]))


def _spelled(cell: object) -> str | None:
    if isinstance(cell, str):
        text = read_cell("text", cell)
        return text if isinstance(text, str) else None
    truth = read_cell("boolean", cell)
    if truth is not None:
        return "true" if truth else "false"
    moment = read_cell("time", cell)
    if moment is not None:
        return str(moment)
    number = read_cell("integer", cell)
    return str(number) if number is not None else _number(cell)


def _number(cell: Any) -> str | None:
    """Write a number as its double, or to its last digit where that is another."""
    value = read_cell("real", cell)
    if value is None:
        return None
    try:
        exact = Decimal(cell if isinstance(cell, float | Decimal) else index(cell))
        return repr(value) if exact == value else str(_EXACT.normalize(exact))
    except Exception:  # a foreign object may raise anything
        return repr(value)


_EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _objects(cells: list[object] | list[str | None]) -> NDArray[Any]:
    data = np.empty(len(cells), dtype=object)
    data[:] = cells
    return data


_LAST = 2**63 - 309
"""Nanoseconds of which no next microsecond can be said in nanoseconds are missing in an engine."""

_FILLERS: dict[Reading, tuple[object, str]] = {
    "real": (0.0, "float64"),
    "integer": (0, "int64"),
    "boolean": (False, "bool"),
    "time": ("1970-01-01", "datetime64[us]"),
}
