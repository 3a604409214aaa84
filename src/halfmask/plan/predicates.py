"""Public row filters (being built)."""

from dataclasses import dataclass


class Predicate:
    """A public condition on a row."""


@dataclass(frozen=True)
class Everything(Predicate):
    """All rows."""
