"""A robust centre of many points: CPU seconds and memory, of arrays, Parquet files and engines.

Run: python benchmarks/scale.py                # (1e6, 50) and (1e5, 1000), arrays and Parquet
     python benchmarks/scale.py --shape 100000 20 --source array

Each case runs in a process of its own. "Beside" is the peak of memory beyond what the process held
before it asked, points included; for a file nothing is held. epsilon 1, delta 1e-6, radius 60.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import halfmask as hm

SHAPES = [(1_000_000, 50), (100_000, 1000)]
SOURCES = ("array", "parquet")
QUERIES = {
    "robust_location": lambda: (hm.RobustLocation(0, 60), {"epsilon": 1, "delta": 1e-6}),
    "coordinate medians": lambda: (hm.CoordinateMedian(0, 60), {"epsilon": 1, "delta": 1e-6}),
}


def points(n, d):
    rng, found = np.random.default_rng(0), np.empty((n, d))
    for start in range(0, n, 10_000):
        block = found[start : start + 10_000]
        block[:] = rng.normal(size=block.shape) + 5
    return found


def written(n, d, folder):
    import duckdb

    path = Path(folder) / "points.parquet"
    X = points(n, d)
    columns = {f"x{j}": X[:, j] for j in range(d)}  # noqa: F841
    duckdb.sql("SELECT * FROM columns").write_parquet(str(path))
    return path


def peak():
    """The most memory this program held; getrusage would count that of its parent, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def measured(source, name, n, d, path):
    """In this process: the error, CPU seconds and memory of one ask."""
    rows = points(n, d) if source == "array" else path
    query, price = QUERIES[name]()
    before, began = peak(), time.process_time()
    with hm.open(rows, budget=hm.Approximate(2, 1e-5)) as table:
        value = np.array(table.ask(query, **price).value)
    seconds, beside = time.process_time() - began, peak() - before
    error = float(np.linalg.norm(value - 5))
    print(f"{seconds:.1f} {beside / 1e6:.0f} {beside / (8 * n * d):.2f} {error:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shape", type=int, nargs=2, action="append")
    parser.add_argument("--source", action="append", choices=SOURCES)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        (shape,) = given.shape
        source, name, path = given.one
        measured(source, name, *shape, path)
        return
    print("| points | from | asked | CPU s | beside, MB | of the rows | error |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for n, d in given.shape or SHAPES:
            sources = given.source or SOURCES
            path = written(n, d, folder) if "parquet" in sources else ""
            for source in sources:
                for name in QUERIES:
                    words = [sys.executable, __file__, "--shape", str(n), str(d)]
                    words += ["--one", source, name, str(path)]
                    quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
                    done = subprocess.run(words, capture_output=True, text=True, env=quiet)
                    cells = done.stdout.split() or ["failed"]
                    print(f"| {n} x {d} | {source} | {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
