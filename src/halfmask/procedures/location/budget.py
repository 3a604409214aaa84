"""How the price of a robust location is split, and whether it can succeed: from public facts."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from halfmask.privacy import GDP, ZCDP, Approximate, Cost, gdp_after_zcdp
from halfmask.procedures.location.feasible import pull_among, pull_needed
from halfmask.procedures.location.normal import Tuning, middle_radius, tuning

__all__ = ["COUNT", "CUT", "LENGTHS", "STEPS", "TURN", "Budget", "ending"]

CUT = 1.5
"""Scales at which a coordinate is held before its direction counts."""

STEPS = (Fraction(1, 5), Fraction(4, 5))
"""Of what is left for refinement, the share of each of Newton's steps."""

TURN, LENGTHS = Fraction(1, 5), Fraction(1, 20)
"""Of refinement, what buys coordinates in which points are round, and median lengths in these."""

CAPS = {"medians": (0.06, 0.5), "scales": (0.03, 0.2), "radii": (0.02, 0.15)}
"""The least and the largest share of each stage before refinement."""

RUNGS = 400
"""The rungs of a ladder, at most about: 8 for each doubling of the grid."""

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
        """Split for at least n points, bounds `octaves` doublings wide, `moved` rows to hide.

        Medians, scales and radii get what they need to be found, see `feasible`, up to a cap. A
        choice of epsilon has the rate epsilon / (2 moved), and k choices of it cost k epsilon^2/8.
        """
        pulls = {
            "medians": (pull_needed(octaves, d), d),
            "scales": (pull_among(RUNGS, d), d),
            "radii": (pull_among(RUNGS, 2), 2),
        }
        wanted, needed = {}, 1.0
        for name, (pull, choices) in pulls.items():
            one = (2 * pull * moved) ** 2 * choices / (8 * rho)  # the share for a single point
            wanted[name] = one / max(n, 1.0) ** 2
            needed = max(needed, sqrt(one / float(CAPS[name][1])))
        enough = all(wanted[name] <= most for name, (_, most) in CAPS.items())
        shares = {name: _share(wanted[name], *CAPS[name]) for name in CAPS}
        return cls(COUNT, **shares, feasible=enough, needed=int(min(needed, 1e18)) + 1)

    def tuning(self, n: float, d: int, rho: float, moved: int) -> Tuning:
        """Choose the core of the direction by the predicted error of the last step.

        rho: what refinement is worth.
        """
        spent = rho * float(STEPS[-1])
        return min(
            (tuning(d, core) for core in CORES),
            key=lambda one: one.variance * d / n + _noise(one, n, d, spent, moved) ** 2,
        )

    def error(self, n: float, d: int, rho: float, moved: int) -> float:
        """Predict the error in L2, for normal points of deviation 1 in each coordinate."""
        one = self.tuning(n, d, rho, moved)
        spent = rho * float(STEPS[-1])
        return sqrt(one.variance * d / n + _noise(one, n, d, spent, moved) ** 2)


def ending(cost: Cost, inside: Cost, spent: Fraction) -> Cost:
    """Return what is left of a price for the last noise.

    cost, inside: the price, and that in which stages compose; spent: the share that they took.
    Privacy: the rest, or the mu after a rho that was spent; see `privacy.gdp_after_zcdp`.
    """
    if isinstance(cost, Approximate) and isinstance(inside, ZCDP):
        return GDP(gdp_after_zcdp(inside.rho * spent, cost.epsilon, cost.delta))
    return inside.share(1 - spent)


def _noise(one: Tuning, n: float, d: int, rho: float, moved: int) -> float:
    return one.step * middle_radius(d) * sqrt(d) * moved / n / sqrt(2 * rho)


def _share(wanted: float, least: float, most: float) -> Fraction:
    return Fraction(round(min(max(wanted * 1.001, least), most) * 10**6), 10**6)
