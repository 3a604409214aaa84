"""Bugs of our own kinds, each beside its right form, as `mechanism(data, size)`.

Rows are bounded to [0, 1] unless said. Noise is exact (grid 2^-10) except where floating point is
the bug; those draw from a generator of their own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from audit_corpus import laplace

from halfmask.audit import Pair
from halfmask.noise import discrete_gaussian

chance = np.random.Generator(np.random.SFC64())
GRID = 1024


def clipped(x):
    return np.clip(np.nan_to_num(x, nan=0.0), 0, 1)


def noisy_sum(scale=1.0):
    return lambda x, n: clipped(x).sum() + laplace(scale, n)


def clip_skipped(x, n):
    return np.sum(x) + laplace(1, n)


def nan_let_through(x, n):
    return np.clip(x, 0, 1).sum() + laplace(1, n)


def sum_and_count(scale):
    def mechanism(x, n):
        return np.stack([clipped(x).sum() + laplace(scale, n), len(x) + laplace(scale, n)], axis=1)

    return mechanism


def mean_over_own_count(x, n):
    """Add/remove: the scale is 1/n for the data's own n."""
    return clipped(x).mean() + laplace(1, n) / len(x)


def two_sided_mean(x, n):
    """Right: the sums of x and of 1 - x move by 1 in all."""
    x = clipped(x)
    return np.stack([x.sum() + laplace(1, n), (1 - x).sum() + laplace(1, n)], axis=1)


def same_noise_twice(x, n):
    x, noise = clipped(x), laplace(1, n)
    return np.stack([x.sum() + noise, (1 - x).sum() + noise], axis=1)


def nearest_to_median(candidates):
    """Exponential mechanism; None takes the data's own values for candidates."""

    def mechanism(x, n):
        c = np.unique(x) if candidates is None else candidates
        scores = -np.abs(np.searchsorted(np.sort(x), c) - len(x) / 2)
        cumulative = np.cumsum(np.exp(scores - scores.max()))
        return c[np.searchsorted(cumulative, chance.random(n) * cumulative[-1])]

    return mechanism


def bounds_from_data(x, n):
    low, high = np.min(x), np.max(x)
    return np.clip(x, low, high).sum() + laplace(max(high - low, 2**-5), n)


def histogram(keys):
    """Counts of public keys, or (None) of the groups that the data happen to have."""

    def mechanism(x, n):
        counts = np.bincount(np.asarray(x, int), minlength=3).astype(float)
        noisy = counts + laplace(1, n, 3)
        return noisy if keys else np.where(counts > 0, noisy, np.nan)

    return mechanism


def threshold_left_out(x, n):
    """Noisy counts above 1 are shown, of the data's own groups: nothing hides a lone row."""
    counts = np.bincount(np.asarray(x, int), minlength=3).astype(float)
    noisy = counts + laplace(1, n, 3)
    return np.where((counts > 0) & (noisy > 1), noisy, np.nan)


def threshold_kept(x, n, delta=0.01):
    """The same with the threshold that delta = 0.01 needs: 1 + ln(1 / (2 delta))."""
    counts = np.bincount(np.asarray(x, int), minlength=3).astype(float)
    noisy = counts + laplace(1, n, 3)
    return np.where(
        (counts > 0) & (noisy > 1 + math.log(1 / (2 * delta)) + 1 / GRID), noisy, np.nan
    )


def per_unit(bound):
    """A count of rows (unit, value), each unit adding at most `bound`; the noise is for two."""

    def mechanism(x, n):
        kept = sum(min(count, bound) for count in np.bincount(x, minlength=2))
        return kept + laplace(2, n)

    return mechanism


def fork_shares_noise(x, n):
    """Two workers after a fork answer two queries: equal noise, epsilon a half each."""
    noise = laplace(2, n)
    return np.stack([clipped(x).sum() + noise, len(x) + noise], axis=1)


def forks_apart(x, n):
    return np.stack([clipped(x).sum() + laplace(2, n), len(x) + laplace(2, n)], axis=1)


def spatial_depth(sensitivity):
    """The sum of unit vectors from the rows to a point, at d = 1; a replaced row moves it by 2."""

    def mechanism(x, n):
        return np.sign(0.5 - x).sum() + laplace(sensitivity, n)

    return mechanism


