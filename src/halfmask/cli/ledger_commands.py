"""The commands that read a ledger: show, verify."""

from pathlib import Path
from typing import Annotated

import typer

from halfmask.cli.show import say, table
from halfmask.errors import LedgerError
from halfmask.privacy import Ledger

__all__ = ["show", "verify"]

LedgerPath = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger, a file.")]


def show(path: LedgerPath) -> None:
    """List every charge of a ledger, and what is left."""
    ledger = _opened(path)
    rows = [
        (entry.seq, entry.time[:19], entry.actor, entry.query, entry.price, entry.total)
        for entry in ledger.entries()
    ]
    table(("", "time (UTC)", "who", "asked", "price", "spent by then"), rows, right="")
    say(f"Left: {ledger.remaining} of {ledger.budget}.")


def verify(
    path: LedgerPath,
    head: Annotated[
        str | None,
        typer.Option(help="A head that a release carries: the ledger must still contain it."),
    ] = None,
) -> None:
    """Check every row, sum and link of a ledger, and that no charge was taken out."""
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
