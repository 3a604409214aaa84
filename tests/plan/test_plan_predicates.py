"""Row filters: built, parsed, printed, checked and refused."""

import ast
from datetime import UTC, date, datetime, timedelta, timezone
from functools import reduce
from operator import and_, or_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfmask.errors import InvalidQuery
from halfmask.plan import (
    Among,
    And,
    Comparison,
    Everything,
    Missing,
    Not,
    Or,
    Schema,
    col,
    where,
)
from halfmask.plan.predicates import DEEPEST, MOST_CONDITIONS

SCHEMA = Schema.of(
    {
        "age": "integer",
        "pay": "real",
        "dept": "text",
        "day": "time",
        "ok": "boolean",
        "raw": "unread",
    }
)
names = st.sampled_from(
    ["age", "x1", "odd name", "in", "q\"uo'te", "é", "col", "date", ""]
) | st.text(max_size=5)
scalars = (
    st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    | st.datetimes()
)
leaves = (
    st.builds(Comparison, names, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), scalars)
    | st.builds(Among, names, st.lists(scalars, min_size=1, max_size=3).map(tuple))
    | st.builds(Missing, names)
    | st.just(Everything())
)
predicates = st.recursive(
    leaves,
    lambda inner: (
        inner.map(lambda p: ~p)
        | st.tuples(inner, inner).map(lambda p: p[0] & p[1])
        | st.tuples(inner, inner).map(lambda p: p[0] | p[1])
    ),
    max_leaves=6,
)


@given(predicates)
def test_the_text_of_a_filter_parses_back(predicate):
    assert where(str(predicate)) == predicate


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("age >= 18", col("age") >= 18),
        ("18 <= age < 65", (col("age") >= 18) & (col("age") < 65)),
        ("18 == age", col("age") == 18),
        ("pay > -1.5e3", col("pay") > -1500.0),
        ("dept in ['ops', 'r&d']", col("dept").is_in(["ops", "r&d"])),
        ("dept not in ('ops',)", ~col("dept").is_in(["ops"])),
        ("dept is None", col("dept").is_missing()),
        ("dept is not None", ~col("dept").is_missing()),
        ("not ok", ~(col("ok") == True)),  # noqa: E712
        ("ok and age == 1 or ok", ((col("ok") == True) & (col("age") == 1)) | (col("ok") == True)),  # noqa: E712
        ("col('job title') != 'cook'", col("job title") != "cook"),
        ("day >= date('2024-02-29')", col("day") >= date(2024, 2, 29)),
        ("day < datetime('2024-02-29T12:30')", col("day") < datetime(2024, 2, 29, 12, 30)),
        ("dept == '2024-02-29'", col("dept") == "2024-02-29"),
        ("True", Everything()),
        ("False", Not(Everything())),
        ("dept == ''", col("dept") == ""),
    ],
)
def test_the_parser(text, meant):
    assert where(text) == meant
    assert where(f"  {text}\n") == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "age >=",
        "age + 1 > 2",
        "age > pay",
        "1 < 2",
        "f(age) > 1",
        "age.real > 1",
        "age[0] > 1",
        "age > [1]",
        "dept in 'ops'",
        "dept in x",
        "dept in []",
        "age is 5",
        "5 is None",
        "age == None",
        "lambda: 1",
        "x := 1",
        "(x := 1) > 2",
        "[a for a in b]",
        "age if ok else 1",
        "__import__('os').system('true')",
        "age > 1; ok",
        "age > 1j",
        "dept == b'x'",
        "age > 1_0 +",
        "f'{age}' == 'x'",
        "await x",
        "*age > 1",
        "age > ...",
        "col(age) > 1",
        "col('a', 'b') > 1",
        "col(x='a') > 1",
        "day > date('yesterday')",
        "day > date(2024, 1, 1)",
        "age > - -1",
        "age > -True",
        "'\x00' == dept\x00",
        "age >< 1",
        "age = 1",
        "dept == '\\ud800'",
        "age > 1e999",
        "(" * 300 + "age > 1" + ")" * 300,
        "not " * 5000 + "ok",
        "age > 9" + "9" * 200,
        5,
        None,
    ],
)
def test_refusals_of_the_parser_are_clear(text):
    with pytest.raises(InvalidQuery, match="where: "):
        where(text)


@given(st.text(max_size=40) | st.text("agein()[]'<>=,andortu 019.-", max_size=30))
def test_any_text_is_parsed_or_refused(text):
    try:
        parsed = where(text)
    except InvalidQuery:
        return  # anything else fails the test
    assert where(str(parsed)) == parsed
    ast.parse(str(parsed), mode="eval")


