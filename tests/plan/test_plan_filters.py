"""Filters as groups: what overlaps is refused with a row, what cannot is taken; rows go to one."""

import itertools
import math
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.errors import InvalidQuery
from halfmask.plan import Filters, Schema, Tally, col, where
from halfmask.plan.overlap import overlap
from halfmask.sources import open_source

SCHEMA = Schema.of(
    {"a": "integer", "x": "real", "t": "text", "d": "time", "b": "boolean", "s": "unread"}
)
DISJOINT = [
    ("a < 30", "a >= 30"),
    ("a < 30", "a > 29"),  # no integer lies between
    ("a <= 2.5", "a >= 2.9"),
    ("x < 30", "x >= 30"),
    ("x < 30", "x is None"),
    ("x is None", "x is not None"),
    ("x < 0 and a == 1", "x > 0 or x == 0"),
    ("not (x < 0)", "x < 0"),
    ("t in ['ops', 'r&d']", "t == 'hr'"),
    ("t < 'm'", "t >= 'm'"),
    ("d < '2024-01-01'", "d >= '2024-01-01'"),
    ("b == True", "b == False"),
    ("s < 3", "s >= 3"),
    ("a == 1 and b == True", "a == 1 and b == False"),
    ("a in [1, 3]", "a == 2"),
]
OVERLAPPING = [
    ("a <= 30", "a >= 30", "a = 30"),
    ("x < 30", "x > 29", "x = 29.5"),
    ("x < 30", "not (x >= 30 or x is None)", "x = -inf"),
    ("not (x < 30)", "not (x >= 30)", "x missing"),
    ("t == 'ops'", "x > 0", "t = ops, x = inf"),
    ("t > 'a'", "t < 'b'", "t = a\x00"),
    ("d is None", "a == 1", "d missing, a = 1"),
    ("b == True", "b != False", "b = True"),
    ("s == 'abc'", "s > 5", None),  # two readings of one cell count as two columns
]


@pytest.mark.parametrize(("one", "other"), DISJOINT)
def test_filters_that_exclude_each_other_are_taken(one, other):
    Filters(one, other).check(SCHEMA)
    Filters(other, b=one).check(SCHEMA)


@pytest.mark.parametrize(("one", "other", "row"), OVERLAPPING)
def test_filters_that_share_a_row_are_refused_with_it(one, other, row):
    with pytest.raises(InvalidQuery, match="overlap") as refusal:
        Filters(one, other).check(SCHEMA)
    assert row is None or f"as in {row};" in str(refusal.value)


CELLS = {
    "a": [None, -1, 0, 1, 2, 3],
    "x": [math.nan, -math.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, math.inf],
}
atoms = st.one_of(
    st.builds(
        "{} {} {}".format,
        st.sampled_from("ax"),
        st.sampled_from(["<", "<=", "==", "!=", ">", ">="]),
        st.sampled_from(["0", "1", "2", "1.5"]),
    ),
    st.builds("{} in [{}, {}]".format, st.sampled_from("ax"), st.just(0), st.sampled_from("12")),
    st.builds("{} is None".format, st.sampled_from("ax")),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)


ROWS = list(itertools.product(CELLS["a"], CELLS["x"]))


@pytest.fixture(scope="module")
def source():
    return open_source(
        {"a": [row[0] for row in ROWS], "x": [row[1] for row in ROWS]},
        schema={"a": "integer", "x": "real"},
    )


class Unchecked(Filters):
    """Filters that may overlap."""

    def check(self, schema):
        pass


@given(one=conditions, other=conditions)
@settings(max_examples=60, deadline=None)
def test_the_decision_is_that_of_an_engine_on_every_cell(source, one, other):
    """The naive twin: rows of all combinations, filtered by the engine that answers questions."""
    both = where(f"({one}) and ({other})")
    ((count,),) = source.tally(Tally(((1, 0, 0, 0),), where=both))
    assert (overlap(where(one), where(other), source.schema) is not None) == (count > 0)


