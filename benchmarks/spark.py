"""Private over plain on Spark, and beside Tumult Analytics: CPU time on one Parquet file.

    python benchmarks/spark.py                  10 million rows, 2 million units, two threads
    python benchmarks/spark.py --rows 1e6       the same with a million rows
    python benchmarks/spark.py --no-peer        without Tumult Analytics, which takes minutes

CPU seconds of this process and of Spark's JVM, medians, by turns, after one of each. DuckDB answers
the same sum of three rows a unit from the same file. The peer runs in
benchmarks/.environments/tmlt, which `python benchmarks/peers.py --only tmlt` makes; --python names
another one. Needs Java.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "peers"), str(HERE.parent / "tests" / "services")]

from engines import GRID, GROUPS, MEAN, WIDTH, generate  # noqa: E402
from harness import processor_seconds  # noqa: E402
from spark_session import SparkService  # noqa: E402

from halfmask.plan import Tally, UnitBound  # noqa: E402
from halfmask.sources import open_source  # noqa: E402

PEER = HERE / ".environments" / "tmlt" / "bin" / "python"
SUM = "sum, 3 rows per unit"
THREE = UnitBound("unit", 3 * WIDTH)
BY_UNIT = "SELECT sum(s) FROM (SELECT unit, sum(value) AS s FROM rows GROUP BY unit)"
SCALAR = "SELECT sum(value), count(value) FROM rows"
BY_GROUP = "SELECT grp, sum(value), count(value) FROM rows GROUP BY grp"
CASES = {
    "scalar mean": (Tally(MEAN, GRID), SCALAR, 1.9),
    "mean of 100 groups": (Tally(MEAN, GRID, GROUPS), BY_GROUP, None),
    SUM: (Tally(MEAN[:1], GRID, unit=THREE), BY_UNIT, None),
    "mean, 3 rows per unit": (Tally(MEAN, GRID, unit=THREE), BY_UNIT, None),
}


def seconds(work) -> float:
    start = processor_seconds()
    work()
    return processor_seconds() - start


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def peer(path: Path, python: Path) -> float:
    """CPU seconds of the peer's sum of three rows a unit: the same guarantee."""
    words = [python, HERE / "peers" / "tumult_units.py", path]
    ours = ("SPARK_", "PYSPARK_", "PYTHONPATH")  # which SparkService and the caller have set
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        list(map(str, words)), check=True, capture_output=True, text=True, env=clean
    )
    return float(done.stdout.split()[-1])


def in_duckdb(path: Path, turns: int) -> float:
    source = open_source(path, threads=2)
    tally, _, _ = CASES[SUM]
    return statistics.median([seconds(lambda: source.tally(tally)) for _ in range(turns + 1)][1:])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--python", type=Path, default=PEER, help="that has Tumult Analytics")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    count, turns = int(given.rows), given.turns
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        generate(path, count)
        # As Spark compiles and collects by default.
        service = SparkService(**{"spark.driver.extraJavaOptions": "-Dhalfmask=benchmark"})
        frame = service.spark.read.parquet(str(path))
        frame.createOrReplaceTempView("rows")
        source = open_source(frame)
        print(f"{count:,} rows, Spark on 2 threads, CPU seconds, median of {turns}, {load()}")
        print(f"{'':30}{'private':>9}{'plain':>9}{'ratio':>8}{'at most':>9}")
        for name, (tally, sql, most) in CASES.items():
            # Anew each time: a frame that ran once keeps what it shuffled.
            works = [
                lambda sql=sql: service.spark.sql(sql).collect(),
                lambda tally=tally: source.tally(tally),
            ]
            pairs = [[seconds(work) for work in works] for _ in range(turns + 1)][1:]
            base, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
            target = f"{most:9.1f}" if most else ""
            print(f"{name:30}{ours:9.3f}{base:9.3f}{ours / base:8.2f}{target}", flush=True)
            if name == SUM:
                unit_sum = ours
        source.close()
        service.stop()
        near = in_duckdb(path, turns)
        print(f"{SUM + ', DuckDB':30}{near:9.3f}", flush=True)
        if given.no_peer:
            return
        theirs = peer(path, given.python)
    print(f"{SUM + ', Tumult':30}{theirs:9.3f}, {load()}")
    print(f"Tumult takes {theirs / unit_sum:.1f} times Spark's (wanted: 5)")
    print(f"  and {theirs / near:.0f} times DuckDB's (wanted: 50)")


if __name__ == "__main__":
    main()
