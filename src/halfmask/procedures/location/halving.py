"""Where medians lie, found by halving with noisy comparisons: arithmetic on answers alone.

A choice among all cells pays for the logarithm of their number squared; comparisons with Gaussian
noise, each at the middle of what the last ones leave likely, pay for the logarithm itself.
[Burnashev & Zigangirov 1974 for halving by noisy answers]
"""

from collections.abc import Callable
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "halved", "halvings", "strength_needed"]

Vector = NDArray[np.float64]
Asked = tuple[Vector, float]

STRONG = 4.0
"""A squared strength, rows over the deviation of noise, beyond which an answer counts no more: near
a median comparisons are close, and no answer must outweigh all later ones."""

BELIEVED = 0.6
"""By which share of all rows the sides are supposed to differ. Far from normal points' median it is
1; on the way to a quarter of outliers 1/2, and there a belief in 1 would learn nothing at all."""


UNLIKELY = 5e-4
"""The share on each side that is not counted as likely; where sides differ more than is supposed,
by far less than that is lost."""


def halvings(octaves: float) -> int:
    """Return how many comparisons find a median among so many doublings of its deviation."""
    return 2 * ceil(octaves) + 8


def strength_needed(octaves: float, choices: int) -> float:
    """Return the sum of squared strengths of `halvings` that find each of several medians.

    Wherever a quarter of the rows are outliers: before these the answers are half as large, so it
    takes four times what normal points do. From simulations, see `benchmarks/halving.py`.
    """
    return 10 * octaves + 40 + 25 * log(choices)


def halved(
    low: Vector,
    high: Vector,
    rows: float,
    times: int,
    ask: Callable[[Vector], Asked],
    near: Vector | float = 0.0,
) -> tuple[Vector, int]:
    """Return the middle of what is likely of several medians, and after how many comparisons.

    low, high: the ends between which each median lies. rows: about how many there are.
    times: of comparisons at most. near: how narrow what is likely of each must be to ask no more.
    ask: takes a place for each median; returns how many more rows lie above it than below, noisily,
      and the deviation of that noise.
    """
    places, steps = list[Vector](), list[Vector]()
    for _ in range(times):
        least, place, most = _likely(low, high, places, steps, (UNLIKELY, 0.5, 1 - UNLIKELY))
        if (most - least <= near).all():
            break
        above, deviation = ask(place)
        strength = min((rows / deviation) ** 2, STRONG) if deviation else STRONG
        places.append(place)
        steps.append(2 * BELIEVED * strength * above / rows)
    return _likely(low, high, places, steps, (0.5,))[0], len(places)


def _likely(
    low: Vector, high: Vector, places: list[Vector], steps: list[Vector], shares: tuple[float, ...]
) -> list[Vector]:
    """Return where these shares lie of the density whose logarithm rises by `steps` at `places`.

    That is the likelihood of the answers if `BELIEVED` more of the rows lie on the median's side.
    """
    if not places:
        return [low + share * (high - low) for share in shares]
    order = np.argsort(places, axis=0, kind="stable")
    rises = np.cumsum(np.take_along_axis(np.array(steps), order, 0), axis=0)
    heights = np.vstack([np.zeros_like(low), rises])
    edges = np.vstack([low, np.take_along_axis(np.array(places), order, 0), high])
    below = np.cumsum(np.exp(heights - heights.max(axis=0)) * np.diff(edges, axis=0), axis=0)
    masses, k = np.diff(below, axis=0, prepend=0), np.arange(len(low))
    found = []
    for share in shares:
        wanted = share * below[-1]
        at = np.minimum((below < wanted).sum(axis=0), len(places))
        part = 1 - (below[at, k] - wanted) / np.maximum(masses[at, k], 1e-300)
        found.append(edges[at, k] + part * (edges[at + 1, k] - edges[at, k]))
    return found
