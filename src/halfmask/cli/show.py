"""How the command speaks: tables and progress on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfmask.progress import showing, stepped

__all__ = ["say", "table", "visible", "working"]


def visible(text: object) -> str:
    """Write text so that it cannot steer a terminal: control characters become escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def say(*lines: object) -> None:
    """Print whole lines, as they are."""
    for line in lines:
        print(visible(line))


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], right: str = "") -> None:
    """Print a table; columns whose header is among the words of `right` are set to the right."""
    cells = [[visible(cell) for cell in row] for row in rows]
    aligned = right.split()
    if Console().is_terminal:
        _drawn(headers, cells, aligned)
    else:
        _plain(headers, cells, aligned)


def _drawn(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in headers:
        drawn.add_column(header, justify="right" if header in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


def _plain(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    lines = [list(headers), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = [
            cell.rjust(width) if header in right else cell.ljust(width)
            for header, cell, width in zip(headers, line, widths, strict=True)
        ]
        print("  ".join(padded).rstrip())


@contextmanager
def working(steps: int) -> Iterator[Callable[[str], None]]:
    """Give a function that names the next step of a progress bar; drawn on a terminal only."""
    with showing(sys.stdout.isatty()), stepped(steps, patience=0) as step:
        yield lambda name: step(visible(name))
