"""The mean where the number of units is public: under `replace`, with one row a unit."""

from dataclasses import dataclass, replace
from typing import ClassVar

from halfmask.queries import Expected, Ratio

__all__ = ["OfPublicCount"]

NEAR = 3
"""Take the public count where the noisy one is at most so many deviations below it."""


@dataclass(frozen=True)
class OfPublicCount:
    """A ratio whose second term counts the values; all but the missing ones of `count` are there.

    The value takes the public count in place of the noisy one unless too many values seem to be
    missing; the interval does not, so that it holds whatever is missing.
    Privacy: post-processing; the number of units is public under `replace`, by its definition.
    """

    noisy: Ratio
    count: int

    post_processing: ClassVar[tuple[str, ...]] = (
        "ratio of a noisy sum to the public count, held inside the bounds",
    )

    @property
    def value(self) -> float:
        """The ratio to the public count, or to the noisy one where values seem missing."""
        total, present = self.noisy.terms
        if present.noisy < self.count - NEAR * present.deviation:
            return self.noisy.value
        return replace(self.noisy, terms=(total, replace(present, noisy=self.count))).value

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the exact mean on the bounded rows with at least this confidence."""
        return self.noisy.interval(confidence)

    def expected(self) -> Expected:
        """Predict the error with no value missing: that of the noisy sum alone."""
        total, present = self.noisy.terms
        known = replace(present, noisy=self.count, scale=0.0)
        return replace(self.noisy, terms=(total, known)).expected()
