"""Which files of a growing folder a closing may read: those that no closing has read before."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from halfmask.errors import InvalidQuery
from halfmask.sources import Growing, Source

__all__ = ["Arriving", "Read"]


@dataclass(frozen=True)
class Read:
    """What a closing read: the marks of its files, from a table that was opened then."""

    label: str
    opened: int
    marks: Collection[str]


@dataclass(frozen=True)
class Arriving:
    """The files of a table, and when it was opened, in nanoseconds.

    A file is known by its name, whose digest is stored: neither its size nor its content, which
    hang on rows. When it was written only helps to find mistakes; no promise needs it.
    """

    table: Growing
    opened: int

    def fresh(self, closings: Sequence[Read]) -> tuple[str, ...]:
        """Return the names of the files that no closing has read; reads none.

        InvalidQuery if one that was read, or that is to be, was written after its table was opened.
        """
        known = {mark: closing for closing in closings for mark in closing.marks}
        return tuple(
            name for name in self.table.files if self._is_fresh(name, known.get(_mark(name)))
        )

    def _is_fresh(self, name: str, closing: Read | None) -> bool:
        changed = self.table.changed(name)
        if closing is not None:
            if changed is not None and changed > closing.opened:
                raise InvalidQuery(
                    f"series: the file {name!r} was read when {closing.label} was closed, and "
                    "written since. No file is read twice: put new rows into new files, and move "
                    "this one away. No row was read."
                )
            return False
        if changed is None or changed > self.opened:
            raise InvalidQuery(
                f"series: the file {name!r} is gone, or was written, since the table was opened; "
                "open it again. No row was read."
            )
        return True

    def alone(self, names: Collection[str]) -> Source:
        """The rows of these files."""
        return self.table.only(names)

    @staticmethod
    def marks(names: Sequence[str]) -> list[str]:
        """What is stored of names."""
        return [_mark(name) for name in names]


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]
