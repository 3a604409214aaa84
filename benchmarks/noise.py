"""How fast exact noise is, beside numpy's inexact and predictable Laplace in the same process.

    python benchmarks/noise.py

One thread, CPU time, medians of 15 alternating runs of a million draws; then single draws at scales
never seen before, and the rank correlation of their time with the size of the noise.
"""

import gc
import time
from fractions import Fraction

import numpy as np

from halfmask import noise

COUNT = 1_000_000
RUNS = 15
SINGLES = 20_000
SCALES = {"1": 1, "10": 10, "1000": 1000, "2^20": 1 << 20, "2^40": 1 << 40}
TARGETS = {"2^40": 1.0}


def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def medians(*calls):
    """Median CPU seconds of each call, their runs taking turns."""
    times = [[seconds(call) for call in calls] for _ in range(RUNS)]
    return np.median(times, axis=0)


def compare(name, call, numpy_laplace, target=None):
    ours, theirs = medians(call, numpy_laplace)
    verdict = (
        ""
        if target is None
        else f"  (target {target}: {'met' if theirs / ours >= target else 'MISSED'})"
    )
    print(f"{name:<28}{COUNT / ours / 1e6:8.1f} M/s{theirs / ours:8.2f} x numpy{verdict}")


def mean_ranks(values):
    """Ranks in which equal values share their mean rank (Spearman's)."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def single_draws():
    print(f"\nSingle draws: microseconds at a new scale each, correlation over {SINGLES} draws")
    for name, scale in SCALES.items():
        times, sizes = np.empty(SINGLES), np.empty(SINGLES)
        scales = [scale - Fraction(i + 1, 10**9) for i in range(SINGLES)]
        gc.disable()
        for i, new_scale in enumerate(scales):
            start = time.perf_counter()
            value = noise.discrete_laplace(new_scale, 1)
            times[i] = time.perf_counter() - start
            sizes[i] = abs(int(value[0]))
        gc.enable()
        correlation = np.corrcoef(mean_ranks(times), mean_ranks(sizes))[0, 1]
        middle, slowest = np.quantile(times, [0.5, 0.999]) * 1e6
        print(
            f"scale {name:<8}median {middle:6.1f}   99.9 % {slowest:7.1f}"
            f"   rank correlation of time with |noise| {correlation:+.3f}"
        )


def opendp_laplace():
    try:
        import opendp.prelude as dp
    except ImportError:
        print("\nopendp not installed")
        return
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measure = dp.m.make_laplace(*space, scale=10.0)
    data = [0] * 20_000
    theirs = np.median([seconds(lambda: measure(data)) for _ in range(3)]) / len(data)
    ours = (
        np.median([seconds(lambda: noise.discrete_laplace(10, COUNT)) for _ in range(RUNS)]) / COUNT
    )
    print(f"\nopendp vector Laplace, scale 10: {1e-6 / theirs:.3f} M/s")
    print(f"halfmask: {theirs / ours:.0f} times as fast")


def main():
    generator = np.random.default_rng()

    def numpy_laplace():
        generator.laplace(size=COUNT)

    print(f"{COUNT} draws, one thread, CPU time")
    for name, scale in SCALES.items():
        compare(
            f"discrete_laplace {name}",
            lambda scale=scale: noise.discrete_laplace(scale, COUNT),
            numpy_laplace,
            TARGETS.get(name, 2.0),
        )
    for sampler in (noise.geometric, noise.rounded_laplace, noise.discrete_gaussian):
        compare(f"{sampler.__name__} 1000", lambda s=sampler: s(1000, COUNT), numpy_laplace)
    for name, scale in {"1000": 1000, "2^40": 1 << 40}.items():
        compare(
            f"rounded_gaussian {name}",
            lambda scale=scale: noise.rounded_gaussian(scale, COUNT),
            numpy_laplace,
        )
    scores = np.arange(100_000)
    compare(
        "categorical, 1e5 candidates",
        lambda: noise.categorical(scores, Fraction(1, 10_000), COUNT),
        numpy_laplace,
    )
    single_draws()
    opendp_laplace()


if __name__ == "__main__":
    main()
