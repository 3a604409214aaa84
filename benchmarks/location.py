"""Private centres of points: error in L2 against the true centre, beside references.

Run: python benchmarks/location.py                # every case, both relations
     python benchmarks/location.py --trials 3 --case "50 dims"

Normal points of deviation 1 about a centre of 5 in each coordinate, a box of radius 60 about 0;
or a quarter of them moved by +10 in every coordinate; or multivariate Cauchy. delta is 1e-6.
Where a row is replaced the number of rows is public, and told to `robust_location`. "mean",
"median" and "geometric median" are not private. "clipped means" is a reference of the COINPRESS
kind: clip to a ball, noisy mean, shrink the ball, four times; it is told the scale.
"""

import argparse
import statistics
import time

import numpy as np

import halfmask as hm

DELTA = 1e-6
CASES = {
    "50 dims": (10_000, 50, 0.5, 60),
    "200 dims": (100_000, 200, 0.5, 60),
    "2 dims": (1_000, 2, 0.1, 60),
    "10 dims, box of 1e6": (10_000, 10, 0.1, 1e6),
    "10 dims": (10_000, 10, 0.5, 60),
    "article": (6_000, 50, 0.5, 60),
}
KINDS = ("normal", "quarter of outliers", "Cauchy")
CENTRE = 5.0


def points(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "Cauchy":
        X /= np.abs(rng.normal(size=(n, 1)))
    X += CENTRE
    if kind == "quarter of outliers":
        X[: n // 4] += 10
    return X


def geometric_median(X):
    c = np.median(X, axis=0)
    for _ in range(100):
        weights = 1 / np.maximum(np.linalg.norm(X - c, axis=1), 1e-12)
        c = weights @ X / weights.sum()
    return c


def clipped_means(X, epsilon, radius, moved, seed):
    """Four noisy means of points clipped to shrinking balls; zCDP, a replaced row moves 2 r/n."""
    n, d = X.shape
    rng = np.random.default_rng(seed)
    rho = float(hm.Approximate(epsilon, DELTA).largest_zcdp().rho)
    centre, far = np.zeros(d), radius * np.sqrt(d)
    within = np.sqrt(d) + 2 * np.sqrt(np.log(n))
    for share in (1 / 12, 1 / 12, 1 / 12, 3 / 4):
        Y = X - centre
        length = np.linalg.norm(Y, axis=1)
        r = far + within
        Y *= np.minimum(1, r / np.maximum(length, 1e-300))[:, None]
        noise = moved * r / n / np.sqrt(2 * rho * share)
        centre = centre + Y.mean(axis=0) + rng.normal(size=d) * noise
        far = min(far, noise * (np.sqrt(d) + 3) + 0.1)
    return centre


def estimators(X, epsilon, radius, relation, seed):
    moved = 2 if relation == "replace" else 1
    price = {"epsilon": epsilon, "delta": DELTA, "radius": radius, "relation": relation}
    rows = len(X) if relation == "replace" else None
    yield "robust_location", lambda: hm.robust_location(X, rows=rows, **price).value
    yield "coordinatewise_median", lambda: hm.coordinatewise_median(X, **price).value
    for name in ("box_median", "spatial_median"):
        if hasattr(hm, name):
            pure = {key: value for key, value in price.items() if key != "delta"}
            yield (
                name + " (delta 0)",
                lambda name=name, pure=pure: getattr(hm, name)(X, **pure).value,
            )
    yield "clipped means", lambda: clipped_means(X, epsilon, radius, moved, seed)
    yield "mean (not private)", lambda: X.mean(axis=0)
    yield "median (not private)", lambda: np.median(X, axis=0)
    yield "geometric median (not private)", lambda: geometric_median(X)


def measured(n, d, epsilon, radius, kind, relation, trials, only=None):
    errors, seconds = {}, {}
    for seed in range(trials):
        X = points(kind, n, d, seed)
        for name, estimate in estimators(X, epsilon, radius, relation, seed):
            if only and name not in only:
                continue
            began = time.process_time()
            try:
                error = float(np.linalg.norm(np.array(estimate()) - CENTRE))
            except hm.InvalidQuery:
                error = float("nan")
            seconds.setdefault(name, []).append(time.process_time() - began)
            errors.setdefault(name, []).append(error)
    return errors, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=11)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--relation", action="append", choices=["replace", "add_remove"])
    parser.add_argument("--only", action="append", help="an estimator, as the tables name it")
    given = parser.parse_args()
    for case in given.case or CASES:
        n, d, epsilon, radius = CASES[case]
        trials = max(2, given.trials // 4) if n * d > 10**7 else given.trials
        for relation in given.relation or ("replace", "add_remove"):
            print(f"\n{case}: n = {n}, d = {d}, epsilon {epsilon}, radius {radius:g}, {relation}")
            print(f"median error of {trials} trials (largest), CPU s\n")
            print("| estimator | " + " | ".join(KINDS) + " | CPU s |")
            print("| --- |" + " ---: |" * 4)
            asked = n, d, epsilon, radius
            found = [measured(*asked, k, relation, trials, given.only) for k in KINDS]
            for name in found[0][0]:
                cells = [
                    f"{statistics.median(errors[name]):.3g} ({max(errors[name]):.3g})"
                    for errors, _ in found
                ]
                cpu = statistics.median(found[0][1][name])
                print(f"| {name} | {' | '.join(cells)} | {cpu:.3g} |", flush=True)


if __name__ == "__main__":
    main()
