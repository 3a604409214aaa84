"""Post-processing of counts that must agree: totals of a tree, rising counts, non-negative ones.

All of it works on released numbers alone, so it costs nothing; whoever calls it names it on the
release (law 7).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery, shown

__all__ = ["agreeing", "nonnegative_agreeing", "rising"]

Numbers = NDArray[np.float64]

ROUNDS = 1000
"""Of alternating projections, at most."""

CLOSE = 1e-9
"""How far from agreement, relative to the largest number, projections end."""


def agreeing(
    values: Sequence[float], variances: Sequence[float], parents: Sequence[int | None]
) -> tuple[float, ...]:
    """Return the counts of a forest nearest to the given ones, in which children sum to parents.

    Weighted least squares: the best linear unbiased estimate where noises are independent. Up the
    tree each node's own count is averaged with its children's sum, by their variances; down the
    tree what a parent's count leaves over is shared among its children by their variances. In
    linear time. [Hay, Rastogi, Miklau & Suciu 2010, Thm 3, with unequal variances]

    Args:
        values: the counts of all nodes.
        variances: of the noise in each; 0 for a count that is exact, inf for one that is not known.
        parents: for each node the place of its parent, which comes before it; None for a root.

    Raises:
        InvalidQuery: where the lists do not fit together.

    >>> agreeing([10, 4, 3], [1, 1, 1], [None, 0, 0])
    (9.0, 5.0, 4.0)

    """
    z, v = _floats(values, "values"), _floats(variances, "variances")
    children = _children(parents, len(z))
    if len(v) != len(z) or not (v >= 0).all():
        raise InvalidQuery("variances: one is needed for each value, 0 or above")
    up, spread = z.copy(), v.copy()
    for node in reversed(range(len(z))):
        if children[node]:
            below, wide = up[children[node]].sum(), spread[children[node]].sum()
            up[node], spread[node] = _average(z[node], v[node], float(below), float(wide))
    for node, below in enumerate(children):
        if below:
            gap = up[node] - up[below].sum()
            up[below] += gap * _shares(spread[below])
    return tuple(up.tolist())


def nonnegative_agreeing(
    values: Sequence[float], variances: Sequence[float], parents: Sequence[int | None]
) -> tuple[float, ...]:
    """Return the nearest counts that agree, as `agreeing`, and of which none is below 0.

    By Dykstra's alternating projections, which converge to the nearest point of both sets; the
    last is made to agree exactly by summing its leaves, which are 0 or above. Biased upwards where
    counts are small: keep the raw ones for sums. [Boyle & Dykstra 1986, Thm 2]

    Raises:
        InvalidQuery: as `agreeing`; or where a variance is 0 or infinite.

    >>> [round(one, 6) for one in nonnegative_agreeing([5, 7, -2], [1, 1, 1], [None, 0, 0])]
    [6.0, 6.0, 0.0]

    """
    z, v = _floats(values, "values"), _floats(variances, "variances")
    if not (np.isfinite(v) & (v > 0)).all():
        raise InvalidQuery("variances: positive finite ones are needed where counts are held at 0")
    known, correction = z, np.zeros(len(z))
    for _ in range(ROUNDS):
        agreed = np.array(agreeing(known.tolist(), v.tolist(), parents))
        held = np.maximum(agreed + correction, 0)
        correction = agreed + correction - held
        done = np.abs(held - agreed).max(initial=0) <= CLOSE * np.abs(z).max(initial=1)
        known = held
        if done:
            break
    children = _children(parents, len(z))
    for node in reversed(range(len(z))):
        if children[node]:
            known[node] = known[children[node]].sum()
    return tuple(known.tolist())


def rising(values: Sequence[float], variances: Sequence[float] | None = None) -> tuple[float, ...]:
    """Return the nearest numbers that never fall: for running counts.

    Weighted least squares by pooling neighbours that are out of order, in linear time.
    [Barlow, Bartholomew, Bremner & Brunk 1972, pool adjacent violators]

    >>> rising([1, 3, 2, 4])
    (1.0, 2.5, 2.5, 4.0)

    """
    z = _floats(values, "values")
    v = np.ones(len(z)) if variances is None else _floats(variances, "variances")
    if len(v) != len(z) or not (np.isfinite(v) & (v > 0)).all():
        raise InvalidQuery("variances: one is needed for each value, positive and finite")
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for mean, weight in zip(z.tolist(), (1 / v).tolist(), strict=True):
        pool = (mean, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            pool = _pooled(pools.pop(), pool)
        pools.append(pool)
    return tuple(mean for mean, _, size in pools for _ in range(size))


def _pooled(
    one: tuple[float, float, int], other: tuple[float, float, int]
) -> tuple[float, float, int]:
    weight = one[1] + other[1]
    return (one[0] * one[1] + other[0] * other[1]) / weight, weight, one[2] + other[2]


def _average(own: float, spread: float, below: float, wide: float) -> tuple[float, float]:
    """The best average of two estimates, and its variance."""
    if np.isinf(wide) or spread == 0:
        return own, spread
    if np.isinf(spread):
        return below, wide
    share = spread / (spread + wide)
    return own + share * (below - own), spread * wide / (spread + wide)


def _shares(spread: Numbers) -> Numbers:
    """How a gap is shared: by variances; among unknown ones alone, where there are any."""
    unknown = np.isinf(spread)
    weights = unknown.astype(np.float64) if unknown.any() else spread
    total = weights.sum()
    found: Numbers = weights / total if total > 0 else np.zeros(len(spread))
    return found


def _children(parents: Sequence[int | None], size: int) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in range(size)]
    if len(parents) != size:
        raise InvalidQuery(f"parents: {len(parents)} for {size} values; give one for each")
    for node, parent in enumerate(parents):
        if parent is None:
            continue
        if not 0 <= parent < node:
            raise InvalidQuery(
                f"parents: node {node} has the parent {shown(parent)}; list parents before children"
            )
        children[parent].append(node)
    return children


def _floats(numbers: Sequence[float], name: str) -> Numbers:
    try:
        found = np.array([float(number) for number in numbers])
    except (TypeError, ValueError, OverflowError):
        raise InvalidQuery(f"{name}: not a list of numbers") from None
    if np.isnan(found).any() or (name == "values" and np.isinf(found).any()):
        raise InvalidQuery(f"{name}: one is not finite; a released count always is")
    return found
