"""Counts of rows that pass filters which exclude each other, and of all rows: from one price."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive, DiscreteLaplace
from halfmask.plan import And, Filters, Not, Predicate, Tally, overlap
from halfmask.plan.predicates import joined
from halfmask.privacy import Cost
from halfmask.queries.count import ONE
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.ratio import checked
from halfmask.queries.setting import Setting
from halfmask.queries.tails import noise_half_width

__all__ = ["Counts", "PartCounts", "SumOfCounts", "half_width"]

_MOST_ADDED, _MOST_PARTS = 6, 2**20
"""Parts of one sum, whose noises add up; and parts of all groups."""

_MOST_CASES = 10_000
"""Tried, of each filter beside all before it, to show that it excludes these."""

_LARGE = 2000
"""A deviation from which on noises are not convolved."""

_CUT = 2e-12


@dataclass(frozen=True)
class Counts:
    """How many rows pass each of some public filters, of which no row passes two.

    rest: count the rows too that pass none, so that all are the sum of the parts.
    For single rows alone: a unit's rows in one part would be scaled by how many it has in others.
    Privacy: epsilon-DP with noise of scale 1 / epsilon on each part, since a row is in one part at
    most. [parallel composition: McSherry 2009, Thm 4]
    """

    rules: tuple[Predicate, ...]
    rest: bool

    @property
    def parts(self) -> Filters:
        """The groups that rows are put into."""
        rules = {str(i): rule for i, rule in enumerate(self.rules)}
        if self.rest:
            rules["rest"] = joined(And, [Not(rule) for rule in self.rules])
        return Filters(**rules)

    def joined_by(self, rule: Predicate, setting: Setting) -> "Counts | None":
        """Count one more part; None unless it is sure, without long search, that no row passes two.

        Parts may also be too many.
        """
        more = replace(self, rules=(*self.rules, rule))
        try:
            parts = more.parts
            most = _MOST_CASES // max(1, len(self.rules))
            apart = all(overlap(one, rule, setting.schema, most) is None for one in self.rules)
        except InvalidQuery:
            return None
        few = not self.rest or len(self.rules) < _MOST_ADDED - 1
        return more if apart and few and len(setting.keys) * parts.size <= _MOST_PARTS else None

    def prepare(self, setting: Setting, price: Cost) -> Prepared["PartCounts"]:
        """Fix the parts and the noise; see `Query`."""
        assert setting.unit.column is None, "parts are of single rows"  # noqa: S101
        parts = self.parts
        mechanism = mechanism_for(setting.reach(1, spread=True), price)
        tally = Tally(ONE, groups=(*setting.groups, parts), where=setting.where)
        output = Output(mechanism, lambda noisy: PartCounts(noisy, mechanism), Fraction(1))
        return Prepared(tally, (output,), cells=parts.size)

    def as_if(self, setting: Setting, price: Cost, rows: int) -> "PartCounts":
        """The parts without noise: their errors do not depend on rows."""
        (output,) = self.prepare(setting, price).outputs
        return output.read((0,) * self.parts.size)


@dataclass(frozen=True)
class PartCounts:
    """The noisy number of rows of each part."""

    noisy: tuple[int, ...]
    mechanism: Additive

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> tuple[int, ...]:
        """The parts."""
        return self.noisy

    def interval(self, confidence: float = 0.95) -> tuple[tuple[int, int], ...]:
        """Bracket each part, on its own."""
        return tuple(self.mechanism.interval(noisy, confidence) for noisy in self.noisy)

    def part(self, place: int) -> "SumOfCounts":
        """The number of rows in one part."""
        return SumOfCounts(self.noisy[place : place + 1], self.mechanism)

    def count(self) -> "SumOfCounts":
        """The number of rows in all parts."""
        return SumOfCounts(self.noisy, self.mechanism)


@dataclass(frozen=True)
class SumOfCounts:
    """The sum of noisy counts that have noise of one law, or one of them."""

    noisy: tuple[int, ...]
    mechanism: Additive

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy counts."""
        return ("sum of noisy counts",) if len(self.noisy) > 1 else ()

    @property
    def value(self) -> int:
        """The sum, unbiased."""
        return sum(self.noisy)

    def interval(self, confidence: float = 0.95) -> tuple[int, int]:
        """Bracket the exact sum with at least this confidence."""
        if len(self.noisy) == 1:
            return self.mechanism.interval(self.value, confidence)
        half = half_width(self.mechanism, len(self.noisy), 1 - checked(confidence))
        return self.value - half, self.value + half

    def expected(self) -> Expected:
        """Predict the error: that of the noise alone."""
        low, high = self.interval()
        deviation = float(self.mechanism.standard_deviation)
        return Expected(deviation * math.sqrt(len(self.noisy)), 0.0, high - low)


@lru_cache(maxsize=256)
def half_width(mechanism: Additive, number: int, tail: float) -> int:
    """Return an h with P(|sum of so many noises| > h) <= tail: the least, where they are small.

    Small ones are convolved, but for what has odds of 1e-12. Large ones are near a continuous law:
    a discrete Laplace noise is within 1 of a Laplace one (floors of two exponential noises), and
    of Gaussian ones with so large a deviation nobody could tell the sum from a rounded normal.
    """
    deviation = float(mechanism.standard_deviation)
    slack = (number + 1) * _CUT
    if deviation > _LARGE or tail < 100 * slack:
        laplace = isinstance(mechanism, DiscreteLaplace)
        scale = float(mechanism.scale) if laplace else deviation
        return math.ceil(noise_half_width([(scale, not laplace)] * number, tail)) + number
    reach = mechanism.interval(0, 1 - _CUT)[1]
    masses = np.exp(mechanism.log_mass(np.arange(-reach, reach + 1)))
    size = number * 2 * reach + 1
    law = np.fft.irfft(np.fft.rfft(masses, size) ** number, size)
    middle = number * reach
    beyond = np.cumsum(law[:middle])[::-1]  # of more than h on one side, h = 0, 1, ...
    return int(np.argmax(np.append(2 * beyond + slack <= tail, True)))
