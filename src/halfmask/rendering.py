"""How numbers are written: with the digits that the noise leaves, as text, HTML or a data frame."""

import html
from dataclasses import dataclass
from typing import Any

from halfmask.errors import HalfmaskError

__all__ = ["Cell", "bracketed", "figure", "frame", "significant", "table", "told"]


@dataclass(frozen=True)
class Cell:
    """One number of an answer: its bin in words ("" where there are none), value, interval.

    What is chosen, as a key is, has no interval: its ends are None.
    """

    bin: str
    value: Any
    low: Any
    high: Any


def frame(rows: list[dict[str, Any]]) -> Any:
    """Make a pandas data frame, where pandas is installed."""
    try:
        import pandas as pd
    except ImportError:
        raise HalfmaskError(
            "to_frame: needs pandas, which is not installed; install it, or use to_dict()"
        ) from None
    return pd.DataFrame(rows)


def bracketed(value: float, interval: tuple[float, float]) -> str:
    """Write a value with its 95 % interval."""
    low, high = interval
    spread = (high - low) / 2
    figures = [figure(number, spread) for number in (value, low, high)]
    return f"{figures[0]} (95 %: {figures[1]} to {figures[2]})"


def figure(number: float, spread: float) -> str:
    """Write a number with the digits that the noise leaves: two of the spread."""
    if isinstance(number, int):
        return f"{number:,}".replace(",", " ")
    if number == 0 or spread == 0:
        return f"{number:g}" if isinstance(number, float) else str(number)
    if abs(number) >= 1e15 or 0 < spread < 1e-9:
        return f"{number:.6g}"
    digits = 1
    while spread * 10**digits < 10 and digits < 12:
        digits += 1
    text = f"{number:,.{0 if spread >= 10 else digits}f}"
    return text.replace(",", " ")


def significant(value: object) -> str:
    """Write a number whose error is not known with six digits at most, anything else as it is.

    >>> significant(36205.7998046875), significant(45_000_000.0), significant("ops")
    ('36 205.8', '45 000 000', 'ops')
    """
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    return f"{float(f'{value:.6g}'):,.15g}".replace(",", " ")


def told(cell: Cell) -> str:
    """The number with its interval; of what was chosen, the choice alone."""
    return (
        significant(cell.value)
        if cell.low is None
        else bracketed(cell.value, (cell.low, cell.high))
    )


def table(title: str, rows: list[tuple[str, str]], promise: str) -> str:
    """Write a small HTML table; everything is escaped."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td>{html.escape(shown)}</td></tr>"
        for name, shown in rows
    )
    return (
        f"<table><caption style='text-align:left'>{html.escape(title)}</caption>{cells}</table>"
        f"<p><small>{html.escape(promise)}</small></p>"
    )
