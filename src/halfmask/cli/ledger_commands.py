"""The commands that read a ledger: show, report, verify."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from halfmask.cli.show import say, table, visible
from halfmask.errors import LedgerError
from halfmask.privacy import ExportedLedger, Ledger

__all__ = ["report", "show", "verify"]

WIDTH = 100
LEAST = 12

LedgerPath = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger, a file.")]


def show(
    path: LedgerPath,
    full: Annotated[bool, typer.Option("--full", help="Write every question in full.")] = False,
) -> None:
    """List every charge of a ledger, and what is left."""
    ledger = _opened(path)
    headers = ("", "time (UTC)", "who", "asked", "price", "spent by then")
    rows = [
        [str(entry.seq), entry.time[:16], entry.actor, entry.query, entry.price, entry.total]
        for entry in ledger.entries()
    ]
    table(headers, rows if full else _fitting(headers, rows), right="")
    say(f"Left: {ledger.remaining} of {ledger.budget}.")


def report(
    path: LedgerPath,
    delta: Annotated[str, typer.Option(help="Allowed where sums are converted.")] = "1e-6",
) -> None:
    """Say what was spent so far under every definition of privacy, and what is left."""
    say(*_opened(path).report(delta).lines())


def _fitting(headers: Sequence[str], rows: list[list[object]]) -> list[list[object]]:
    """Shorten who asked, and what, so that a line takes at most so many columns, if it can."""
    texts = [[visible(cell) for cell in row] for row in rows]
    for row in texts:
        row[2] = _cut(row[2], LEAST)
    columns = list(zip(headers, *texts, strict=True))
    taken = sum(max(map(len, column)) + 2 for i, column in enumerate(columns) if i != 3)
    for row in texts:
        row[3] = _cut(row[3].partition("; of ")[0], max(WIDTH - taken, LEAST))
    return [list(row) for row in texts]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def verify(
    path: LedgerPath,
    head: Annotated[
        str | None,
        typer.Option(help="A head that a release carries: the ledger must still contain it."),
    ] = None,
) -> None:
    """Check every row, sum and link of a ledger, and that no charge was taken out.

    A file that ends in .json is an export, as MATLAB and Octave keep it.
    """
    ledger: Ledger | ExportedLedger
    if path.suffix == ".json":
        ledger = ExportedLedger.read(path, head)
        count = len(ledger.entries)
    else:
        ledger = _opened(path)
        ledger.verify(head)
        count = len(ledger.entries())
    charges = "1 charge" if count == 1 else f"{count} charges"
    say(
        f"{path}: whole. {charges}, {ledger.spent} spent of {ledger.budget}; head {ledger.head}",
        *([f"It contains the head {head}."] if head else []),
    )


def _opened(path: Path) -> Ledger:
    if not path.exists():
        raise LedgerError(
            f"{path}: there is no such ledger; `halfmask run` makes the one that a plan names"
        )
    return Ledger(path)
