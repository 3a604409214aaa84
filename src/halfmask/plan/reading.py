"""How a cell is read for a literal: the kind of the literal and of the column decide, never a row.

An ``unread`` column (a CSV's text) is read as what the literal asks: as a number beside a number,
as text beside text, as a truth value beside True, as a time beside a date.
"""

from datetime import UTC, date, datetime, timedelta
from math import inf, isfinite
from numbers import Integral, Real
from typing import Literal

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.schema import Column

__all__ = ["Reading", "Scalar", "instant", "microseconds", "reading", "scalar"]

Reading = Literal["integer", "real", "text", "time", "boolean"]
"""What a query takes the cells of a column for."""
Scalar = bool | int | float | str | datetime
"""A constant of a filter, an edge or a key."""

_EPOCH = datetime(1970, 1, 1)

_READINGS: dict[tuple[str, type], Reading] = {
    ("boolean", bool): "boolean",
    ("unread", bool): "boolean",
    ("integer", int): "integer",
    ("integer", float): "integer",
    ("real", int): "real",
    ("real", float): "real",
    ("unread", int): "real",
    ("unread", float): "real",
    ("text", str): "text",
    ("unread", str): "text",
    ("time", str): "time",
    ("time", datetime): "time",
    ("unread", datetime): "time",
}
_NEEDED = {
    "boolean": "True or False",
    "integer": "a number",
    "real": "a number",
    "text": "text",
    "time": "a date, a datetime or an ISO string",
}


def scalar(value: object, where: str) -> Scalar:
    """Return a literal in its plain Python type; InvalidQuery if it is no public scalar.

    Dates become datetimes at midnight; a datetime with an offset becomes UTC without one.

    >>> scalar(date(2024, 2, 29), "where")
    datetime.datetime(2024, 2, 29, 0, 0)
    """
    if isinstance(value, bool | str):
        return _encodable(value, where) if isinstance(value, str) else value
    if isinstance(value, Integral):
        return _narrow(int(value), where)
    if isinstance(value, Real):
        return _finite(value, where)
    if isinstance(value, datetime):
        return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if type(value).__name__ == "bool" and getattr(value, "ndim", None) == 0:
        return bool(value)  # NumPy's own
    raise InvalidQuery(
        f"{where}: {shown(value)} is no number, text, truth value or date; "
        "compare with one of these, or use is_missing() for a missing value"
    )


def _encodable(value: str, where: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidQuery(
            f"{where}: {shown(value)} is not valid Unicode text; correct it"
        ) from None
    return str(value)


def _narrow(value: int, where: str) -> int:
    if abs(value) >= 2**127:
        raise InvalidQuery(
            f"{where}: {shown(value)} needs more than 127 bits; use a smaller integer"
        )
    return value


def _finite(value: Real, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:  # of a huge fraction
        number = inf
    if not isfinite(number):
        raise InvalidQuery(f"{where}: {number} is not finite; leave this side of the condition out")
    return number


def instant(value: Scalar, where: str) -> datetime:
    """Return the datetime meant by a datetime or an ISO string.

    >>> instant("2024-02-29T12:00", "where")
    datetime.datetime(2024, 2, 29, 12, 0)
    """
    try:
        given = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        parsed = scalar(given, where)
    except ValueError:
        raise InvalidQuery(
            f"{where}: {shown(value)} is no ISO date or time; write it like 2024-02-29 or "
            "2024-02-29T12:00:00"
        ) from None
    assert isinstance(parsed, datetime)  # noqa: S101
    return parsed


def microseconds(moment: datetime) -> int:
    """Return a time as microseconds since 1970.

    >>> microseconds(datetime(1970, 1, 2))
    86400000000
    """
    return (moment - _EPOCH) // timedelta(microseconds=1)


def reading(column: Column, value: Scalar, where: str) -> Reading:
    """Return how the column is read beside this literal; InvalidQuery if they do not fit."""
    found = _READINGS.get((column.kind, type(value)))
    if found is None:
        raise InvalidQuery(
            f"{where}: column {column.name!r} holds {column.kind} and cannot be compared with "
            f"{value!r}; use {_NEEDED.get(column.kind, 'a number or text')}"
        )
    if found == "time":
        instant(value, where)
    return found
