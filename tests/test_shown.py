"""A message shows a short scalar as it is written, and all else by its type alone."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from halfmask.errors import shown


@pytest.mark.parametrize(
    "value", ["a", "", 0, -3, True, None, 0.5, float("nan"), Fraction(1, 3), Decimal("1.50")]
)
def test_a_short_scalar_is_shown_as_written(value):
    assert shown(value) == repr(value)


def test_a_long_scalar_is_cut():
    for value in ("x" * 10**6, 10**100, 10**5000, Fraction(1, 10**5000)):
        assert len(shown(value)) <= 60


@pytest.mark.parametrize(
    "make", [list, tuple, np.array, pd.Series, lambda x: {"a": x}, lambda x: pd.DataFrame({"a": x})]
)
def test_nothing_else_shows_what_it_holds(make):
    value = make(["secret"])
    assert "secret" not in shown(value)
    assert type(value).__name__ in shown(value)
