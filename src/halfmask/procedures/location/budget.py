"""How the price of a robust location is split, and whether it can succeed: from public facts."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt

from halfmask.procedures.location.normal import Tuning, middle_radius, tuning

__all__ = ["COUNT", "CUT", "STEPS", "Budget"]

CUT = 1.5
"""Scales at which a coordinate is held before its direction counts."""

STEPS = (Fraction(1, 5), Fraction(4, 5))
"""Of what is left for refinement, the share of each of Newton's steps."""

CORES = (0.0, 0.6, 0.9, 1.2, 1.6, 2.0)
COUNT = Fraction(1, 100)
"""The share that buys the number of points, by which the rest is split."""


@dataclass(frozen=True)
class Budget:
    """Shares of the price: a count, coordinate medians, their scales, two radii, refinement.

    feasible: whether the medians find the points at all, up to about one failure in a thousand.
    """

    count: Fraction
    medians: Fraction
    scales: Fraction
    radii: Fraction
    feasible: bool
    needed: int

    @property
    def refinement(self) -> Fraction:
        """What is left."""
        return 1 - self.count - self.medians - self.scales - self.radii

    @classmethod
    def plan(cls, n: float, d: int, rho: float, octaves: float, moved: int) -> "Budget":
        """Split for about n points, bounds `octaves` doublings wide, `moved` rows to hide.

        A choice among 2^b equal intervals with epsilon finds the middle of n points where
        n epsilon / (4 moved) exceeds b ln 2 and some: the score falls by 2 a point on each side.
        """
        n = max(n, 1.0) * 2 / moved
        find = 4 * (octaves * log(2) / 2 + log(max(d, 2)) + 5)
        size = 4 * (log(8 * octaves) + log(max(d, 2)) + 4)
        medians = _share((find / n) ** 2 * d / (8 * rho), 0.08, 0.5)
        scales = _share((size / n) ** 2 * d / (8 * rho), 0.04, 0.2)
        radii = _share(2 * (44 / n) ** 2 / (8 * rho), 0.03, 0.15)
        least = 4 * (octaves * log(2) + log(max(d, 2)) + 5)
        reach = sqrt(8 * float(medians) * rho / d)
        needed = least / reach * moved / 2 if reach else inf
        enough = n * reach >= least and n * sqrt(8 * float(scales) * rho / d) >= size / 2
        return cls(COUNT, medians, scales, radii, enough, int(min(needed, 1e18)) + 1)

    def tuning(self, n: float, d: int, rho: float, moved: int) -> Tuning:
        """Choose the core of the direction by the predicted error of the last step."""
        spent = rho * float(self.refinement * STEPS[-1])
        return min(
            (tuning(d, core) for core in CORES),
            key=lambda one: one.variance * d / n + _noise(one, n, d, spent, moved) ** 2,
        )

    def error(self, n: float, d: int, rho: float, moved: int) -> float:
        """Predict the error in L2, for normal points of deviation 1 in each coordinate."""
        one = self.tuning(n, d, rho, moved)
        spent = rho * float(self.refinement * STEPS[-1])
        return sqrt(one.variance * d / n + _noise(one, n, d, spent, moved) ** 2)


def _noise(one: Tuning, n: float, d: int, rho: float, moved: int) -> float:
    return one.step * middle_radius(d) * sqrt(d) * moved / n / sqrt(2 * rho)


def _share(wanted: float, least: float, most: float) -> Fraction:
    return Fraction(min(max(wanted, least), most)).limit_denominator(10**6)
