"""Rows to suppose, where an error has no formula: described in public, never those of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from halfmask.queries.setting import Setting

__all__ = ["Supposed", "Supposes"]

Pairs = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Supposed:
    """Rows that a preview may try a question on.

    even: columns of values spread evenly between two bounds, in an order of their own.
    normal: columns of normal values, of this middle and deviation. They are drawn anew for each
      try, so that the error counts their sampling.
    truth: what answers are held against; None takes the answer to these rows without noise.
    paired: whether answers are matrices whose diagonal is known, and so not counted.
    most: how many tries there may be, of a question that takes long.
    in_words: what is supposed, as a reader would say it.

    >>> Supposed("values spread evenly over the bounds", even={"age": (0, 100)}).columns
    ('age',)
    """

    in_words: str
    even: Pairs = field(default_factory=dict)
    normal: Pairs = field(default_factory=dict)
    truth: tuple[float, ...] | None = None
    paired: bool = False
    most: int = 1000

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.even, *self.normal)


@runtime_checkable
class Supposes(Protocol):
    """A question whose formula of the error is a rough one for few rows; see `Expected.rough`."""

    def supposed(self, setting: Setting) -> Supposed | None:
        """Return the rows behind `expected`, for a preview to try; None where there are none."""
        ...
