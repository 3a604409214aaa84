"""Tidying of noisy answers: free, since no row is met, and named on the release.

Each step takes an estimate and returns another, which keeps the raw one. Intervals stay valid: they
are cut where the truth cannot lie, and widened where a value moved out of its own.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from halfmask.errors import InvalidQuery, shown
from halfmask.queries import Estimate, rising

__all__ = ["Tidied", "Tidy"]

Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Tidied:
    """An estimate after some steps: numbers and how each step is called.

    raw: the estimate as it was released, its unbiased values kept.
    numbers: the values after the steps.
    steps: what was done, in order.
    lower, upper: where the truth lies by public knowledge.
    whole: whether the truth is an integer.
    """

    raw: Estimate
    numbers: tuple[float, ...]
    steps: tuple[str, ...]
    lower: float = -math.inf
    upper: float = math.inf
    whole: bool = False

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy numbers, these steps included."""
        return (*self.raw.post_processing, *self.steps)

    @property
    def value(self) -> Value:
        """The tidied number, or a tuple of them."""
        return self.numbers if isinstance(self.raw.value, tuple) else self.numbers[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """What the numbers are called, where the estimate says."""
        return getattr(self.raw, "labels", ())

    @property
    def doubt(self) -> str:
        """Why the answer may have failed: tidying heals nothing."""
        return str(getattr(self.raw, "doubt", ""))

    def interval(self, confidence: float = 0.95) -> Any:
        """Bracket the exact answer: the raw interval, cut by what is known, about the value."""
        found: Any = self.raw.interval(confidence)
        each = found if isinstance(self.raw.value, tuple) else (found,)
        ends = tuple(
            self._cut(low, high, number)
            for (low, high), number in zip(each, self.numbers, strict=True)
        )
        return ends if isinstance(self.raw.value, tuple) else ends[0]

    def _cut(self, low: float, high: float, number: float) -> tuple[float, float]:
        low, high = (min(max(end, self.lower), self.upper) for end in (low, high))
        if self.whole:
            low, high = math.ceil(low), math.floor(high)
        return min(low, number), max(high, number)


def tidied(estimate: Estimate) -> Tidied:
    """Return the estimate as one without steps; InvalidQuery for what holds no numbers."""
    if isinstance(estimate, Tidied):
        return estimate
    value = estimate.value
    numbers = value if isinstance(value, tuple) else (value,)
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        raise InvalidQuery("post-processing: the answer is no number; it is kept as it is")
    return Tidied(estimate, numbers, ())


def _step(estimate: Estimate, name: str, move: Callable[[float], float], **known: Any) -> Tidied:
    before = tidied(estimate)
    moved = tuple(map(move, before.numbers))
    return replace(before, numbers=moved, steps=(*before.steps, name), **known)


def non_negative(estimate: Estimate) -> Tidied:
    """Raise negative values to 0: right where the truth is a count, or a sum of such values."""
    lower = max(tidied(estimate).lower, 0)
    return _step(estimate, "negative values raised to 0", lambda v: max(v, 0), lower=lower)


def rounded(estimate: Estimate) -> Tidied:
    """Round to the nearest integer: right where the truth is one."""
    return _step(estimate, "rounded to integers", _nearest, whole=True)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5) if isinstance(value, float) else value


def within(estimate: Estimate, lower: float, upper: float) -> Tidied:
    """Hold values inside public bounds."""
    if not lower <= upper:
        raise InvalidQuery(f"bounds: lower {shown(lower)} is above upper {shown(upper)}; swap them")
    before = tidied(estimate)
    known = {"lower": max(before.lower, lower), "upper": min(before.upper, upper)}
    name = f"held inside {lower:g} to {upper:g}"
    return _step(before, name, lambda v: min(max(v, lower), upper), **known)


def never_falling(estimate: Estimate) -> Tidied:
    """Take the nearest numbers that never fall: right for running totals of what is added."""
    before = tidied(estimate)
    moved = rising(before.numbers)
    return replace(before, numbers=moved, steps=(*before.steps, "moved so that they never fall"))


