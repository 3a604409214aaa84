"""When a second, centred sum lowers the error of a mean, and how its parts are put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from halfmask.queries import MomentSums, Ratio, Term

__all__ = ["DIVISIONS", "LOOK", "SHARES", "Centring", "VarianceAt", "joined"]

LOOK = Fraction(1, 100)
"""The share of the price for a first look at the count and the centre."""

SHARES = tuple(Fraction(percent, 100) for percent in (1, 2, 3, 5, 7, 10, 14, 20))
"""Shares to spend on looks, from which the best is chosen by the noisy count."""

DIVISIONS = 1024
"""Centres lie on so many divisions of the bounds, so that centred sums stay exact integers."""

WORTH = 0.9
"""Centre only where it should lower the squared error by a tenth at least."""

VarianceAt = Callable[[Fraction], float]
"""The variance of the noise of one part, in squared rows, bought by a share of the price."""


@dataclass(frozen=True)
class Centring:
    """Spend `share` of the price on looks, then the rest on the sum about the centre they show.

    Per unit of squared noise, two-sided sums leave q = (1-t)^2 + t^2 for a mean at t; the centred
    sum leaves max(t, 1-t)^2, plus what the looks' errors in centre and count do to each other:
    they are uncorrelated at t = 1/2, and for Laplace noise their squares multiply to 5 q V(f)^2/n^2
    (fourth moment 24 b^4), for Gaussian to 2 q V(f)^2/n^2; the larger is used.
    """

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
        """The squared error relative to that of two-sided sums for the whole price."""
        t = self.position
        q = (1 - t) ** 2 + t**2
        looks = 5 * q * self.variance_at(self.share) ** 2 / count**2
        about = max(t, 1 - t) ** 2 * self.variance_at(1 - self.share)
        return (about + looks) / (q * self.variance_at(Fraction(1)))

    @staticmethod
    def centre(looks: Sequence[MomentSums]) -> int:
        """The nearest division to the mean of all looks, away from the bounds' very ends."""
        return min(max(round(joined(looks).theta * DIVISIONS), 1), DIVISIONS - 1)


def joined(sums: Sequence[MomentSums], centred: MomentSums | None = None, centre: int = 0) -> Ratio:
    """Join looks, and the sum about a centre c where there is one, into one ratio.

    Each look says A - t(A+B) = 0, the centred sum says T - (t-c) n = 0 with n from the looks; the
    forms are weighted by the inverse of their noise's variance (least squares) and added.
    """
    spreads = [look.mean().terms[0].scale ** 2 for look in sums]
    total = sum(1 / spread for spread in spreads)
    counting = [1 / spread / total for spread in spreads]
    weights, c, last = counting, centre / DIVISIONS, ()
    if centred is not None:
        form = centred.lone_term()
        t = Ratio(joined(sums).terms, sums[0].bounds).theta
        q = (1 - t) ** 2 + t**2
        looks = q / total
        about = form.scale**2 + (t - c) ** 2 * 2 / total
        share = about / (about + looks)
        weights = [share * weight for weight in counting]
        last = (Term(form.noisy, 1 - share, 0.0, form.scale, form.gaussian),)
    rest = 1 - sum(weights) if centred is not None else 0.0
    terms = [
        Term(
            part.noisy,
            weight * part.top + rest * c * counts,
            weight + rest * counts,
            part.scale,
            part.gaussian,
        )
        for look, weight, counts in zip(sums, weights, counting, strict=True)
        for part in look.mean().terms
    ]
    return Ratio((*terms, *last), sums[0].bounds)
