"""Private over plain: CPU time of bounded exact tallies beside the plain SQL on the same file.

    python benchmarks/sources.py            10 million rows, 2 million units, 100 groups
    python benchmarks/sources.py 100000000  the same with 100 million rows

One thread; medians of process CPU time, plain and private by turns.
"""

import resource
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import duckdb

from halfmask.plan import Keys, OnGrid, Tally, UnitBound
from halfmask.sources import open_source

TURNS = 5
WIDTH = 100_000 * 2**10
GRID = OnGrid("value", 0, WIDTH, -10)
MEAN = ((0, 0, 1, 0), (0, WIDTH, -1, 0))  # two-sided sums: one row moves the pair by WIDTH
GROUPS = (Keys("grp", range(100)),)
BY_UNIT = "SELECT sum(s) FROM (SELECT unit, sum(value) AS s FROM rows GROUP BY unit)"
BY_GROUP = "SELECT grp, sum(value), count(value) FROM rows GROUP BY grp"
UNITS_BY_GROUP = "SELECT grp, count(DISTINCT unit) FROM rows GROUP BY grp"
TEXT = (Keys("label", [f"k{i}" for i in range(100)]),)
CASES = {
    "scalar mean": (Tally(MEAN, GRID), "SELECT sum(value), count(value) FROM rows", 2.0),
    "mean of 100 groups": (Tally(MEAN, GRID, GROUPS), BY_GROUP, 1.8),
    "mean of 100 text groups": (Tally(MEAN, GRID, TEXT), BY_GROUP.replace("grp", "label"), 1.8),
    "mean, 3 rows per unit": (Tally(MEAN, GRID, unit=UnitBound("unit", 3 * WIDTH)), BY_UNIT, 1.5),
    "sum, 3 rows per unit": (
        Tally(MEAN[:1], GRID, unit=UnitBound("unit", 3 * WIDTH)), BY_UNIT, 1.5,
    ),
    "distinct units": (
        Tally(((1, 0, 0, 0),), unit=UnitBound("unit", 1, once=True)),
        "SELECT count(DISTINCT unit) FROM rows", None,
    ),
    "group means, unit over all": (
        Tally(MEAN, GRID, GROUPS, unit=UnitBound("unit", 3 * WIDTH)), UNITS_BY_GROUP, None,
    ),
    "group means, 2 groups a unit": (
        Tally(MEAN, GRID, GROUPS, unit=UnitBound("unit", 3 * WIDTH, 2)), UNITS_BY_GROUP, None,
    ),
}  # fmt: skip


def generate(path: Path, count: int) -> None:
    """Write rows of hashes, so that no generator's order shows."""
    units = count // 5
    duckdb.connect().execute(
        f"COPY (SELECT (hash(i) % {units})::BIGINT AS unit,"
        " (hash(i + 1000000000) % 100)::BIGINT AS grp,"
        " (hash(i * 7 + 3) % 1000000007) / 10000.0 AS value, 'k' || (hash(i + 5) % 100) AS label"
        f" FROM range({count}) t(i)) TO '{path}' (FORMAT parquet)"
    )


def run(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    connection.execute(sql).fetchall()


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    turns = TURNS if count <= 10_000_000 else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        generate(path, count)
        source = open_source(path, threads=1)
        plain = duckdb.connect(
            config={"threads": 1, "memory_limit": "1500MB", "temp_directory": folder}
        )
        plain.execute(f"CREATE VIEW rows AS SELECT * FROM '{path}'")
        print(f"{count:,} rows, 1 thread, CPU seconds, median of {turns}")
        print(f"{'':30}{'private':>9}{'plain':>9}{'ratio':>8}{'at most':>9}")
        for name, (tally, sql, most) in CASES.items():
            pairs = [
                (seconds(partial(run, plain, sql)), seconds(partial(source.tally, tally)))
                for _ in range(turns)
            ]
            base, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
            target = f"{most:9.1f}" if most else ""
            print(f"{name:30}{ours:9.3f}{base:9.3f}{ours / base:8.2f}{target}", flush=True)
        source.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
