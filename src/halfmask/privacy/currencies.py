"""Prices of privacy in four currencies, each exact and each with a proved way to add up.

    Pure(epsilon)                sums of epsilon            every ledger takes it
    Approximate(epsilon, delta)  sums of both
    ZCDP(rho)                    sums of rho
    GDP(mu)                      sums of mu^2               a ZCDP ledger takes it too

Only currencies are offered in which the sum holds even if each price is chosen after seeing the
answers so far: stopping at the budget is then a valid privacy filter. [Rogers, Roth, Ullman &
Vadhan 2016 (epsilon, delta); Feldman & Zrnic 2021 and Whitehouse, Ramdas, Rogers & Wu 2023 (rho);
Smith & Thakurta 2022 and Koskela, Tobaben & Honkela 2023 (mu^2)]
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Self

from halfmask.errors import InvalidQuery
from halfmask.privacy import conversions
from halfmask.privacy.cost import Cost, Measure
from halfmask.privacy.exact import LARGEST, SMALLEST_DELTA, Number, exact, plain

__all__ = ["GDP", "ZCDP", "Approximate", "Pure"]

_BELOW_ONE = 1 - SMALLEST_DELTA
_LARGEST_MU = Fraction(1000)  # its square is the largest amount of a ledger


@dataclass(frozen=True, init=False)
class Pure(Cost):
    """Privacy: epsilon-DP; prices add up. [Dwork, McSherry, Nissim & Smith 2006, Def. 1].

    >>> print(Pure(0.5))
    epsilon 0.5
    """

    epsilon: Fraction
    measure: ClassVar[Measure] = Measure.PURE

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))

    @property
    def amounts(self) -> tuple[Fraction, Fraction]:
        """(epsilon, 0)."""
        return self.epsilon, Fraction(0)

    @classmethod
    def from_amounts(cls, main: Fraction, delta: Fraction, *, up: bool) -> Self:
        """Build from a sum of epsilon."""
        return cls._restored({"epsilon": main})

    def at_delta(self, delta: Number) -> "Approximate":
        """Return (epsilon, delta): epsilon-DP holds with any delta added."""
        return Approximate(self.epsilon, delta)

    def _converted(self, measure: Measure) -> Cost | None:
        zero = Fraction(0)
        if measure is Measure.APPROXIMATE:
            return Approximate.from_amounts(self.epsilon, zero, up=True)
        if measure is Measure.ZCDP:
            return ZCDP.from_amounts(conversions.pure_rho(self.epsilon), zero, up=True)
        return GDP.from_amounts(conversions.pure_mu(self.epsilon) ** 2, zero, up=True)

    def _fields(self) -> dict[str, Fraction]:
        return {"epsilon": self.epsilon}


@dataclass(frozen=True, init=False)
class Approximate(Cost):
    """Privacy: (epsilon, delta)-DP; both prices add up. [Dwork, Kenthapadi et al. 2006, Thm 2].

    `delta` may be exactly 0, else it lies in [1e-18, 1).

    >>> print(Approximate(1, 1e-6))
    epsilon 1, delta 1e-6
    """

    epsilon: Fraction
    delta: Fraction
    measure: ClassVar[Measure] = Measure.APPROXIMATE

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _delta(delta))

    @property
    def amounts(self) -> tuple[Fraction, Fraction]:
        """(epsilon, delta)."""
        return self.epsilon, self.delta

    @classmethod
    def from_amounts(cls, main: Fraction, delta: Fraction, *, up: bool) -> Self:
        """Build from sums of epsilon and of delta."""
        return cls._restored({"epsilon": main, "delta": delta})

    def at_delta(self, delta: Number) -> "Approximate":
        """Return this price with a larger delta; a smaller one is refused."""
        wanted = _delta(delta)
        if wanted < self.delta:
            raise InvalidQuery(
                f"delta: {plain(wanted)} is below the {plain(self.delta)} of this price; "
                "ask for at least that"
            )
        return Approximate.from_amounts(self.epsilon, wanted, up=True)

    def largest_zcdp(self) -> "ZCDP":
        """Return the largest rho that stays within this price. [see conversions.zcdp_rho]."""
        self._needs_delta("zCDP")
        return ZCDP(min(LARGEST, conversions.zcdp_rho(self.epsilon, self.delta)))

    def largest_gdp(self) -> "GDP":
        """Return the largest mu that stays within this price. [see conversions.gdp_mu]."""
        self._needs_delta("Gaussian")
        return GDP(min(_LARGEST_MU, conversions.gdp_mu(self.epsilon, self.delta)))

    def _needs_delta(self, family: str) -> None:
        if not self.delta:
            raise InvalidQuery(
                f"delta: 0 allows no {family} noise; give a delta such as 1e-6, or use Laplace"
            )

    def _converted(self, measure: Measure) -> Cost | None:
        return None

    def _fields(self) -> dict[str, Fraction]:
        return {"epsilon": self.epsilon, "delta": self.delta}


@dataclass(frozen=True, init=False)
class ZCDP(Cost):
    """Privacy: rho-zCDP; prices add up. [Bun & Steinke 2016, Def. 1.1 and Lemma 1.7].

    >>> print(ZCDP("1/8").at_delta(1e-6))
    epsilon 2.41909317687, delta 1e-6
    """

    rho: Fraction
    measure: ClassVar[Measure] = Measure.ZCDP

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho"))

    @property
    def amounts(self) -> tuple[Fraction, Fraction]:
        """(rho, 0)."""
        return self.rho, Fraction(0)

    @classmethod
    def from_amounts(cls, main: Fraction, delta: Fraction, *, up: bool) -> Self:
        """Build from a sum of rho."""
        return cls._restored({"rho": main})

    def at_delta(self, delta: Number) -> "Approximate":
        """Return the (epsilon, delta) of this rho. [see conversions.zcdp_epsilon]."""
        wanted = _delta(delta, zero=False)
        return Approximate(conversions.zcdp_epsilon(self.rho, wanted), wanted)

    def largest_pure(self) -> Pure:
        """Return the largest epsilon that stays within this rho. [see conversions.zcdp_pure]."""
        return Pure(min(LARGEST, conversions.zcdp_pure(self.rho)))

    def _converted(self, measure: Measure) -> Cost | None:
        return None

    def _fields(self) -> dict[str, Fraction]:
        return {"rho": self.rho}


@dataclass(frozen=True, init=False)
class GDP(Cost):
    """Privacy: mu-GDP; the squares of mu add up. [Dong, Roth & Su 2019, Cor. 3.3].

    A share of mu is an irrational number; it is rounded down to 12 decimals.

    >>> print(GDP(1).share("1/4"), GDP(1).share("1/2"))
    mu 0.5 mu 0.707106781186
    """

    mu: Fraction
    measure: ClassVar[Measure] = Measure.GDP

    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", exact(mu, "mu", largest=_LARGEST_MU))

    @property
    def squared(self) -> Fraction:
        """mu^2, the amount that adds up."""
        return self.mu**2

    @property
    def amounts(self) -> tuple[Fraction, Fraction]:
        """(mu^2, 0)."""
        return self.squared, Fraction(0)

    @classmethod
    def from_amounts(cls, main: Fraction, delta: Fraction, *, up: bool) -> Self:
        """Build from a sum of mu^2."""
        return cls._restored({"mu": _root(main, up=up)})

    def at_delta(self, delta: Number) -> "Approximate":
        """Return the exact (epsilon, delta) of this mu. [see conversions.gdp_epsilon]."""
        wanted = _delta(delta, zero=False)
        return Approximate(conversions.gdp_epsilon(self.mu, wanted), wanted)

    def largest_pure(self) -> Pure:
        """Return the largest epsilon that stays within this mu. [see conversions.gdp_pure]."""
        return Pure(min(LARGEST, conversions.gdp_pure(self.mu)))

    def _converted(self, measure: Measure) -> Cost | None:
        """Privacy: mu-GDP implies mu^2/2-zCDP. [Dong, Roth & Su 2019, Cor. B.6]."""
        if measure is Measure.ZCDP:
            return ZCDP.from_amounts(self.squared / 2, Fraction(0), up=True)
        return None

    def _fields(self) -> dict[str, Fraction]:
        return {"mu": self.mu}


def _delta(value: object, *, zero: bool = True) -> Fraction:
    if zero and value == 0 and not isinstance(value, bool):
        return Fraction(0)
    return exact(value, "delta", smallest=SMALLEST_DELTA, largest=_BELOW_ONE)


def _root(square: Fraction, *, up: bool) -> Fraction:
    """Return the square root: exact where it is rational, else rounded to 12 decimals."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom)
    return Fraction(isqrt(int(square * 10**24)) + up, 10**12)
