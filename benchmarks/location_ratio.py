"""How much larger a private error is than one without privacy, by the number of points.

Run: python benchmarks/location_ratio.py [--trials 15] [--out docs/figures/centres-ratio.svg]

Root-mean-square distance from the true centre: `robust_location` at epsilon 0.5, delta 1e-6, add or
remove one row, over the geometric median of the same points; 10 dimensions, a box of radius 60.
"""

import argparse
from pathlib import Path

import numpy as np
from location import CENTRE, DELTA, geometric_median, points

import halfmask as hm
from halfmask.plots.style import BLUE, ORANGE, axes, finish

ROWS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
DIMENSIONS, EPSILON, RADIUS = 10, 0.5, 60


def ratio(kind, n, trials):
    private, plain = [], []
    for seed in range(trials):
        X = points(kind, n, DIMENSIONS, seed)
        found = hm.robust_location(X, epsilon=EPSILON, delta=DELTA, radius=RADIUS).value
        private.append(np.sum((np.array(found) - CENTRE) ** 2))
        plain.append(np.sum((geometric_median(X) - CENTRE) ** 2))
    return np.sqrt(np.mean(private) / np.mean(plain))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    print("| rows | " + " | ".join(f"{n:,}" for n in ROWS) + " |")
    print("| --- |" + " ---: |" * len(ROWS))
    ax = axes(None)
    for kind, colour, mark in (("normal", BLUE, "o-"), ("Cauchy", ORANGE, "s--")):
        found = [ratio(kind, n, given.trials) for n in ROWS]
        print(f"| {kind} | " + " | ".join(f"{one:.2f}" for one in found) + " |", flush=True)
        ax.plot(ROWS, found, mark, color=colour, label=kind)
    ax.axhline(1, color="black", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0.9)
    title = f"What privacy costs a centre: d = {DIMENSIONS}, epsilon {EPSILON}"
    finish(ax, title, "rows", "private error / plain error")
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        ax.figure.savefig(given.out, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
