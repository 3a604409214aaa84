"""The numbers of an answer as flat rows: one for each part, group and bin."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from halfmask.privacy import Cost
from halfmask.release import GroupedRelease, Release

__all__ = ["Answer", "Figure", "figures"]

Answer = Release | GroupedRelease | Mapping[str, Release | GroupedRelease]
"""What one ask returns."""


@dataclass(frozen=True)
class Figure:
    """One number: where it belongs, the value, its 95 % interval, the price of its ask."""

    release: str
    part: str
    key: str
    bin: str
    value: Any
    low: float | None
    high: float | None
    cost: Cost

    @property
    def of(self) -> str:
        """Part, group and bin in one text."""
        return ", ".join(filter(None, (self.part, self.key, self.bin)))


def figures(name: str, answer: Answer, part: str = "") -> Iterator[Figure]:
    """List the numbers of an answer in the order in which they were asked."""
    if isinstance(answer, GroupedRelease):
        for release in answer.releases:
            key = "(missing)" if release.key is None else str(release.key)
            yield from _cells(name, part, key, release)
    elif isinstance(answer, Release):
        yield from _cells(name, part, "", answer)
    else:
        for inner, one in answer.items():
            yield from figures(name, one, inner)


def _cells(name: str, part: str, key: str, release: Release) -> Iterator[Figure]:
    for cell in release.cells():
        yield Figure(name, part, key, cell.bin, cell.value, cell.low, cell.high, release.cost)
