"""What directions do about the centre of a normal distribution, by dimension: numbers, no data.

The constants that turn a mean direction into a step (Newton's: the derivative of the mean
direction at the centre) and predict its error; exact for normal points, and only tuning elsewhere.
"""

from dataclasses import dataclass
from functools import cache
from math import exp, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tuning", "middle_radius", "tuning", "winsorised"]

MESH = 20_000


@cache
def _radii(d: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lengths of a standard normal point in d dimensions, and their probabilities."""
    edges = np.linspace(max(0.0, sqrt(d) - 9), sqrt(d) + 9, MESH + 1)
    r = (edges[1:] + edges[:-1]) / 2
    log = (d - 1) * np.log(r) - r * r / 2
    mass = np.exp(log - log.max())
    return r, mass / mass.sum()


@cache
def middle_radius(d: int) -> float:
    """Return the median length of a standard normal point in d dimensions.

    >>> round(middle_radius(2), 3)
    1.177
    """
    r, mass = _radii(d)
    return float(np.interp(0.5, np.cumsum(mass), r))


@dataclass(frozen=True)
class Tuning:
    """For psi(x) = x / max(|x|, core), core in median lengths.

    step: what a mean direction of 1 is worth, in median lengths.
    variance: of the estimate's each coordinate, times the number of points.
    """

    core: float
    step: float
    variance: float


@cache
def tuning(d: int, core: float) -> Tuning:
    """Return the constants of a core of so many median lengths; 0 is the pure direction."""
    r, mass = _radii(d)
    c = core * middle_radius(d)
    inside = r <= c
    psi = np.where(inside, r / c if c else 0.0, 1.0)
    slope = np.where(inside, 1 / c if c else 0.0, (1 - 1 / d) / r)
    jump = 2 / sqrt(2 * pi)  # for d = 1, twice the density at the centre, where directions jump
    mean_slope = jump if d == 1 and not c else float((slope * mass).sum())
    variance = float((psi * psi * mass).sum()) / d / mean_slope**2
    return Tuning(core, 1 / mean_slope / middle_radius(d), variance)


def winsorised(cut: float) -> tuple[float, float]:
    """Return the slope and the root mean square of a normal coordinate held to [-cut, cut]."""
    inside = 2 * NormalDist().cdf(cut) - 1
    density = exp(-cut * cut / 2) / sqrt(2 * pi)
    return inside, sqrt(inside - 2 * cut * density + cut * cut * (1 - inside))
