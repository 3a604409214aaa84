"""The group of all other keys: each row is in exactly one group, with and without units."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.plan import OTHER, Keys, Tally, UnitBound
from halfmask.sources import open_source

ONE = ((1, 0, 0, 0),)
COLUMNS = {
    "text": (["a", "b", "", "other", None], ["a", "", "zz"]),
    "integer": ([1, 2, -3, None], [2, 9]),
    "boolean": ([True, False, None], [True]),
    "unread": (["1", "2", "x", None], [2, 9]),
}


def naive(cells, keys):
    """Label each cell as the docstring says."""
    labels = set(keys.labels)
    return Counter(cell if cell in labels else OTHER for cell in cells)


@pytest.mark.parametrize("kind", COLUMNS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_row_is_in_exactly_one_group(kind, data):
    cells, values = COLUMNS[kind]
    rows = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=12))
    missing = data.draw(st.booleans())
    keys = Keys("k", [*values, None] if missing else values, other=True)
    source = open_source({"k": rows, "u": np.arange(len(rows)) // 2}, schema={"k": kind})
    counts = source.tally(Tally(ONE, groups=(keys,)))
    read = rows
    if kind == "unread":  # as integers: what reads as none is missing
        read = [int(cell) if cell is not None and cell.isdigit() else None for cell in rows]
    expected = naive(read, keys)
    assert [n for (n,) in counts] == [expected[label] for label in keys.labels]
    assert sum(n for (n,) in counts) == len(rows)
    by_unit = source.tally(Tally(ONE, groups=(keys,), unit=UnitBound("u", norm=2, groups=2)))
    assert by_unit == counts  # two rows of a unit, in two groups at most


def test_labels_are_no_text_and_none_alone_may_be_listed():
    keys = Keys("k", ["other"], other=True)
    assert keys.labels == ("other", OTHER)
    assert str(OTHER) == "other" != OTHER
    assert keys != Keys("k", ["other"])
    source = open_source({"k": ["a", None, "b"]}, schema={"k": "text"})
    assert source.tally(Tally(ONE, groups=(Keys("k", [None], other=True),))) == ((1,), (2,))


def test_other_is_a_truth_value():
    with pytest.raises(InvalidQuery, match=r"^other: 'yes' given; give True or False$"):
        Keys("k", ["a"], "yes")
