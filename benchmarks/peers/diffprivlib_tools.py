"""diffprivlib: NumPy functions with noise; the number of rows is public, nothing bounds a person.

A NaN makes the answer NaN, so the caller drops missing values. The sum's and the mean's
sensitivity is that of replacing one row; counts change by one under either relation. `quantile`
splits its epsilon evenly over several quantiles. There is nothing for unknown keys.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from diffprivlib import tools
from harness import (
    BINS,
    CAP,
    EPSILON,
    FINE,
    GROUPS,
    REPLACE,
    STEP,
    Answer,
    Task,
    Tasks,
    main,
    range_sums,
)

BOUNDS = (0, CAP)
WITHIN = "replace one row within its group, sizes of groups public"
QUARTILES = [0.25, 0.5, 0.75]


def private_mean(values: np.ndarray) -> float:
    return tools.mean(values, epsilon=EPSILON, bounds=BOUNDS)


def private_histogram(values: np.ndarray) -> np.ndarray:
    """Values beyond the range would be lost: clip them into the outer bins first."""
    clipped = np.clip(values, 0, CAP)
    return tools.histogram(clipped, epsilon=EPSILON, bins=BINS, range=BOUNDS)[0]


def private_ranges(values: np.ndarray) -> list[float]:
    span = {"bins": FINE, "range": (0, FINE * STEP)}
    return range_sums(tools.histogram(np.clip(values, *span["range"]), epsilon=EPSILON, **span)[0])


def group_means(values: np.ndarray, groups: np.ndarray) -> list[float]:
    """Disjoint groups of public sizes: each mean is released at the whole epsilon."""
    return [private_mean(values[groups == k]) for k in range(GROUPS)]


def tasks(folder: Path) -> Tasks:
    salary = np.fromfile(folder / "salary.f64")
    there = ~np.isnan(salary)
    present, dept = salary[there], np.fromfile(folder / "dept.i64", np.int64)[there]
    kept = {"epsilon": EPSILON, "bounds": BOUNDS}

    def replacing(answer: Callable[[], Answer]) -> Callable[[], Task]:
        return lambda: Task(answer, relation=REPLACE)

    def count() -> Task:
        note = "counts the rows with a salary, and is held to the public number of rows"
        return Task(
            lambda: tools.count_nonzero(~np.isnan(salary), epsilon=EPSILON),
            relation=REPLACE,
            truth="present",
            note=note,
        )

    def total() -> Task:
        return Task(
            lambda: tools.sum(present, epsilon=EPSILON, bounds=BOUNDS),
            note="replace one row too, because the lower bound is 0",
        )

    return {
        "count": count,
        "sum": total,
        "mean": replacing(lambda: private_mean(present)),
        "variance": replacing(lambda: tools.var(present, **kept)),
        "median": replacing(lambda: tools.median(present, **kept)),
        "quartiles": replacing(lambda: tools.quantile(present, QUARTILES, **kept)),
        "histogram": lambda: Task(lambda: private_histogram(present)),
        "group mean": lambda: Task(lambda: group_means(present, dept), relation=WITHIN),
        "ranges": lambda: Task(lambda: private_ranges(present), note="sums of a histogram's bins"),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    data = np.asarray(values)
    return lambda: private_mean(data)


if __name__ == "__main__":
    main(tasks, small_mean, REPLACE)
