"""How often a private centre fails where it is said to be feasible, and whether it tells.

Run: python benchmarks/location_failures.py                # 1000 runs of each kind
     python benchmarks/location_failures.py --runs 100 --columns 2

For each estimator and number of columns, the least number of rows that it takes to be enough, so
the worst case inside of what is declared feasible. A failure is a centre more than five deviations
off in some coordinate (ten for Cauchy points). It is told where the release bears a doubt; one that
is not told is what must not happen. Outliers lie 10 deviations away; far out are those at 10^4.
"""

import argparse
import time

import numpy as np
from location import KINDS, points

import halfmask as hm
from halfmask.privacy import PrivacyUnit
from halfmask.queries import Setting, price_of
from halfmask.sources import open_source

BUDGET = hm.Approximate(10**6, "0.5")
RADIUS = 2.0**19  # so that deviations of 1 are the least that are supposed
FAR = "quarter far out"
QUERIES = {
    "RobustLocation": (hm.RobustLocation, {"epsilon": "0.5", "delta": "1e-6"}),
    "RobustLocation, replace": (hm.RobustLocation, {"epsilon": "0.5", "delta": "1e-6"}),
    "BoxMedian": (hm.BoxMedian, {"epsilon": "0.5"}),
    "CoordinateMedian": (hm.CoordinateMedian, {"epsilon": "0.5"}),
}


def opened(X, name):
    return hm.open(X, budget=BUDGET, relation="replace" if "replace" in name else "add_remove")


def least_feasible(name, query, price, d):
    columns = open_source(np.zeros((3, d))).schema
    unit = PrivacyUnit(relation="replace" if "replace" in name else "add_remove")
    setting, asked, cost = Setting(columns, unit), query(0, RADIUS), price_of(**price)

    def enough(rows):
        return "too few" not in asked.expected(setting, cost, rows).assuming

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def cloud(kind, n, d, seed):
    X = points("quarter of outliers" if kind == FAR else kind, n, d, seed)
    X[: n // 4] += 10**4 - 10 if kind == FAR else 0
    return X


def counted(name, kind, n, d, runs):
    """Return failures that were told, failures that were not, and doubts without failure."""
    query, price = QUERIES[name]
    told = untold = false = 0
    for seed in range(runs):
        X = cloud(kind, n, d, seed)
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
    parser.add_argument("--kind", action="append", choices=[*KINDS, FAR])
    given = parser.parse_args()
    kinds = given.kind or [*KINDS, FAR]
    print(f"{given.runs} runs of each; failures told / not told / doubts without failure\n")
    print(f"| estimator | columns | rows | {' | '.join(kinds)} | CPU s |")
    print("| --- |" + " ---: |" * (3 + len(kinds)))
    for name in given.only or QUERIES:
        for d in given.columns or (1, 2, 10):
            began = time.process_time()
            n = least_feasible(name, *QUERIES[name], d)
            cells = [
                "{} / {} / {}".format(*counted(name, kind, n, d, given.runs))
                if kind != FAR or "Robust" in name
                else "-"
                for kind in kinds
            ]
            cpu = time.process_time() - began
            print(f"| {name} | {d} | {n} | {' | '.join(cells)} | {cpu:.0f} |", flush=True)


if __name__ == "__main__":
    main()