def clipped_at(most):
    """A sum held within what it can be: None takes the data's own n for the most."""

    def mechanism(x, n):
        return np.clip(clipped(x).sum() + laplace(1, n), 0, len(x) if most is None else most)

    return mechanism


def gaussian(multiple):
    """The classical sigma for epsilon 1, delta 1e-5, times something."""
    sigma = math.sqrt(2 * math.log(1.25e5)) * multiple

    def mechanism(x, n):
        return clipped(x).sum() + discrete_gaussian(sigma * GRID, n) / GRID

    return mechanism


def numpy_laplace(x, n):
    return np.sum(x) + chance.laplace(0, 1, n)


def inverse_transform(x, n):
    """The textbook line, in double precision."""
    u = chance.random(n) - 0.5
    return np.sum(x) - np.sign(u) * np.log(1 - 2 * np.abs(u))


def float32_laplace(x, n):
    return (np.float32(np.sum(x)) + chance.laplace(0, 1, n).astype(np.float32)).astype(np.float64)


def log_of_zero(x, n, bits=12):
    """A uniform that can be 0; the infinite logarithm is replaced by no noise at all."""
    u = chance.integers(0, 1 << bits, n) / (1 << bits) - 0.5
    size = -np.log(np.maximum(1 - 2 * np.abs(u), 1e-300))
    return np.sum(x) + np.round(np.where(np.abs(u) == 0.5, 0, np.sign(u) * size) * GRID) / GRID


def log_of_zero_infinite(x, n, bits=12):
    """Now and then infinity, whatever the rows: useless, but private."""
    return np.where(chance.integers(0, 1 << bits, n) == 0, np.inf, np.sum(x) + laplace(1, n))


def answers(ties):
    """What `repeated` makes of a mechanism that fails where rows are equal, or (right) does not."""

    def mechanism(x, n):
        if not ties and len(np.unique(x)) < len(x):
            return np.full(n, np.nan)
        return laplace(1, n)

    return mechanism


HALVES = np.full(10, 0.5)


def plus(value, rows=HALVES):
    return [Pair(f"one more row, {value:g}", rows, np.append(rows, value))]


LABELS = [Pair("a new label", [0] * 5 + [1] * 5, [0] * 5 + [1] * 5 + [2])]
UNIT = [Pair("one more unit", [0] * 2, [0] * 2 + [1] * 5)]
NUMBERS = np.arange(9.0)
DEPTHS = [Pair("one row over", np.array([0.25] * 5), np.array([0.25] * 4 + [0.75]))]
TIE = [Pair("a tie", np.array([1.0, 2.0]), np.array([1.0, 2.0, 2.0]))]
ZERO_ONE = [Pair("0 and 1", np.array([0.0]), np.array([1.0]))]


@dataclass(frozen=True)
class Planted:
    """A bug or a right form: what is claimed, what is true, and whether that is a violation.

    twin: of a bug, the name of its right form.
    """

    name: str
    mechanism: Callable
    pairs: list[Pair]
    claimed: float
    true: float
    broken: bool
    options: dict = field(default_factory=dict)
    twin: str = ""
    published: str = ""


