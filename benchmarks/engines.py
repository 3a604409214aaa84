"""Private over plain: CPU time of bounded exact answers beside the plain SQL on the same file.

    python benchmarks/engines.py                    1e6, 1e7 and 1e8 rows, a fifth as many units
    python benchmarks/engines.py --rows 1e6 1e7     without the largest
    python benchmarks/engines.py --only sum mean    questions whose names begin so
    python benchmarks/engines.py --plot docs/figures/cost-by-rows.svg

One thread. Each question has a process of its own: private and plain by turns, medians of process
CPU time; the peak is that of the process after its first private answer, the plain one not yet
asked. Rows are hashes, so that no generator's order shows: five a unit, 100 groups. Units are
integers; or texts, names of up to 15 bytes, or addresses of more.

The plain side of a question that bounds units sums by unit, and counts where the question does.
Beside a row that is not bounded at all these bounds cost what the plain per-unit sum shows.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from halfmask.plan import Bins, Keys, OnGrid, Points, Tally, UnitBound
from halfmask.sources import open_source

WIDTH = 100_000 * 2**10
GRID = OnGrid("value", 0, WIDTH, -10)
COUNT = ((1, 0, 0, 0),)
MEAN = ((0, 0, 1, 0), (0, WIDTH, -1, 0))  # two-sided sums: one row moves the pair by WIDTH
GROUPS = (Keys("grp", range(100)),)
TEXT = (Keys("label", [f"k{i}" for i in range(100)]),)
EDGES = (Bins("value", [2000.0 * i for i in range(51)]),)
THREE = UnitBound("unit", 3 * WIDTH)
SUMS = "SELECT sum(s) FROM (SELECT unit, sum(value) AS s FROM rows GROUP BY unit)"
MEANS = (
    "SELECT sum(s), sum(n) FROM"
    " (SELECT unit, sum(value) AS s, count(value) AS n FROM rows GROUP BY unit)"
)
BY_GROUP = "SELECT grp, sum(value), count(value) FROM rows GROUP BY grp"
UNITS_BY_GROUP = "SELECT grp, count(DISTINCT unit) FROM rows GROUP BY grp"
UNITS_BY_LABEL = UNITS_BY_GROUP.replace("grp", "label").replace("unit", "name")
LARGE = 10**8
CASES = {  # question: request, plain SQL, the wanted ratio, the most rows that it is asked of
    "scalar mean": (
        Tally(MEAN, GRID), "SELECT sum(value), count(value) FROM rows", 2.0, LARGE,
    ),
    "mean of 100 groups": (Tally(MEAN, GRID, GROUPS), BY_GROUP, 1.8, LARGE),
    "mean of 100 text groups": (
        Tally(MEAN, GRID, TEXT), BY_GROUP.replace("grp", "label"), 1.8, LARGE,
    ),
    "histogram of 50 bins": (
        Tally(COUNT, None, EDGES),
        "SELECT floor(value / 2000), count(*) FROM rows GROUP BY 1", None, LARGE,
    ),
    "sum, 3 rows a unit": (Tally(MEAN[:1], GRID, unit=THREE), SUMS, 1.4, LARGE),
    "mean, 3 rows a unit": (Tally(MEAN, GRID, unit=THREE), MEANS, 1.4, LARGE),
    "distinct units": (
        Tally(COUNT, unit=UnitBound("unit", 1, once=True)),
        "SELECT count(DISTINCT unit) FROM rows", None, LARGE,
    ),
    "picked rows, 3 of 5 a unit": (
        Points((GRID,), unit="unit", rows=3), SUMS, 3.0, LARGE,
    ),
    "picked rows of 2 columns, 3 of 5": (
        Points((GRID, OnGrid("grp", 0, 128, 0)), unit="unit", rows=3), SUMS, None, LARGE // 10,
    ),
    "picked rows, 8 of 5 a unit": (
        Points((GRID,), unit="unit", rows=8), SUMS, None, LARGE // 10,
    ),
    "group means, unit over all": (
        Tally(MEAN, GRID, GROUPS, unit=THREE), UNITS_BY_GROUP, None, LARGE // 10,
    ),
    "group means, 2 groups a unit": (
        Tally(MEAN, GRID, GROUPS, unit=UnitBound("unit", 3 * WIDTH, 2)), UNITS_BY_GROUP, None,
        LARGE // 10,
    ),
    "sum, 3 rows a name": (
        Tally(MEAN[:1], GRID, unit=UnitBound("name", 3 * WIDTH)), SUMS.replace("unit", "name"), 1.4,
        LARGE // 10,
    ),
    "mean, 3 rows a name": (
        Tally(MEAN, GRID, unit=UnitBound("name", 3 * WIDTH)), MEANS.replace("unit", "name"), 1.4,
        LARGE // 10,
    ),
    "picked rows, 3 of 5 a name": (
        Points((GRID,), unit="name", rows=3), SUMS.replace("unit", "name"), 3.0, LARGE // 10,
    ),
    "picked rows, 3 of 5 an address": (
        Points((GRID,), unit="mail", rows=3), SUMS.replace("unit", "mail"), 3.0, LARGE // 10,
    ),
    "label means, name over all": (
        Tally(MEAN, GRID, TEXT, unit=UnitBound("name", 3 * WIDTH)), UNITS_BY_LABEL, 3.0,
        LARGE // 10,
    ),
    "label means, 2 labels a name": (
        Tally(MEAN, GRID, TEXT, unit=UnitBound("name", 3 * WIDTH, 2)), UNITS_BY_LABEL, 3.0,
        LARGE // 10,
    ),
}  # fmt: skip
DRAWN = ("scalar mean", "mean of 100 groups", "histogram of 50 bins", "mean, 3 rows a unit")


def generate(path: Path, count: int) -> None:
    """Write rows of hashes, so that no generator's order shows."""
    units = count // 5
    duckdb.connect().execute(
        "COPY (SELECT *, 'user' || unit AS name, 'user' || unit || '@example.org' AS mail FROM"
        f" (SELECT (hash(i) % {units})::BIGINT AS unit,"
        " (hash(i + 1000000000) % 100)::BIGINT AS grp,"
        " (hash(i * 7 + 3) % 1000000007) / 10000.0 AS value, 'k' || (hash(i + 5) % 100) AS label"
        f" FROM range({count}) t(i))) TO '{path}' (FORMAT parquet)"
    )


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measured(path: Path, name: str, turns: int) -> dict[str, float]:
    """Return CPU seconds of both sides, and the peak memory of the private one in GB."""
    request, sql, _, _ = CASES[name]
    source = open_source(path, threads=1)
    ours = [seconds(lambda: request.answered_by(source))]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    plain = duckdb.connect(
        config={"threads": 1, "memory_limit": "1980MB", "temp_directory": str(path.parent)}
    )
    plain.execute(f"CREATE VIEW rows AS SELECT * FROM '{path}'")
    theirs = [seconds(lambda: plain.execute(sql).fetchall())]
    for _ in range(turns - 1):
        ours.append(seconds(lambda: request.answered_by(source)))
        theirs.append(seconds(lambda: plain.execute(sql).fetchall()))
    return {"private": statistics.median(ours), "plain": statistics.median(theirs), "peak": peak}


