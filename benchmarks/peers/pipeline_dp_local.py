"""PipelineDP, local backend: rows as tuples through a lazy pipeline in pure Python.

Add/remove one row: the caller says that contributions are bounded already (each row is its own
unit in one group), except where groups are unknown: there the engine needs a privacy id, which is
the row's number. Its metrics are those of the library of PyDP. Groups are public unless stated.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pipeline_dp
from harness import (
    BINS,
    CAP,
    DELTA,
    EPSILON,
    FINE,
    GROUPS,
    ROWS_PER_UNIT,
    STEP,
    Answer,
    Task,
    Tasks,
    city_counts,
    main,
    range_sums,
)
from pipeline_dp import AggregateParams, DataExtractors, DPEngine, LocalBackend, Metrics

BY_POSITION = DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)
BOUNDS = {"min_value": 0, "max_value": CAP}
QUARTILES = [Metrics.PERCENTILE(q) for q in (25, 50, 75)]


def aggregate(
    rows: list[tuple], metrics: list, keys: Iterable[int] | None, delta: float = 0, **facts: object
) -> dict[int, tuple]:
    """One aggregation at the whole price: the metrics of each released key."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=delta)
    engine = DPEngine(accountant, LocalBackend())
    bounded = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
    if keys is not None and "max_contributions_per_partition" not in facts:
        bounded["contribution_bounds_already_enforced"] = True
    params = AggregateParams(
        metrics=metrics, noise_kind=pipeline_dp.NoiseKind.LAPLACE, **(bounded | facts)
    )
    public = None if keys is None else list(keys)
    found = engine.aggregate(rows, params, BY_POSITION, public_partitions=public)
    accountant.compute_budgets()
    return dict(found)


def read_salaries(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Salaries, and which are there."""
    salary = np.fromfile(folder / "salary.f64")
    return salary, ~np.isnan(salary)


def read_column(folder: Path, name: str) -> np.ndarray:
    return np.fromfile(folder / f"{name}.i64", np.int64)


def as_rows(values: np.ndarray, keys: np.ndarray | None = None) -> list[tuple]:
    keys = np.zeros(len(values), np.int64) if keys is None else keys
    return list(zip(range(len(values)), keys.tolist(), values.tolist(), strict=True))


def bin_counts(folder: Path, bins: int, top: float) -> Callable[[], list[float]]:
    """Rows of each public bin; the bin is a partition."""
    salary, there = read_salaries(folder)
    clipped = np.clip(salary[there], 0, top)
    data = as_rows(clipped, np.minimum((clipped * bins / top).astype(np.int64), bins - 1))

    def answer() -> list[float]:
        found = aggregate(data, [Metrics.COUNT], range(bins))
        return [found[b][0] for b in range(bins)]

    return answer


def ranges(folder: Path) -> Task:
    fine = bin_counts(folder, FINE, FINE * STEP)
    return Task(lambda: range_sums(fine()), note="sums of 1024 public partitions")


def group_mean(folder: Path) -> Task:
    salary, there = read_salaries(folder)
    data = as_rows(salary[there], read_column(folder, "dept")[there])

    def answer() -> Answer:
        found = aggregate(data, [Metrics.MEAN], range(GROUPS), **BOUNDS)
        return [found[k][0] for k in range(GROUPS)]

    return Task(answer)


def unknown_keys(folder: Path) -> Task:
    city = read_column(folder, "city")
    data = as_rows(city, city)

    def answer() -> Answer:
        metrics = [Metrics.PRIVACY_ID_COUNT]
        found = aggregate(data, metrics, None, DELTA, post_aggregation_thresholding=True)
        return city_counts((key, m[0]) for key, m in found.items())

    return Task(answer, note="post_aggregation_thresholding, a row's number as its unit")


def per_unit(folder: Path) -> Task:
    values = np.nan_to_num(read_salaries(folder)[0]).tolist()
    units = read_column(folder, "employee_id").tolist()
    data = list(zip(units, [0] * len(values), values, strict=True))
    facts = BOUNDS | {"max_contributions_per_partition": ROWS_PER_UNIT}

    def answer() -> Answer:
        return aggregate(data, [Metrics.COUNT, Metrics.SUM], [0], **facts)[0]

    return Task(answer, relation="add/remove one unit", note="half of epsilon each")


def scalar(values: np.ndarray, metrics: list, note: str = "", **facts: float) -> Task:
    data = as_rows(values)

    def answer() -> Answer:
        found = aggregate(data, metrics, [0], **facts)[0]
        return found if len(metrics) > 1 else found[0]

    return Task(answer, note=note)


def tasks(folder: Path) -> Tasks:
    salary, there = read_salaries(folder)
    everyone, present = np.nan_to_num(salary), salary[there]
    return {
        "count": lambda: scalar(everyone, [Metrics.COUNT]),
        "sum": lambda: scalar(present, [Metrics.SUM], **BOUNDS),
        "mean": lambda: scalar(present, [Metrics.MEAN], **BOUNDS),
        "variance": lambda: scalar(present, [Metrics.VARIANCE], **BOUNDS),
        "median": lambda: scalar(present, QUARTILES[1:2], "quantile tree", **BOUNDS),
        "quartiles": lambda: scalar(present, QUARTILES, "one quantile tree", **BOUNDS),
        "histogram": lambda: Task(bin_counts(folder, BINS, CAP), note="bins as public partitions"),
        "group mean": lambda: group_mean(folder),
        "unknown keys": lambda: unknown_keys(folder),
        "ranges": lambda: ranges(folder),
        "per unit": lambda: per_unit(folder),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    data = [(i, 0, value) for i, value in enumerate(values)]
    return lambda: aggregate(data, [Metrics.MEAN], [0], **BOUNDS)[0][0]


if __name__ == "__main__":
    main(tasks, small_mean)
