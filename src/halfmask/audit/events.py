"""Events: yes-or-no questions about an output, on which two neighbours may differ."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.samples import Matrix
from halfmask.audit.statistics import Statistic

__all__ = ["Event", "Intervals", "KeySet", "Keys", "outcomes"]

Flags = NDArray[np.bool_]
Measure = Callable[[Matrix], NDArray[Any]]

SHOWN = 4  # parts of a description that are written out
SLICE = 1 << 16  # entries at a time: they stay in the processor's cache


class Event(ABC):
    """A set of outputs: those whose measure has a chosen value; `str` says which."""

    @property
    @abstractmethod
    def measure(self) -> Measure:
        """What is computed from each row of outputs, shape (size, k)."""

    @property
    @abstractmethod
    def plain(self) -> bool:
        """Whether the event is quick to decide and to describe."""

    @abstractmethod
    def includes(self, values: NDArray[Any]) -> Flags:
        """Whether each value of the measure is chosen."""

    def holds(self, outputs: Matrix) -> Flags:
        """Whether each row of outputs, shape (size, k), is in the set."""
        return self.includes(self.measure(outputs))


@dataclass(frozen=True)
class Intervals(Event):
    """A statistic in a union of bins: bin b holds edges[b - 1] <= value < edges[b]."""

    statistic: Statistic
    edges: NDArray[np.float64] = field(repr=False)
    chosen: Flags = field(repr=False)

    @property
    def measure(self) -> Measure:
        """The statistic."""
        return self.statistic

    @property
    def plain(self) -> bool:
        """Whether there are few intervals."""
        ends = np.count_nonzero(self.chosen[1:] != self.chosen[:-1])
        return int(ends) <= 2 * SHOWN

    def includes(self, values: NDArray[Any]) -> Flags:
        """Whether each value is in a chosen bin."""
        spans = self._spans
        if len(spans) > SHOWN:
            flags: Flags = self.chosen[np.searchsorted(self.edges, values, "right")]
            return flags
        inside = np.zeros(values.size, np.bool_)
        for low, high in spans:
            part = values < high if high is not None else np.ones(values.size, np.bool_)
            inside |= part & (values >= low) if low is not None else part
        return inside

    @cached_property
    def _spans(self) -> list[tuple[float | None, float | None]]:
        """Low and high ends of runs of chosen bins; None is beyond every edge."""
        steps = np.diff(np.concatenate([[0], self.chosen.astype(np.int8), [0]]))
        ends: list[float | None] = [None, *self.edges.tolist(), None]
        return [
            (ends[start], ends[stop])
            for start, stop in zip(
                np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True
            )
        ]

    def __str__(self) -> str:
        name = self.statistic.name
        spans = self._spans
        if len(spans) > SHOWN:
            return f"{name} in {len(spans)} intervals"
        return " or ".join(_span(name, low, high) for low, high in spans)


@dataclass(frozen=True)
class Keys:
    """A 64-bit fingerprint of each row, equal for rows that are alike in some respect."""

    name: str
    of: Callable[[Matrix], NDArray[np.uint64]] = field(repr=False, compare=False)

    def __call__(self, outputs: Matrix) -> NDArray[np.uint64]:
        """Return shape (size,)."""
        return self.of(outputs)


@dataclass(frozen=True)
class KeySet(Event):
    """Rows with one of the chosen fingerprints; `example` is a row with the first of them."""

    keys: Keys
    chosen: NDArray[np.uint64] = field(repr=False)  # sorted
    example: tuple[float, ...] = ()

    @property
    def measure(self) -> Measure:
        """The fingerprint."""
        return self.keys

    @property
    def plain(self) -> bool:
        """Whether there are few fingerprints."""
        return self.chosen.size <= SHOWN

    def includes(self, values: NDArray[Any]) -> Flags:
        """Whether each fingerprint is chosen."""
        if self.chosen.size <= SHOWN:
            return np.isin(values, self.chosen)
        place = np.searchsorted(self.chosen, values)
        found: Flags = self.chosen[np.minimum(place, self.chosen.size - 1)] == values
        return found

    def __str__(self) -> str:
        shown = ", ".join(f"{value:.6g}" for value in self.example[: 2 * SHOWN])
        more = ", ..." if len(self.example) > 2 * SHOWN else ""
        return f"{self.keys.name} is one of {self.chosen.size}, such as ({shown}{more})"


def outcomes(
    events: Sequence[tuple[Event, bool]], first: Matrix, second: Matrix
) -> NDArray[np.float64]:
    """Count rows where each event holds in both, first only, second only, neither.

    Args:
        events: each with whether the second matrix shall count as the first.
        first: shape (size, k).
        second: the same shape.

    Returns:
        shape (events, 4).

    """
    total = np.zeros((len(events), 4))
    size = max(1, SLICE // first.shape[1])
    for start in range(0, len(first), size):
        rows = slice(start, start + size)
        values: dict[int, tuple[NDArray[Any], NDArray[Any]]] = {}  # events may share a measure
        for count, (event, swapped) in zip(total, events, strict=True):
            measure = event.measure
            if id(measure) not in values:
                values[id(measure)] = measure(first[rows]), measure(second[rows])
            a, b = (event.includes(part) for part in values[id(measure)])
            count += _table(b, a) if swapped else _table(a, b)
    return total


def _table(a: Flags, b: Flags) -> tuple[int, int, int, int]:
    both, once, twice = (int(np.count_nonzero(flags)) for flags in (a & b, a, b))
    return both, once - both, twice - both, a.size - once - twice + both


def _span(name: str, low: float | None, high: float | None) -> str:
    if low is None:
        return f"{name} < {high:.6g}" if high is not None else f"any {name}"
    if high is None:
        return f"{name} >= {low:.6g}"
    if high == np.nextafter(low, np.inf):
        return f"{name} = {low:.6g}"
    return f"{low:.6g} <= {name} < {high:.6g}"
