"""A lower bound of ‖S‖ by the distance from a centre, certified for every direction at once.

Notation: y_i = W (x_i - c), r_i = ‖y_i‖, u_i = y_i / r_i; a point is c + W^-1 v with v = M z. In a
direction w the slope g(t) = Σ ⟨t w - y_i, w⟩ / ‖t w - y_i‖ of the convex Σ ‖t w - y_i‖ never falls
as t grows, and ‖S‖ >= g(t) at v = t w. So a bound of g at t holds for all greater t.

Near. Let τ = t/r_i < 1, a = ⟨u_i, w⟩. The term is (τ - a) (1 + τ² - 2 τ a)^(-1/2); as a power
series in a, all coefficients from a² on are negative (those of (1 - x)^(-1/2) come one from the
other by a factor (2n-1)/2n < 1, and 2τ²/(1+τ²) < 1), so that the rest over a² is worst at a = 1:

    term >= sin² τ/√(1+τ²) - a (1+τ²)^(-3/2) - a² (1 - (1+τ²)^(-3/2)),    sin² = 1 - a².

1 - (1+x)^(-3/2) <= 6x/(4+5x), since with y² = 1 + x the difference has the sign of
(y-1)³ (y²+3y+1). For t <= T the first part is at least t (1-a²)/√(T²+r²), and the last at most
t a² 6 T/(4 r² + 5 T²) (as 6τ/(4+5τ²) rises up to τ = √0.8). A term is also at least its value
-a at t = 0, and is 1 for x_i at the centre, so that rows with r <= T/0.89 count with these. Summed:

    g(t) >= t w'B w - ‖G(t)‖ + #{r = 0},  B = Σ (I - uu')/√(T²+r²) - 6T/(4r²+5T²) uu',
    G(t) = Σ φ_i(t) u_i,  φ = (1+t²/r²)^(-3/2), or 1 for the rows that are too near.

Between two t, G moves by at most √λmax(Σuu') times the move of φ in the 2-norm. With v = M z,
w = Mz/‖Mz‖: t w'Bw = ‖z‖ (z'M'BMz/‖z‖²) / ‖Mz/‖z‖‖, which `certified_ratio` bounds.

Far. For r_i < t a term is at least √(1 - r²/t²), since the angle at t w is not below that of a
tangent; others sum to at least -‖Σ u_i‖ over them.

Floats: every row's part of every sum is at most 4 in size and right to (d + 40) 2^-52, and a sum of
n of them in any order to n 2^-53 of the sum of their sizes; SLACK times n (n + 4 d + 100) 2^-52 is
taken off each bound.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.spatial.matrices import (
    certified_ratio,
    cholesky,
    gram,
    inverse,
    product,
    stretches,
)

__all__ = ["Envelope"]

Floats = NDArray[np.float64]

SLACK = 16
INSIDE = 0.89  # below √0.8
RINGS = 256
BRACKETS = 4
SMALL = 20_000  # numbers in a matrix of rows that eight times the work is nothing for
MATRIX_BITS = 40


@dataclass(frozen=True)
class Envelope:
    """The bound around a centre.

    gaps: y_i, (n, d). finest: the least length of W e over steps e of the grid. rate: what one unit
    of ‖S‖ takes off the logarithm of a probability.
    """

    gaps: Floats
    finest: float
    rate: float

    @property
    def _shape(self) -> tuple[int, int]:
        n, d = self.gaps.shape
        return n, d

    @cached_property
    def slack(self) -> float:
        """What floats may be wrong by."""
        n, d = self._shape
        return SLACK * n * (n + 4 * d + 100) * 2.0**-52

    @cached_property
    def lengths(self) -> Floats:
        """R."""
        lengths: Floats = np.sqrt(np.square(self.gaps).sum(axis=1))
        return lengths

    @cached_property
    def units(self) -> Floats:
        """u, 0 for rows at the centre."""
        units: Floats = self.gaps / np.where(self.lengths > 0, self.lengths, 1.0)[:, None]
        return units

    @cached_property
    def middle_length(self) -> float:
        """The median of r, about."""
        return float(np.median(self.lengths)) if self.lengths.size else 0.0

    @cached_property
    def matrix(self) -> tuple[NDArray[np.int64], int]:
        """M as integers over 2^k, lower triangular.

        MM' is the squared inverse of the slope's derivative at the centre, in units such that ‖S‖
        is about ‖z‖ 2^-20 d/rate near there. Any M is valid that does not flatten space.
        """
        _, d = self._shape
        floor = max(self.middle_length * 1e-3, self.finest)
        weights = 1 / np.maximum(self.lengths, floor)
        spread, _ = gram(self.units * np.sqrt(weights)[:, None])
        slope = np.eye(d) * float(weights.sum()) - spread
        # So that ‖z‖ = 2^20 is no further than twice the rows themselves in any direction.
        slope += np.eye(d) * (d / self.rate / max(2 * self.middle_length, self.finest))
        slope += np.eye(d) * (float(np.trace(slope)) * 2.0**-12)
        inverted = inverse(slope) * (d / self.rate) * 2.0**-20
        wanted = cholesky(product(inverted, inverted))
        found = _whole(wanted)
        if stretches(_floats(*found))[0] > 0:
            return found
        return _whole(np.eye(d) * float(np.diag(wanted).max()))

    @cached_property
    def stretch(self) -> Floats:
        """M as floats, exactly."""
        return _floats(*self.matrix)

    @cached_property
    def _stretches(self) -> tuple[float, float]:
        return stretches(self.stretch)

    @property
    def narrowest(self) -> float:
        """A lower bound of ‖Mz‖/‖z‖."""
        return self._stretches[0]

    @property
    def widest(self) -> float:
        """An upper bound of ‖Mz‖/‖z‖."""
        return self._stretches[1]

    @cached_property
    def _knots(self) -> Floats:
        """Values of ‖z‖ up to each of which a B of its own serves."""
        most = INSIDE * 0.9 * self.middle_length / self.widest
        near, pieces = 4.0 * 2**20, 8 if self.gaps.size > SMALL else 32
        if most <= 0:
            return np.zeros(0)
        if most <= near:
            return np.linspace(0, most, pieces + pieces // 2 + 1)[1:]
        far = np.geomspace(near, most, pieces // 2 + 2)[1:]
        return np.concatenate([np.linspace(0, near, pieces + 1)[1:], far])

    @cached_property
    def _near(self) -> tuple[Floats, Floats]:
        """For each knot: what ‖z‖ is multiplied by, and what is taken off."""
        slopes, losses = [], []
        before = 0.0
        for knot in self._knots.tolist():
            slope, loss = self._near_bound(before * self.narrowest, knot * self.widest)
            slopes.append(slope)
            losses.append(loss)
            before = knot
        return np.array(slopes), np.array(losses)

    @cached_property
    def _spread(self) -> float:
        """An upper bound of √λmax(Σuu'), that of all rows for any part of them."""
        found, error = gram(self.units)
        return math.sqrt(float(np.sqrt(np.square(found).sum())) + error) * (1 + 2.0**-20)

    def _near_bound(self, start: float, end: float) -> tuple[float, float]:
        """Bounds for all distances t between start and end."""
        _, d = self._shape
        r, u = self.lengths, self.units
        apart = r * INSIDE > end
        r, u = r[apart], u[apart]
        weights = 1 / np.sqrt(end * end + r * r)
        turned, error = gram(u * np.sqrt(weights + 6 * end / (4 * r * r + 5 * end * end))[:, None])
        b = np.eye(d) * float(weights.sum()) - turned
        weight = 1 / math.sqrt(self.narrowest * self.widest)
        slope = certified_ratio(b, error, self.stretch, weight)
        pull = self._pull(r, u, start, end)
        within = self.lengths < start
        tangents = float(np.sqrt(1 - np.square(self.lengths[within] / start)).sum())
        centred = float((self.lengths == 0).sum())
        loss = min(
            pull(self.units[~apart].sum(axis=0)) - centred,
            pull(self.units[~apart & ~within].sum(axis=0)) - max(tangents, centred * (start == 0)),
        )
        return slope, loss

    def _pull(self, r: Floats, u: Floats, start: float, end: float) -> Callable[[Floats], float]:
        """Return what bounds ‖Σφ(t)u + rest‖ over t from start to end, as a function of the rest.

        In each bracket of t: its value at the start, and how far it can move until the end.
        """
        brackets = BRACKETS if r.size * u.shape[1] > SMALL else 8 * BRACKETS
        sums: list[Floats] = []
        moves: list[float] = []
        shares = np.ones(0)
        for t in np.linspace(start, end, brackets + 1).tolist():
            base = 1 + np.square(t / r)
            now = 1 / (base * np.sqrt(base))
            if sums:
                moves.append(self._spread * float(np.sqrt(np.square(shares - now).sum())))
            sums.append((u * now[:, None]).sum(axis=0))
            shares = now
        starts, moved = np.array(sums[:-1]), np.array(moves)
        return lambda rest: float((np.sqrt(np.square(starts + rest).sum(axis=1)) + moved).max())

    @cached_property
    def _rings(self) -> tuple[Floats, Floats, Floats]:
        """Rows by distance: the greatest r of each ring, its rows, ‖Σu‖ over rows further out."""
        n, _ = self._shape
        order = np.argsort(self.lengths, kind="stable")
        cuts = np.unique(np.linspace(0, n, min(n, RINGS) + 1).astype(np.int64))
        parts = [self.units[order[a:b]].sum(axis=0) for a, b in pairwise(cuts)]
        beyond = np.cumsum(np.array(parts)[::-1], axis=0)[::-1]
        beyond = np.concatenate([beyond[1:], np.zeros((1, beyond.shape[1]))])
        outer = self.lengths[order[cuts[1:] - 1]]
        return outer, np.diff(cuts).astype(np.float64), np.sqrt(np.square(beyond).sum(axis=1))

    def at(self, radii: Floats) -> Floats:
        """Lower bounds of ‖S‖ at all v = Mz with ‖z‖ >= radius > 0, for rising radii."""
        n, _ = self._shape
        bounds = np.zeros(radii.size)
        if n == 0:
            return bounds
        if self._knots.size:
            slopes, losses = self._near
            knot = np.searchsorted(self._knots, radii)
            served = knot < self._knots.size
            knot = knot[served]
            bounds[served] = radii[served] * slopes[knot] * (1 - 2.0**-30) - losses[knot]
        outer, count, beyond = self._rings
        for i, t in enumerate((radii * self.narrowest * (1 - 2.0**-30)).tolist()):
            inner = int(np.searchsorted(outer, t))  # rings within t
            if inner and t > 0:
                parts = count[:inner] * np.sqrt(1 - np.square(outer[:inner] / t))
                far = float(np.max(np.cumsum(parts) - beyond[:inner]))
                bounds[i] = max(bounds[i], far)
        found: Floats = np.maximum(np.maximum.accumulate(bounds - self.slack), 0.0)
        return found


def _whole(matrix: Floats) -> tuple[NDArray[np.int64], int]:
    """Round a matrix to integers of 40 bits over 2^k; no entry of its diagonal to 0."""
    k = MATRIX_BITS - math.frexp(float(np.abs(matrix).max()))[1]
    whole = np.rint(np.ldexp(matrix, k)).astype(np.int64)
    np.fill_diagonal(whole, np.maximum(np.diag(whole), 1))
    return whole, k


def _floats(whole: NDArray[np.int64], k: int) -> Floats:
    floats: Floats = np.ldexp(whole.astype(np.float64), -k)
    return floats
