"""How often halving by noisy comparisons loses a median, at the strength that is called enough.

Run: python benchmarks/halving.py                # 10000 medians of each kind

A median is lost where it is found more than five deviations off (ten for Cauchy points). A quarter
of outliers lies so many deviations away as is said.
"""

import argparse

import numpy as np
from scipy.special import ndtr

from halfmask.procedures.location.halving import halved, halvings, strength_needed

LAWS = {
    "normal": ndtr,
    "Cauchy": lambda x: 0.5 + np.arctan(x / 2) / np.pi,
    "quarter at 10": lambda x: 0.75 * ndtr(x) + 0.25 * ndtr(x - 10),
    "at 10^4": lambda x: 0.75 * ndtr(x) + 0.25 * ndtr(x - 1e4),
    "at the bound": lambda x: 0.75 * ndtr(x) + 0.25 * (x > 4e5),
}


def lost(law, octaves, choices, runs):
    """Return the share of lost medians."""
    rng, times = np.random.default_rng(0), halvings(octaves)
    strength = np.sqrt(strength_needed(octaves, choices) / times)
    low = -(2.0**octaves) * rng.uniform(0.05, 0.45, runs)

    def ask(place):
        return 1 - 2 * law(place) + rng.normal(size=runs) / strength, 1 / strength

    found, _ = halved(low, low + 2.0**octaves, 1.0, times, ask)
    return float((np.abs(found) > 5).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    runs = parser.parse_args().runs
    print(f"share of {runs} medians lost\n")
    print("| octaves | columns | strength | " + " | ".join(LAWS) + " |")
    print("| ---: |" + " ---: |" * (2 + len(LAWS)))
    for octaves in (6, 20, 40):
        for choices in (1, 10, 50):
            cells = [f"{lost(law, octaves, choices, runs):.1g}" for law in LAWS.values()]
            strength = strength_needed(octaves, choices)
            print(f"| {octaves} | {choices} | {strength:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