def alone(path: Path, name: str, turns: int) -> dict[str, float]:
    """Measure in a new process."""
    command = [sys.executable, __file__, "--one", str(path), name, str(turns)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def plot(found: dict[int, dict[str, dict[str, float]]], place: Path) -> None:
    """Draw CPU seconds by rows: private and plain."""
    from halfmask.plots.style import axes, finish

    ax = axes(None)
    for number, name in enumerate(DRAWN):
        at = [rows for rows in found if name in found[rows]]
        for side, style in (("private", "o-"), ("plain", "o:")) if at else ():
            ax.plot(
                at, [found[rows][name][side] for rows in at], style, color=f"C{number}",
                label=name if side == "private" else None, markersize=4,
            )  # fmt: skip
    ax.plot([], [], "k:", label="plain SQL of each")
    ax.set_xscale("log")
    ax.set_yscale("log")
    finish(ax, "CPU seconds of one answer, one thread", "rows", "CPU seconds")
    place.parent.mkdir(parents=True, exist_ok=True)
    ax.figure.savefig(place, bbox_inches="tight", metadata={"Date": None})


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--turns", type=int, help="of each question; 5, and 1 of 1e8 rows")
    parser.add_argument("--plot", type=Path, help="where to draw how cost grows")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.one:
        path, name, turns = given.one
        print(json.dumps(measured(Path(path), name, int(turns))))
        return
    found: dict[int, dict[str, dict[str, float]]] = {}
    for rows in map(int, given.rows):
        turns = given.turns or (5 if rows <= 10**6 else 3 if rows <= 10**7 else 1)
        found[rows] = {}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            generate(path, rows)
            print(f"\n{rows:,} rows, 1 thread, CPU seconds, median of {turns}")
            print(f"{'':34}{'private':>9}{'plain':>9}{'ratio':>8}{'at most':>9}{'GB':>7}")
            for name, (_, _, most, largest) in CASES.items():
                if rows > largest or not any(map(name.startswith, given.only)):
                    continue
                one = found[rows][name] = alone(path, name, turns)
                wanted = f"{most:9.1f}" if most else " " * 9
                ratio = one["private"] / one["plain"]
                numbers = f"{one['private']:9.3f}{one['plain']:9.3f}{ratio:8.2f}{wanted}"
                print(f"{name:34}{numbers}{one['peak']:7.2f}", flush=True)
    if given.plot:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
