"""What a promise in one currency is worth in another.

Every function takes exact fractions and returns an exact fraction of 12 significant digits that
errs on the safe side: a loss is rounded up, an allowance down.

pure epsilon     -> rho, mu          pure_rho, pure_mu, bounded_range_rho
rho (zCDP)      <-> (epsilon, delta)  zcdp_delta, zcdp_epsilon, zcdp_rho
mu (GDP)        <-> (epsilon, delta)  gdp_delta, gdp_epsilon, gdp_mu
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from halfmask.privacy.exact import SMALLEST, SMALLEST_DELTA
from halfmask.privacy.normal import WORK, decimal, normal_tail, round_down, round_up

__all__ = [
    "bounded_range_rho",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "pure_mu",
    "pure_rho",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]

_ONE = Decimal(1)
_FAR = Decimal(50)  # a normal tail beyond 50 is under 1e-500: below any delta
_DIGITS = Decimal("1e-14")  # relative width at which a search for a root ends


@lru_cache
def pure_rho(epsilon: Fraction) -> Fraction:
    """Return the smallest rho with: every epsilon-DP mechanism is rho-zCDP.

    Privacy: rho = epsilon*tanh(epsilon/2) <= epsilon^2/2. [Bun & Steinke 2016, Prop. 3.3; below]

    Every epsilon-DP pair is post-processed randomised response [Kairouz, Oh & Viswanath 2015],
    whose Renyi divergence D obeys (a-1)*D_a = ln cosh((2a-1)*t) - ln cosh(t), with t = epsilon/2.
    Since s -> ln cosh(sqrt(s)) is concave (its slope tanh(r)/2r falls), its tangent at t^2 bounds
    that by ((2a-1)^2 - 1)*t*tanh(t)/2 = (a-1)*a*epsilon*tanh(t). Equality holds as a -> 1.
    """
    e = decimal(epsilon)
    shrunk = WORK.exp(-e)
    tangent = WORK.divide(WORK.subtract(_ONE, shrunk), WORK.add(_ONE, shrunk))
    return min(round_up(WORK.multiply(e, tangent)), epsilon**2 / 2)


def bounded_range_rho(epsilon: Fraction) -> Fraction:
    """Return the rho of a mechanism of bounded range epsilon, such as the exponential mechanism.

    Privacy: epsilon-bounded-range implies epsilon^2/8-zCDP. [Cesar & Rogers 2021, Lemma 3.4]
    """
    return epsilon**2 / 8


@lru_cache
def pure_mu(epsilon: Fraction) -> Fraction:
    """Return the smallest mu with: every epsilon-DP mechanism is mu-GDP.

    Privacy: mu = 2*Phi^-1(e^epsilon/(1 + e^epsilon)). [Dong, Roth & Su 2022, Prop. 2.4; below]

    The trade-off curve of epsilon-DP is two chords that meet at (p, p), p = 1/(1 + e^epsilon).
    The curve of mu-GDP is convex and passes through the ends and the meeting point of both, since
    Phi(-mu/2) = p; so it lies below the chords, and no smaller mu does.
    """
    target = WORK.divide(_ONE, WORK.add(_ONE, WORK.exp(decimal(epsilon))))
    return round_up(_crossing(lambda m: normal_tail(WORK.divide(m, Decimal(2))) <= target)[1])


@lru_cache
def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return a delta with: every rho-zCDP mechanism is (epsilon, delta)-DP.

    Privacy: min over a of exp((a-1)(a*rho - epsilon))/(a-1) * (1 - 1/a)^a. [Canonne, Kamath &
    Steinke 2020, Prop. 12]

    Every order a > 1 is valid, so a is found in floating point (the logarithm's slope in a is
    increasing) and only the bound at that a is computed with care.
    """
    r, e = float(rho), float(epsilon)
    a = _order(lambda t: (2 * t + 1) * r - e + math.log(t) - math.log1p(t), largest=1e30)
    t = WORK.subtract(a, _ONE)
    exponent = WORK.multiply(t, WORK.subtract(WORK.multiply(a, decimal(rho)), decimal(epsilon)))
    exponent = WORK.add(exponent, WORK.multiply(t, WORK.ln(WORK.divide(t, a))))
    exponent = WORK.subtract(exponent, WORK.ln(a))
    if exponent >= 0:
        return Fraction(1)
    if exponent < -1000:  # e^-1000: below any delta that is told apart from 0
        return SMALLEST_DELTA
    return max(SMALLEST_DELTA, min(Fraction(1), round_up(WORK.exp(exponent))))


