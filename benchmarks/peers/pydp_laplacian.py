"""PyDP (Google's C++ library): one pass over a Python list; rows only, add/remove one row.

The caller drops missing values, makes bins, and bounds what one person contributes. BoundedMean is
the centred sum over the count with half of epsilon each.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from harness import BINS, CAP, EPSILON, ROWS_PER_UNIT, Task, Tasks, column, main
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism


def private_mean(values: list[float]) -> float:
    algorithm = BoundedMean(epsilon=EPSILON, lower_bound=0, upper_bound=CAP, dtype="float")
    return algorithm.quick_result(values)


def private_sum(values: list[float]) -> float:
    algorithm = BoundedSum(epsilon=EPSILON, lower_bound=0, upper_bound=CAP, dtype="float")
    return algorithm.quick_result(values)


def private_histogram(values) -> list[int]:
    """Disjoint bins: each count is released at the whole epsilon."""
    import numpy as np

    counts, _ = np.histogram(np.clip(values, 0, CAP), bins=BINS, range=(0, CAP))
    mechanism = LaplaceMechanism(epsilon=EPSILON, sensitivity=1)
    return [mechanism.add_noise(int(count)) for count in counts]


def per_unit(salary, unit) -> tuple[float, float]:
    """At most five rows of each unit, picked at random; count and sum at half of epsilon each."""
    import numpy as np

    shuffled = np.random.default_rng().permutation(len(unit))
    order = shuffled[np.argsort(unit[shuffled], kind="stable")]
    owner = unit[order]
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    rank = np.arange(len(owner)) - np.repeat(first, np.diff(np.r_[first, len(owner)]))
    kept = np.nan_to_num(salary[order[rank < ROWS_PER_UNIT]], nan=0.0).tolist()
    half = {"epsilon": EPSILON / 2, "linf_sensitivity": ROWS_PER_UNIT, "dtype": "float"}
    total = BoundedSum(lower_bound=0, upper_bound=CAP, **half)
    return Count(**half).quick_result(kept), total.quick_result(kept)


def tasks(folder: Path) -> Tasks:
    @cache
    def present() -> list[float]:
        return [x for x in column(folder) if x == x]

    def count() -> Task:
        rows = column(folder).tolist()
        return Task(lambda: Count(epsilon=EPSILON, dtype="float").quick_result(rows))

    def histogram() -> Task:
        import numpy as np

        values = np.asarray(present())
        note = "bins by numpy, noise by LaplaceMechanism"
        return Task(lambda: private_histogram(values), note=note)

    def bounded() -> Task:
        import numpy as np

        salary = np.fromfile(folder / "salary.f64")
        unit = np.fromfile(folder / "employee_id.i64", np.int64)
        note = "bounding by hand in numpy"
        relation = "add/remove 5 rows of one unit"
        return Task(lambda: per_unit(salary, unit), relation=relation, note=note)

    return {
        "count": count,
        "sum": lambda: Task(lambda: private_sum(present())),
        "mean": lambda: Task(lambda: private_mean(present())),
        "histogram": histogram,
        "per unit": bounded,
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    return lambda: private_mean(values)


if __name__ == "__main__":
    main(tasks, small_mean)
