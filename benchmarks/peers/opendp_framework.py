"""OpenDP, framework API: measurements built from transformations, over one NumPy vector.

Add/remove one row. The caller drops missing values, keeps salaries as whole cents (a float sum of
unknown size costs U - L per row however it is centred; an integer sum costs max(|L|, |U|)) and
centres them, a map of each row alone. Scales are found by OpenDP's own binary search, as its guide
does; `again` keeps the measurement.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import opendp.prelude as dp
from harness import BINS, CAP, EPSILON, Answer, Task, Tasks, main

dp.enable_features("contrib")

CENTS = 100
TOP = CAP * CENTS
MIDDLE = TOP // 2
ROWS = (dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance())
EDGES = [TOP * i // BINS for i in range(1, BINS)]


def fitted(build: Callable[[float], dp.Measurement], epsilon: float = EPSILON) -> dp.Measurement:
    """The measurement with the least noise that costs `epsilon` for one row."""
    return dp.binary_search_chain(build, d_in=1, d_out=epsilon)


def count(epsilon: float = EPSILON) -> dp.Measurement:
    return fitted(lambda scale: ROWS >> dp.t.then_count() >> dp.m.then_laplace(scale), epsilon)


def total(lower: int, upper: int, epsilon: float = EPSILON) -> dp.Measurement:
    summed = ROWS >> dp.t.then_clamp((lower, upper)) >> dp.t.then_sum()
    return fitted(lambda scale: summed >> dp.m.then_laplace(scale), epsilon)


def centred_mean() -> dp.Measurement:
    """The centred sum and the count, half of epsilon each."""
    return dp.c.make_composition([total(-MIDDLE, MIDDLE, EPSILON / 2), count(EPSILON / 2)])


def release_mean(measurement: dp.Measurement, cents: np.ndarray) -> float:
    centred, size = measurement(cents - MIDDLE)
    return min(max((MIDDLE + centred / max(1, size)) / CENTS, 0.0), CAP)


def public_size_mean(size: int) -> dp.Measurement:
    """Replacing one row, n public: under the symmetric distance that is two steps."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size)
    clamped = (space, dp.symmetric_distance()) >> dp.t.then_clamp((0.0, float(CAP)))
    averaged = clamped >> dp.t.then_mean()
    build = lambda scale: averaged >> dp.m.then_laplace(scale)  # noqa: E731
    return dp.binary_search_chain(build, d_in=2, d_out=EPSILON)


def histogram() -> dp.Measurement:
    binned = ROWS >> dp.t.then_find_bin(EDGES)
    counts = binned >> dp.t.then_count_by_categories(list(range(BINS)), null_category=False)
    return fitted(lambda scale: counts >> dp.m.then_laplace(scale))


def in_cents(salary: np.ndarray) -> np.ndarray:
    return np.rint(CENTS * salary).astype(np.int64)


def tasks(folder: Path) -> Tasks:
    salary = np.fromfile(folder / "salary.f64")
    present = salary[~np.isnan(salary)]
    rows, cents = in_cents(np.nan_to_num(salary)), in_cents(present)

    def task(
        build: Callable[[], dp.Measurement],
        data: np.ndarray,
        release: Callable[[dp.Measurement, np.ndarray], Answer] = lambda m, data: m(data),
        **facts: str,
    ) -> Task:
        kept = cache(build)
        return Task(lambda: release(build(), data), lambda: release(kept(), data), **facts)

    def sum_task() -> Task:
        return task(lambda: total(0, TOP), cents, lambda m, data: m(data) / CENTS)

    def public_mean() -> Task:
        relation = "replace one row, n public"
        return task(lambda: public_size_mean(len(present)), present, relation=relation)

    note = "centred by hand, clamped to its bounds"
    return {
        "count": lambda: task(count, rows),
        "sum": sum_task,
        "mean": lambda: task(centred_mean, cents, release_mean, note=note),
        "mean, n public": public_mean,
        "histogram": lambda: task(histogram, cents),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    cents, kept = in_cents(np.asarray(values)), centred_mean()
    return lambda: release_mean(kept, cents)


if __name__ == "__main__":
    main(tasks, small_mean)