@lru_cache
def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon with: every rho-zCDP mechanism is (epsilon, delta)-DP.

    Privacy: min over a of a*rho + ln(1 - 1/a) - ln(a*delta)/(a-1). [Canonne, Kamath & Steinke
    2020, Cor. 13]
    """
    r, log_delta = float(rho), math.log(delta)
    a = _order(lambda t: r * t * t + math.log1p(t) + log_delta, largest=1e30)
    bound = WORK.add(WORK.multiply(a, decimal(rho)), _correction(a, decimal(delta)))
    return max(SMALLEST, round_up(bound)) if bound > 0 else SMALLEST


@lru_cache
def zcdp_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho for which `zcdp_epsilon(rho, delta)` stays within epsilon.

    Privacy: max over a of (epsilon - ln(1 - 1/a) + ln(a*delta)/(a-1))/a. [Canonne, Kamath &
    Steinke 2020, Cor. 13]
    """
    e, log_delta = float(epsilon), math.log(delta)

    def falling(t: float) -> float:
        log_over = -(log_delta + math.log1p(t))
        return log_over * (2 * t + 1) / t / t + math.log(t) - math.log1p(t) - e

    a = _order(lambda t: -falling(t), largest=1 / float(delta) - 1)
    slack = WORK.subtract(decimal(epsilon), _correction(a, decimal(delta)))
    return round_down(WORK.divide(slack, a))


@lru_cache
def gdp_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """Return the smallest delta with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: Phi(mu/2 - epsilon/mu) - e^epsilon*Phi(-mu/2 - epsilon/mu). [Balle & Wang 2018,
    Thm 8; Dong, Roth & Su 2022, Cor. 1]
    """
    return max(SMALLEST_DELTA, round_up(_gaussian_delta(decimal(mu), decimal(epsilon))))


@lru_cache
def gdp_epsilon(mu: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest epsilon with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: the inverse of `gdp_delta` in epsilon. [Balle & Wang 2018, Thm 8]
    """
    m, target = decimal(mu), decimal(delta)
    if _gaussian_delta(m, decimal(SMALLEST)) <= target:
        return SMALLEST
    return round_up(_crossing(lambda e: _gaussian_delta(m, e) <= target)[1])


@lru_cache
def gdp_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest mu with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: the inverse of `gdp_delta` in mu. [Balle & Wang 2018, Thm 8]
    """
    e, target = decimal(epsilon), decimal(delta)
    return round_down(_crossing(lambda m: _gaussian_delta(m, e) > target)[0])


def _gaussian_delta(mu: Decimal, epsilon: Decimal) -> Decimal:
    middle, half = WORK.divide(epsilon, mu), WORK.divide(mu, Decimal(2))
    near, far = WORK.subtract(middle, half), WORK.add(middle, half)
    if near > _FAR:
        return Decimal("1e-500")
    return WORK.subtract(normal_tail(near), WORK.multiply(WORK.exp(epsilon), normal_tail(far)))


def _correction(a: Decimal, delta: Decimal) -> Decimal:
    """Return ln(1 - 1/a) - ln(a*delta)/(a-1)."""
    t = WORK.subtract(a, _ONE)
    spread = WORK.divide(WORK.ln(WORK.multiply(a, delta)), t)
    return WORK.subtract(WORK.ln(WORK.divide(t, a)), spread)


def _order(increasing: Callable[[float], float], *, largest: float) -> Decimal:
    """Return 1 + t, with t near the root of an increasing function on (0, largest)."""
    low, high = 1e-30, largest
    for _ in range(200):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return WORK.add(_ONE, Decimal(low))


def _crossing(reached: Callable[[Decimal], bool]) -> tuple[Decimal, Decimal]:
    """Return the two sides of the point where a monotone condition on (0, inf) turns true."""
    low = high = _ONE
    while not reached(high):
        low, high = high, WORK.multiply(high, Decimal(4))
    while low == high or reached(low):
        low, high = WORK.divide(low, Decimal(4)), low
    while high - low > _DIGITS * high:
        middle = WORK.divide(WORK.add(low, high), Decimal(2))
        low, high = (low, middle) if reached(middle) else (middle, high)
    return low, high
