"""Rows, grids and laws that the tests of the exact spatial median share."""

import itertools
from fractions import Fraction

import numpy as np
from scipy.stats import chisquare

from halfmask.mechanisms import SpatialMedian
from halfmask.noise import secure_words

FALSE_ALARM = 1e-6


def float_lengths(points, places, steps):
    gaps = (points[None] - np.array(places)[:, None]) * np.array(steps, float)
    lengths = np.linalg.norm(gaps, axis=2, keepdims=True)
    units = np.divide(gaps, lengths, out=np.zeros_like(gaps), where=lengths > 0)
    return np.linalg.norm(units.sum(axis=1), axis=1)


def box(lower, upper):
    return list(itertools.product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True))))


def masses(points, places, steps, rate):
    weights = np.exp(-float(rate) * float_lengths(points, places, steps))
    return weights / weights.sum()


KINDS = {
    "normal": lambda g, n, d: g.normal(size=(n, d)),
    "cauchy": lambda g, n, d: g.standard_cauchy(size=(n, d)),
    "stretched": lambda g, n, d: g.normal(size=(n, d)) * np.geomspace(1, 10, d),
    "lattice": lambda g, n, d: np.rint(g.normal(size=(n, d))),
    "two clusters": lambda g, n, d: g.normal(size=(n, d)) + 30 * (g.random((n, 1)) < 0.4),
    "equal": lambda g, n, d: np.ones((n, d)),
    "line": lambda g, n, d: g.normal(size=(n, 1)) * np.ones(d),
}


def agreement(seen, law):
    """The p-value of counts under a law; places expected fewer than 5 times are taken together."""
    expected = law * seen.sum()
    rare = expected < 5
    if rare.any():
        seen, expected = (np.append(x[~rare], x[rare].sum()) for x in (seen, expected))
        if expected[-1] < 5:
            seen[0], expected[0] = seen[0] + seen[-1], expected[0] + expected[-1]
            seen, expected = seen[:-1], expected[:-1]
    return chisquare(seen, expected).pvalue


CASES = {
    "line": ([[2], [2], [5], [7], [9], [9]], [0], [12], 1, 1, [1]),
    "plane": ([[0, 0], [3, 1], [1, 4], [1, 1], [5, 2]], [-1, 0], [6, 5], 1, 2, [1, 1]),
    "steps": ([[0, 0], [3, 1], [1, 4], [1, 1], [5, 2]], [-1, 0], [6, 5], 2, 3, [1, 3]),
    "all equal": ([[2, 2, 2]] * 5, [0, 0, 0], [4, 3, 4], 1, Fraction(1, 2), [1, 1, 1]),
    "a line in the plane": ([[0, 0], [1, 1], [3, 3], [6, 6]], [0, 0], [6, 6], 1, 2, [1, 1]),
    "no rows": (np.empty((0, 2)), [0, 0], [4, 3], 1, 1, [1, 1]),
}


def p_value(case, made, factor=1, draws=300):
    """Of draws from made(median, points), at `factor` times the epsilon of the law."""
    rows, lower, upper, moved, epsilon, steps = CASES[case]
    points, places = np.array(rows, np.int64), box(lower, upper)
    median = SpatialMedian(lower, upper, moved, Fraction(epsilon) * factor, steps)
    proposals, index = made(median, points), {place: i for i, place in enumerate(places)}
    seen, words = np.zeros(len(places)), secure_words()
    for _ in range(draws):
        seen[index[proposals.draw(words)]] += 1
    rate = SpatialMedian(lower, upper, moved, epsilon, steps).rate
    return agreement(seen, masses(points, places, steps, rate))
