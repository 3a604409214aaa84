"""The command that writes a first plan."""

import os
from pathlib import Path
from typing import Annotated

import typer

from halfmask.cli.planfile import secretive
from halfmask.cli.show import say, visible
from halfmask.cli.template import draft
from halfmask.curator import open as open_table
from halfmask.errors import HalfmaskError
from halfmask.sources import is_address

__all__ = ["init"]


def init(
    source: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="A .csv or .parquet file, or a postgresql:// one."),
    ],
    table: Annotated[
        str | None, typer.Option("--table", help="The table or view of a database.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the plan.")] = Path(
        "plan.toml"
    ),
) -> None:
    """Write a plan to fill in, from a table's column names and kinds: never from its rows."""
    if output.exists():
        raise HalfmaskError(
            f"{output}: is there already and was left as it is; give another name with -o"
        )
    address = secretive(source) if is_address(source) else None
    with open_table(address or Path(source), table=table, budget=1) as curator:
        schema, name = curator.schema, curator.table
    seen = address or _from_folder(Path(source), output)
    ledger = f"{name if address else Path(source).stem}.ledger"
    text = draft(schema, seen, visible(output), ledger, table)
    try:
        output.write_text(text, encoding="utf-8", newline="")
    except OSError as problem:
        raise HalfmaskError(f"{output}: cannot be written ({problem.strerror})") from None
    say(f'{output}: written. Fill in every "?", then `halfmask check {output}`.')


def _from_folder(table: Path, plan: Path) -> str:
    """Name the table as seen from the plan's folder; by its whole path on another drive."""
    try:
        return Path(os.path.relpath(table, plan.parent)).as_posix()
    except ValueError:
        return table.absolute().as_posix()
