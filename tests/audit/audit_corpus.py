"""The standard corpus of published algorithms, right and broken, with what is true of each.

Sparse vector variants: Lyu, Su & Li 2017 (SVT1 to SVT6 in the numbering of Bichsel et al. 2021).
Noisy maximum, histograms: Ding et al. 2018. RAPPOR: Erlingsson et al. 2014. Truncated geometric:
Balcer & Vadhan 2018. Prefix sums: Wang et al. 2019. Written from the definitions.

All noise is exact, on a grid of 2^-10, so that floating-point noise, itself a violation, does not
give an algorithm away. `mechanism(data, size)`; data are exact query answers unless said.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from halfmask.audit import Pair, answer_pairs
from halfmask.noise import discrete_laplace, geometric

GRID = 1024
EPSILON = 0.1
BITS, HASHES = 20, 4
chance = np.random.Generator(np.random.SFC64())  # fresh on every run: no lucky seed


def laplace(scale, *shape):
    return discrete_laplace(scale * GRID, shape) / GRID


def exponential(scale, *shape):
    return geometric(scale * GRID, shape) / GRID


def laplace_mechanism(x, n, scale=1 / EPSILON):
    return x[0] + laplace(scale, n)


def noisy_histogram(scale):
    return lambda x, n: x + laplace(scale, n, len(x))


def noisy_max(noise, *, value):
    """The index, or (broken) the value, of the largest noisy answer."""

    def mechanism(x, n):
        noisy = x + noise(2 / EPSILON, n, len(x))
        return noisy.max(axis=1) if value else noisy.argmax(axis=1)

    return mechanism


def noisy_max_measured(x, n):
    """The index, and a fresh measurement of its answer: half of epsilon each."""
    index = (x + laplace(4 / EPSILON, n, len(x))).argmax(axis=1)
    return np.stack([index, x[index] + laplace(2 / EPSILON, n)], axis=1)


def stopped(above, shown, most, after):
    """Write `after` behind the c-th answer above the threshold."""
    before = np.cumsum(above, axis=1, dtype=np.int8) - above
    shown[before >= most] = after
    return shown


def svt(x, n, *, threshold_scale, answer_scale, most=1, level=1.0):
    """Answers above a noisy threshold as 1, below as 0, after the stop as -1."""
    above = x + laplace(answer_scale, n, len(x)) >= level + laplace(threshold_scale, n, 1)
    return stopped(above, above.astype(np.float64), most, -1.0)


def svt1(x, n, most=1, epsilon=EPSILON):
    return svt(x, n, threshold_scale=2 / epsilon, answer_scale=4 * most / epsilon, most=most)


def svt2(x, n, most=1):
    """The threshold's noise is drawn anew after each answer above."""
    noisy = x + laplace(4 * most / EPSILON, n, len(x))
    threshold = 1 + laplace(2 * most / EPSILON, n)
    found, result = np.zeros(n), np.full((n, len(x)), -1.0)
    for j in range(len(x)):
        live = found < most
        above = (noisy[:, j] >= threshold) & live
        result[:, j] = np.where(live, above, -1.0)
        found += above
        if most > 1:
            threshold = np.where(above, 1 + laplace(2 * most / EPSILON, n), threshold)
    return result


def svt3(x, n, most=1):
    """Broken: shows the very value that was compared."""
    noisy = x + laplace(2 * most / EPSILON, n, len(x))
    above = noisy >= 1 + laplace(2 / EPSILON, n, 1)
    return stopped(above, np.where(above, noisy, -1000.0), most, -2000.0)


def svt4(x, n, most=1):
    """Broken: the noise of the answers does not grow with how many may be above."""
    return svt(x, n, threshold_scale=4 / EPSILON, answer_scale=4 / (3 * EPSILON), most=most)


def svt5(x, n):
    """Broken: no noise on the answers, no stop."""
    return (x >= 1 + laplace(2 / EPSILON, n, 1)).astype(np.float64)


def svt6(x, n):
    """Broken: no stop."""
    return (x + laplace(2 / EPSILON, n, len(x)) >= 1 + laplace(2 / EPSILON, n, 1)).astype(float)


def numerical_svt(x, n, most=2):
    """Right: shows the answer with fresh noise."""
    above = x + laplace(6 * most / EPSILON, n, len(x)) >= 1 + laplace(3 / EPSILON, n, 1)
    shown = np.where(above, x + laplace(3 * most / EPSILON, n, len(x)), -1000.0)
    return stopped(above, shown, most, -2000.0)


def parallel(*mechanisms):
    return lambda x, n: np.concatenate([mechanism(x, n) for mechanism in mechanisms], axis=1)


def prefix_sums(scale):
    return lambda x, n: np.cumsum(x + laplace(scale, n, len(x)), axis=1)


def parallel_laplace(x, n):
    return x[0] + laplace(20 / EPSILON, n, 20)


def bloom(value):
    bits = np.zeros(BITS, bool)
    for i in range(HASHES):
        bits[zlib.crc32(f"{i}|{value}".encode()) % BITS] = True
    return bits


def one_time_rappor(lie):
    """Each bit of a Bloom filter of the value, replaced by a coin with probability `lie`."""

    def mechanism(value, n):
        one = np.where(bloom(value), 1 - lie / 2, lie / 2).astype(np.float32)
        return chance.random((n, BITS), np.float32) < one

    return mechanism


def rappor(lie, low=0.45, high=0.55):
    """A second coin on every bit that the first one left."""

    def mechanism(value, n):
        one = np.where(bloom(value), 1 - lie / 2, lie / 2)
        shown = (one * high + (1 - one) * low).astype(np.float32)
        return chance.random((n, BITS), np.float32) < shown

    return mechanism


