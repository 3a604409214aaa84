"""What a promise in one currency is worth in another.

Every function takes exact fractions and returns an exact fraction of 12 significant digits that
errs on the safe side: a loss is rounded up, an allowance down.

pure epsilon    <-> rho, mu          pure_rho, pure_mu, bounded_range_rho, zcdp_pure, gdp_pure
rho (zCDP)      <-> (epsilon, delta)  zcdp_delta, zcdp_epsilon, zcdp_rho
mu (GDP)        <-> (epsilon, delta)  gdp_delta, gdp_epsilon, gdp_mu
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from halfmask.privacy.exact import SMALLEST, SMALLEST_DELTA
from halfmask.privacy.normal import (
    decimal,
    in_sixty_digits,
    normal_tail,
    root,
    round_down,
    round_up,
)

__all__ = [
    "bounded_range_rho",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "gdp_pure",
    "pure_mu",
    "pure_rho",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_order",
    "zcdp_pure",
    "zcdp_rho",
]

_SPARED = 1 - Decimal("2e-11")  # more than both roundings to 12 digits
_FAR = 50  # a normal tail beyond 50 is under 1e-500: below any delta


@lru_cache
@in_sixty_digits
def pure_rho(epsilon: Fraction) -> Fraction:
    """Return the smallest rho with: every epsilon-DP mechanism is rho-zCDP.

    Privacy: rho = epsilon*tanh(epsilon/2) <= epsilon^2/2. [Bun & Steinke 2016, Prop. 3.3 (the
    bound epsilon^2/2); Steinke 2024, "Tight RDP & zCDP Bounds from Pure DP"; proof below]

    Every epsilon-DP pair is post-processed randomised response [Kairouz, Oh & Viswanath 2015],
    whose Renyi divergence D obeys (a-1)*D_a = ln cosh((2a-1)*t) - ln cosh(t), with t = epsilon/2.
    Since s -> ln cosh(sqrt(s)) is concave (its slope tanh(r)/2r falls), its tangent at t^2 bounds
    that by ((2a-1)^2 - 1)*t*tanh(t)/2 = (a-1)*a*epsilon*tanh(t). Equality holds as a -> 1.
    """
    e = decimal(epsilon)
    shrunk = (-e).exp()
    return min(round_up(e * (1 - shrunk) / (1 + shrunk)), epsilon**2 / 2)


def bounded_range_rho(epsilon: Fraction) -> Fraction:
    """Return the rho of a mechanism of bounded range epsilon, such as the exponential mechanism.

    Privacy: epsilon-bounded-range implies epsilon^2/8-zCDP. [Cesar & Rogers 2021]
    """
    return epsilon**2 / 8


@lru_cache
@in_sixty_digits
def pure_mu(epsilon: Fraction) -> Fraction:
    """Return the smallest mu with: every epsilon-DP mechanism is mu-GDP.

    Privacy: mu = 2*Phi^-1(e^epsilon/(1 + e^epsilon)). [Dong, Roth & Su 2019, Prop. 2.4; below]

    The trade-off curve of epsilon-DP is two chords that meet at (p, p), p = 1/(1 + e^epsilon).
    The curve of mu-GDP is convex and passes through the ends and the meeting point of both, since
    Phi(-mu/2) = p; so it lies below the chords, and no smaller mu does.
    """
    log_p = -(1 + decimal(epsilon).exp()).ln()
    return round_up(root(lambda m: log_p - normal_tail(m / 2).ln())[1])


@lru_cache
@in_sixty_digits
def zcdp_pure(rho: Fraction) -> Fraction:
    """Return the largest epsilon with: every epsilon-DP mechanism is rho-zCDP, nearly.

    Privacy: the inverse of `pure_rho`, so that pure_rho(zcdp_pure(rho)) <= rho, roundings included.
    """
    target = decimal(rho)

    def over(e: Decimal) -> Decimal:
        shrunk = (-e).exp()
        return e * (1 - shrunk) / (1 + shrunk) - target

    return round_down(root(over)[0] * _SPARED)


@lru_cache
@in_sixty_digits
def gdp_pure(mu: Fraction) -> Fraction:
    """Return the largest epsilon with: every epsilon-DP mechanism is mu-GDP, nearly.

    Privacy: the inverse of `pure_mu`, ln((1 - p)/p) with p = Phi(-mu/2), so that
    pure_mu(gdp_pure(mu)) <= mu, roundings included.
    """
    p = normal_tail(decimal(mu) / 2 * _SPARED)
    return round_down(((1 - p) / p).ln() * _SPARED)


@lru_cache
@in_sixty_digits
def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return a delta with: every rho-zCDP mechanism is (epsilon, delta)-DP.

    Privacy: min over a of exp((a-1)(a*rho - epsilon))/(a-1) * (1 - 1/a)^a. [Canonne, Kamath &
    Steinke 2020, Prop. 12]

    Every order a > 1 is valid, so a is found in floating point (the logarithm's slope in a is
    increasing) and only the bound at that a is computed with care.
    """
    r, e = float(rho), float(epsilon)
    a = _order(lambda t: (2 * t + 1) * r - e + math.log(t) - math.log1p(t))
    exponent = (a - 1) * (a * decimal(rho) - decimal(epsilon) + (1 - 1 / a).ln()) - a.ln()
    return _as_delta(min(max(exponent, Decimal(-1000)), Decimal(0)).exp())


