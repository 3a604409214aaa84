"""PyDP (Google's C++ library): one pass over a Python list; rows only, add/remove one row.

The caller drops missing values, makes bins, and bounds what one person contributes. BoundedMean is
the centred sum over the count with half of epsilon each.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

from harness import (
    BINS,
    CAP,
    DELTA,
    EPSILON,
    FINE,
    GROUPS,
    ROWS_PER_UNIT,
    STEP,
    Task,
    Tasks,
    city_counts,
    column,
    main,
    range_sums,
)
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, BoundedVariance, Count, Percentile
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
from pydp.algorithms.partition_selection import create_partition_strategy

BOUNDS = {"lower_bound": 0, "upper_bound": CAP, "dtype": "float"}


def private_mean(values: list[float]) -> float:
    algorithm = BoundedMean(epsilon=EPSILON, lower_bound=0, upper_bound=CAP, dtype="float")
    return algorithm.quick_result(values)


def private_sum(values: list[float]) -> float:
    algorithm = BoundedSum(epsilon=EPSILON, lower_bound=0, upper_bound=CAP, dtype="float")
    return algorithm.quick_result(values)


def private_variance(values: list[float]) -> float:
    return BoundedVariance(epsilon=EPSILON, **BOUNDS).quick_result(values)


def private_quantile(values: list[float], q: float, epsilon: float = EPSILON) -> float:
    return Percentile(epsilon=epsilon, percentile=q, **BOUNDS).quick_result(values)


def quartiles(values: list[float]) -> list[float]:
    return [private_quantile(values, q, EPSILON / 3) for q in (0.25, 0.5, 0.75)]


def thresholded(counts: list[int]) -> list[float]:
    """One noisy count a key, shown from the least threshold that hides a lone row up to delta."""
    noise = LaplaceMechanism(epsilon=EPSILON, sensitivity=1)
    threshold = 1 + math.log(1 / (2 * DELTA)) / EPSILON
    noisy = ((key, noise.add_noise(float(n))) for key, n in enumerate(counts) if n)
    return city_counts((key, n) for key, n in noisy if n >= threshold)


def selected(counts: list[int]) -> list[float]:
    """The library's own selection of keys at half of epsilon, then their counts at half."""
    strategy = create_partition_strategy("truncated_geometric", EPSILON / 2, DELTA, 1)
    noise = LaplaceMechanism(epsilon=EPSILON / 2, sensitivity=1)
    kept = ((key, n) for key, n in enumerate(counts) if n and strategy.should_keep(n))
    return city_counts((key, noise.add_noise(n)) for key, n in kept)


def private_histogram(values, bins: int = BINS, top: float = CAP) -> list[int]:
    """Disjoint bins: each count is released at the whole epsilon."""
    import numpy as np

    counts, _ = np.histogram(np.clip(values, 0, top), bins=bins, range=(0, top))
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

    def fine() -> Task:
        import numpy as np

        values = np.asarray(present())
        note = "sums of 1024 bins by numpy, noise by LaplaceMechanism"
        return Task(lambda: range_sums(private_histogram(values, FINE, FINE * STEP)), note=note)

    def grouped() -> Task:
        import numpy as np

        salary = np.fromfile(folder / "salary.f64")
        dept = np.fromfile(folder / "dept.i64", np.int64)
        groups = [salary[(dept == k) & ~np.isnan(salary)].tolist() for k in range(GROUPS)]
        return Task(lambda: [private_mean(values) for values in groups])

    def cities(release: Callable[[list[int]], list[float]], note: str) -> Task:
        import numpy as np

        city = np.fromfile(folder / "city.i64", np.int64)
        count = cache(lambda: np.bincount(city).tolist())
        fresh = lambda: release(np.bincount(city).tolist())  # noqa: E731
        return Task(fresh, lambda: release(count()), note=note)

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
        "variance": lambda: Task(lambda: private_variance(present())),
        "median": lambda: Task(lambda: private_quantile(present(), 0.5)),
        "quartiles": lambda: Task(lambda: quartiles(present()), note="a third of epsilon each"),
        "histogram": histogram,
        "group mean": grouped,
        "unknown keys": lambda: cities(thresholded, "noise by LaplaceMechanism, threshold by hand"),
        "unknown keys, two steps": lambda: cities(selected, "partition selection, then counts"),
        "ranges": fine,
        "per unit": bounded,
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    return lambda: private_mean(values)


if __name__ == "__main__":
    main(tasks, small_mean)
