"""Private over plain on Spark, and beside Tumult Analytics: CPU time on one Parquet file.

    python benchmarks/spark.py            10 million rows, 2 million units, two threads
    python benchmarks/spark.py 1000000    the same with a million rows

CPU seconds of this process and of Spark's JVM, medians, by turns, after one of each. The peer runs
in benchmarks/.environments/tmlt, which `python benchmarks/peers.py --only tmlt` makes; it is left
out where that is not there. Needs Java.
"""

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

TURNS = 5
PEER = HERE / ".environments" / "tmlt" / "bin" / "python"
THREE = UnitBound("unit", 3 * WIDTH)
BY_UNIT = "SELECT sum(s) FROM (SELECT unit, sum(value) AS s FROM rows GROUP BY unit)"
SCALAR = "SELECT sum(value), count(value) FROM rows"
BY_GROUP = "SELECT grp, sum(value), count(value) FROM rows GROUP BY grp"
CASES = {
    "scalar mean": (Tally(MEAN, GRID), SCALAR, 1.9),
    "mean of 100 groups": (Tally(MEAN, GRID, GROUPS), BY_GROUP, None),
    "sum, 3 rows per unit": (Tally(MEAN[:1], GRID, unit=THREE), BY_UNIT, None),
    "mean, 3 rows per unit": (Tally(MEAN, GRID, unit=THREE), BY_UNIT, None),
}


def seconds(work) -> float:
    start = processor_seconds()
    work()
    return processor_seconds() - start


def peer(path: Path) -> float | None:
    """CPU seconds of the peer's sum of three rows a unit: the same guarantee."""
    if not PEER.exists():
        return None
    words = [PEER, HERE / "peers" / "tumult_units.py", path]
    done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        generate(path, count)
        # As Spark compiles and collects by default.
        service = SparkService(**{"spark.driver.extraJavaOptions": "-Dhalfmask=benchmark"})
        frame = service.spark.read.parquet(str(path))
        frame.createOrReplaceTempView("rows")
        source = open_source(frame)
        print(f"{count:,} rows, Spark on 2 threads, CPU seconds, median of {TURNS}")
        print(f"{'':30}{'private':>9}{'plain':>9}{'ratio':>8}{'at most':>9}")
        for name, (tally, sql, most) in CASES.items():
            # Anew each time: a frame that ran once keeps what it shuffled.
            works = [
                lambda sql=sql: service.spark.sql(sql).collect(),
                lambda tally=tally: source.tally(tally),
            ]
            pairs = [[seconds(work) for work in works] for _ in range(TURNS + 1)][1:]
            base, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
            target = f"{most:9.1f}" if most else ""
            print(f"{name:30}{ours:9.3f}{base:9.3f}{ours / base:8.2f}{target}", flush=True)
            if name == "sum, 3 rows per unit":
                unit_sum = ours
        source.close()
        service.stop()
        theirs = peer(path)
    if theirs is not None:
        print(f"{'... of Tumult Analytics':30}{theirs:9.3f}: {theirs / unit_sum:.1f} times ours")


if __name__ == "__main__":
    main()
