"""Tidying of answers: what each step does, that it is named, and that intervals stay true."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.postprocess import _apportioned, _onto_simplex

KEYS = hm.Keys("g", ["a", "b", "none"])


def curator(seed=7):
    return hm.open(
        {"g": ["a"] * 40 + ["b"] * 3, "x": [1.0] * 43}, budget=99, words=seeded_words(seed)
    )


def test_each_step_is_named_and_the_raw_value_kept():
    raw = curator().ask(hm.Count(), by=KEYS, epsilon="0.1")
    tidy = raw.non_negative().rounded().summing_to(43)
    assert tidy["a"].post_processing == (
        "negative values raised to 0",
        "rounded to integers",
        "moved to sum to 43",
    )
    assert json.loads(tidy.to_json())["post_processing"] == list(tidy["a"].post_processing)
    assert sum(tidy.value.values()) == 43
    assert all(isinstance(one, int) and one >= 0 for one in tidy.value.values())
    assert tidy.raw().value == raw.value
    assert tidy["a"].estimate.raw is raw["a"].estimate
    assert (tidy.cost, tidy.provenance, list(tidy)) == (raw.cost, raw.provenance, list(raw))
    assert raw["a"].post_processing == ()


def test_values_are_held_inside_bounds_and_intervals_with_them():
    for seed in range(20):
        raw = curator(seed).ask(hm.Sum("x", 0, 1), where="g == 'none'", epsilon="0.2")
        tidy = raw.non_negative()
        assert tidy.value == max(raw.value, 0)
        low, high = tidy.interval()
        assert 0 <= low <= tidy.value <= high
        assert low <= 0  # the truth
        held = raw.within(-1, 2)
        assert -1 <= held.interval()[0] <= 0 <= held.interval()[1] <= 2
        assert held.post_processing == ("held inside -1 to 2",)


def test_tidied_intervals_cover_as_often_as_raw_ones():
    """Where raw intervals hold the truth, tidied ones do."""
    for seed in range(60):
        raw = curator(seed).ask(hm.Count(), by=KEYS, epsilon="0.3")
        tidy = raw.non_negative().rounded().within(0, 43).summing_to(43)
        for key, truth in (("a", 40), ("b", 3), ("none", 0)):
            low, high = raw[key].interval(0.8)
            if low <= truth <= high:
                found = tidy[key].interval(0.8)
                assert found[0] <= truth <= found[1]
                assert found[0] <= tidy[key].value <= found[1]


def test_a_histogram_is_tidied_bin_by_bin():
    raw = curator().ask(hm.Histogram("x", [0, 0.5, 1, 2]), epsilon="0.1")
    tidy = raw.non_negative().summing_to(43)
    assert len(tidy.value) == 3
    assert math.fsum(tidy.value) == pytest.approx(43)
    assert min(tidy.value) >= 0
    assert len(tidy.cells()) == 3
    assert "moved to sum to 43" in tidy.to_dict()["post_processing"]


@given(
    values=st.lists(st.floats(-50, 50), min_size=1, max_size=6),
    total=st.floats(0, 100),
)
def test_the_simplex_is_met_at_its_nearest_point(values, total):
    """The conditions of Karush, Kuhn & Tucker: one shift for all that stay positive."""
    moved = _onto_simplex(values, total)
    assert min(moved) >= 0
    assert math.fsum(moved) == pytest.approx(total, abs=1e-9)
    shifts = [m - v for m, v in zip(moved, values, strict=True)]
    positive = [s for s, m in zip(shifts, moved, strict=True) if m > 1e-9]
    for shift in positive:
        assert shift == pytest.approx(positive[0], abs=1e-9)
        assert shift <= min(shifts) + 1e-9


def test_the_nearest_point_is_that_of_a_solver():
    values, total = [5.0, -3.0, 1.0, 0.5], 4.0
    solved = minimize(
        lambda x: sum((a - b) ** 2 for a, b in zip(x, values, strict=True)),
        [1.0] * 4,
        bounds=[(0, None)] * 4,
        constraints={"type": "eq", "fun": lambda x: sum(x) - total},
    )
    assert _onto_simplex(values, total) == pytest.approx(list(solved.x), abs=1e-5)


@given(values=st.lists(st.floats(0, 50), min_size=1, max_size=6))
def test_integers_keep_the_sum_and_move_by_less_than_one(values):
    total = round(math.fsum(values))
    moved = _apportioned(_onto_simplex(values, total), total)
    assert sum(moved) == total
    assert all(abs(a - b) < 1 for a, b in zip(moved, _onto_simplex(values, total), strict=True))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda r: r.within(2, 1), r"^bounds: lower 2 is above upper 1; swap them$"),
        (lambda r: r.summing_to("all"), r"^total: 'all' is no number"),
        (lambda r: r.summing_to(math.nan), r"^total: nan is no number"),
        (lambda r: r.non_negative().summing_to(-1), r"^total: -1 is negative"),
    ],
)
def test_bad_steps_are_refused_with_advice(step, message):
    with pytest.raises(hm.InvalidQuery, match=message):
        step(curator().ask(hm.Count(), by=KEYS, epsilon=1))


def test_what_is_no_number_is_not_tidied():
    chosen = curator().ask(hm.MostCommon("g", ["a", "b"]), epsilon=1)
    with pytest.raises(hm.InvalidQuery, match="no number"):
        chosen.rounded()
