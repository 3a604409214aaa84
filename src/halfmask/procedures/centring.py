"""When a second, centred sum lowers the error of a mean, and how its parts are put together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from halfmask.queries import MomentSums, Ratio, Term

__all__ = ["DIVISIONS", "LOOK", "SHARES", "Centring", "VarianceAt", "joined"]

LOOK = Fraction(1, 200)
"""The share of the price for a first look at the count and the centre."""

SHARES = (LOOK, *(Fraction(percent, 100) for percent in (1, 2, 3, 5, 7, 10, 14, 20)))
"""Shares to spend on looks, from which the best is chosen by the noisy count."""

DIVISIONS = 1024
"""Centres lie on so many divisions of the bounds, so that centred sums stay exact integers."""

WORTH = 0.9
"""Centre only where it should lower the squared error by a tenth at least."""

VarianceAt = Callable[[Fraction], float]
"""The variance of the noise of one part, in squared rows, bought by a share of the price."""


def _crossed(t: float) -> float:
    """The mean of the looks' squared error in centre, times that in count, over V^2.

    With N, M independent Laplace noises of variance V on the upper and the lower part, the errors
    are (1-t)N - tM and N + M; as E N^4 = 6 V^2, the product of their squares has the mean
    (7((1-t)^2 + t^2) - 4t(1-t)) V^2. Gaussian noise has less.
    """
    return 7 * _two_sided(t) - 4 * t * (1 - t)


def _two_sided(t: float) -> float:
    """The squared error of two-sided sums for a mean at t, over V."""
    return (1 - t) ** 2 + t**2


@dataclass(frozen=True)
class Centring:
    """Spend `share` of the price on looks, then the rest on the sum about the centre they show."""

    share: Fraction
    position: float
    variance_at: VarianceAt

    @classmethod
    def choose(cls, look: MomentSums, variance_at: VarianceAt) -> "Centring | None":
        """Choose by the noisy count, held three deviations low; None: two-sided sums are better."""
        position = look.mean().theta
        count = look.count().value - 3 * (2 * variance_at(LOOK)) ** 0.5
        if count <= 0:
            return None
        plans = [cls(share, position, variance_at) for share in SHARES]
        best = min(plans, key=lambda plan: plan.gain(count))
        return best if best.gain(count) < WORTH else None

    def gain(self, count: float) -> float:
        """The squared error, relative to that of two-sided sums for the whole price."""
        t, noise = self.position, self.variance_at(self.share)
        last = max(t, 1 - t) ** 2 * self.variance_at(1 - self.share)
        last += _crossed(t) * (noise / count) ** 2
        both = 1 / (1 / last + 1 / (_two_sided(t) * noise))
        return both / (_two_sided(t) * self.variance_at(Fraction(1)))

    @staticmethod
    def centre(looks: Sequence[MomentSums]) -> int:
        """The nearest division to the mean of all looks, away from the bounds' very ends."""
        return min(max(round(joined(looks).theta * DIVISIONS), 1), DIVISIONS - 1)


def joined(sums: Sequence[MomentSums], centred: MomentSums | None = None, centre: int = 0) -> Ratio:
    """Join looks, and the sum T about a centre c where there is one, into one ratio.

    Each look says A - t(A+B) = 0, the centred sum says T - (t-c) n = 0 with n from the looks; the
    forms are weighted by the inverse of their noise's variance (least squares) and added.
    """
    precisions = [1 / look.part_variance for look in sums]
    total = sum(precisions)
    counting = [precision / total for precision in precisions]
    if centred is None:
        return Ratio(_weighted(sums, counting, [0.0] * len(counting), 0.0), sums[0].bounds)
    c, last = centre / DIVISIONS, centred.lone_term()
    look = joined(sums)
    count = max(math.fsum(term.bottom * term.noisy for term in look.terms), 1.0)
    of_looks = _two_sided(look.theta) / total
    of_last = last.deviation**2 + (look.theta - c) ** 2 * 2 / total
    of_last += _crossed(look.theta) / (total * count) ** 2
    share = of_last / (of_last + of_looks)
    looks = [share * weight for weight in counting]
    lasts = [(1 - share) * weight for weight in counting]
    terms = _weighted(sums, looks, lasts, c)
    return Ratio((*terms, replace(last, top=1 - share)), sums[0].bounds)


def _weighted(
    sums: Sequence[MomentSums], looks: Sequence[float], lasts: Sequence[float], c: float
) -> tuple[Term, ...]:
    """Weight the parts of each look: as a form of its own, and as the count beside T."""
    return tuple(
        replace(
            part,
            top=own * part.top + counts * c,
            bottom=own + counts,
        )
        for look, own, counts in zip(sums, looks, lasts, strict=True)
        for part in look.mean().terms
    )
