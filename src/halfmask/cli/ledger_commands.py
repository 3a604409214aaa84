"""The commands that read a ledger: show, report, verify."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from halfmask.cli.show import say, table, visible
from halfmask.errors import LedgerError
from halfmask.privacy import ExportedLedger, Ledger, is_stored, shown_place

__all__ = ["report", "show", "verify"]

WIDTH = 100
LEAST = 12

LedgerPlace = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER", help="The ledger: a file, or postgresql://user@host/database#name."
    ),
]


def show(
    place: LedgerPlace,
    full: Annotated[bool, typer.Option("--full", help="Write every question in full.")] = False,
) -> None:
    """List every charge of a ledger, and what is left."""
    ledger = _opened(place)
    headers = ("", "time (UTC)", "who", "asked", "price", "spent by then")
    rows = [
        [str(entry.seq), entry.time[:16], entry.actor, entry.query, entry.price, entry.total]
        for entry in ledger.entries()
    ]
    table(headers, rows if full else _fitting(headers, rows), right="")
    say(f"Left: {ledger.remaining} of {ledger.budget}.")


def report(
    place: LedgerPlace,
    delta: Annotated[str, typer.Option(help="Allowed where sums are converted.")] = "1e-6",
) -> None:
    """Say what was spent so far under every definition of privacy, and what is left."""
    say(*_opened(place).report(delta).lines())


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
    place: LedgerPlace,
    head: Annotated[
        str | None,
        typer.Option(help="A head that a release carries: the ledger must still contain it."),
    ] = None,
) -> None:
    """Check every row, sum and link of a ledger, and that no charge was taken out.

    A file that ends in .json is an export, as MATLAB and Octave keep it.
    """
    ledger: Ledger | ExportedLedger
    if Path(place).suffix == ".json":
        ledger = ExportedLedger.read(place, head)
        count = len(ledger.entries)
    else:
        ledger = _opened(place)
        ledger.verify(head)
        count = len(ledger.entries())
    charges = "1 charge" if count == 1 else f"{count} charges"
    say(
        f"{shown_place(place)}: whole. {charges}, {ledger.spent} spent of {ledger.budget}; "
        f"head {ledger.head}",
        *([f"It contains the head {head}."] if head else []),
    )


def _opened(place: str) -> Ledger:
    if not is_stored(place):
        raise LedgerError(
            f"{shown_place(place)}: there is no such ledger; `halfmask run` makes the one that a "
            "plan names"
        )
    return Ledger(place)
