"""Running totals, and the periods' own numbers, read off the noisy sums of all closings so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive
from halfmask.queries.grid import to_float
from halfmask.queries.prepared import Expected, Number
from halfmask.queries.ratio import checked
from halfmask.queries.series.strategy import Causal
from halfmask.queries.workload import sum_half_widths

__all__ = ["Totals"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Totals:
    """One number for each period that is closed; all agree with each other.

    noisy: the strategy's answers so far. step: what one of the exact integers is worth.
    labels: the periods. single: whether each period's own number is read, not the running total.
    """

    noisy: tuple[int, ...]
    strategy: Causal = field(repr=False)
    mechanism: Additive
    step: Fraction
    labels: tuple[str, ...]
    single: bool = False

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy sums."""
        what = "differences of running totals" if self.single else "running totals"
        return (f"{what} read off noisy sums: {self.strategy.name}",)

    @cached_property
    def gains(self) -> Matrix:
        """What each noisy sum adds to each number."""
        gains = self.strategy.gains(len(self.labels))
        return np.diff(gains, axis=0, prepend=0) if self.single else gains

    @property
    def value(self) -> tuple[Number, ...]:
        """The unbiased numbers, oldest first: whole ones where whole things are counted so."""
        if self.step == 1 and not (self.gains % 1).any():
            whole = self.gains.astype(np.int64).astype(object)
            return tuple((whole @ np.array(self.noisy, dtype=object)).tolist())
        noisy = np.array([to_float(number * self.step) for number in self.noisy])
        return tuple((self.gains @ noisy).tolist())

    @cached_property
    def factors(self) -> Matrix:
        """The standard deviation of each number for noise of deviation 1."""
        found: Matrix = np.sqrt((self.gains**2).sum(axis=1))
        return found

    @property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of the noise in each number."""
        return tuple(
            (to_float(self.step) * self.mechanism.standard_deviation * self.factors).tolist()
        )

    def _half_widths(self, tail: float) -> Matrix:
        steps = np.abs(self.gains).max(axis=1)
        return to_float(self.step) * sum_half_widths(self.mechanism, self.factors, steps, tail)

    def interval(self, confidence: float = 0.95) -> tuple[tuple[float, float], ...]:
        """Bracket each exact number with at least this confidence, each on its own."""
        values, halves = np.array(self.value), self._half_widths(1 - checked(confidence))
        return tuple(zip((values - halves).tolist(), (values + halves).tolist(), strict=True))

    def expected(self) -> Expected:
        """Predict the error over all numbers: the root of their mean square; the mean width."""
        rmse = float(np.sqrt(np.mean(np.square(self.deviations))))
        width = float(2 * np.mean(self._half_widths(0.05)))
        number = len(self.labels)
        return Expected(rmse, 0.0, width, f"the mean over all {number} periods")


def joined(records: Sequence[Sequence[object]]) -> tuple[int, ...]:
    """The noisy sums of several closings, one after the other."""
    return tuple(int(str(number)) for record in records for number in record)
