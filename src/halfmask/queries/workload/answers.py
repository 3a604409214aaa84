"""Answers to a workload, read off a strategy's noisy answers by least squares."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Additive, DiscreteLaplace
from halfmask.queries.ratio import checked
from halfmask.queries.workload.load import Load
from halfmask.queries.workload.strategies import Strategy

__all__ = ["WorkloadAnswers", "half_widths", "sum_half_widths"]

Matrix = NDArray[np.float64]

STANDARD = NormalDist()


@dataclass(frozen=True)
class WorkloadAnswers:
    """Noisy answers to the queries of a workload, all consistent with one table of cells.

    noisy: the strategy's answers, in integers of which a row counts as `parts`.
    """

    noisy: tuple[int, ...]
    strategy: Strategy = field(repr=False)
    load: Load = field(repr=False)
    mechanism: Additive
    parts: int

    post_processing: ClassVar[tuple[str, ...]] = (
        "least squares over the noisy answers of a strategy",
    )

    @cached_property
    def _values(self) -> Matrix:
        # Python's division of integers is correctly rounded, however large they are.
        rows = np.array([number / self.parts for number in self.noisy])
        return self.load.answers(self.strategy.estimate(rows))

    @property
    def value(self) -> tuple[float, ...]:
        """The unbiased answers, in order."""
        return tuple(self._values.tolist())

    @cached_property
    def factors(self) -> Matrix:
        """The standard deviation of each answer for noise of deviation 1: exact, but for floats."""
        return np.sqrt(self.load.variances(self.strategy.covariance))

    @property
    def deviations(self) -> tuple[float, ...]:
        """The standard deviation of the noise in each answer."""
        spread = self.mechanism.standard_deviation / self.parts
        return tuple((spread * self.factors).tolist())

    def interval(self, confidence: float = 0.95) -> tuple[tuple[float, float], ...]:
        """Bracket each exact answer with at least this confidence, each on its own."""
        halves = half_widths(self, 1 - checked(confidence))
        values = self._values
        return tuple(zip((values - halves).tolist(), (values + halves).tolist(), strict=True))


def half_widths(answers: WorkloadAnswers, tail: float) -> Matrix:
    """Return h with P(|noise of the answer| > h) <= tail, for each answer.

    An optimised strategy's steps are far finer than its noise.
    """
    finest = float(np.abs(answers.strategy.matrix).max())
    steps = np.minimum(answers.load.largest() / finest, answers.factors)
    return sum_half_widths(answers.mechanism, answers.factors, steps, tail) / answers.parts


def sum_half_widths(mechanism: Additive, factors: Matrix, steps: Matrix, tail: float) -> Matrix:
    """Return h with P(|sum| > h) <= tail for weighted sums of independent noises of a mechanism.

    factors: the root of the sum of squares of the weights; steps: how far apart the values of a sum
    may lie, at most the largest weight. In units of its
    standard deviation, the quantile of a sum of Laplace noises lies between that of the normal law
    (many alike) and that of a single one (one dominates), within a hundredth: the larger is taken,
    and a hundredth added. Half a step covers that noises are integers: for one alone, since
    2 a^(h + 1/2) / (1 + a) <= a^h. tests/queries compare all this with exact sums.
    """
    normal, scale = -STANDARD.inv_cdf(tail / 2), float(mechanism.scale)
    if isinstance(mechanism, DiscreteLaplace):
        normal = 1.01 * max(normal * math.sqrt(2), math.log(1 / tail))
    found: Matrix = normal * scale * factors + steps / 2
    return found
