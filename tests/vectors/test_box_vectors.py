"""Medians by nested boxes on a recorded tape: Python and Octave must choose the same points.

boxes.json is read here and by matlab/tests/test_boxes.m. `python tests/vectors/test_box_vectors.py`
writes the file anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from tape import Tape, noise

from halfmask.mechanisms import BoxMedian

VECTORS = Path(__file__).parent / "boxes.json"


def points(case):
    """Rows i and columns j, from 1: i (7919 + 2 j) mod a number, stretched."""
    i, j = np.ogrid[1 : case["rows"] + 1, 1 : case["columns"] + 1]
    return i * (7919 + 2 * j) % case["modulus"] * case["stride"]


def chosen(case):
    """Choose as often as a case asks: (points, words read)."""
    tape = Tape([int(word, 16) for word in case["words"]])
    ends = [[end] * case["columns"] for end in case["ends"]]
    median, rows = BoxMedian(*ends, case["moved"], case["epsilon"]), points(case)
    return [list(median.release(rows, tape)) for _ in range(case["count"])], tape.read


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text())["cases"], ids=lambda c: c["name"])
def test_python_reproduces_the_points(case):
    found, read = chosen(case)
    assert found == case["points"]
    assert read == case["read"]


def recorded():
    """Every case, without its points."""
    for name, rows, columns, modulus, stride, ends in (
        ("no rows", 0, 3, 7, 1, (-4, 9)),
        ("ties", 30, 2, 7, 1, (-1, 6)),
        ("all equal", 7, 3, 1, 1, (-2, 1)),
        ("a row alone, clipped", 1, 2, 10**6, 1, (0, 11)),
        ("a line", 1500, 1, 1009, 2**22, (-(2**30), 2**32)),
        ("ten columns", 800, 10, 1009, 2**22, (-(2**31), 2**33)),
    ):
        for moved, epsilon in ((1, "1/1000"), (1, "0.3"), (2, "5")):
            yield {
                "name": f"{name}, {moved} moved, {epsilon}",
                "rows": rows,
                "columns": columns,
                "modulus": modulus,
                "stride": stride,
                "ends": ends,
                "moved": moved,
                "epsilon": epsilon,
                "count": 5 if rows > 100 else 20,
                "words": [f"{word:016x}" for word in noise(200, 14 + rows)],
            }


def main():
    cases = []
    for case in recorded():
        found, read = chosen(case)
        case["words"] = case["words"][:read]
        cases.append(case | {"points": found, "read": read})
    lines = ",\n".join(json.dumps(case) for case in cases)
    VECTORS.write_text(f'{{"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
