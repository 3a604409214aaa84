"""OpenDP, Context API over a Polars scan of the Parquet file: reads out of core, bounds units.

Add/remove one row, or one unit with its rows truncated to five. `answer` opens a context, builds
and resolves the query (a binary search for the noise scale) and releases it; `again` invokes the
resolved measurement, which costs its epsilon every time. Only what the framework API does not do,
or does otherwise.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from harness import (
    CAP,
    DELTA,
    EPSILON,
    GROUPS,
    ROWS_PER_UNIT,
    Answer,
    Task,
    Tasks,
    city_counts,
    main,
)

dp.enable_features("contrib")

BOUNDS = (0.0, float(CAP))
MIDDLE = CAP / 2
MARGIN = dp.polars.Margin(max_length=2_000_000)  # a loose public bound on n, needed for float sums
SALARY = pl.col("salary").fill_nan(0.0).fill_null(0.0)


def context(scan: pl.LazyFrame, unit: object, delta: float = 0.0) -> dp.Context:
    loss = dp.loss_of(epsilon=EPSILON, delta=delta) if delta else dp.loss_of(epsilon=EPSILON)
    return dp.Context.compositor(
        data=scan, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1, margins=[MARGIN]
    )


def centred(query):
    """The centred sum and the count of the rows with a salary."""
    there = query.filter(pl.col("salary").is_not_null())
    total = (SALARY - MIDDLE).dp.sum((-MIDDLE, MIDDLE))
    return there.select(total, n=dp.len(signed=True))


def documented(query):
    """The library's own mean: noisy sum over noisy count."""
    return query.filter(pl.col("salary").is_not_null()).select(SALARY.dp.mean(BOUNDS))


def group_means(query):
    """Centred sum and count of each public department, half of epsilon each."""
    keys = pl.DataFrame({"dept": [f"dept-{k:02d}" for k in range(GROUPS)]})
    there = query.filter(pl.col("salary").is_not_null())
    total = (SALARY - MIDDLE).dp.sum((-MIDDLE, MIDDLE))
    return there.group_by("dept").agg(total, n=dp.len(signed=True)).with_keys(keys)


def unknown_keys(query):
    return query.group_by("city").agg(n=dp.len())


def per_unit(query):
    kept = query.truncate_per_group(ROWS_PER_UNIT)
    return kept.select(SALARY.dp.sum(BOUNDS), n=dp.len(signed=True))


def row(frame: pl.DataFrame) -> Answer:
    return frame.row(0)


def ratio(frame: pl.DataFrame) -> Answer:
    total, size = frame.row(0)
    return min(max(MIDDLE + total / max(1, size), 0.0), CAP)


def ratios(frame: pl.DataFrame) -> Answer:
    held = (min(max(MIDDLE + t / max(1, n), 0.0), CAP) for _, t, n in frame.sort("dept").rows())
    return list(held)


def by_city(frame: pl.DataFrame) -> Answer:
    return city_counts((city.removeprefix("city-"), n) for city, n in frame.iter_rows())


def task(scan: pl.LazyFrame, build: Callable, read: Callable = row, **facts: str) -> Task:
    unit = dp.unit_of(contributions=1)
    if build is per_unit:
        unit = dp.unit_of(contributions=1, identifier="employee_id")

    delta = DELTA if build is unknown_keys else 0.0

    @cache
    def kept() -> dp.Measurement:
        return build(context(scan, unit, delta).query()).resolve()

    return Task(
        lambda: read(build(context(scan, unit, delta).query()).release().collect()),
        lambda: read(kept()(scan).collect()),
        **facts,
    )


def tasks(folder: Path) -> Tasks:
    scan = pl.scan_parquet(folder / "people.parquet")
    return {
        "mean": lambda: task(scan, centred, ratio, note="centred by hand, clamped to its bounds"),
        "mean, as documented": lambda: task(scan, documented, note="dp.mean"),
        "group mean": lambda: task(scan, group_means, ratios, note="centred by hand, clamped"),
        "unknown keys": lambda: task(scan, unknown_keys, by_city),
        "per unit": lambda: task(
            scan,
            per_unit,
            lambda frame: row(frame)[::-1],
            relation="add/remove one unit",
            note="truncate_per_group(5)",
        ),
    }


if __name__ == "__main__":
    main(tasks)
