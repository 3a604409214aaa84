"""How a price is spread over rounds."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from halfmask.errors import InvalidQuery, shown
from halfmask.federated.sampled import largest_sampled_mu
from halfmask.privacy import GDP, Approximate, Cost, Measure, exact

__all__ = ["Pace"]

_SPAN = 10.0
"""Between the largest and the smallest share, squared, of a schedule that is not constant."""

_UNIT = 10**18

_MOST_ROUNDS = 10**5


@dataclass(frozen=True)
class Pace:
    """The mu that each round may spend, fixed before the first.

    Privacy: rounds that are mu_t-GDP, each chosen after the earlier ones, are together
    sqrt(sum of mu_t^2)-GDP [Dong, Roth & Su 2019, Cor. 3.3], whose (epsilon, delta) is exact [Balle
    & Wang 2018, Thm 8]; at a sampling rate below 1, see `sampled`.

    rate: the chance with which each client enters a round, independently of all others.
    schedule: "constant", "decreasing" or "increasing"; these two spread shares of mu^2 by a
        geometric sequence whose ends are 1 to 10.

    >>> pace = Pace(Approximate(1, "1e-5"), rounds=4)
    >>> print(pace.total, "=", pace.round(0), "for each of", pace.rounds)
    mu 0.268051123211 = mu 0.1340255616055 for each of 4
    """

    price: Approximate
    rounds: int
    rate: Fraction = Fraction(1)
    schedule: str = "constant"

    def __post_init__(self) -> None:
        whole = isinstance(self.rounds, int) and not isinstance(self.rounds, bool)
        if not whole or not 1 <= self.rounds <= _MOST_ROUNDS:
            raise InvalidQuery(
                f"rounds: must be a whole number from 1 to {_MOST_ROUNDS}, given "
                f"{shown(self.rounds)}; the price is spread over that many"
            )
        rate = exact(self.rate, "sampling_rate", largest=Fraction(1))
        object.__setattr__(self, "rate", rate)
        if self.schedule not in _SHARES:
            raise InvalidQuery(
                f"schedule: unknown value {shown(self.schedule)}; choose 'constant', "
                "'decreasing' or 'increasing'"
            )
        if rate < 1 and self.schedule != "constant":
            raise InvalidQuery(
                f"schedule: '{self.schedule}' at a sampling_rate below 1 is not accounted for; "
                "leave it constant, which errs least anyway"
            )

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The part of mu^2 of each round; together at most 1."""
        power = _SHARES[self.schedule]
        if power == 0 or self.rounds == 1:
            return (Fraction(1, self.rounds),) * self.rounds
        weights = [_SPAN ** (power * t / (self.rounds - 1)) for t in range(self.rounds)]
        whole = [int(weight / sum(weights) * _UNIT) for weight in weights]
        return tuple(Fraction(part, max(_UNIT, sum(whole))) for part in whole)

    @cached_property
    def total(self) -> GDP:
        """All rounds together, were nobody left out of any."""
        if self.rate == 1:
            return self.price.largest_gdp()
        each = largest_sampled_mu(self.rounds, self.rate, self.price.epsilon, self.price.delta)
        return GDP.from_amounts(each**2 * self.rounds, Fraction(0), up=False)

    def round(self, t: int) -> GDP:
        """Return what round t may spend on the clients that entered it."""
        return self.total.share(self.shares[t])

    def cost(self, measure: Measure) -> Cost:
        """Return the price of all rounds, in mu where that is worth most to the ledger."""
        summed = measure in (Measure.GDP, Measure.ZCDP) and self.rate == 1
        return self.total if summed else self.price


_SHARES = {"constant": 0, "decreasing": -1, "increasing": 1}
