"""The privacy losses of sampled rounds, as masses on a grid: a tight bound of what they cost.

The pair is that of `renyi`: (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), or the other way round.

Privacy: every step errs upwards.
1. Between two losses a < b of the grid, the true losses are put on a and b so that both laws keep
   their mass. Of all likelihood ratios within [e^a, e^b] of one mean, the two ends are largest in
   the convex order, so this pair dominates, and so do its products. [Doroshenko, Ghazi, Kamath,
   Kumar & Manurangsi 2022, Thm 3.1; Zhu, Dong & Wang 2022, Thm 10]
2. Losses below the grid are raised to its least, those above it are infinite: they count whole.
3. delta = E (1 - e^(epsilon - loss))+ grows with each loss and each mass, so what floats may have
   lost is given back: masses are right to 1e-11 of themselves, so their split over cells of width
   w to 2e-11 / w, and more than that moves from a to b; losses are raised by 1e-12 a round.
4. A convolution of n numbers by Fourier transforms errs, added up, by less than
   32 u log2(n) sqrt(n) (|a|_1 |b|_2 + |a|_2 |b|_1), u = 2^-53 [Higham 2002, Thm 24.2, thrice and
   with room]: as much is added to the infinite loss.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["sampled_delta"]

Vector = NDArray[np.float64]

_CELLS = 2**14
"""Cells of the grid, at most."""
_FINE = 0.1
"""Of the root mean square of a round's loss: how wide a cell is otherwise."""
_SHIFTED = 1e-6
_MOST = 16.0  # above it nothing is promised, and exponentials could overflow
_RAISED = 1e-12
_SPARED = 1e-4
"""The part of delta that tails cut off may cost, over all rounds."""


@dataclass(frozen=True)
class _Losses:
    """Masses at the losses (least + i) * width, and an infinite one."""

    least: int
    width: float
    mass: Vector
    infinite: float

    def then(self, other: Self, tail: float) -> Self:
        """Return the sums of both losses; mass of `tail`, and what may be error, is cut off."""
        size = self.mass.size + other.mass.size - 1
        n = 1 << (size - 1).bit_length()
        mass = np.fft.irfft(np.fft.rfft(self.mass, n) * np.fft.rfft(other.mass, n), n)[:size]
        mass = np.maximum(mass, 0.0)
        a, b = self.mass, other.mass
        norms = a.sum() * np.linalg.norm(b) + np.linalg.norm(a) * b.sum()
        error = 32 * 2.0**-53 * math.log2(n + 1) * math.sqrt(n) * float(norms)
        tail = max(tail, error)
        above = np.cumsum(mass[::-1])[::-1]
        top = int(np.searchsorted(-above, -tail))  # mass from here on is at most the tail
        low = min(int(np.searchsorted(np.cumsum(mass), tail)), max(top - 1, 0))
        kept = mass[low:top].copy()
        kept[:1] += mass[:low].sum()
        lost = float(mass[top:].sum())
        infinite = self.infinite + other.infinite + error + lost
        return type(self)(self.least + other.least + low, self.width, kept, infinite)

    def delta(self, epsilon: float) -> float:
        """Return E (1 - e^(epsilon - loss))+."""
        loss = (self.least + np.arange(self.mass.size)) * self.width
        return self.infinite + float(self.mass @ -np.expm1(np.minimum(epsilon - loss, 0.0)))


def sampled_delta(mu: float, rounds: int, rate: float, epsilon: float, wanted: float) -> float:
    """Return a delta that so many rounds, sampled at this rate, stay within at epsilon.

    wanted: about which delta matters: tails that are far below it are cut off.

    >>> sampled_delta(1.0, 150, 0.01, 0.9, 1e-5) < 1e-5
    True
    """
    if mu > _MOST:
        return 1.0
    tail = _SPARED * wanted / rounds / 4
    return max(
        _composed(losses, rounds, tail).delta(epsilon - rounds * _RAISED)
        for losses in _one_round(mu, rate, tail)
    ) * (1 + 1e-9)


def _composed(one: _Losses, rounds: int, tail: float) -> _Losses:
    """Return the sum of so many losses, by squaring."""
    total = None
    for bit in bin(rounds)[2:]:
        total = total.then(total, tail) if total else None
        if bit == "1":
            total = total.then(one, tail) if total else one
    return total or one


def _one_round(mu: float, rate: float, tail: float) -> Iterator[_Losses]:
    """Yield the losses of one round for a client that is taken out, and for one that is added."""
    far = math.sqrt(-2 * math.log(tail))  # the normal tail is below exp(-far^2 / 2)
    x = np.linspace(-far, mu + far, 2001)
    loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    density = (np.exp(-x * x / 2) + rate * np.exp(-((x - mu) ** 2) / 2)) / math.sqrt(2 * math.pi)
    spread = math.sqrt(float(loss**2 @ density) * (x[1] - x[0]))
    reach = float(loss[-1] - loss[0])
    width = max(_FINE * spread, reach / _CELLS)
    grid = np.arange(math.floor(loss[0] / width), math.ceil(loss[-1] / width) + 1)
    over = np.expm1(grid * width) / rate  # of the likelihood ratio, above 1
    with np.errstate(divide="ignore"):  # no loss is as low as the least of the grid: from -inf on
        edges = (np.log1p(np.maximum(over, -1)) + mu * mu / 2) / mu
    inner = _between(edges)
    outer = _between(edges - mu)
    mixed = (1 - rate) * inner + rate * outer
    below, above = _tails(edges)
    below_moved, above_moved = _tails(edges - mu)
    yield _split(
        int(grid[0]),
        width,
        (mixed, inner),
        (1 - rate) * below + rate * below_moved,
        (1 - rate) * above + rate * above_moved,
    )
    yield _split(-int(grid[-1]), width, (inner[::-1], mixed[::-1]), above, below)


def _split(
    least: int, width: float, masses: tuple[Vector, Vector], below: float, above: float
) -> _Losses:
    """Put the masses (of the first law, of the second) between losses on the losses themselves.

    below, above: the first law's mass outside the grid.
    """
    first, second = masses
    lower = (least + np.arange(first.size)) * width
    upper = (first - np.exp(lower) * second) / -math.expm1(-width)
    upper = np.clip(upper + (_SHIFTED + 4e-11 / width) * first, 0.0, first)
    mass = np.zeros(first.size + 1)
    mass[1:] += upper
    mass[:-1] += first - upper
    mass[0] += below
    return _Losses(least, width, mass * (1 + 1e-10), above * (1 + 1e-10))


def _tails(edges: Vector) -> tuple[float, float]:
    """Return the normal mass below the first edge, and above the last."""
    return _normal_tail(-float(edges[0])), _normal_tail(float(edges[-1]))


def _between(edges: Vector) -> Vector:
    """Return the normal mass between neighbouring edges, from the tail that is smaller."""
    x = edges.tolist()
    right = np.array([_normal_tail(each) for each in x])
    left = np.array([_normal_tail(-each) for each in x])
    mass: Vector = np.where(edges[:-1] >= 0, right[:-1] - right[1:], left[1:] - left[:-1])
    return mass


def _normal_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2