@lru_cache
@in_sixty_digits
def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon with: every rho-zCDP mechanism is (epsilon, delta)-DP.

    Privacy: min over a of a*rho + ln(1 - 1/a) - ln(a*delta)/(a-1). [Canonne, Kamath & Steinke
    2020, Cor. 13]
    """
    r, log_delta = float(rho), float(decimal(delta).ln())
    a = _order(lambda t: r * t * t + math.log1p(t) + log_delta)
    bound = a * decimal(rho) + _correction(a, decimal(delta))
    return max(SMALLEST, round_up(bound)) if bound > 0 else SMALLEST


@lru_cache
@in_sixty_digits
def zcdp_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho for which `zcdp_epsilon(rho, delta)` stays within epsilon.

    Privacy: max over a of (epsilon - ln(1 - 1/a) + ln(a*delta)/(a-1))/a. [Canonne, Kamath &
    Steinke 2020, Cor. 13]
    """
    a = zcdp_order(epsilon, delta)
    return round_down((decimal(epsilon) - _correction(a, decimal(delta))) / a)


@lru_cache
@in_sixty_digits
def zcdp_order(epsilon: Fraction, delta: Fraction) -> Decimal:
    """Return the order a at which `zcdp_rho` finds its largest rho."""
    e, log_delta = float(epsilon), float(decimal(delta).ln())

    def falling(t: float) -> float:
        log_over = -(log_delta + math.log1p(t))
        return log_over * (2 * t + 1) / t / t + math.log(t) - math.log1p(t) - e

    return _order(lambda t: -falling(t))


@lru_cache
@in_sixty_digits
def gdp_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """Return the smallest delta with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: Phi(mu/2 - epsilon/mu) - e^epsilon*Phi(-mu/2 - epsilon/mu). [Balle & Wang 2018,
    Thm 8; Dong, Roth & Su 2019, Cor. 2.13]
    """
    return _as_delta(_gaussian_delta(decimal(mu), decimal(epsilon)))


@lru_cache
@in_sixty_digits
def gdp_epsilon(mu: Fraction, delta: Fraction) -> Fraction:
    """Return the smallest epsilon with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: the inverse of `gdp_delta` in epsilon. [Balle & Wang 2018, Thm 8]
    """
    m, target = decimal(mu), decimal(delta).ln()
    if _gaussian_delta(m, decimal(SMALLEST)).ln() <= target:
        return SMALLEST
    return round_up(root(lambda e: target - _gaussian_delta(m, e).ln())[1])


@lru_cache
@in_sixty_digits
def gdp_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest mu with: every mu-GDP mechanism is (epsilon, delta)-DP.

    Privacy: the inverse of `gdp_delta` in mu. [Balle & Wang 2018, Thm 8]
    """
    e, target = decimal(epsilon), decimal(delta).ln()
    return round_down(root(lambda m: _gaussian_delta(m, e).ln() - target)[0])


def _as_delta(bound: Decimal) -> Fraction:
    return max(SMALLEST_DELTA, min(Fraction(1), round_up(bound)))


def _gaussian_delta(mu: Decimal, epsilon: Decimal) -> Decimal:
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near > _FAR:
        return Decimal("1e-500")
    return normal_tail(near) - epsilon.exp() * normal_tail(far)


def _correction(a: Decimal, delta: Decimal) -> Decimal:
    """Return ln(1 - 1/a) - ln(a*delta)/(a-1)."""
    return (1 - 1 / a).ln() - (a * delta).ln() / (a - 1)


def _order(increasing: Callable[[float], float]) -> Decimal:
    """Return 1 + t, with t near the root of an increasing function on (0, 1e30)."""
    low, high = 1e-30, 1e30
    for _ in range(80):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return 1 + Decimal(low)
