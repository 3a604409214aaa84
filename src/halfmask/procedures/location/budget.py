"""How the price of a robust location is split, and whether it can succeed: from public facts."""

from dataclasses import dataclass
from fractions import Fraction
from math import log2, sqrt

from halfmask.privacy import GDP, ZCDP, Approximate, Cost, gdp_after_zcdp
from halfmask.procedures.location.feasible import pull_among, pull_needed
from halfmask.procedures.location.halving import strength_needed
from halfmask.procedures.location.normal import Tuning, middle_radius, tuning
from halfmask.queries import range_epsilon, strength

__all__ = ["CAPS", "COUNT", "CUT", "LENGTHENED", "LENGTHS", "STEPS", "TURN", "Budget", "ending"]

CUT = 1.5
"""Scales at which a coordinate is held before its direction counts."""

STEPS = (Fraction(1, 40), Fraction(9, 40), Fraction(3, 4))
"""Of what is left for refinement, the share of each of Newton's steps."""

TURN, LENGTHS = Fraction(1, 5), Fraction(1, 20)
"""Of refinement, what buys coordinates in which points are round, and median lengths in these."""

CAPS = {"medians": (0.02, 0.45), "scales": (0.02, 0.25), "radii": (0.01, 0.25)}
"""The least and the largest share of each stage before refinement."""

CHEAP = 0.06
"""A share that buys coordinate medians and scales by choices: one pass over the rows for each."""

RUNGS = 400
"""The rungs of a ladder, at most about: 8 for each doubling of the grid."""

LENGTHENED = log2(RUNGS / 8)
"""The octaves of a length's logarithm, whose own deviation is about one doubling."""

CORES = (0.5, 0.8, 1.2, 1.6, 2.0)
NEAR = 1.005
"""A core may cost so much for being smaller: under heavy tails small ones err less."""

COUNT = Fraction(1, 100)
"""The share that buys the number of points, by which the rest is split."""


@dataclass(frozen=True)
class Budget:
    """Shares of the price: a count, coordinate medians, their scales, two radii, refinement.

    halved: whether medians and scales are found by halving with noisy comparisons, at many times
      less of the price but many passes over the rows; else by choices.
    feasible: whether the medians find the points at all, up to about one failure in a thousand.
    """

    count: Fraction
    medians: Fraction
    scales: Fraction
    radii: Fraction
    halved: bool
    feasible: bool
    needed: int

    @property
    def refinement(self) -> Fraction:
        """What is left."""
        return 1 - self.count - self.medians - self.scales - self.radii

    @classmethod
    def plan(cls, n: float, d: int, inside: Cost, octaves: float, moved: int) -> "Budget":
        """Split for at least n points, bounds `octaves` doublings wide, `moved` rows to hide.

        Medians, scales and radii get what they need to be found, up to a cap. Choices, see
        `feasible`: the whole price buys k of range epsilon, so a pull of n epsilon / (2 moved), and
        a share of it the root of that. Comparisons, see `halving`: k of strength s cost a squared
        mu of k (moved s / n)^2.
        """
        one = max(n, 1.0) ** 2

        def chosen(pull: float, choices: int) -> float:
            return (2 * moved * pull / float(range_epsilon(inside, choices))) ** 2 / one

        wanted = {
            "medians": chosen(pull_needed(octaves, d), d),
            "scales": chosen(pull_among(RUNGS, d), d),
        }
        halved = sum(wanted.values()) > CHEAP
        if halved:
            comparison = d * (moved / strength(inside)) ** 2 / one
            wanted = {
                "medians": strength_needed(octaves, d) * comparison,
                "scales": strength_needed(LENGTHENED, d) * comparison,
            }
        wanted["radii"] = chosen(pull_among(RUNGS, 2, outliers=False), 2)
        most = max(share / CAPS[name][1] for name, share in wanted.items())
        shares = {name: _share(share, *CAPS[name]) for name, share in wanted.items()}
        needed = int(min(sqrt(most * one), 1e18)) + 1
        return cls(COUNT, **shares, halved=halved, feasible=most <= 1, needed=needed)

    def tuning(self, n: float, d: int, rho: float, moved: int) -> Tuning:
        """Choose the core of the direction by the predicted error of the last step.

        rho: what refinement is worth.
        """
        errors = {core: self._error(tuning(d, core), n, d, rho, moved) for core in CORES}
        enough = NEAR * min(errors.values())
        return tuning(d, next(core for core in CORES if errors[core] <= enough))

    def error(self, n: float, d: int, rho: float, moved: int) -> float:
        """Predict the error in L2, for normal points of deviation 1 in each coordinate."""
        return self._error(self.tuning(n, d, rho, moved), n, d, rho, moved)

    @staticmethod
    def _error(one: Tuning, n: float, d: int, rho: float, moved: int) -> float:
        noise = one.step * middle_radius(d) * sqrt(d) * moved / n / sqrt(2 * rho)
        return sqrt(one.variance * d / n + noise * noise)


def ending(cost: Cost, inside: Cost, spent: Fraction) -> Cost:
    """Return what is left of a price for the last noise.

    cost, inside: the price, and that in which stages compose; spent: the share that they took.
    Privacy: the rest, or the mu after a rho that was spent; see `privacy.gdp_after_zcdp`.
    """
    if isinstance(cost, Approximate) and isinstance(inside, ZCDP):
        return GDP(gdp_after_zcdp(inside.rho * spent, cost.epsilon, cost.delta))
    return inside.share(1 - spent)


def _share(wanted: float, least: float, most: float) -> Fraction:
    return Fraction(round(min(max(wanted * 1.001, least), most) * 10**6), 10**6)