def summing_to(estimates: Sequence[Estimate], total: float) -> tuple[Tidied, ...]:
    """Move all values, each by the same amount, so that they sum to a public total.

    Where all were made non-negative before, those that would fall below 0 stay there (the nearest
    point in squared distance); where all were rounded and the total is an integer, they stay
    integers, the largest fractions rounded up. Equal noise is assumed.
    """
    if isinstance(total, bool) or not isinstance(total, int | float) or not math.isfinite(total):
        raise InvalidQuery(f"total: {shown(total)} is no number; give the public total")
    before = [tidied(estimate) for estimate in estimates]
    values = [number for one in before for number in one.numbers]
    if not values:
        raise InvalidQuery("total: there are no values to sum up; ask for some groups first")
    floored = all(one.lower >= 0 for one in before)
    if floored and total < 0:
        raise InvalidQuery(f"total: {total} is negative, and the values are not; give 0 or more")
    moved = _onto_simplex(values, total) if floored else _onto_plane(values, total)
    if all(one.whole for one in before) and total == int(total):
        moved = _apportioned(moved, int(total))
    name, rest = f"moved to sum to {total:g}", iter(moved)
    return tuple(
        replace(one, numbers=tuple(next(rest) for _ in one.numbers), steps=(*one.steps, name))
        for one in before
    )


def _onto_plane(values: Sequence[float], total: float) -> list[float]:
    shift = (total - math.fsum(values)) / len(values)
    return [value + shift for value in values]


def _onto_simplex(values: Sequence[float], total: float) -> list[float]:
    """The nearest non-negative point of that sum. [Held, Wolfe & Crowder 1974]."""
    ranked, kept, shift = sorted(values, reverse=True), 0.0, 0.0
    for count, value in enumerate(ranked, start=1):
        kept += value
        if value + (total - kept) / count <= 0 and count > 1:
            break
        shift = (total - kept) / count
    return [max(value + shift, 0.0) for value in values]


def _apportioned(values: Sequence[float], total: int) -> list[float]:
    """Round down, then up those of the largest fractions, until the sum is the total."""
    whole = [math.floor(value) for value in values]
    order = sorted(range(len(values)), key=lambda i: whole[i] - values[i])
    for i in order[: total - sum(whole)]:
        whole[i] += 1
    return [*whole]


class Tidy:
    """A release that can be tidied: each method returns a new one that names what was done.

    All of it is post-processing: it costs nothing. [Dwork & Roth 2014, Prop. 2.1]
    """

    @abstractmethod
    def _estimates(self) -> tuple[Estimate, ...]:
        """All that the release holds."""

    @abstractmethod
    def _with(self, estimates: Sequence[Estimate]) -> Self:
        """The same release of other estimates."""

    def non_negative(self) -> Self:
        """Raise negative values to 0: right for counts, and for sums of what is never negative."""
        return self._with([non_negative(one) for one in self._estimates()])

    def rounded(self) -> Self:
        """Round values to the nearest integer: right for what is one in truth."""
        return self._with([rounded(one) for one in self._estimates()])

    def within(self, lower: float, upper: float) -> Self:
        """Hold values inside bounds that are public."""
        return self._with([within(one, lower, upper) for one in self._estimates()])

    def rising(self) -> Self:
        """Move the numbers of each answer so that they never fall: right for running totals.

        The nearest such numbers in squares. [Barlow, Bartholomew, Bremner & Brunk 1972]
        """
        return self._with([never_falling(one) for one in self._estimates()])

    def summing_to(self, total: float) -> Self:
        """Move values by equal amounts so that they sum to a public total.

        After `non_negative` they stay so; after `rounded`, with a whole total, they stay integers.
        """
        return self._with(summing_to(self._estimates(), total))

    def raw(self) -> Self:
        """Undo all of these: the values as they were released, unbiased where they were."""
        return self._with([getattr(one, "raw", one) for one in self._estimates()])
