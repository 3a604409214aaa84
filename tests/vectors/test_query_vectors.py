"""Whole questions on a recorded tape: Python and Octave must give the same answers.

queries.json is read here and by matlab/tests/test_queries.m. Exact sums and noise are the same
integers; what is read off them is floating point, so it agrees to 1e-9. (Prices are small, as for
large ones Python takes staircase noise for sums, which the MATLAB toolbox does not have.) `python
tests/vectors/test_query_vectors.py` writes the file anew.
"""

import json
from pathlib import Path

import pytest
from tape import Tape, noise

import halfmask as hm

VECTORS = Path(__file__).parent / "queries.json"


def column(rows):
    """Eighths from 0 to 125, every 97th missing."""
    return [None if i % 97 == 5 else i * 7919 % 1001 / 8 for i in range(rows)]


def answered(case):
    """Ask what a case asks: (value, interval, words read)."""
    tape = Tape([int(word, 16) for word in case["words"]])
    table = {"x": column(case["rows"])}
    schema = {"x": "real"}
    source = hm.open(table, budget=10**5, relation=case["relation"], words=tape, schema=schema)
    lower, upper = case["bounds"]
    query = {
        "count": hm.Count(),
        "sum": hm.Sum("x", lower, upper),
        "mean": hm.Mean("x", lower, upper),
        "histogram": hm.Histogram("x", [0, 10.5, 50, 200]),
    }[case["query"]]
    release = source.ask(query, epsilon=case["epsilon"])
    return release.value, release.interval(0.95), tape.read


def flat(numbers):
    """Numbers of nested tuples as one list."""
    if isinstance(numbers, int | float):
        return [float(numbers)]
    return [number for part in numbers for number in flat(part)]


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text())["cases"], ids=lambda c: c["name"])
def test_python_reproduces_the_answers(case):
    value, interval, read = answered(case)
    assert flat(value) == pytest.approx(case["value"], rel=1e-9, abs=1e-9)
    assert flat(interval) == pytest.approx(case["interval"], rel=1e-9, abs=1e-9)
    assert read == case["read"]


def recorded():
    """Every case, without its answer."""
    for query in ("count", "sum", "mean", "histogram"):
        for relation in ("add_remove", "replace"):
            for rows, bounds, epsilon in (
                (0, (0, 100), "1/2"),
                (100, (-20, 70.1), "0.5"),
                (20_000, (0, 1000), "0.1"),
                (20_000, (60, 70), "1/3"),
                (5_000, (-1e6, 3e6), "0.6"),
            ):
                name = f"{query} of {rows} within {bounds[0]} to {bounds[1]}, {relation}, {epsilon}"
                words = [f"{word:016x}" for word in noise(60, 77 + rows)]
                yield {
                    "name": name,
                    "query": query,
                    "relation": relation,
                    "rows": rows,
                    "bounds": bounds,
                    "epsilon": epsilon,
                    "words": words,
                }


def main():
    cases = []
    for case in recorded():
        value, interval, read = answered(case)
        case["words"] = case["words"][:read]
        cases.append(case | {"value": flat(value), "interval": flat(interval), "read": read})
    lines = ",\n".join(json.dumps(case) for case in cases)
    VECTORS.write_text(f'{{"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
