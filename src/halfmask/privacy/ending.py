"""What an (epsilon, delta) leaves for Gaussian noise, once other stages have spent a rho.

Adding all up in zCDP wastes what is known of the last noise: its exact curve. Kept, it buys 5 to
13 % less noise for the same (epsilon, delta).
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from halfmask.errors import BudgetExhausted
from halfmask.privacy.conversions import zcdp_order
from halfmask.privacy.cost import Cost
from halfmask.privacy.currencies import GDP, ZCDP, Approximate
from halfmask.privacy.exact import SMALLEST
from halfmask.privacy.normal import decimal, in_sixty_digits, normal_tail, round_down
from halfmask.privacy.purse import Purse

__all__ = ["EndingPurse", "gdp_after_zcdp"]

_LEAST, _MOST = 1e-9, 1e3  # mu
_NEAR = Decimal("1e-5")  # how closely the worst point is bracketed, in deviations


@lru_cache
@in_sixty_digits
def gdp_after_zcdp(rho: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a mu with: stages that spend rho in zCDP, then a mu-GDP end, are (epsilon, delta)-DP.

    0 where rho leaves nothing. The stages, the rho that they spend and with it the mu may be chosen
    by the answers so far, as long as the mu is the one for the rho that was spent.

    Privacy: the order a of `zcdp_rho`, which (epsilon, delta) fix, and s = a - 1. With A(mu) =
    sup over x of delta_mu(x) e^(s x), delta_mu the curve of `gdp_delta` on the whole line, mu is
    such that A(mu) <= delta e^(s (epsilon - a rho)).
    Proof: let L be the privacy loss of the stages before the end, under one neighbour's law. Given
    their answers, the end has the curve delta_mu, so the whole has delta(epsilon) <=
    E[delta_mu(epsilon - L)] <= E[A(mu) e^(s (L - epsilon))] <= delta E[e^(s (L - a rho))]. A stage
    of rho_t-zCDP, given what came before, has E[e^(s L_t)] <= e^(s a rho_t) [Bun & Steinke 2016,
    Def. 1.1], so the last mean is at most 1 by induction over the stages, whatever the rho_t are
    chosen by (as in [Feldman & Zrnic 2021] at one order).
    Never less than the rest of the rho: A(mu) is at most e^(s a mu^2/2) times the sup over t of
    (1 - e^-t) e^(-s t), which makes the condition that of `zcdp_rho` for rho + mu^2/2.
    [Canonne, Kamath & Steinke 2020, Prop. 12]
    """
    s = zcdp_order(epsilon, delta) - 1
    allowed = decimal(delta).ln() + s * (decimal(epsilon) - (s + 1) * decimal(rho))
    guess, t = _guess(float(s), float(allowed))
    for tries in range(40):
        mu = Decimal(guess) * (1 - Decimal(4) ** tries * Decimal("1e-11"))
        if mu <= 0:
            break
        if _log_worst(mu, s, Decimal(t)) <= allowed:
            found = round_down(mu)
            return found if found >= SMALLEST else Fraction(0)
    return Fraction(0)


def _log_worst(mu: Decimal, s: Decimal, t: Decimal) -> Decimal:
    """Return ln A(mu) or a little more, given about where its sup lies.

    In x, ln delta_mu is concave: delta_mu(x) is the integral over l > x of e^(x - l) P(L > l), so
    the convolution of the log-concave e^y 1{y <= 0} and a normal tail, and is log-concave
    [Prekopa 1973]. So where its slope passes -s between two points, the sup lies between them,
    below the tangent at the left one.
    """
    wide = _NEAR
    while True:
        low, high = t - wide, t + wide
        (value, slope), (_, beyond) = _log_delta(mu, low), _log_delta(mu, high)
        if slope <= s <= beyond:
            return value + s * mu * (low + mu / 2) + (s - slope) * mu * (high - low)
        wide *= 10


def _log_delta(mu: Decimal, t: Decimal) -> tuple[Decimal, Decimal]:
    """Return ln delta_mu and minus its slope at x = mu (t + mu/2)."""
    far = (mu * (t + mu / 2)).exp() * normal_tail(t + mu)
    delta = normal_tail(t) - far
    return delta.ln(), far / delta


def _guess(s: float, allowed: float) -> tuple[float, float]:
    """Return about the mu with ln A(mu) = allowed, and its t: floats, so a guess."""
    least, most, t = _LEAST, _MOST, 0.0
    for _ in range(60):
        mu = math.sqrt(least * most)
        t = _worst(mu, s)
        gap = _log_mills(t) - _log_mills(t + mu)
        log_delta = _log_mills(t) - t * t / 2 + math.log(-math.expm1(-gap))
        over = log_delta - math.log(2 * math.pi) / 2 + s * mu * (t + mu / 2) > allowed
        least, most = (least, mu) if over else (mu, most)
    return least, t


def _worst(mu: float, s: float) -> float:
    """Return the t at which ln delta_mu has the slope -s: where Mills ratios are 1 + 1/s apart."""
    low, high = -1e4, 1e4
    for _ in range(70):
        t = (low + high) / 2
        apart = _log_mills(t) - _log_mills(t + mu) > math.log1p(1 / s)
        low, high = (t, high) if apart else (low, t)
    return low


def _log_mills(t: float) -> float:
    """Return ln (P(N > t) / density(t))."""
    if t < 20:
        return math.log(math.erfc(t / math.sqrt(2)) / 2) + t * t / 2 + math.log(2 * math.pi) / 2
    below = t
    for k in range(20, 0, -1):
        below = t + k / below
    return -math.log(below)


class EndingPurse:
    """A purse of an (epsilon, delta): parts in rho first, of at most `inside`, parts in mu last.

    Privacy: that of `gdp_after_zcdp`: what is spent in mu comes after all that is spent in rho,
    and adds up to the mu that it leaves [Dong, Roth & Su 2022, Cor. 1; adaptively Smith & Thakurta
    2022].

    >>> purse = EndingPurse(Approximate(1, "1e-6"), ZCDP("0.02"))
    >>> purse.spend(ZCDP("0.01"))
    >>> print(purse.last)
    mu 0.186021357978
    """

    def __init__(self, price: Approximate, inside: ZCDP) -> None:
        self.price = price
        self._first = Purse(inside)
        self._inside = inside
        self._last: Purse | None = None

    @property
    def last(self) -> GDP:
        """What is left for the end."""
        spent = self._inside.amounts[0] - self._first.remaining.amounts[0]
        return GDP(gdp_after_zcdp(spent, self.price.epsilon, self.price.delta))

    def spend(self, part: Cost) -> None:
        """Take a part out of the purse, or raise BudgetExhausted and take nothing."""
        if not isinstance(part, GDP):
            if self._last is not None:
                raise BudgetExhausted(f"part: {part} comes after the end, which {self.price} paid")
            self._first.spend(part)
            return
        if self._last is None:
            self._last = Purse(self.last)
        self._last.spend(part)
