"""Integers with additive noise, read as numbers: counts, sums, histograms."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from halfmask.mechanisms import Additive
from halfmask.queries.grid import to_float
from halfmask.queries.prepared import Expected, Number

__all__ = ["Scaled", "ScaledVector", "expected_noise"]


@dataclass(frozen=True)
class Scaled:
    """One noisy integer times the public size of a step."""

    noisy: int
    mechanism: Additive
    step: Fraction

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> Number:
        """The unbiased noisy value: an int where it counts whole things."""
        return _number(self.noisy * self.step, self.step)

    def interval(self, confidence: float = 0.95) -> tuple[Number, Number]:
        """Bracket the exact answer on the bounded rows with at least this confidence."""
        low, high = self.mechanism.interval(self.noisy, confidence)
        return _number(low * self.step, self.step), _number(high * self.step, self.step)


@dataclass(frozen=True)
class ScaledVector:
    """Several noisy integers times the size of a step; intervals hold for each one alone."""

    noisy: tuple[int, ...]
    mechanism: Additive
    step: Fraction

    post_processing: ClassVar[tuple[str, ...]] = ()

    def _each(self) -> tuple[Scaled, ...]:
        return tuple(Scaled(number, self.mechanism, self.step) for number in self.noisy)

    @property
    def value(self) -> tuple[Number, ...]:
        """The unbiased noisy values in order."""
        return tuple(one.value for one in self._each())

    def interval(self, confidence: float = 0.95) -> tuple[tuple[Number, Number], ...]:
        """Bracket each exact entry with at least this confidence, each on its own."""
        return tuple(one.interval(confidence) for one in self._each())


def _number(number: Fraction, step: Fraction) -> Number:
    return int(number) if step == 1 else to_float(number)


def expected_noise(mechanism: Additive, step: Fraction) -> Expected:
    """Predict the error of additive noise: it does not depend on any row."""
    low, high = mechanism.interval(0, 0.95)
    spread = to_float(Fraction(mechanism.standard_deviation) * step)
    return Expected(rmse=spread, bias=0.0, interval_width=to_float((high - low) * step))