@pytest.mark.parametrize(
    "predicate",
    [
        col("agee") > 1,
        col("age") > "18",
        col("age") == True,  # noqa: E712
        col("pay") == "x",
        col("dept") == 3,
        col("dept").is_in(["a", 3]),
        col("ok") == 1,
        col("ok") > True,
        col("day") > "soon",
        col("day") == 5,
        ~(col("raw").is_missing() & col("none").is_missing()),
        col("day").is_in(["2024-13-01"]),
    ],
)
def test_check_refuses_what_the_schema_cannot_serve(predicate):
    with pytest.raises(InvalidQuery):
        predicate.check(SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "age > 1.5",
        "pay == 3",
        "dept < 'x'",
        "day > '2024-01-01'",
        "day == datetime('2024-01-01T00:00')",
        "ok == True",
        "raw == 5",
        "raw == 'x'",
        "raw == True",
        "raw > date('2024-01-01')",
        "raw in [1, 'x', True]",
    ],
)
def test_check_accepts_what_it_can(text):
    where(text).check(SCHEMA)


@pytest.mark.parametrize(
    "value",
    [None, float("nan"), float("inf"), 1j, b"x", [1], object(), 2**127, "\ud800", np.array([1, 2])],
)
def test_literals_are_finite_public_scalars(value):
    with pytest.raises(InvalidQuery):
        _ = col("age") >= value


def test_literals_of_numpy_and_time_zones_become_plain():
    assert (col("a") == np.int64(5)) == (col("a") == 5)
    assert (col("a") == np.bool_(True)) == (col("a") == True)  # noqa: E712
    assert (col("a") == np.float32(0.5)) == (col("a") == 0.5)
    assert (col("a") == np.str_("x")) == (col("a") == "x")
    paris = timezone(timedelta(hours=1))
    assert (col("t") == datetime(2024, 1, 1, 12, tzinfo=paris)) == (
        col("t") == datetime(2024, 1, 1, 11)
    )
    assert (col("t") == datetime(2024, 1, 1, tzinfo=UTC)) == (col("t") == date(2024, 1, 1))


def test_true_is_not_one():
    assert (col("a") == True) != (col("a") == 1)  # noqa: E712
    assert (col("a") == 1.0) != (col("a") == 1)


def test_conditions_refuse_to_be_truth_values():
    with pytest.raises(InvalidQuery, match="&"):
        bool(col("a") > 1 and col("b") > 1)
    with pytest.raises(InvalidQuery, match="&"):
        _ = 1 < col("a") < 3
    with pytest.raises(InvalidQuery, match="brackets"):
        _ = (col("a") > 1) & col("b")


def test_columns_are_listed_once_in_order():
    assert where("b > 1 and (a > 1 or not b is None)").columns() == ("b", "a")


@pytest.mark.parametrize(("join", "word", "kind"), [(and_, "and", And), (or_, "or", Or)])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, MOST_CONDITIONS])
def test_a_chain_is_one_filter_however_it_was_joined(join, word, kind, count):
    """And of least depth, with its conditions in order."""
    conditions = [col("age") == number for number in range(count)]
    half = count // 2
    forms = [
        reduce(join, conditions),
        reduce(lambda right, left: join(left, right), reversed(conditions)),
        where(f" {word} ".join(map(str, conditions))),
    ]
    if half:
        forms.append(join(reduce(join, conditions[:half]), reduce(join, conditions[half:])))
    assert len(set(forms)) == 1
    assert (forms[0].conditions, forms[0].depth) == (count, (count - 1).bit_length())
    numbers = [int(word) for word in str(forms[0]).replace(")", "").split() if word.isdigit()]
    assert numbers == list(range(count))
    assert isinstance(forms[0], kind) == (count > 1)
    forms[0].check(SCHEMA)
    assert forms[0].columns() == ("age",)


def test_too_many_conditions_are_refused_however_they_are_joined():
    one = col("a") > 1
    full = reduce(or_, [one] * MOST_CONDITIONS)
    text = " or ".join(["a>1"] * (MOST_CONDITIONS + 1))
    for join in (
        lambda: full | one,
        lambda: one & full,
        lambda: And(full, one),
        lambda: reduce(and_, [one] * 3000),
        lambda: where(text),
        lambda: where("1 < a" + " < 2" * MOST_CONDITIONS + "< 3"),
    ):
        with pytest.raises(InvalidQuery, match="where: "):
            join()
    assert (~full).conditions == MOST_CONDITIONS
    assert where(text.removeprefix("a>1 or ")) == full


def alternating(depth, start):
    """A filter of this depth that no balancing can flatten."""
    for level in range(depth):
        start = (start & (col("b") > 1)) if level % 2 else (start | (col("a") > 1))
    return start


def negated(depth, start):
    for _ in range(depth):
        start = ~start
    return start


def built(depth, start):
    for _ in range(depth):
        start = And(start, col("a") > 1)
    return start


@pytest.mark.parametrize("nest", [alternating, negated, built])
def test_conditions_that_are_nested_too_deeply_are_refused(nest):
    deepest = nest(DEEPEST, col("a") > 1)
    assert deepest.depth == DEEPEST
    deepest.check(Schema.of({"a": "real", "b": "real"}))
    assert where(str(deepest)).conditions == deepest.conditions
    assert hash(deepest) == hash(nest(DEEPEST, col("a") > 1))
    assert repr(deepest).count("Comparison") == deepest.conditions
    with pytest.raises(InvalidQuery, match=f"more than {DEEPEST} deep"):
        nest(DEEPEST + 1, col("a") > 1)
