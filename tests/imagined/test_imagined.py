"""Previews by simulation: from public facts alone, the same each time, and said to be simulated."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.imagined import foreseen
from halfmask.privacy import Pure
from halfmask.procedures import Together

PAIR = {"x": (0, 100), "y": (0, 1)}
ASKED = {
    "mean": hm.Mean("x", 0, 100),
    "deviation": hm.StandardDeviation("x", 0, 100),
    "quantiles": hm.Quantile("x", [0.2, 0.8], 0, 100),
    "correlation": hm.Correlation(PAIR),
    "centre": hm.BoxMedian(0, 20, columns=["x", "y"], deviation=1),
}


def table(n=3):
    return {"x": np.linspace(0, 1, n), "y": np.linspace(0, 1, n), "who": np.arange(n)}


class Untouchable:
    """A source with nothing but a schema: whoever asks it for rows fails."""

    def __init__(self, source):
        self.schema, self.name = source.schema, source.name


@pytest.mark.parametrize("name", ASKED)
def test_no_row_is_read_and_nothing_spent(name):
    staff = hm.open(table(), budget=1)
    staff._source = Untouchable(staff._source)
    rows = 400 if name == "centre" else 100
    found = staff.preview(ASKED[name], rows=rows, epsilon="0.5")
    assert found.how.startswith("simulated: ")
    assert found.how.endswith(f" draws on {rows} rows")
    assert found.how in str(found)
    assert 0 < found.rmse < np.inf
    assert staff.remaining == Pure(1)


@pytest.mark.parametrize("name", ["deviation", "centre"])
def test_a_preview_is_the_same_each_time_whatever_the_table(name):
    first, second = (
        hm.open(table(n), budget=1).preview(ASKED[name], rows=60, epsilon="0.5") for n in (2, 50)
    )
    assert first == second


def test_rows_beyond_number_are_left_to_formulas():
    staff = hm.open(table(), budget=1)
    assert not staff.preview(ASKED["mean"], rows=10**6, epsilon="0.5").how
    assert not staff.preview(ASKED["centre"], rows=10**6, epsilon="0.5").how
    assert not staff.preview(ASKED["mean"], rows=1, epsilon="0.5").how


def test_each_of_several_queries_is_tried_at_its_part_of_the_price():
    staff = hm.open(table(), budget=1)
    both = staff.preview({k: ASKED[k] for k in ("mean", "deviation")}, rows=100, epsilon="0.5")
    apart = staff.preview(ASKED["mean"], rows=100, epsilon="0.5")
    assert both["mean"].how
    assert both["deviation"].how
    assert both["mean"].rmse > apart.rmse * 0.95


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_units_are_supposed_to_have_a_row_each(relation):
    price = {"epsilon": "0.5"}
    one = hm.open(table(), unit="who", relation=relation, budget=1)
    more = hm.open(table(), unit="who", rows_per_unit=4, relation=relation, budget=1)
    few = one.preview(ASKED["correlation"], rows=200, **price)
    many = more.preview(ASKED["correlation"], rows=200, **price)
    assert few.how
    assert many.rmse > 2 * few.rmse


def test_bare_lists_are_supposed_to_be_numbers():
    staff = hm.open({"x": [1.0, 2.0]}, budget=1)
    assert staff.preview(ASKED["mean"], rows=100, epsilon="0.5").how


def test_wholes_are_supposed_where_a_column_holds_them():
    staff = hm.open({"x": np.arange(3)}, budget=1)
    assert staff.preview(ASKED["mean"], rows=100, epsilon="0.5").how


def test_groups_are_left_to_formulas():
    staff = hm.open({"x": np.arange(3.0), "g": ["a", "b", "a"]}, budget=1)
    by = hm.Keys("g", ["a", "b"])
    assert not staff.preview(ASKED["mean"], by=by, rows=100, epsilon="0.5").how


def test_what_formulas_tell_is_left_alone():
    setting = hm.open(table(), budget=1)._setting(None, None)
    asked = Together({"n": hm.Count(), "s": hm.Sum("x", 0, 100)})
    for one, how in foreseen(asked, setting, Pure(1), 100).values():
        assert not how
        assert not one.rough


@pytest.mark.parametrize(
    ("query", "error"),
    [(hm.StandardDeviation("x", 0, 100), 3), (hm.BoxMedian(0, 20, columns=["x", "y"]), "0.2")],
)
def test_the_price_of_an_error_is_that_of_the_simulation(query, error):
    """The least price of two digits that does: the next ones below do not."""
    found = hm.epsilon_for(query, error=error, rows=100)
    staff = hm.open({name: np.zeros(2) for name in ("x", "y")}, budget=100)
    assert staff.preview(query, rows=100, epsilon=found).rmse <= float(error)
    assert staff.preview(query, rows=100, epsilon=found * 9 / 10).rmse > float(error)
