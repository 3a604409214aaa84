"""One cell, or one other tenant of a database, that means harm."""

import time

import pytest

from halfmask.sources.sql import read_cell

LONG = 20_000


@pytest.mark.parametrize("reading", ["real", "integer", "boolean", "time"])
@pytest.mark.parametrize(
    "cell",
    ["1" * LONG + "x", "1." + "1" * LONG + "x", "." + "1" * LONG + "x", "1e" + "1" * LONG + "x"]
    + [" " * LONG + "x", "1" + "\t" * LONG + "x", "-" * LONG, "0" * LONG + "x"],
    ids=range(8),
)
def test_no_cell_takes_the_square_of_its_length_to_read(reading, cell):
    """The same pattern is matched by backtracking in Spark: a cell of a megabyte would hang it."""
    start = time.process_time()
    assert read_cell(reading, cell) is None
    assert time.process_time() - start < 1.0
