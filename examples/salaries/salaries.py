"""The mean salary, as textbooks release it and as halfmask does: bias, spread and error.

    python examples/salaries/salaries.py             10 000 trials a table, some minutes
    python examples/salaries/salaries.py --trials 500

The textbook clips each salary to [0, C], adds Laplace noise to the sum (half of epsilon) and to the
count (the other half), and divides. halfmask is asked through its door, `hm.open(...).ask(...)`:
each trial is charged to a ledger and draws secure noise. Only one thing is done to be quick: the
exact integers that the table answers are remembered, since they are the same in every trial.

The tables are simulated, so they are public, and so are their exact means.
"""

import argparse
import csv
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import halfmask as hm
from halfmask.plan import Tally
from halfmask.sources import Source

C = 100_000
EPSILON = 0.5
MANY = "a million N(50k, 15k)"

Floats = NDArray[np.float64]


class Remembered:
    """A source that answers the same tally with the same integers, without a second reading."""

    def __init__(self, source: Source) -> None:
        self.schema, self.name = source.schema, source.name
        self.tally: Callable[[Tally], tuple[tuple[int, ...], ...]] = cache(source.tally)
        self.close = source.close


def tables() -> dict[str, Floats]:
    """Return the seven tables by name; values are not clipped yet."""
    article = np.random.RandomState(42).normal(50_000, 15_000, 100)  # as there
    random = np.random.default_rng(42)
    return {
        "the article's": np.abs(article),
        "N(30k, 15k)": np.abs(random.normal(30_000, 15_000, 100)),
        "N(70k, 15k)": np.abs(random.normal(70_000, 15_000, 100)),
        "log-normal": random.lognormal(np.log(45_000), 0.4, 100),
        "N(8k, 4k)": np.abs(random.normal(8_000, 4_000, 100)),
        "all at C": np.full(100, float(C)),
        MANY: np.abs(random.normal(50_000, 15_000, 1_000_000)),
    }


def textbook(salaries: Floats, trials: int) -> Floats:
    """Release the mean as the article does, with NumPy's noise: for comparison only."""
    random = np.random.default_rng()
    clipped = np.minimum(salaries, C)
    sums = clipped.sum() + random.laplace(0, C / (EPSILON / 2), trials)
    counts = clipped.size + random.laplace(0, 1 / (EPSILON / 2), trials)
    return np.asarray(sums / np.maximum(1, counts))


def ours(salaries: Floats, trials: int) -> Floats:
    """Ask halfmask for the mean."""
    with hm.open({"salary": salaries}, budget=trials * EPSILON) as curator:
        staff = hm.Curator(
            Remembered(curator._source), curator.unit, curator.ledger, curator._words
        )
        question = hm.Mean("salary", 0, C)
        return np.array([staff.ask(question, epsilon=EPSILON).value for _ in range(trials)])


def compare(name: str, trials: int) -> tuple[str, Floats, Floats]:
    """Return (name, textbook, ours), each as (bias, spread, error) around the clipped mean."""
    salaries = tables()[name]
    exact = np.minimum(salaries, C).mean()
    return (
        name,
        _errors(textbook(salaries, trials) - exact),
        _errors(ours(salaries, trials) - exact),
    )


def _errors(off: Floats) -> Floats:
    return np.array([off.mean(), off.std(), np.sqrt((off**2).mean())])


def write_table(path: Path) -> None:
    """Write the article's hundred employees, with a department each, for the plan beside this."""
    departments = np.random.default_rng(7).choice(["ops", "r&d", "sales"], 100, p=[0.5, 0.3, 0.2])
    rows = zip(range(1, 101), departments, tables()["the article's"], strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("employee_id", "dept", "salary"))
        writer.writerows((number, dept, f"{salary:.2f}") for number, dept, salary in rows)


def main() -> None:
    """Write the table, then print the comparison, one line a table as each is done."""
    parser = argparse.ArgumentParser(description="Textbook and halfmask, error by error.")
    parser.add_argument("--trials", type=int, default=10_000, help="how many, for each table")
    trials = parser.parse_args().trials
    write_table(Path(__file__).with_name("salaries.csv"))
    print(f"epsilon {EPSILON}, values clipped to [0, {C}], {trials} trials a table\n")
    print(f"{'':24}{'textbook':>28}{'halfmask':>30}")
    print(f"{'table':24}" + f"{'bias':>10}{'spread':>10}{'error':>10}" * 2)
    with ProcessPoolExecutor() as workers:
        for name, *both in workers.map(compare, tables(), [trials] * len(tables())):
            digits = 3 if name == MANY else 0
            figures = "".join(f"{figure:10.{digits}f}" for errors in both for figure in errors)
            print(f"{name:24}{figures}", flush=True)


if __name__ == "__main__":
    main()
