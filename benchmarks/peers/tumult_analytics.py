"""Tumult Analytics: a Spark session over a table; the engine adds the noise.

Add/remove one row (`AddOneRow`). Spark runs in a child of this process, whose CPU and memory count
too. One session without end of budget answers every trial, at EPSILON each; the file is read on
each answer. Needs Java.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

warnings.filterwarnings("ignore")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

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
from pyspark.sql import SparkSession  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddOneRow,
    ApproxDPBudget,
    BinningSpec,
    KeySet,
    PureDPBudget,
    QueryBuilder,
    Session,
)

PRICE = PureDPBudget(EPSILON)
THIRD = PureDPBudget(EPSILON / 3)
PAY = {"column": "salary", "low": 0.0, "high": float(CAP), "name": "answer"}


def opened(folder: Path, *, approximate: bool = False) -> Session:
    """On every core; few partitions, which suits a small machine, and no bars of progress."""
    built = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    built = built.config("spark.sql.shuffle.partitions", "4").master("local[*]")
    built = built.config("spark.sql.warehouse.dir", tempfile.gettempdir())
    spark = built.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(str(folder / "people.parquet"))
    endless = ApproxDPBudget(float("inf"), 1) if approximate else PureDPBudget(float("inf"))
    return Session.from_dataframe(endless, "people", frame, protected_change=AddOneRow())


def rows() -> QueryBuilder:
    return QueryBuilder("people")


def present() -> QueryBuilder:
    return rows().drop_null_and_nan(["salary"])


def numbers(session: Session, query, price=PRICE) -> pd.Series:
    """The released column; its index holds the keys, if there are any."""
    frame = session.evaluate(query, price).toPandas()
    keys = [k for k in frame.columns if k != "answer"]
    return frame.set_index(keys[0])["answer"] if keys else frame["answer"]


def scalar(folder: Path, query) -> Task:
    session = opened(folder)
    return Task(lambda: numbers(session, query).iloc[0])


def quartiles(folder: Path) -> Task:
    session = opened(folder)
    queries = [present().quantile(quantile=q, **PAY) for q in (0.25, 0.5, 0.75)]
    return Task(
        lambda: [numbers(session, query, THIRD).iloc[0] for query in queries],
        note="a third of epsilon each",
    )


def binned(folder: Path, bins: int, step: int, read: Callable[[list[float]], Answer]) -> Task:
    """Counts of public bins: a set of keys over a binned column of held values."""
    session = opened(folder)
    top = float(step * bins)
    inside = present().map(
        lambda row: {"pay": min(max(row["salary"], 0.0), top)},
        new_column_types={"pay": "DECIMAL"},
        augment=True,
    )
    edges, names = [float(step * i) for i in range(bins + 1)], list(range(bins))
    spec = BinningSpec(edges, names=names, right=False, include_both_endpoints=True)
    keys = KeySet.from_dict({"bin": names})
    query = inside.bin_column("pay", spec, name="bin").groupby(keys).count(name="answer")

    def answer() -> Answer:
        found = numbers(session, query)
        return read([float(found[b]) for b in names])

    return Task(answer)


def group_mean(folder: Path) -> Task:
    session, names = opened(folder), [f"dept-{k:02d}" for k in range(GROUPS)]
    query = present().groupby(KeySet.from_dict({"dept": names})).average(**PAY)
    return Task(lambda: numbers(session, query).loc[names])


def unknown_keys(folder: Path) -> Task:
    session = opened(folder, approximate=True)
    half = ApproxDPBudget(EPSILON / 2, DELTA)

    def answer() -> Answer:
        found = session.evaluate(rows().get_groups(["city"]), half).toPandas()
        if found.empty:
            return city_counts([])
        query = rows().groupby(KeySet.from_dict({"city": found["city"].tolist()}))
        counts = numbers(session, query.count(name="answer"), ApproxDPBudget(EPSILON / 2, 0))
        return city_counts((name.removeprefix("city-"), n) for name, n in counts.items())

    return Task(answer, note="get_groups, then counts, at half of epsilon each")


def tasks(folder: Path) -> Tasks:
    return {
        "count": lambda: scalar(folder, rows().count(name="answer")),
        "sum": lambda: scalar(folder, present().sum(**PAY)),
        "mean": lambda: scalar(folder, present().average(**PAY)),
        "variance": lambda: scalar(folder, present().variance(**PAY)),
        "median": lambda: scalar(folder, present().median(**PAY)),
        "quartiles": lambda: quartiles(folder),
        "histogram": lambda: binned(folder, BINS, CAP // BINS, list),
        "group mean": lambda: group_mean(folder),
        "unknown keys": lambda: unknown_keys(folder),
        "ranges": lambda: binned(folder, FINE, STEP, range_sums),
    }


if __name__ == "__main__":
    main(tasks)
