"""The command that makes a page of what was released."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from halfmask.cli.outputs import check_writable
from halfmask.cli.show import say
from halfmask.errors import HalfmaskError, InvalidQuery
from halfmask.privacy import Cost
from halfmask.reported import report_page

__all__ = ["report_releases"]


def report_releases(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `halfmask run PLAN --json FILE` wrote.")
    ],
    out: Annotated[Path, typer.Argument(metavar="PAGE", help="The HTML file to write.")],
    plan: Annotated[
        Path | None, typer.Option(help="The plan that was run, to be shown in full.")
    ] = None,
) -> None:
    """Write one self-contained HTML page about releases: reads no row, spends nothing."""
    check_writable(out)
    for kept in filter(None, (path, plan)):
        if out.exists() and kept.exists() and out.samefile(kept):
            raise HalfmaskError(f"{out}: is read here, and would be overwritten; name another file")
    told = _read(path)
    text = _text(plan) if plan is not None else ""
    try:
        remaining = str(Cost.from_dict(told["remaining"]))
        releases, title = told["releases"], f"Releases of {told['table']}"
    except (KeyError, TypeError):
        raise InvalidQuery(
            f"{path}: holds no releases; give the file of `halfmask run PLAN --json FILE`"
        ) from None
    page = report_page(releases, title=title, remaining=remaining, plan=text)
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as problem:
        raise HalfmaskError(f"{out}: could not be written ({problem.strerror})") from None
    say(f"Written: {out}.")


def _read(path: Path) -> dict[str, Any]:
    text = _text(path)
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidQuery(
            f"{path}: is no JSON; give the file of `halfmask run PLAN --json FILE`"
        ) from None
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidQuery(f"{path}: is not UTF-8 text; name another file") from None
    except OSError as problem:
        raise InvalidQuery(f"{path}: cannot be read ({problem.strerror})") from None
