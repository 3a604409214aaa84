"""The `halfmask` command: its parts, its version, and how it fails."""

import sys
import warnings
from typing import Annotated, Any

import click
import typer
from typer.core import TyperGroup

from halfmask.cli.init_command import init
from halfmask.cli.ledger_commands import report, show, verify
from halfmask.cli.plan_commands import check, cost, preview, run
from halfmask.cli.report_command import report_releases
from halfmask.cli.show import visible
from halfmask.cli.verify_command import verify_plan
from halfmask.errors import HalfmaskError, Interrupted, PrivacyWarning
from halfmask.version import __version__

__all__ = ["app", "main"]


class _Plainly(TyperGroup):
    """Commands whose refusals are one paragraph on standard error, and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; never show a traceback for what is refused on purpose."""
        try:
            with warnings.catch_warnings(record=True) as cautions:
                warnings.simplefilter("always", PrivacyWarning)
                done = super().invoke(ctx)
        except HalfmaskError as problem:
            print(f"halfmask: {visible(problem)}", file=sys.stderr)
            raise typer.Exit(1) from None
        except Interrupted as stopped:
            print(f"halfmask: {stopped}", file=sys.stderr)
            raise typer.Exit(130) from None
        for words in dict.fromkeys(str(caution.message) for caution in cautions):
            print(f"halfmask: CAUTION: {visible(words)}", file=sys.stderr)
        return done


app = typer.Typer(
    cls=_Plainly,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Private statistics of a table about people, from a release plan.",
)
ledger = typer.Typer(no_args_is_help=True, help="Read a ledger: what was spent, and by whom.")
for command in (init, check, cost, preview, run):
    app.command()(command)
app.command("verify")(verify_plan)
app.command("report")(report_releases)
for reading in (show, report, verify):
    ledger.command()(reading)
app.add_typer(ledger, name="ledger")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"halfmask {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Private statistics of a table about people, from a release plan."""
    for stream in (sys.stdout, sys.stderr):  # an answer that was paid for must be printable
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command."""
    app()
