"""What a pair of neighbours costs, script by script, in exact fractions of the claimed currency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from halfmask.audit.exact.loss import exact_loss
from halfmask.audit.exact.scripts import Script
from halfmask.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    Staircase,
)
from halfmask.plan import Tally
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure, gdp_epsilon, pure_mu, pure_rho

__all__ = ["NOTHING", "Exact", "Moved", "Spending", "moves"]

Exact = tuple[tuple[int, ...], ...] | None
"""The exact integers of a tally; None where the table could not be read."""


@dataclass(frozen=True)
class Moved:
    """One noisy vector, and the exact integers behind it on both neighbours.

    step: what one of the integers is worth.
    """

    mechanism: Additive
    one: tuple[int, ...]
    other: tuple[int, ...]
    step: Fraction

    @property
    def shift(self) -> tuple[int, ...]:
        """How far the neighbour moves each integer."""
        return tuple(b - a for a, b in zip(self.one, self.other, strict=True))


@dataclass(frozen=True)
class Spending:
    """Losses of independent noises, which add up: Laplace in epsilon, Gaussians in rho and mu².

    whole: False where an answer without noise moves, or a table could not be read: then nothing
      is hidden at all.
    Privacy: the loss of a vector of independent noises is the sum of its entries' losses, attained
    by one answer for the Laplace law. For Gaussians the Renyi divergences add up to that of the
    summed squares. [Canonne, Kamath & Steinke 2020, Thm 14; Dong, Roth & Su 2022, Cor. 2]
    """

    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)
    whole: bool = True

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.epsilon + other.epsilon,
            self.rho + other.rho,
            self.mu_squared + other.mu_squared,
            self.whole and other.whole,
        )

    @classmethod
    def of(cls, moved: Moved) -> "Spending":
        """Price one noisy vector."""
        shift, scale = moved.shift, moved.mechanism.scale
        if not any(shift):
            return NOTHING
        if scale == 0:
            return EVERYTHING
        squared = sum(s * s for s in shift) / scale**2
        match moved.mechanism:
            case DiscreteLaplace():
                return cls(epsilon=sum(map(abs, shift)) / scale)
            case Staircase() as stairs:  # every integer that moves, moves up a step at least
                steps = sum(-(-abs(s) // stairs.sensitivity) for s in shift)
                return cls(epsilon=steps * stairs.epsilon)
            case DiscreteGaussian():
                return cls(rho=squared / 2)
            case RoundedGaussian():
                return cls(mu_squared=squared)
        loss = exact_loss(moved.mechanism, shift).epsilon  # a law from elsewhere: from its masses
        return cls(epsilon=Fraction(loss)) if loss < float("inf") else EVERYTHING

    def in_currency_of(self, claimed: Cost) -> Fraction | None:
        """Return the loss as an amount of the claimed currency (mu² for mu); None: no bound.

        For (epsilon, delta): the epsilon at the claimed delta.
        """
        if not self.whole:
            return None
        match claimed:
            case Pure() if not self.rho and not self.mu_squared:
                return self.epsilon
            case ZCDP():
                laplace = pure_rho(self.epsilon) if self.epsilon else 0
                return self.rho + self.mu_squared / 2 + laplace
            case GDP() if not self.rho:
                laplace = pure_mu(self.epsilon) ** 2 if self.epsilon else 0
                return self.mu_squared + laplace
            case Approximate() if not self.rho:
                if not self.mu_squared:
                    return self.epsilon
                return self.epsilon + gdp_epsilon(_root_up(self.mu_squared), claimed.delta)
        return None


def _root_up(square: Fraction) -> Fraction:
    return Fraction(isqrt(int(square * 10**60)) + 1, 10**30)


NOTHING = Spending()
EVERYTHING = Spending(whole=False)


def moves(
    script: Script, one: Mapping[Tally, Exact], other: Mapping[Tally, Exact]
) -> tuple[Sequence[Moved], Spending]:
    """Push both neighbours' exact integers through a script: what moves, and what that costs."""
    found: list[Moved] = []
    spent = NOTHING
    for prepared in script.measurements:
        a, b = one[prepared.tally], other[prepared.tally]
        if a == b:
            continue
        if a is None or b is None:  # the rows decide whether there is an answer
            return found, EVERYTHING
        pairs = zip(prepared.vectors(a), prepared.vectors(b), strict=True)
        found += [Moved(o.mechanism, x, y, o.step) for (o, x), (_, y) in pairs if x != y]
    for moved in found:
        spent += Spending.of(moved)
    return found, spent
