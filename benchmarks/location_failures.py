"""How often a private centre fails where it is said to be feasible, and whether it tells.

Run: python benchmarks/location_failures.py                # 1000 runs of each kind
     python benchmarks/location_failures.py --runs 100 --columns 2

For each estimator and number of columns, the least number of rows that its preview takes to be
enough, so the worst case inside of what is declared feasible. A failure is a centre more than five
deviations off in some coordinate (ten for Cauchy points). It is told where the release bears a
doubt; one that is not told is what must not happen.
"""

import argparse
import time

import numpy as np
from location import KINDS, points

import halfmask as hm

BUDGET = hm.Approximate(10**6, "0.5")
RADIUS = 2.0**19  # so that deviations of 1 are the least that are supposed
QUERIES = {
    "RobustLocation": (hm.RobustLocation, {"epsilon": "0.5", "delta": "1e-6"}),
    "RobustLocation, replace": (hm.RobustLocation, {"epsilon": "0.5", "delta": "1e-6"}),
    "BoxMedian": (hm.BoxMedian, {"epsilon": "0.5"}),
    "CoordinateMedian": (hm.CoordinateMedian, {"epsilon": "0.5"}),
}


def opened(X, name):
    return hm.open(X, budget=BUDGET, relation="replace" if "replace" in name else "add_remove")


def least_feasible(name, query, price, d):
    curator = opened(np.zeros((3, d)), name)

    def enough(rows):
        return "too few" not in curator.preview(query(0, RADIUS), rows=rows, **price).assuming

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def counted(name, kind, n, d, runs):
    """Return failures that were told, failures that were not, and doubts without failure."""
    query, price = QUERIES[name]
    told = untold = false = 0
    for seed in range(runs):
        X = points(kind, n, d, seed)
        release = opened(X, name).ask(query(0, RADIUS), **price)
        far = np.abs(np.array(release.value) - 5.0).max() > (10 if kind == "Cauchy" else 5)
        doubt = bool(getattr(release.estimate, "doubt", ""))
        told, untold, false = (
            told + (far and doubt),
            untold + (far and not doubt),
            false + (doubt and not far),
        )
    return told, untold, false


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--columns", type=int, action="append")
    parser.add_argument("--only", action="append", choices=QUERIES)
    given = parser.parse_args()
    print(f"{given.runs} runs of each; failures told / not told / doubts without failure\n")
    print("| estimator | columns | rows | " + " | ".join(KINDS) + " | CPU s |")
    print("| --- |" + " ---: |" * 6)
    for name in given.only or QUERIES:
        for d in given.columns or (1, 2, 10):
            began = time.process_time()
            n = least_feasible(name, *QUERIES[name], d)
            cells = [
                "{} / {} / {}".format(*counted(name, kind, n, d, given.runs)) for kind in KINDS
            ]
            cpu = time.process_time() - began
            print(f"| {name} | {d} | {n} | {' | '.join(cells)} | {cpu:.0f} |", flush=True)


if __name__ == "__main__":
    main()