@given(one=conditions, other=conditions, third=conditions)
@settings(max_examples=40, deadline=None)
def test_a_row_is_in_one_group_at_most_whatever_the_filters_say(source, one, other, third):
    """Parallel composition does not rest on the proof that filters exclude each other."""
    groups = Unchecked(**{"1": one, "2": other, "3": third})
    counts = source.tally(Tally(((1, 0, 0, 0),), groups=(groups,)))
    ((passed,),) = source.tally(
        Tally(((1, 0, 0, 0),), where=where(f"({one}) or ({other}) or ({third})"))
    )
    assert sum(count for (count,) in counts) == passed


def test_answers_are_those_of_single_filters_at_one_price():
    staff = hm.open({"age": [20, 30, 41, None, 29], "pay": [1.0, 2.0, 3.0, 4.0, 5.0]}, budget=10**6)
    groups = Filters("age < 30", old="age >= 30")
    release = staff.ask(hm.Sum("pay", 0, 10), by=groups, epsilon=10**5)
    assert [round(one.value) for one in release.values()] == [6, 5]
    assert [one.key for one in release.values()] == ["age < 30", "old"]
    assert staff.remaining == hm.Pure(9 * 10**5)
    assert "Filters(" in staff.ledger.entries()[0].query
    with pytest.raises(InvalidQuery, match=r"'young' and 'old' overlap, as in age = 30"):
        staff.ask(hm.Count(), by=Filters(young="age <= 30", old="age >= 30"), epsilon=1)
    assert staff.remaining == hm.Pure(9 * 10**5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Filters(), r"^filters: none are given"),
        (lambda: Filters("a < 1", "a < 1"), r"^filters: a label is given twice"),
        (lambda: Filters(3), r"^filters: .* is no row filter"),
        (lambda: Filters(*(f"a == {i}" for i in range(201))), r"^filters: 201 are given"),
        (lambda: Filters("b < True").check(SCHEMA), r"^where: .* orders truth values"),
        (lambda: Filters("q < 1").check(SCHEMA), "q"),
        (
            lambda: Filters(
                " and ".join(f"c{i} == 1" for i in range(9)),
                " and ".join(f"c{i} == 2" for i in range(9)),
            ).check(Schema.of({f"c{i}": "real" for i in range(9)})),
            r"^filters: .* too many cases",
        ),
    ],
)
def test_what_makes_no_groups_is_refused(build, message):
    with pytest.raises((InvalidQuery, hm.SourceError), match=message):
        build()


def test_built_conditions_and_dates_are_welcome():
    groups = Filters(hm.col("d") < datetime(2024, 1, 1), late=hm.col("d") >= "2024-01-01")
    groups.check(SCHEMA)
    assert groups.labels[1] == "late"
    assert groups.columns() == ("d",)
    assert Filters("a < 1") == Filters("a < 1")
    assert hash(Filters("a < 1")) == hash(Filters("a < 1"))


@pytest.mark.parametrize(
    ("end", "moment", "words"),
    [
        (datetime.min, -(10**17), "before the year 1"),
        (datetime.max, 4 * 10**17, "after the year 9999"),
    ],
)
def test_filters_that_only_a_time_beyond_all_literals_passes_overlap(end, moment, words):
    """Engines hold such times; the filters were taken, and the row was in the first of the two."""
    one = col("t") < end if moment < 0 else col("t") > end
    other = ~(col("t") >= end) if moment < 0 else col("t") > datetime(2000, 1, 1)
    rows = {"t": np.array([moment], "datetime64[us]")}
    source = open_source(rows)
    for filtered in (one, other):
        assert source.tally(Tally(((1, 0, 0, 0),), where=filtered)) == ((1,),)
    with pytest.raises(InvalidQuery, match=f"overlap, as in t = a time {words}"):
        Filters(one=one, other=other).check(source.schema)
    Filters(one=one, rest=~one).check(source.schema)


@pytest.mark.parametrize("kind", ["integer", "real", "text", "time", "boolean", "unread"])
def test_filters_that_ask_only_whether_there_is_a_value_overlap_in_words(kind):
    """Beside filters that compare another column: of times this once failed with no words."""
    schema = Schema.of({"t": kind, "n": "integer"})
    found = overlap(where("t is not None"), where("n > 1"), schema)
    assert found == ("t = False, n = 2" if kind == "boolean" else "t present, n = 2")
    missing = overlap(where("t is None"), where("n > 1"), schema)
    assert missing == "t missing, n = 2"
    assert overlap(where("t is None"), where("t is not None and n > 1"), schema) is None
