"""Make the public synthetic data of the benchmark: a table of a million rows, one of a hundred.

The large table: 200 000 units with exactly five rows each, in random order (so that a bound of
five rows per unit loses nothing, and errors are noise alone); salary ~ N(50 000, 15 000), 1 %
missing; twelve departments of unequal size; 5000 cities of which the smallest has a handful of
rows. The small table holds the article's hundred salaries. Each is written as Parquet (missing is
null) and as raw little-endian columns (missing is NaN), beside the exact answers on clipped values.
"""

import json
import sys
from pathlib import Path

import duckdb
import numpy as np
from harness import BINS, CAP, CITIES, FINE, GROUPS, ROWS_PER_UNIT, STEP, ranges

ROWS = 1_000_000
QUARTILES = [0.25, 0.5, 0.75]


def write_table(folder: Path, salary: np.ndarray, columns: dict[str, np.ndarray]) -> None:
    folder.mkdir(exist_ok=True)
    salary.tofile(folder / "salary.f64")
    for name, values in columns.items():
        values.astype(np.int64).tofile(folder / f"{name}.i64")
    with duckdb.connect() as engine:
        engine.register("numbers", {"salary": salary, **columns})
        engine.execute(
            "COPY (SELECT employee_id, printf('dept-%02d', dept) AS dept,"
            " printf('city-%04d', city) AS city,"
            " CASE WHEN isnan(salary) THEN NULL ELSE salary END AS salary FROM numbers)"
            f" TO '{folder / 'people.parquet'}' (FORMAT parquet)"
        )
    (folder / "exact.json").write_text(json.dumps(exact(salary, columns)))


def exact(salary: np.ndarray, columns: dict[str, np.ndarray]) -> dict[str, object]:
    """The answers without noise, on salaries held inside their public bounds."""
    there = ~np.isnan(salary)
    clipped, dept = np.clip(salary[there], 0, CAP), columns["dept"][there]
    fine = np.clip(salary[there] // STEP, 0, FINE - 1).astype(int)  # the outer bins hold the rest
    running = np.r_[0, np.cumsum(np.bincount(fine, minlength=FINE))]
    return {
        "count": len(salary),
        "present": len(clipped),
        "sum": clipped.sum(),
        "mean": clipped.mean(),
        "variance": clipped.var(),
        "median": float(np.median(clipped)),
        "quartiles": np.quantile(clipped, QUARTILES).tolist(),
        "histogram": np.histogram(clipped, bins=BINS, range=(0, CAP))[0].tolist(),
        "group mean": [clipped[dept == k].mean() for k in range(GROUPS)],
        "unknown keys": np.bincount(columns["city"], minlength=CITIES).tolist(),
        "ranges": [int(running[b] - running[a]) for a, b in ranges()],
        "per unit": [len(salary), clipped.sum()],
    }


def large(folder: Path) -> None:
    random = np.random.default_rng(20_241)
    units = np.repeat(np.arange(ROWS // ROWS_PER_UNIT), ROWS_PER_UNIT)
    employee_id = units[random.permutation(ROWS)]
    salary = random.normal(50_000, 15_000, ROWS)
    salary[random.random(ROWS) < 0.01] = np.nan
    size = 1 / np.arange(4, GROUPS + 4)
    dept = random.choice(GROUPS, ROWS, p=size / size.sum())
    size = np.arange(1, CITIES + 1) ** -1.2
    city = random.choice(CITIES, ROWS, p=size / size.sum())
    write_table(folder, salary, {"employee_id": employee_id, "dept": dept, "city": city})


def small(folder: Path) -> None:
    """The article's hundred salaries, in twelve departments of eight or nine."""
    salary = np.asarray(article_sets()["article"])
    here = np.arange(len(salary))
    write_table(folder, salary, {"employee_id": here, "dept": here % GROUPS, "city": here % 5})


def article_sets() -> dict[str, list[float]]:
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
    return {name: values.tolist() for name, values in sets.items()}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    large(target)
    small(target / "small")
    (target / "article.json").write_text(json.dumps(article_sets()))
