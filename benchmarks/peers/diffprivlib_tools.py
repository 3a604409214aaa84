"""diffprivlib: NumPy functions with noise; the number of rows is public, nothing bounds a person.

A NaN makes the answer NaN, so the caller drops missing values. The sum's and the mean's
sensitivity is that of replacing one row; counts change by one under either relation.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from diffprivlib import tools
from harness import BINS, CAP, EPSILON, Task, Tasks, main

BOUNDS = (0, CAP)
REPLACE = "replace one row, n public"


def private_mean(values: np.ndarray) -> float:
    return tools.mean(values, epsilon=EPSILON, bounds=BOUNDS)


def private_histogram(values: np.ndarray) -> np.ndarray:
    """Values beyond the range would be lost: clip them into the outer bins first."""
    clipped = np.clip(values, 0, CAP)
    return tools.histogram(clipped, epsilon=EPSILON, bins=BINS, range=BOUNDS)[0]


def tasks(folder: Path) -> Tasks:
    salary = np.fromfile(folder / "salary.f64")
    present = salary[~np.isnan(salary)]

    def count() -> Task:
        note = "counts the rows with a salary, since it takes the number of rows as public"
        return Task(
            lambda: tools.count_nonzero(~np.isnan(salary), epsilon=EPSILON),
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
        "mean": lambda: Task(lambda: private_mean(present), relation=REPLACE),
        "histogram": lambda: Task(lambda: private_histogram(present)),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    data = np.asarray(values)
    return lambda: private_mean(data)


if __name__ == "__main__":
    main(tasks, small_mean, REPLACE)
