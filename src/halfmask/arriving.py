"""Which files of a growing folder a closing may read: those that no closing has read before."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
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
    hang on rows. When and where on the disk it was written only helps to find mistakes, such as a
    file that was read under another name; no promise needs it.
    """

    table: Growing
    opened: int

    def fresh(self, closings: Sequence[Read]) -> tuple[str, ...]:
        """Return the names of the files that no closing has read; reads none.

        InvalidQuery if one that was read, or that is to be, was written after its table was opened,
        or is there under two names.
        """
        known = {mark: closing for closing in closings for mark in closing.marks}
        names = tuple(
            name for name in self.table.files if self._is_fresh(name, known.get(_mark(name)))
        )
        self._refuse_again(names, known)
        return names

    def _refuse_again(self, names: Sequence[str], known: Mapping[str, Read]) -> None:
        seen: dict[str, str] = {}
        for name, place in zip(names, map(self.table.place, names), strict=True):
            read = known.get(_mark(place))
            first = seen.setdefault(place, name)
            if place and (read or first != name):
                when = f"it was read when {read.label} was closed" if read else f"it is {first!r}"
                raise InvalidQuery(
                    f"series: the file {name!r} is there under another name: {when}. Its rows "
                    "would be counted twice: move it away. No row was read."
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

    def marks(self, names: Sequence[str]) -> list[str]:
        """What is stored of files: their names, and where they lie."""
        places = filter(None, map(self.table.place, names))
        return [*map(_mark, names), *map(_mark, places)]


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32]