def truncated_geometric(x, n, records=5):
    """Counts 0..5 by integer thresholds; epsilon is ln(1 + 2^-k), here k = 3."""
    base = 2 ** math.ceil(math.log2(2 / EPSILON) - 1.3)
    count = int(x[0])
    parts = (2 * base + 1) * (base + 1) ** (records - 1)
    thresholds = [
        base ** (count - z) * (base + 1) ** (records - count + z)
        if z < count
        else parts - base ** (z - count + 1) * (base + 1) ** (records - 1 - z + count)
        for z in range(records)
    ]
    drawn = chance.integers(1, parts + 1, n)
    return np.searchsorted([*thresholds, parts], drawn)


def values_of_filters():
    """Values whose Bloom filters have no bit in common, or differ in most."""
    values = [(a, b) for a in range(40) for b in range(a) if (bloom(a) ^ bloom(b)).sum() == 8]
    return [Pair(f"values {a} and {b}", a, b) for a, b in values[:4]]


@dataclass(frozen=True)
class Entry:
    """An algorithm, its neighbours, the epsilon that it claims and the one that is true."""

    name: str
    mechanism: Callable
    pairs: list[Pair]
    claimed: float
    true: float
    published: str = ""  # bound in DP-Sniper's published logs
    twin: str = ""  # of which broken algorithm this is the right form
    options: dict = field(default_factory=dict)

    @property
    def broken(self):
        return self.true > self.claimed


FIVE, TEN, FILTERS = answer_pairs(5), answer_pairs(10), values_of_filters()
ONE_COUNT = [Pair("0 and 1", np.array([0.0]), np.array([1.0]))]
COUNTS = [Pair(f"{a} and {b} of 5", [a], [b]) for a, b in [(0, 1), (2, 3), (4, 5)]]
INFINITE = math.inf
DEEP = {"samples": 30_000_000}  # for violations so small that they take many outputs to see
RIGHT_LIE = 2 / (1 + math.exp(EPSILON / 8))
BROKEN = [
    Entry("NoisyHist2 (scale eps)", noisy_histogram(EPSILON), FIVE, 0.1, 10.0, "4.60"),
    Entry("NoisyMax3 (value)", noisy_max(laplace, value=True), FIVE, 0.1, 0.25, "0.248"),
    Entry("NoisyMax4 (value)", noisy_max(exponential, value=True), FIVE, 0.1, INFINITE, "0.346"),
    Entry("SVT3", svt3, TEN, 0.1, INFINITE, "0.172", options=DEEP),
    Entry("SVT4", svt4, TEN, 0.1, 0.175, "0.169", options=DEEP),
    Entry("SVT5", svt5, TEN, 0.1, INFINITE, "1.76"),
    Entry("SVT6", svt6, TEN, 0.1, INFINITE, "0.272", options=DEEP),
    Entry(
        "SVT3 and SVT4, c = 2",
        parallel(lambda x, n: svt3(x, n, 2), lambda x, n: svt4(x, n, 2)),
        TEN,
        0.2,
        INFINITE,
        "0.261",
        options=DEEP,
    ),
    Entry("PrefixSum", prefix_sums(1 / EPSILON), TEN, 0.1, 1.0, "0.504"),
    Entry(
        "OneTimeRappor",
        one_time_rappor(0.95),
        FILTERS,
        0.1,
        8 * math.log(0.525 / 0.475),
        "0.598",
    ),
    Entry("Rappor", rappor(0.75), FILTERS, 0.1, 8 * math.log(0.5125 / 0.4875), "0.293"),
]
CORRECT = [
    Entry("Laplace", laplace_mechanism, ONE_COUNT, 0.1, 0.1),
    Entry("20 x Laplace", parallel_laplace, ONE_COUNT, 0.1, 0.1),
    Entry("TruncatedGeometric", truncated_geometric, COUNTS, 0.12, math.log1p(0.125)),
    Entry("NoisyHist1", noisy_histogram(1 / EPSILON), FIVE[:2], 0.1, 0.1, twin="NoisyHist2"),
    Entry("NoisyMax1", noisy_max(laplace, value=False), FIVE, 0.1, 0.1, twin="NoisyMax3"),
    Entry("NoisyMax2", noisy_max(exponential, value=False), FIVE, 0.1, 0.1, twin="NoisyMax4"),
    Entry("noisy max, measured", noisy_max_measured, FIVE, 0.1, 0.1, twin="NoisyMax3, NoisyMax4"),
    Entry("SVT1", svt1, TEN, 0.1, 0.1, twin="SVT4, SVT5, SVT6"),
    Entry("SVT2", svt2, TEN, 0.1, 0.1, twin="SVT4"),
    Entry("NumericalSVT", numerical_svt, TEN, 0.1, 0.1, twin="SVT3"),
    Entry("SVT1 and SVT2", parallel(svt1, svt2), TEN, 0.2, 0.2, twin="SVT3 and SVT4"),
    Entry("PrefixSum, scaled", prefix_sums(10 / EPSILON), TEN, 0.1, 0.1, twin="PrefixSum"),
    Entry(
        "OneTimeRappor, lying more",
        one_time_rappor(RIGHT_LIE),
        FILTERS,
        0.1,
        0.1,
        twin="OneTimeRappor",
    ),
    Entry(
        "Rappor, lying more",
        rappor(0.94),
        FILTERS,
        0.1,
        8 * math.log(0.503 / 0.497),
        twin="Rappor",
    ),
]
