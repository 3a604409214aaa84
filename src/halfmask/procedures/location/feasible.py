"""Whether a choice among all cells finds the points at all: from public facts.

A choice weighs a cell by exp(-rate * score). Far cells have the number of rows n as their score, so
together they weigh their number times exp(-rate n). About the middle of normal points of deviation
s the score rises by 2 n/(s sqrt(2 pi)) a length, so the cells there weigh as many as lie within
sqrt(2 pi) s/(rate n). With 2^octaves deviations between the bounds the odds of a far cell are thus
2^octaves rate n/sqrt(2 pi) exp(-rate n): in a box of d coordinates, that without the exponential to
the power of d, over d! (the levels of nested boxes), times the exponential.

Where a quarter of the rows lie far out on one side, every cell between them and the others has n/2
as its score. The odds of those are the same with half of the exponent: so it takes about twice the
rows to find the others whatever such outliers do, hardly more where these are ten deviations away.
"""

from collections.abc import Callable
from math import lgamma, log, pi, sqrt

__all__ = ["enough", "finds", "finds_box", "finds_spatial", "pull_among", "pull_needed"]

MOST_ROWS = 10**12

MARGIN = 14.0
"""Odds of a far cell are below exp(-14), a millionth, for normal points and heavy tails."""

TEN, BEFORE = log(10) / log(2), 12.0
"""The octaves of ten deviations, and the margin of a cell before a quarter of outliers there: by
exact odds it leaves a millionth too, as the cells that count as lost are fewer."""

AMONG = 8.0
"""The same of a cell before far outliers, where a quarter of the rows are such."""

RUNG, AMONG_RUNGS = 7.0, 5.0
"""Both for a rung of a ladder, which outliers share with few others."""


def _far(pull: float, octaves: float) -> float:
    return octaves * log(2) + log(max(pull, 1.0) / sqrt(2 * pi))


def finds(pull: float, octaves: float, choices: int) -> bool:
    """Tell whether each of several choices finds its coordinate; pull: rate times rows."""
    before = 2 * (_far(pull, TEN) + log(choices) + BEFORE)
    return pull >= max(_far(pull, octaves) + log(choices) + MARGIN, before)


def finds_box(pull: float, octaves: float, d: int) -> bool:
    """Tell whether one choice finds all coordinates at once."""
    before = 2 * (d * _far(pull, TEN) - lgamma(d + 1) + BEFORE)
    return pull >= max(d * _far(pull, octaves) - lgamma(d + 1) + MARGIN, before)


def finds_spatial(pull: float, octaves: float, d: int, slope: float) -> bool:
    """Tell whether one choice by sums of directions finds the centre.

    slope: by how much the mean direction rises a deviation from the centre. About it the score is
    pull * slope * distance, so the cells there weigh as many as a volume of
    2 pi^(d/2) (d-1)!/Gamma(d/2) / (pull * slope)^d deviations holds.
    """
    ball = log(2) + d / 2 * log(pi) + lgamma(d) - lgamma(d / 2)
    return pull >= d * (octaves * log(2) + log(max(pull, 1.0) * slope)) - ball + MARGIN


def enough(feasible: Callable[[int], bool]) -> str:
    """Say about how many rows would do."""
    rows = 2
    while rows < MOST_ROWS and not feasible(rows):
        rows *= 2
    if rows >= MOST_ROWS:
        return "no number of rows would do"
    low = rows // 2
    while rows - low > max(low // 50, 1):
        middle = (low + rows) // 2
        low, rows = (low, middle) if feasible(middle) else (middle, rows)
    return f"about {rows} would do"


def pull_needed(octaves: float, choices: int) -> float:
    """Return a rate times rows that finds each of several coordinates among a quarter of outliers.

    Wherever these are: so it is more than `finds` asks for.

    >>> 54 < pull_needed(20, 10) < 55, finds(39.0, 20, 10), finds(38.0, 20, 10)
    (True, True, False)
    """
    pull = MARGIN
    for _ in range(30):
        pull = max(2 * (_far(pull, octaves) + log(choices) + AMONG), 1.0)
    return pull


def pull_among(rungs: int, choices: int, outliers: bool = True) -> float:
    """Return the least rate times rows for choices among so many rungs."""
    found = log(rungs) + log(choices)
    return 2 * (found + AMONG_RUNGS) if outliers else found + RUNG
