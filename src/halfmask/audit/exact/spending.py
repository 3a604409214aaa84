"""What losses come to, in exact fractions of the claimed currency."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from halfmask.privacy import (
    GDP,
    ZCDP,
    Approximate,
    Cost,
    Pure,
    gdp_after_zcdp,
    gdp_epsilon,
    pure_mu,
    pure_rho,
    zcdp_epsilon,
)

__all__ = ["EVERYTHING", "NOTHING", "Spending"]


@dataclass(frozen=True)
class Spending:
    """Losses of independent noises, which add up: Laplace in epsilon, Gaussians in rho and mu².

    delta: that of answers which are only (epsilon, delta).
    whole: False where an answer without noise moves, or a table could not be read: then nothing
      is hidden at all.
    Privacy: the loss of a vector of independent noises is the sum of its entries' losses, attained
    by one answer for the Laplace law. For Gaussians the Renyi divergences add up to that of the
    summed squares. [Canonne, Kamath & Steinke 2020, Thm 14; Dong, Roth & Su 2022, Cor. 2]
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)
    whole: bool = True

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.epsilon + other.epsilon,
            self.delta + other.delta,
            self.rho + other.rho,
            self.mu_squared + other.mu_squared,
            self.whole and other.whole,
        )

    def in_currency_of(self, claimed: Cost) -> Fraction | None:
        """Return the loss as an amount of the claimed currency (mu² for mu); None: no bound.

        For (epsilon, delta): the epsilon at the claimed delta.
        """
        if not self.whole:
            return None
        match claimed:
            case Pure() if not self.delta and not self.rho and not self.mu_squared:
                return self.epsilon
            case ZCDP() if not self.delta:
                laplace = pure_rho(self.epsilon) if self.epsilon else 0
                return self.rho + self.mu_squared / 2 + laplace
            case GDP() if not self.delta and not self.rho:
                laplace = pure_mu(self.epsilon) ** 2 if self.epsilon else 0
                return self.mu_squared + laplace
            case Approximate() if self.delta <= claimed.delta:
                return self._epsilon_at(claimed.delta - self.delta, claimed.epsilon)
        return None

    def _epsilon_at(self, delta: Fraction, claimed: Fraction) -> Fraction | None:
        """Return the epsilon of the whole where the Gaussians get so much delta.

        Where those in rho leave room for those in mu, it is the claimed one at most.
        [privacy.gdp_after_zcdp: of independent noises, any may be the last]
        """
        if not self.rho and not self.mu_squared:
            return self.epsilon
        if not delta:
            return None
        if not self.rho:
            return self.epsilon + gdp_epsilon(_root_up(self.mu_squared), delta)
        laplace = pure_rho(self.epsilon) if self.epsilon else 0
        apart = self.epsilon + zcdp_epsilon(self.rho + self.mu_squared / 2, delta)
        found = min(apart, zcdp_epsilon(self.rho + self.mu_squared / 2 + laplace, delta))
        if found <= claimed or not self.mu_squared:
            return found
        room = gdp_after_zcdp(self.rho + laplace, claimed, delta)
        return claimed if room**2 >= self.mu_squared else found


def _root_up(square: Fraction) -> Fraction:
    return Fraction(isqrt(int(square * 10**60)) + 1, 10**30)


NOTHING = Spending()
EVERYTHING = Spending(whole=False)
