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
from harness import (
    BINS,
    CAP,
    DELTA,
    EPSILON,
    FINE,
    REPLACE,
    STEP,
    Answer,
    Task,
    Tasks,
    city_counts,
    main,
    range_sums,
)

dp.enable_features("contrib")

CENTS = 100
TOP = CAP * CENTS
MIDDLE = TOP // 2
ROWS = (dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance())
QUARTILES = (0.25, 0.5, 0.75)
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


def of_size(size: int) -> tuple[dp.Domain, dp.Metric]:
    """Rows of public number: replacing one is two steps of the symmetric distance."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size)
    return space, dp.symmetric_distance()


def replacing(build: Callable[[float], dp.Measurement], epsilon: float = EPSILON) -> dp.Measurement:
    return dp.binary_search_chain(build, d_in=2, d_out=epsilon)


def public_size_mean(size: int) -> dp.Measurement:
    averaged = of_size(size) >> dp.t.then_clamp((0.0, float(CAP))) >> dp.t.then_mean()
    return replacing(lambda scale: averaged >> dp.m.then_laplace(scale))


def public_size_variance(size: int) -> dp.Measurement:
    clamped = of_size(size) >> dp.t.then_clamp((0.0, float(CAP)))
    spread = clamped >> dp.t.then_variance(ddof=0)
    return replacing(lambda scale: spread >> dp.m.then_laplace(scale))


def sums_for_variance() -> tuple[dp.Measurement, dp.Measurement, dp.Measurement]:
    """Count, centred sum, and sum of squares in whole units (in cents it would not fit 64 bits)."""
    third, half = EPSILON / 3, CAP // 2
    return count(third), total(-half, half, third), total(0, half**2, third)


def release_variance(parts: tuple[dp.Measurement, ...], cents: np.ndarray) -> float:
    centred = np.clip(np.rint(cents / CENTS), 0, CAP).astype(np.int64) - CAP // 2
    size, first, second = (m(x) for m, x in zip(parts, (centred, centred, centred**2), strict=True))
    size = max(1, size)
    return min(max(second / size - (first / size) ** 2, 0.0), CAP**2 / 4)


def candidates(rows: int) -> list[int]:
    """Multiples of ten, in cents; of a hundred for few rows. Each draws its own noise: slow."""
    return list(range(0, TOP + 1, (10 if rows > 10_000 else 100) * CENTS))


def quantile(places: list[int], q: float, epsilon: float = EPSILON) -> dp.Measurement:
    """The library's own: permute-and-flip."""
    build = lambda scale: dp.m.make_private_quantile(  # noqa: E731
        *ROWS, dp.max_divergence(), places, q, scale
    )
    return fitted(build, epsilon)


def public_size_quantile(size: int, q: float, epsilon: float = EPSILON) -> dp.Measurement:
    places = [float(c) / CENTS for c in candidates(size)]
    build = lambda scale: dp.m.make_private_quantile(  # noqa: E731
        *of_size(size), dp.max_divergence(), places, q, scale
    )
    return replacing(build, epsilon)


def quartiles(places: list[int]) -> dp.Measurement:
    return dp.c.make_composition([quantile(places, q, EPSILON / 3) for q in QUARTILES])


def public_size_quartiles(size: int) -> dp.Measurement:
    parts = [public_size_quantile(size, q, EPSILON / 3) for q in QUARTILES]
    return dp.c.make_composition(parts)


def binned(edges: list[int]) -> dp.Transformation:
    found = ROWS >> dp.t.then_find_bin(edges)
    return found >> dp.t.then_count_by_categories(list(range(len(edges) + 1)), null_category=False)


def histogram() -> dp.Measurement:
    counts = binned(EDGES)
    return fitted(lambda scale: counts >> dp.m.then_laplace(scale))


def tree() -> dp.Measurement:
    """A tree of counts, made consistent after the noise; the library picks the branching."""
    branching = dp.t.choose_branching_factor(FINE)
    counts = binned([STEP * CENTS * i for i in range(1, FINE)])
    nodes = counts >> dp.t.then_b_ary_tree(leaf_count=FINE, branching_factor=branching)
    noisy = fitted(lambda scale: nodes >> dp.m.then_laplace(scale))
    return noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=branching)


def thresholded() -> dp.Measurement:
    """Counts of the keys found, shown from a threshold; its scale first, then its threshold."""
    counts = ROWS >> dp.t.then_count_by()

    def build(scale: float, threshold: float) -> dp.Measurement:
        return counts >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)

    fits = lambda scale: build(scale, 1_000_000).map(1)[0] <= EPSILON  # noqa: E731
    scale = dp.binary_search(fits, bounds=(0.01, 1000.0))
    hides = lambda threshold: build(scale, threshold).map(1)[1] <= DELTA  # noqa: E731
    threshold = dp.binary_search(hides, bounds=(1, 10_000))
    return build(scale, threshold)


def in_cents(salary: np.ndarray) -> np.ndarray:
    return np.rint(CENTS * salary).astype(np.int64)


def tasks(folder: Path) -> Tasks:
    salary = np.fromfile(folder / "salary.f64")
    present = salary[~np.isnan(salary)]
    rows, cents = in_cents(np.nan_to_num(salary)), in_cents(present)

    def task(
        build: Callable[[], object],
        data: np.ndarray,
        release: Callable[[object, np.ndarray], Answer] = lambda m, data: m(data),
        **facts: str,
    ) -> Task:
        kept = cache(build)
        return Task(lambda: release(build(), data), lambda: release(kept(), data), **facts)

    def sum_task() -> Task:
        return task(lambda: total(0, TOP), cents, lambda m, data: m(data) / CENTS)

    def public(build: Callable[..., dp.Measurement], *given: object) -> Callable[[], Task]:
        return lambda: task(lambda: build(len(present), *given), present, relation=REPLACE)

    def in_units(m: dp.Measurement, data: np.ndarray) -> Answer:
        return np.asarray(m(data), float) / CENTS

    def cities() -> Task:
        city = np.fromfile(folder / "city.i64", np.int64)
        return task(thresholded, city, lambda m, data: city_counts(m(data).items()))

    three, places = "a third of epsilon each", candidates(len(cents))
    coarse = list(range(0, TOP + 1, TOP // 100))
    few = {
        "median, 101 candidates": lambda: task(lambda: quantile(coarse, 0.5), cents, in_units),
        "quartiles, 101 candidates": lambda: task(lambda: quartiles(coarse), cents, in_units),
    }
    note = "centred by hand, clamped to its bounds"
    return {
        "count": lambda: task(count, rows),
        "sum": sum_task,
        "mean": lambda: task(centred_mean, cents, release_mean, note=note),
        "mean, n public": public(public_size_mean),
        "variance": lambda: task(sums_for_variance, cents, release_variance, note=three),
        "variance, n public": public(public_size_variance),
        "median": lambda: task(lambda: quantile(places, 0.5), cents, in_units),
        "median, n public": public(public_size_quantile, 0.5),
        "quartiles": lambda: task(lambda: quartiles(places), cents, in_units, note=three),
        "quartiles, n public": public(public_size_quartiles),
        **(few if len(salary) <= 10_000 else {}),
        "histogram": lambda: task(histogram, cents),
        "unknown keys": cities,
        "ranges": lambda: task(tree, cents, lambda m, data: range_sums(m(data))),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    cents, kept = in_cents(np.asarray(values)), centred_mean()
    return lambda: release_mean(kept, cents)


if __name__ == "__main__":
    main(tasks, small_mean)
