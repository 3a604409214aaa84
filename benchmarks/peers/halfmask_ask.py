"""halfmask: `hm.open(...).ask(...)` on the Parquet file, nulls and all; nothing is kept in memory.

Each ask charges the ledger, scans the file and draws fresh noise. `mean, from an array` asks the
same of a NumPy array, as the peers are given one.
"""

import json
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
from harness import BINS, CAP, EPSILON, ROWS_PER_UNIT, Answer, Task, Tasks, main

import halfmask as hm

BUDGET = 1_000_000
MEAN = hm.Mean("salary", 0, CAP)
EDGES = [-inf, *(CAP * i / BINS for i in range(1, BINS)), inf]  # clipped values' bins


def asking(staff: hm.Curator, query: object) -> Callable[[], Answer]:
    return lambda: staff.ask(query, epsilon=EPSILON).value


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
        both = {"n": hm.Count(), "total": hm.Sum("salary", 0, CAP)}

        def answer() -> Answer:
            found = people.ask(both, epsilon=EPSILON)
            return found["n"].value, found["total"].value

        return Task(answer, relation="add/remove one unit", note="one joint release")

    replace = "replace one row, n public"
    return {
        "count": lambda: Task(asking(staff(), hm.Count())),
        "sum": lambda: Task(asking(staff(), hm.Sum("salary", 0, CAP))),
        "mean": lambda: Task(asking(staff(), MEAN)),
        "mean, from an array": array_mean,
        "mean, n public": lambda: Task(asking(staff(relation="replace"), MEAN), relation=replace),
        "histogram": lambda: Task(asking(staff(), hm.Histogram("salary", EDGES))),
        "per unit": per_unit,
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    return asking(hm.open({"salary": np.asarray(values)}, budget=BUDGET), MEAN)


if __name__ == "__main__":
    main(tasks, small_mean, extra=article_algorithm)
