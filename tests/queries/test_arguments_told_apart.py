"""Arguments that Python takes for equal, or that come from NumPy, and what is refused in words."""

from datetime import UTC, datetime

import numpy as np
import pytest

import halfmask as hm
from halfmask.plan import Among, Keys


def test_one_and_true_are_different_keys_of_one_ask():
    """Asked together, each is counted for itself: no exact count is shared by mistake."""
    curator = hm.open({"f": ["1"] * 100 + ["true"] * 50 + ["0"] * 10}, budget=1000)
    whole = hm.TopK("f", 2, [1, 0], counts=True)
    truth = hm.TopK("f", 2, [True, False], counts=True)
    answers = curator.ask({"whole": whole, "truth": truth}, epsilon=200)
    assert answers["whole"].value == ((1, 100), (0, 10))
    assert answers["truth"].value == ((True, 50), (False, 0))
    assert Keys("f", [1, 0]) != Keys("f", [True, False])
    assert Among("f", (1,)) != Among("f", (True,))


def test_matrices_of_other_scales_are_other_questions():
    small = hm.LinearQueries("x", [0, 1, 2], [[1.5, 0]])
    large = hm.LinearQueries("x", [0, 1, 2], [[1.5 * 2**21, 0]])
    assert repr(small) != repr(large)
    assert small != large


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (lambda: hm.Median("x", np.int64(0), np.float64(5)), lambda: hm.Median("x", 0, 5.0)),
        (lambda: hm.Quantile("x", np.float64(0.5), np.int64(0), 5), None),
        (lambda: hm.TopK("g", np.int64(1), ["a"]), lambda: hm.TopK("g", 1, ["a"])),
        (
            lambda: hm.AboveThreshold({"a": "x > 0"}, np.float64(3), np.int64(1)),
            lambda: hm.AboveThreshold({"a": "x > 0"}, 3.0, 1),
        ),
        (lambda: hm.Location(0, 1, rows=1e4), lambda: hm.Location(0, 1, rows=10_000)),
        (
            lambda: hm.RobustLocation(0, 1, rows=np.int64(9)),
            lambda: hm.RobustLocation(0, 1, rows=9),
        ),
    ],
)
def test_numbers_of_numpy_are_numbers(given, plain):
    assert plain is None or given() == plain()
    assert "np." not in repr(given())


def test_times_with_an_offset_are_bounds():
    start, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
    rows = {"t": ["2020-06-01"] * 50}
    curator = hm.open(rows, schema={"t": "time"}, budget=100)
    assert curator.ask(hm.Median("t", start, end), epsilon=50).value == "2020-06-01T00:00:00"


def zero(name):
    return 1 / 0


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("rows: 'many' is no number", lambda: hm.RobustLocation(0, 1, rows="many")),
        ("rows: 1.5 is no number", lambda: hm.RobustLocation(0, 1, rows=1.5)),
        ("plan: 0.5 are no shares", lambda: hm.RobustLocation(0, 1, plan=0.5)),
        ("plan: .* are no shares", lambda: hm.RobustLocation(0, 1, plan="abc")),
        ("deviation: 'x' is no positive", lambda: hm.RobustLocation(0, 1, deviation="x")),
        ("filters: one is listed twice", lambda: hm.AboveThreshold(["x > 0", "x > 0"], 1)),
        ("rows: 'x > 0' is no function", lambda: hm.Choose(["a"], rows="x > 0")),
        ("candidates: .* is no name", lambda: hm.Choose([["a"]], rows=str)),
        ("rows: raised ZeroDivisionError", lambda: hm.Choose(["a"], rows=zero)),
        ("columns: only one is given", lambda: hm.Correlation({"x": (0, 1)})),
        ("columns: bounds of 'x' beyond 1e150", lambda: hm.Covariance({"x": (0, 1e200)})),
        (
            "lower 2021-01-01 is not before upper 2020-01-01; swap",
            lambda: hm.Median("t", "2021-01-01", "2020-01-01"),
        ),
    ],
)
def test_what_is_wrong_is_said(words, wrong):
    with pytest.raises(hm.InvalidQuery, match=words):
        wrong()


def test_suggested_bounds_count_the_rows_that_a_unit_may_have():
    rows = {"u": list(range(2000)) * 2, "x": np.arange(4000.0).tolist()}
    noises = []
    for allowed in (1, 10):
        curator = hm.open(rows, unit="u", rows_per_unit=allowed, budget=100)
        found = curator.ask(hm.SuggestBounds("x"), epsilon=50).estimate
        noises.append(next(one.noise for one in found.table() if one.upper == 4096))
    assert noises[1] > 4 * noises[0]
