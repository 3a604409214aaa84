r"""How a cell is read as a number, a truth value or a time: one strict grammar for every engine.

- real: ASCII digits with an optional sign, point and exponent (``7``, ``-.5``, ``5.``, ``1e5``), or
  ``inf`` or ``infinity`` in any case; spaces and tabs around it are ignored. It becomes the
  nearest double; beyond the largest one, an infinity. So ``1_000``, ``1,5``, ``0x10``, ``nan``,
  digits of other scripts and empty text are missing.
- integer: a sign and ASCII digits, between -2^63 and 2^63 - 1; ``7.0`` and ``1e5`` are missing.
- boolean: ``true`` or ``false`` in any case.
- time: an ISO date, or date and time (``2024-02-29``, ``2024-02-29T12:00:00.5``), without offset.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from halfmask.plan import Reading, instant, scalar
from halfmask.sources.sql.dialect import Dialect

__all__ = ["read_cell", "read_text"]

_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"  # 0001 to 9999
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][48]|[13579][26]|[2468]0)00)"
_DAY = (
    f"{_YEAR}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)"
    f"|(0[13578]|1[02])-31)|{_LEAP}-02-29"
)
"""The days that there are, so that no engine needs to fail on another one."""

_PATTERNS: dict[Reading, str] = {
    "real": "[+-]?(([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
    "|[iI][nN][fF]([iI][nN][iI][tT][yY])?)",
    "integer": "[+-]?[0-9]+",
    "boolean": "[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]",
    "time": f"({_DAY})([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,6}})?)?)?",
}
_PATTERNS = {reading: f"[ \t]*({pattern})[ \t]*" for reading, pattern in _PATTERNS.items()}
"""No text matches two neighbouring repeats in two ways: Python and Spark try each way, and one cell
could take the square of its length."""


_DIGITS = 20  # more than an integer of 64 bits has


def read_text(reading: Reading, text: str, dialect: Dialect) -> str:
    """Write the expression that reads text; null where it does not read so."""
    if reading == "text":
        return text
    fits = dialect.full_match.format(text, dialect.string(_PATTERNS[reading]))
    return dialect.read(reading, f"CASE WHEN {fits} THEN {text} END")


def read_cell(reading: Reading, cell: object) -> object:
    """Read one Python object; None where it does not read so; never raises.

    >>> [read_cell("real", cell) for cell in (" 7 ", "1_000", True, 10**400, None, "é")]
    [7.0, None, 1.0, inf, None, None]
    """
    try:
        if isinstance(cell, str) and reading != "text":
            fits = re.fullmatch(_PATTERNS[reading], cell)
            return _FROM_TEXT[reading](cell.strip(" \t")) if fits else None
        return _FROM_OBJECT[reading](cell)
    except Exception:  # a foreign object may raise anything, and its words may hold a row
        return None


def _real(cell: object) -> float | None:
    if isinstance(cell, bytes | bytearray):
        return None
    try:
        value = float(cell)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")  # type: ignore[operator]
    return None if value != value else value


def _integer(cell: object) -> int | None:
    if isinstance(cell, Decimal) and cell.adjusted() > _DIGITS:
        return None  # before its digits are written out
    value = int(cell)  # type: ignore[call-overload]
    return value if value == cell and -(2**63) <= value < 2**63 else None


def _boolean(cell: object) -> bool | None:
    return bool(cell) if type(cell).__name__ in ("bool", "bool_") else None


def _time(cell: object) -> datetime | None:
    if not isinstance(cell, date) or cell != cell:  # pandas' missing time is a date, unlike itself
        return None
    return instant(scalar(cell, "cell"), "cell")


def _text(cell: object) -> str | None:
    if not isinstance(cell, str):
        return None
    cell.encode()  # a lone surrogate is no text
    return str(cell)


_FROM_OBJECT: dict[Reading, Callable[[object], object]] = {
    "real": _real,
    "integer": _integer,
    "boolean": _boolean,
    "time": _time,
    "text": _text,
}
_FROM_TEXT: dict[Reading, Callable[[str], object]] = {
    "real": _real,
    "integer": lambda cell: _integer(int(re.sub("^([+-]?)0*(?=[0-9])", r"\1", cell))),
    "boolean": lambda cell: cell.lower() == "true",
    "time": datetime.fromisoformat,
}
