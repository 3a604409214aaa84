"""Staircase noise and the same noise moved, as laws on the few values that their ratio takes."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms import Staircase

__all__ = ["step_laws"]

Laws = tuple[NDArray[np.float64], NDArray[np.float64]]


def step_laws(mechanism: Staircase, shift: Sequence[int]) -> Laws:
    """Return the log masses of both laws, by the number of steps that an answer tells them apart.

    Privacy losses are whole multiples of epsilon, and the multiple is all that an answer tells
    (it is sufficient), so both laws are lumped by it: no event and no divergence is lost.
    """
    one = np.zeros(1)
    for moved in (abs(s) for s in shift if s):
        if not mechanism.sensitivity:
            return np.array([0.0, -np.inf]), np.array([-np.inf, 0.0])
        one = _convolved(one, _by_steps(mechanism, moved))
    most = len(one) // 2
    return one, one - np.arange(-most, most + 1) * float(mechanism.epsilon)


def _by_steps(mechanism: Staircase, moved: int) -> NDArray[np.float64]:
    """Return log P(level of k - moved, less level of k, is i), for i from -most to most.

    The integers up to 0, and those from `moved` on, repeat every `sensitivity` with one level
    more on both sides: a period of each stands for all, its mass divided by 1 - exp(-epsilon).
    """
    width, first, epsilon = mechanism.sensitivity, mechanism.first, float(mechanism.epsilon)
    start, end = 1 - width, moved + width
    edges = {first + j * width for j in range(end // width + 1)}
    edges = edges | {1 - edge for edge in edges}  # where the level of k changes
    edges = edges | {moved + edge for edge in edges} | {start, 1, moved, end}
    most = -(-moved // width)
    masses = np.full(2 * most + 1, -np.inf)
    tail = -math.log(-math.expm1(-epsilon))
    for low, high in pairwise(sorted(edge for edge in edges if start <= edge <= end)):
        here, there = ((abs(k) + width - first) // width for k in (low, low - moved))
        repeated = 0.0 if 1 <= low < moved else tail
        mass = math.log(high - low) - here * epsilon + repeated
        at = there - here + most
        masses[at] = np.logaddexp(masses[at], mass)
    return masses + mechanism.log_mass(0)


def _convolved(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    result = np.full(len(one) + len(other) - 1, -np.inf)
    for i, mass in enumerate(one):
        part = result[i : i + len(other)]
        np.logaddexp(part, mass + other, out=part)
    return result
