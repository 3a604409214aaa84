"""halfmask: `hm.open(...).ask(...)` on the Parquet file, nulls and all; nothing is kept in memory.

Each ask charges the ledger, scans the file and draws fresh noise. `mean, from an array` asks the
same of a NumPy array, as the peers are given one.
"""

import json
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
from harness import (
    BINS,
    CAP,
    DELTA,
    EPSILON,
    FINE,
    GROUPS,
    REPLACE,
    ROWS_PER_UNIT,
    STEP,
    Answer,
    Task,
    Tasks,
    city_counts,
    main,
    ranges,
)

import halfmask as hm

BUDGET = 1_000_000
BOUNDS = ("salary", 0, CAP)
MEAN = hm.Mean(*BOUNDS)
DEPARTMENTS = hm.Keys("dept", [f"dept-{k:02d}" for k in range(GROUPS)])
QUESTIONS = {
    "mean": MEAN,
    "variance": hm.Variance(*BOUNDS),
    "median": hm.Median(*BOUNDS),
    "quartiles": hm.Quantile("salary", [0.25, 0.5, 0.75], 0, CAP),
    "group mean": MEAN,
}
EDGES = [-inf, *(CAP * i / BINS for i in range(1, BINS)), inf]  # clipped values' bins


def asking(staff: hm.Curator, query: object) -> Callable[[], Answer]:
    return lambda: staff.ask(query, epsilon=EPSILON).value


def group_means(staff: hm.Curator) -> Callable[[], Answer]:
    return lambda: [r.value for r in staff.ask(MEAN, by=DEPARTMENTS, epsilon=EPSILON).values()]


def unknown_keys(folder: Path) -> Task:
    budget = hm.Approximate(BUDGET, 0.1)
    people = hm.open(folder / "people.parquet", budget=budget)

    def answer() -> Answer:
        found = people.ask(hm.Count(), by="city", epsilon=EPSILON, delta=DELTA)
        return city_counts((key.removeprefix("city-"), r.value) for key, r in found.items())

    return Task(answer)


def private_ranges(staff: hm.Curator) -> Callable[[], Answer]:
    edges = [-inf, *(STEP * i for i in range(1, FINE)), inf]
    return asking(staff, hm.Ranges("salary", edges, [(edges[a], edges[b]) for a, b in ranges()]))


def article_algorithm(folder: Path, trials: int) -> dict[str, object]:
    """The article's own: noisy sum over noisy count, half of epsilon each, max(1, count)."""
    random = np.random.default_rng(7)
    found: dict[str, object] = {}
    for name, values in json.loads((folder / "article.json").read_text()).items():
        clipped = np.clip(values, None, CAP)
        total = clipped.sum() + random.laplace(0, 2 * CAP / EPSILON, trials)
        count = len(clipped) + random.laplace(0, 2 / EPSILON, trials)
        error = total / np.maximum(1, count) - clipped.mean()
        rmse = float(np.sqrt(np.mean(error**2)))
        found[name] = {"trials": trials, "rmse": rmse, "bias": float(error.mean())}
    return found


def tasks(folder: Path) -> Tasks:
    def staff(**facts: object) -> hm.Curator:
        return hm.open(folder / "people.parquet", budget=BUDGET, **facts)

    def array_mean() -> Task:
        rows = hm.open({"salary": np.fromfile(folder / "salary.f64")}, budget=BUDGET)
        return Task(asking(rows, MEAN))

    def per_unit() -> Task:
        people = staff(unit="employee_id", rows_per_unit=ROWS_PER_UNIT)
        both = {"n": hm.Count(), "total": hm.Sum(*BOUNDS)}

        def answer() -> Answer:
            found = people.ask(both, epsilon=EPSILON)
            return found["n"].value, found["total"].value

        return Task(answer, relation="add/remove one unit", note="one joint release")

    def asked(name: str, **facts: str) -> Callable[[], Task]:
        relation = {"relation": REPLACE} if "relation" in facts else {}
        ask = group_means if name == "group mean" else lambda s: asking(s, QUESTIONS[name])
        return lambda: Task(ask(staff(**facts)), **relation)

    def not_below_zero() -> Answer:
        return bins.ask(hm.Histogram("salary", EDGES), epsilon=EPSILON).non_negative().value

    bins = staff()
    return {
        "count": lambda: Task(asking(staff(), hm.Count())),
        "sum": lambda: Task(asking(staff(), hm.Sum(*BOUNDS))),
        **{name: asked(name) for name in QUESTIONS},
        **{f"{name}, n public": asked(name, relation="replace") for name in QUESTIONS},
        "mean, from an array": array_mean,
        "histogram": lambda: Task(asking(staff(), hm.Histogram("salary", EDGES))),
        "histogram, not below 0": lambda: Task(not_below_zero, note="`non_negative()`, free"),
        "unknown keys": lambda: unknown_keys(folder),
        "ranges": lambda: Task(private_ranges(staff())),
        "per unit": per_unit,
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    return asking(hm.open({"salary": np.asarray(values)}, budget=BUDGET), MEAN)


if __name__ == "__main__":
    main(tasks, small_mean, extra=article_algorithm)
