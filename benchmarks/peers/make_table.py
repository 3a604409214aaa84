"""Make the public synthetic data of the benchmark: one table of a million rows, six of a hundred.

The table: 200 000 units with exactly five rows each, in random order (so that a bound of five rows
per unit loses nothing, and errors are noise alone); salary ~ N(50 000, 15 000), 1 % missing. It is
written as Parquet (missing is null) and as raw little-endian columns (missing is NaN), beside the
exact answers on clipped values.
"""

import json
import sys
from pathlib import Path

import duckdb
import numpy as np
from harness import BINS, CAP, ROWS_PER_UNIT

ROWS = 1_000_000
DEPARTMENTS = ["ops", "r&d", "sales", "legal", "people", "finance", "design", "support"]


def write_table(folder: Path) -> None:
    random = np.random.default_rng(20_241)
    units = np.repeat(np.arange(ROWS // ROWS_PER_UNIT), ROWS_PER_UNIT)
    employee_id = units[random.permutation(ROWS)]
    salary = random.normal(50_000, 15_000, ROWS)
    salary[random.random(ROWS) < 0.01] = np.nan
    department = random.integers(0, len(DEPARTMENTS), ROWS)
    salary.tofile(folder / "salary.f64")
    employee_id.tofile(folder / "employee_id.i64")
    names = {"employee_id": employee_id, "department": department, "salary": salary}
    with duckdb.connect() as engine:
        engine.register("numbers", names)
        engine.execute(
            f"COPY (SELECT employee_id, ({DEPARTMENTS})[department + 1] AS dept,"
            " CASE WHEN isnan(salary) THEN NULL ELSE salary END AS salary FROM numbers)"
            f" TO '{folder / 'people.parquet'}' (FORMAT parquet)"
        )
    clipped = np.clip(salary[~np.isnan(salary)], 0, CAP)
    exact = {
        "count": ROWS,
        "present": len(clipped),
        "sum": clipped.sum(),
        "mean": clipped.mean(),
        "histogram": np.histogram(clipped, bins=BINS, range=(0, CAP))[0].tolist(),
        "per unit": [ROWS, clipped.sum()],
    }
    (folder / "exact.json").write_text(json.dumps(exact))


def write_article(folder: Path) -> None:
    """The article's hundred salaries, and five more places where its mechanism may be judged."""
    seeded = np.random.RandomState(42)  # the article's own generator and seed
    random = np.random.default_rng(42)
    sets = {
        "article": np.abs(seeded.normal(50_000, 15_000, 100)),
        "N(30k)": np.abs(random.normal(30_000, 15_000, 100)),
        "N(70k)": np.abs(random.normal(70_000, 15_000, 100)),
        "log-normal": random.lognormal(np.log(45_000), 0.4, 100),
        "N(8k, 4k)": np.abs(random.normal(8_000, 4_000, 100)),
        "all at C": np.full(100, float(CAP)),
    }
    named = {name: values.tolist() for name, values in sets.items()}
    (folder / "article.json").write_text(json.dumps(named))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write_table(target)
    write_article(target)
