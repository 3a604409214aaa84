"""Distribution checks: two samplers against each other, or samples against an exact law."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.audit.significance import chi_square_sf, kolmogorov_sf
from halfmask.audit.statistics import lowest_bit
from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive

__all__ = ["Check", "Comparison", "compare", "fits"]

Vector = NDArray[np.float64]
Law = Additive | Callable[[Vector], ArrayLike] | Sequence[float] | NDArray[np.float64]

_CELLS = 64
_EXPECTED = 60
"""The least expected number in a cell: far tails of chi-square hold from there on."""

_FEWEST = 200


@dataclass(frozen=True)
class Check:
    """One test: its statistic, and how probable one as large is where nothing differs."""

    name: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Comparison:
    """The outcome of several tests; `str` tells it in words.

    agree: whether none of them rejects. Where nothing differs it is False with a probability of
      at most alpha: each of the tests is held to its equal share of it (Bonferroni).
    """

    tests: tuple[Check, ...]
    alpha: float
    samples: tuple[int, ...]

    @property
    def p_value(self) -> float:
        """The smallest of the p-values, times their number."""
        return min(1.0, len(self.tests) * min(test.p_value for test in self.tests))

    @property
    def agree(self) -> bool:
        """Whether no difference was found."""
        return self.p_value >= self.alpha

    def __str__(self) -> str:
        verdict = "no difference found" if self.agree else "DIFFERENT"
        drawn = " and ".join(f"{n:,}".replace(",", " ") for n in self.samples)
        lines = [f"{verdict} in {drawn} samples, at false-alarm rate {self.alpha:g}"]
        lines += [f"  {t.name}: {t.statistic:.4g}, p = {t.p_value:.3g}" for t in self.tests]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        tests = [
            {"name": t.name, "statistic": t.statistic, "p_value": t.p_value} for t in self.tests
        ]
        return {
            "agree": self.agree,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "samples": list(self.samples),
            "tests": tests,
        }


def compare(a: ArrayLike, b: ArrayLike, *, alpha: float = 1e-6) -> Comparison:
    """Test whether two samples come from one law.

    Three tests: Kolmogorov and Smirnov's, chi-square on cells, and, for values that are not all
    whole, chi-square on the lowest bit that is set: where rounding has left traces that no
    histogram shows. The p-values are limits for many samples (for equal sizes from 458 on, the
    first is a proved bound [Wei & Dudley 2012, Thm 1]).

    Args:
        a: samples, shape (n,), n at least 200; infinities and NaN are values like others.
        b: samples, shape (m,).
        alpha: the false-alarm rate.

    >>> import numpy as np
    >>> from halfmask.noise import discrete_laplace
    >>> compare(discrete_laplace(9, 20_000), discrete_laplace(9, 20_000)).agree
    True
    >>> compare(discrete_laplace(9, 20_000), discrete_laplace(6, 20_000)).agree
    False

    """
    first, second = _sample(a, "a"), _sample(b, "b")
    tests = [_kolmogorov_smirnov(first, second), _contingency("chi-square", first, second)]
    if not (_whole(first) and _whole(second)):
        bits = [_lowest(sample) for sample in (first, second)]
        tests.append(_contingency("chi-square of the lowest bit", *bits))
    return Comparison(tuple(tests), _rate(alpha), (len(first), len(second)))


def fits(samples: ArrayLike, law: Law, *, alpha: float = 1e-6) -> Comparison:
    """Test whether samples come from a known law.

    Kolmogorov's test by Massart's bound, 2 exp(-2 n D²), which holds for every law and every n
    [Massart 1990], and chi-square on cells of about equal probability. A sample that the law
    cannot give (an infinity, a fraction where it gives integers) is a difference for certain.

    Args:
        samples: shape (n,), n at least 200.
        law: a noise mechanism (its samples are the noise: what is released less what is exact), the
            distribution function of a continuous law on arrays, or the probabilities of 0, 1, ...
        alpha: the false-alarm rate.

    >>> from halfmask.mechanisms import DiscreteLaplace
    >>> from halfmask.noise import discrete_laplace, rounded_laplace
    >>> fits(discrete_laplace(2, 50_000), DiscreteLaplace(1, 0.5)).agree
    True
    >>> fits(rounded_laplace(2, 50_000), DiscreteLaplace(1, 0.5)).agree    # not the same law
    False

    """
    drawn = _sample(samples, "samples")
    if isinstance(law, Additive):
        impossible, below, inner = _of_noise(drawn, law)
    elif callable(law):
        impossible, below, inner = _of_function(drawn, law)
    else:
        impossible, below, inner = _of_probabilities(drawn, law)
    tests = [_massart(below, inner, len(drawn)), _goodness(below, inner, len(drawn))]
    if impossible:
        tests.append(Check("impossible values", float(impossible), 0.0))
    return Comparison(tuple(tests), _rate(alpha), (len(drawn),))


Cut = tuple[int, Vector, Vector]
"""How many samples are impossible; at cut points, the share of samples below, and of the law."""


def _of_noise(drawn: Vector, law: Additive) -> Cut:
    """Cut at the half-widths that the law leaves with probability 1/c, 2/c, ...; and at 0."""
    possible = np.isfinite(drawn) & (drawn == np.rint(drawn))
    halves = sorted({law.interval(0, 1 - i / _CELLS)[1] for i in range(1, _CELLS, 2)})
    upper = np.array([law.tail(h) / 2 for h in halves])
    places = np.array([*(-h - 1 for h in reversed(halves)), *halves], dtype=np.float64)
    inner = np.concatenate([upper[::-1], 1 - upper])
    kept, index = np.unique(places, return_index=True)
    below = np.searchsorted(np.sort(drawn[possible]), kept, side="right")
    return int((~possible).sum()), below / len(drawn), inner[index]


def _of_function(drawn: Vector, law: Callable[[Vector], ArrayLike]) -> Cut:
    possible = np.isfinite(drawn)
    values = np.sort(np.asarray(law(drawn[possible]), dtype=np.float64))
    if values.shape != (int(possible.sum()),) or not ((values >= 0) & (values <= 1)).all():
        raise InvalidQuery(
            "law: returned something else than one probability a value; give P(X <= x) on arrays"
        )
    inner = np.arange(1, 16 * _CELLS) / (16 * _CELLS)
    below = np.searchsorted(values, inner, side="right")
    return int((~possible).sum()), below / len(drawn), inner


def _of_probabilities(drawn: Vector, law: Sequence[float] | Vector) -> Cut:
    chances = np.asarray(law, dtype=np.float64)
    if chances.ndim != 1 or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-9:
        raise InvalidQuery("law: probabilities are non-negative and sum to 1; these are not so")
    possible = np.isin(drawn, np.flatnonzero(chances))
    below = np.searchsorted(np.sort(drawn[possible]), np.arange(len(chances) - 1), side="right")
    return int((~possible).sum()), below / len(drawn), np.cumsum(chances)[:-1]


def _massart(below: Vector, inner: Vector, count: int) -> Check:
    farthest = float(np.abs(below - inner).max())
    return Check("Kolmogorov", farthest, min(1.0, 2 * math.exp(-2 * count * farthest**2)))


def _goodness(below: Vector, inner: Vector, count: int) -> Check:
    """Compare cells between the cuts, merged until enough is expected in each."""
    seen = np.diff(below * count, prepend=0.0, append=float(count))
    expected = np.diff(inner * count, prepend=0.0, append=float(count))
    cells = _merged(expected, max(_EXPECTED, count / _CELLS))
    counts, means = np.bincount(cells, seen), np.bincount(cells, expected)
    return _chi_square("chi-square", float(((counts - means) ** 2 / means).sum()), len(counts))


def _kolmogorov_smirnov(first: Vector, second: Vector) -> Check:
    one, two = _counts(first, second)
    farthest = float(np.abs(np.cumsum(one) / len(first) - np.cumsum(two) / len(second)).max())
    effective = len(first) * len(second) / (len(first) + len(second))
    return Check("Kolmogorov-Smirnov", farthest, kolmogorov_sf(farthest * math.sqrt(effective)))


def _contingency(name: str, first: Vector, second: Vector) -> Check:
    """Compare cells of the pooled sample, merged until enough is expected of both in each."""
    one, two = _counts(first, second)
    both, fewest = len(first) + len(second), min(len(first), len(second))
    cells = _merged(one + two, max(_EXPECTED * both / fewest, both / _CELLS))
    mine, yours = np.bincount(cells, one), np.bincount(cells, two)
    pooled = mine + yours
    gap = mine * math.sqrt(len(second) / len(first)) - yours * math.sqrt(len(first) / len(second))
    return _chi_square(name, float((gap**2 / pooled).sum()), len(pooled))


def _counts(first: Vector, second: Vector) -> tuple[Vector, Vector]:
    """How often each value of both occurs in either, in order; NaN is the last value."""
    values, index = np.unique(np.concatenate([first, second]), return_inverse=True)
    split, size = len(first), len(values)
    one = np.bincount(index[:split], minlength=size).astype(np.float64)
    return one, np.bincount(index[split:], minlength=size).astype(np.float64)


def _merged(expected: Vector, least: float) -> NDArray[np.int64]:
    """Number the cells so that neighbours share one until `least` is expected in it."""
    cells = np.zeros(len(expected), dtype=np.int64)
    cell, held = 0, 0.0
    for i, number in enumerate(expected.tolist()):
        cells[i] = cell
        held += number
        if held >= least:
            cell, held = cell + 1, 0.0
    if held < least and cell:  # the rest is too little for a cell of its own
        cells[cells == cell] = cell - 1
    return cells


def _chi_square(name: str, statistic: float, cells: int) -> Check:
    return Check(name, statistic, chi_square_sf(statistic, cells - 1) if cells > 1 else 1.0)


def _sample(values: ArrayLike, name: str) -> Vector:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise InvalidQuery(
            f"{name}: of shape {array.shape} and type {array.dtype}; give (n,) numbers"
        )
    if len(array) < _FEWEST:
        raise InvalidQuery(f"{name}: {len(array)} samples; draw {_FEWEST} at the least")
    return array.astype(np.float64)


def _whole(sample: Vector) -> bool:
    finite = sample[np.isfinite(sample)]
    return bool((finite == np.rint(finite)).all())


def _lowest(sample: Vector) -> Vector:
    return lowest_bit(sample[:, None])[:, 0]


def _rate(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise InvalidQuery(f"alpha: {alpha} is no rate of false alarms; give 1e-6, for instance")
    return float(alpha)
