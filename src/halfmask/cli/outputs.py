"""Where results may be written: not over what the plan reads, pays from, or writes besides."""

import glob
import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from halfmask.cli.planfile import Plan
from halfmask.errors import HalfmaskError

__all__ = ["check_apart", "check_writable"]


def check_writable(path: Path | None) -> None:
    """Refuse, before anything is charged, a file that cannot be written afterwards."""
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        fault = "is a folder" if path.is_dir() else f"has no folder {str(path.parent)!r}"
        raise HalfmaskError(f"{path}: {fault}; name a file in a folder that is there")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise HalfmaskError(f"{path}: may not be written by you; name another file")


def check_apart(plan: Plan, *outputs: Path | None) -> None:
    """Refuse, before anything is charged, to overwrite the plan, its table or its ledger."""
    given = [path for path in outputs if path is not None]
    for path in given:
        for kept, what in _kept(plan):
            if _same(path, kept):
                raise HalfmaskError(
                    f"{path}: is {what}, which would be overwritten; name another file. "
                    "Nothing was charged."
                )
    for one, other in combinations(given, 2):
        if _same(one, other):
            raise HalfmaskError(
                f"{other}: is given twice, so the second result would overwrite the first; "
                "name two files. Nothing was charged."
            )


def _kept(plan: Plan) -> Iterator[tuple[Path, str]]:
    yield plan.document.path, "the plan itself"
    for source in plan.table.files:
        yield source, "the plan's table"
        for found in (
            source.glob("**/*.parquet")
            if source.is_dir()
            else map(Path, glob.glob(str(source), recursive=True))
        ):
            yield found, "part of the plan's table"
    if isinstance(plan.budget.ledger, Path):
        for ending in ("", "-wal", "-shm", "-journal"):  # SQLite's own files beside it
            yield Path(f"{plan.budget.ledger}{ending}"), "the plan's ledger"


def _same(one: Path, other: Path) -> bool:
    """Whether two names lead to one file, through links too; either may not be there yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
