"""SmartNoise SQL over a pandas frame: SQL in, noisy rows out.

Add/remove one row (`row_privacy`). Its epsilon is that of each noisy column, so the price given is
whatever its own accountant (`get_privacy_cost`) makes epsilon of the whole query. Salaries are in
thousands: in units the noise scale of a variance is refused as too large. There are no quantiles,
and no subqueries: bins are a column of the frame. Keys cannot be public: without `censor_dims` it
shows which keys have rows, which is no longer private. `again` hands the exact aggregates back to
the library (`pre_aggregated`), which adds the noise.
"""

import warnings
from collections.abc import Callable
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from harness import (  # noqa: E402
    BINS,
    CAP,
    DELTA,
    EPSILON,
    FINE,
    GROUPS,
    STEP,
    Answer,
    Task,
    Tasks,
    city_counts,
    main,
    range_sums,
)
from snsql import Privacy, from_df  # noqa: E402

UNIT = 1000
LEAKS = "add/remove one row, but shows which keys have rows"
BOUNDED = {"type": "float", "lower": 0.0, "upper": CAP / UNIT}
KEY = {"type": "int"}


def reader(frame: pd.DataFrame, query: str, **options: object):
    """A reader whose epsilon makes the whole query cost EPSILON by the library's accountant."""
    columns = dict.fromkeys(frame.columns, KEY) | {"salary": BOUNDED}
    metadata = {"": {"": {"people": {"rows": len(frame), **options, **columns}}}}

    def priced(epsilon: float):
        privacy = Privacy(epsilon=epsilon, delta=DELTA)
        return from_df(frame, privacy=privacy, metadata=metadata)

    whole = priced(EPSILON).get_privacy_cost(query)[0]
    return priced(EPSILON * EPSILON / whole)


def task(frame: pd.DataFrame, query: str, read: Callable[[list], Answer], **facts) -> Task:
    options = facts.pop("options", {"row_privacy": True, "censor_dims": False})
    kept = reader(frame, query, **options)
    exact: list = []

    def answer() -> Answer:
        return read(reader(frame, query, **options).execute(query)[1:])

    def again() -> Answer:
        if not exact:
            tree = kept.parse_query_string(query)
            subquery, _ = kept._rewrite_ast(tree)
            exact.extend(kept._get_reader(subquery)._execute_ast(subquery))
        return read(kept.execute(query, pre_aggregated=exact)[1:])

    return Task(answer, again, **facts)


def tasks(folder: Path) -> Tasks:
    salary = np.fromfile(folder / "salary.f64")
    there = ~np.isnan(salary)
    frame = pd.DataFrame({"salary": salary[there] / UNIT})

    def column(name: str) -> np.ndarray:
        return np.fromfile(folder / f"{name}.i64", np.int64)

    def one(what: str, scale: float, data: pd.DataFrame = frame) -> Task:
        query = f"SELECT {what} AS answer FROM people"
        return task(data, query, lambda rows: scale * float(rows[0][0]))

    def binned(bins: int, top: float, read: Callable[[list[float]], Answer], note: str) -> Task:
        clipped = np.clip(salary[there], 0, top)
        bin_of = np.minimum((clipped * bins / top).astype(np.int64), bins - 1)

        def in_order(rows: list) -> Answer:
            counts = [0.0] * bins
            for key, count in rows:
                counts[int(key)] = float(count)
            return read(counts)

        query = "SELECT bin, COUNT(*) AS n FROM people GROUP BY bin"
        return task(frame.assign(bin=bin_of), query, in_order, relation=LEAKS, note=note)

    def grouped() -> Task:
        def in_order(rows: list) -> Answer:
            found = {int(key): UNIT * float(mean) for key, mean in rows}
            return [found[k] for k in range(GROUPS)]

        query = "SELECT dept, AVG(salary) AS pay FROM people GROUP BY dept"
        data = frame.assign(dept=column("dept")[there])
        return task(data, query, in_order, relation=LEAKS)

    def cities() -> Task:
        query = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
        data = pd.DataFrame({"city": column("city"), "salary": np.nan_to_num(salary) / UNIT})
        censored = {"row_privacy": True, "censor_dims": True}
        return task(data, query, city_counts, options=censored, note="censor_dims")

    absent = "bins without rows are not released at all, and counted as 0 here"
    return {
        "count": lambda: one("COUNT(*)", 1, pd.DataFrame({"salary": np.nan_to_num(salary) / UNIT})),
        "sum": lambda: one("SUM(salary)", UNIT),
        "mean": lambda: one("AVG(salary)", UNIT),
        "variance": lambda: one("VARIANCE(salary)", UNIT**2),
        "histogram": lambda: binned(BINS, CAP, list, absent),
        "group mean": grouped,
        "unknown keys": cities,
        "ranges": lambda: binned(FINE, FINE * STEP, range_sums, absent),
    }


def small_mean(values: list[float]) -> Callable[[], float]:
    frame = pd.DataFrame({"salary": np.asarray(values) / UNIT})
    query = "SELECT AVG(salary) AS answer FROM people"
    return task(frame, query, lambda rows: UNIT * float(rows[0][0])).again


if __name__ == "__main__":
    main(tasks, small_mean)
