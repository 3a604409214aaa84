"""How surprising a test statistic is: the survival functions of two laws, without SciPy."""

import math

__all__ = ["chi_square_sf", "kolmogorov_sf"]

_TINY = 1e-300


def kolmogorov_sf(x: float) -> float:
    """Return P(K > x) for Kolmogorov's law, the limit of sqrt(n) times the largest difference.

    Two series of one theta function: each is used where its second term is small.
    [Kolmogorov 1933; Feller 1948]

    >>> round(kolmogorov_sf(1.3581), 4)
    0.05
    """
    if x <= 0:
        return 1.0
    if x < 1:
        terms = (math.exp(-((2 * k - 1) ** 2) * math.pi**2 / (8 * x * x)) for k in range(1, 4))
        return 1 - math.sqrt(2 * math.pi) / x * math.fsum(terms)
    return 2 * math.fsum((-1) ** (k - 1) * math.exp(-2 * k * k * x * x) for k in range(1, 6))


def chi_square_sf(x: float, degrees: int) -> float:
    """Return P(X > x) for the chi-square law: the upper incomplete gamma function.

    Below the mean by its power series, above it by its continued fraction (Lentz's way).
    [Abramowitz & Stegun 1964, 6.5.29 and 6.5.31]

    >>> round(chi_square_sf(3.8415, 1), 4)
    0.05
    """
    if degrees < 1:
        raise ValueError(f"degrees: {degrees} is below 1")
    a, z = degrees / 2, x / 2
    if z <= 0:
        return 1.0
    scale = math.exp(a * math.log(z) - z - math.lgamma(a))
    if z < a + 1:
        return max(0.0, 1 - scale * _series(a, z))
    return scale * _fraction(a, z)


def _series(a: float, z: float) -> float:
    """The sum of z^k / (a (a+1) ... (a+k))."""
    term = total = 1 / a
    k = 0
    while term > total * 1e-17:
        k += 1
        term *= z / (a + k)
        total += term
    return total


def _fraction(a: float, z: float) -> float:
    """The continued fraction 1/(z+1-a - 1(1-a)/(z+3-a - 2(2-a)/(z+5-a - ...)))."""
    b = z + 1 - a
    c, d = 1 / _TINY, 1 / b
    total, change, k = d, 0.0, 0
    while abs(change - 1) > 1e-16 and k < 10_000:
        k += 1
        step = -k * (k - a)
        b += 2
        d = 1 / _away_from_zero(step * d + b)
        c = _away_from_zero(b + step / c)
        change = d * c
        total *= change
    return total


def _away_from_zero(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
