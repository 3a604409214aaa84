"""How long an exact private centre takes: nested boxes, and the spatial median by rejection.

    python benchmarks/samplers.py

CPU time; set OPENBLAS_NUM_THREADS=1 so that waiting threads are not counted. The spatial median:
4000 rows, epsilon 1, one row added or removed; medians of 15 draws.
"""

import time

import numpy as np

from halfmask.mechanisms import BoxMedian, SpatialMedian
from halfmask.noise import seeded_words

ROWS, EDGE, UNIT, DRAWS, MOST = 4000, 2**40, 2**30, 15, 1000
BOXES = ((10_000, 50), (1_000_000, 50), (100_000, 1000))
KINDS = {
    "normal": lambda g, d: g.normal(size=(ROWS, d)),
    "Cauchy": lambda g, d: g.standard_cauchy(size=(ROWS, d)),
    "spreads 1 to 10": lambda g, d: g.normal(size=(ROWS, d)) * np.geomspace(1, 10, d),
    "one axis x 5": lambda g, d: g.normal(size=(ROWS, d)) * np.r_[5, np.ones(d - 1)],
    "25 % outliers": lambda g, d: g.normal(size=(ROWS, d)) + 10 * (g.random((ROWS, 1)) < 0.25),
    "five-point scale": lambda g, d: np.clip(np.rint(g.normal(size=(ROWS, d))), -2, 2),
}


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def boxes():
    print("Nested boxes: rows, coordinates, seconds")
    for n, d in BOXES:
        points = np.random.default_rng(0).integers(-EDGE, EDGE, (n, d))
        median = BoxMedian([-EDGE] * d, [EDGE] * d, 1, 1)
        print(f"{n:>9} {d:>5} {timed(lambda: median.release(points, seeded_words(1)))[0]:8.2f}")  # noqa: B023


def proposals_of(proposals, words):
    """Draw one point; how many proposals it took, None beyond MOST."""
    for tried in range(1, MOST):
        if proposals.attempt(words) is not None:
            return tried
    return None


def spatial():
    print("\nSpatial median: build in s, a draw in ms, proposals to a draw")
    for name, make in KINDS.items():
        for d in (2, 5, 20, 50):
            rows = np.rint(make(np.random.default_rng(d), d) * UNIT).astype(np.int64)
            proposals = SpatialMedian([-EDGE] * d, [EDGE] * d, 1, 1).proposals(rows)
            build, _ = timed(lambda: proposals.shells.cumulative)  # noqa: B023
            words, times, tried = seeded_words(d), [], []
            for _ in range(DRAWS):
                seconds, count = timed(lambda: proposals_of(proposals, words))  # noqa: B023
                times.append(seconds)
                tried.append(count)
                if count is None:
                    break
            if None in tried:
                print(f"{name:<18}{d:>4}{build:8.2f}   more than {MOST} proposals")
            else:
                print(
                    f"{name:<18}{d:>4}{build:8.2f}{1000 * np.median(times):8.1f}"
                    f"{np.mean(tried):8.1f}"
                )


if __name__ == "__main__":
    boxes()
    spatial()