INF = math.inf
BUGS = [
    Planted("noise 5 % short", noisy_sum(1 / 1.05), plus(1), 1, 1.05, True, twin="noisy sum"),
    Planted("noise 10 % short", noisy_sum(1 / 1.1), plus(1), 1, 1.1, True, twin="noisy sum"),
    Planted("sensitivity halved", noisy_sum(0.5), plus(1), 1, 2, True, twin="noisy sum"),
    Planted(
        "epsilon given to both queries",
        sum_and_count(1),
        plus(1),
        1,
        2,
        True,
        twin="epsilon split over both queries",
    ),
    Planted("clip skipped", clip_skipped, plus(50), 1, 50, True, twin="noisy sum of an outlier"),
    Planted(
        "scale = epsilon / sensitivity",
        noisy_sum(0.1),
        plus(1),
        0.1,
        10,
        True,
        twin="scale = sensitivity / epsilon",
    ),
    Planted(
        "mean over its own n",
        mean_over_own_count,
        [Pair("five rows and six", np.zeros(5), np.append(np.zeros(5), 1.0))],
        1,
        INF,
        True,
        twin="two-sided sums",
    ),
    Planted(
        "candidates from the data",
        nearest_to_median(None),
        plus(100, NUMBERS),
        1,
        INF,
        True,
        twin="public candidates",
    ),
    Planted(
        "bounds from the data",
        bounds_from_data,
        plus(1, np.append(HALVES, 0.6)),
        1,
        INF,
        True,
        twin="noisy sum",
    ),
    Planted(
        "NaN row let through",
        nan_let_through,
        plus(np.nan),
        1,
        INF,
        True,
        twin="noisy sum of a NaN row",
    ),
    Planted(
        "group keys from the data", histogram(False), LABELS, 1, INF, True, twin="public group keys"
    ),
    Planted(
        "threshold too low for delta",
        threshold_left_out,
        LABELS,
        1,
        INF,
        True,
        {"delta": 0.01},
        twin="threshold for delta",
    ),
    Planted("rows a unit off by one", per_unit(3), UNIT, 1, 1.5, True, twin="rows a unit right"),
    Planted("noise used twice", same_noise_twice, plus(1), 1, INF, True, twin="two-sided sums"),
    Planted("fork shares noise", fork_shares_noise, plus(0.25), 1, INF, True, twin="forks apart"),
    Planted(
        "sqrt(d) for spatial depth, d = 1",
        spatial_depth(1),
        DEPTHS,
        1,
        2,
        True,
        twin="2 for spatial depth",
    ),
    Planted(
        "clipped at its own n",
        clipped_at(None),
        plus(1),
        1,
        INF,
        True,
        twin="clipped at a public n",
    ),
    Planted(
        "Gaussian sigma halved",
        gaussian(0.5),
        plus(1),
        1,
        2.6,
        True,
        {"delta": 1e-5},
        twin="Gaussian sigma right",
    ),
    Planted("float Laplace (numpy)", numpy_laplace, ZERO_ONE, 1, INF, True, twin="noise on a grid"),
    Planted(
        "float Laplace (textbook)",
        inverse_transform,
        ZERO_ONE,
        1,
        INF,
        True,
        twin="noise on a grid",
    ),
    Planted("float32 Laplace", float32_laplace, ZERO_ONE, 1, INF, True, twin="noise on a grid"),
    Planted(
        "log(0) means no noise",
        log_of_zero,
        ZERO_ONE,
        1,
        INF,
        True,
        twin="infinity whatever the rows",
    ),
    Planted("fails on ties", answers(False), TIE, 1, INF, True, twin="answers on ties"),
]
TWINS = [
    Planted("noisy sum", noisy_sum(1), plus(1), 1, 1, False),
    Planted("noisy sum of a NaN row", noisy_sum(1), plus(np.nan), 1, 0, False),
    Planted("noisy sum of an outlier", noisy_sum(1), plus(50), 1, 1, False),
    Planted("epsilon split over both queries", sum_and_count(2), plus(1), 1, 1, False),
    Planted("two-sided sums", two_sided_mean, plus(1), 1, 1, False),
    Planted("public candidates", nearest_to_median(NUMBERS), plus(100, NUMBERS), 1, 1, False),
    Planted("public group keys", histogram(True), LABELS, 1, 1, False),
    Planted("threshold for delta", threshold_kept, LABELS, 1, 1, False, {"delta": 0.01}),
    Planted("rows a unit right", per_unit(2), UNIT, 1, 1, False),
    Planted("forks apart", forks_apart, plus(1), 1, 1, False),
    Planted("2 for spatial depth", spatial_depth(2), DEPTHS, 1, 1, False),
    Planted("Gaussian sigma right", gaussian(1), plus(1), 1, 0.9, False, {"delta": 1e-5}),
    Planted("infinity whatever the rows", log_of_zero_infinite, ZERO_ONE, 1, 1, False),
    Planted("scale = sensitivity / epsilon", noisy_sum(10), plus(1), 0.1, 0.1, False),
    Planted("clipped at a public n", clipped_at(10), plus(1), 1, 1, False),
    Planted("noise on a grid", noisy_sum(1), ZERO_ONE, 1, 1, False),
    Planted("answers on ties", answers(True), TIE, 1, 0, False),
]
