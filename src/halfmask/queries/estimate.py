"""What a reader gets of noisy integers: a value, and where the exact answer lies."""

from typing import Protocol

__all__ = ["Estimate"]


class Estimate(Protocol):
    """Noisy integers, read as an answer. Reading is post-processing: it costs nothing."""

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy numbers, beyond a change of units."""
        ...

    @property
    def value(self) -> object:
        """The number, or a tuple of numbers."""
        ...

    def interval(self, confidence: float = 0.95) -> object:
        """Where the exact answer on the bounded data lies, with at least this confidence."""
        ...
