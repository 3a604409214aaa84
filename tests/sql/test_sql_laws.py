"""SQL gives what the same question gives by ask, and its WHERE means what engines mean by it."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.asking import setting_of
from halfmask.noise import seeded_words
from halfmask.plan import Everything, Tally
from halfmask.privacy import PrivacyUnit
from halfmask.sources import open_source
from halfmask.sql import read_sql

ROWS = {
    "id": [1, 1, 2, 3, 4, 5, 5],
    "dept": ["ops", "r&d", "ops", None, "ops", "it's", ""],
    "age": [31, None, 25, 40, 65, 18, 30],
    "pay": [1.5, 2.0, None, 4.0, -5.0, 60.0, 7.25],
}
SCHEMA = {
    "id": "integer",
    "dept": hm.Public("text", keys=["ops", "r&d", None]),
    "age": hm.Public("integer", lower=0, upper=100),
    "pay": hm.Public("real", lower=0, upper=10),
}
PAY = hm.Mean("pay", 0, 10)
ALIKE = [
    ("SELECT COUNT(*) FROM staff", hm.Count(), {}),
    ("SELECT AVG(pay) FROM staff WHERE age >= 30", PAY, {"where": "age >= 30"}),
    ("SELECT COUNT(age) FROM staff", hm.Count(), {"where": "age is not None"}),
    (
        "SELECT dept, SUM(pay) FROM staff GROUP BY dept",
        hm.Sum("pay", 0, 10),
        {"by": hm.Keys("dept", ["ops", "r&d", None])},
    ),
    (
        "SELECT AVG(pay) AS pay, COUNT(*) AS n, MEDIAN(age) AS age FROM staff",
        {"pay": PAY, "n": hm.Count(), "age": hm.Median("age", 0, 100)},
        {},
    ),
    (
        "SELECT dept, COUNT(*), COUNT(age), AVG(age) FROM staff GROUP BY dept",
        {
            "COUNT(*)": hm.Count(),
            "COUNT(age)": hm.Filtered(hm.Count(), "age is not None"),
            "AVG(age)": hm.Mean("age", 0, 100),
        },
        {"by": hm.Keys("dept", ["ops", "r&d", None])},
    ),
    (
        "SELECT CASE WHEN age < 30 THEN 'young' ELSE 'old' END, COUNT(DISTINCT id) FROM staff "
        "GROUP BY 1",
        hm.CountDistinct(),
        {"by": hm.Filters(young="age < 30", old="not (age < 30)")},
    ),
]


def opened(seed):
    return hm.open(ROWS, unit="id", budget=5, schema=SCHEMA, words=seeded_words(seed))


def facts(told):
    """All that an answer says but when, and after what, it was given."""
    if isinstance(told, dict):
        return {name: facts(one) for name, one in told.items() if name not in ("time", "ledger")}
    return [facts(one) for one in told] if isinstance(told, list) else told


@pytest.mark.parametrize(("text", "query", "options"), ALIKE)
def test_sql_answers_as_ask_does(text, query, options):
    """With the same random words the same release, at the same price."""
    by_sql, by_ask = opened(7), opened(7)
    answer, twin = by_sql.sql(text, epsilon=1), by_ask.ask(query, epsilon=1, **options)
    assert facts(answer.to_dict()) == facts(twin.to_dict())
    assert by_sql.remaining == by_ask.remaining == hm.Pure(4)
    (entry,), (twin,) = by_sql.ledger.entries(), by_ask.ledger.entries()
    cut = lambda entry: entry.query.split(";")[0]  # noqa: E731
    assert cut(entry) == cut(twin)


def test_keys_are_found_for_a_delta_and_the_request_is_remembered():
    text = "SELECT age, COUNT(*) FROM staff GROUP BY age"
    price = {"epsilon": 1, "delta": 1e-6}
    staff = hm.open(ROWS, budget=hm.Approximate(3, 1e-5), schema=SCHEMA)
    first = staff.sql(text, request_id="r", **price)
    assert staff.sql(text, request_id="r", **price).to_dict() == first.to_dict()
    assert len(staff.ledger.entries()) == 1


NUMBERS = st.sampled_from(["18", "30", "30.5", "-1", "65"])
TEXTS = st.sampled_from(["'ops'", "'r&d'", "'it''s'", "''", "'zz'"])
BEGINNINGS = st.sampled_from(["'o%'", "'ops%'", "'r&d'", "'it''s%'", "'%'", "'zz%'", "'R%'"])
OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def conditions():
    numeric, words = st.sampled_from(["age", "pay", "id"]), st.just("dept")
    atoms = st.one_of(
        st.tuples(numeric, OPERATORS, NUMBERS).map(" ".join),
        st.tuples(NUMBERS, OPERATORS, numeric).map(" ".join),
        st.tuples(words, OPERATORS, TEXTS).map(" ".join),
        st.tuples(numeric, st.sampled_from(["IN", "NOT IN"]), NUMBERS, NUMBERS).map(
            lambda t: f"{t[0]} {t[1]} ({t[2]}, {t[3]})"
        ),
        st.tuples(words, st.sampled_from(["IN", "NOT IN"]), TEXTS).map(
            lambda t: f"{t[0]} {t[1]} ({t[2]})"
        ),
        st.tuples(numeric, st.sampled_from(["BETWEEN", "NOT BETWEEN"]), NUMBERS, NUMBERS).map(
            lambda t: f"{t[0]} {t[1]} {t[2]} AND {t[3]}"
        ),
        st.sampled_from(["LIKE", "NOT LIKE"]).flatmap(
            lambda word: BEGINNINGS.map(lambda begin: f"dept {word} {begin}")
        ),
        st.sampled_from(list(ROWS)).map(lambda name: f"{name} IS NULL"),
        st.sampled_from(list(ROWS)).map(lambda name: f"{name} IS NOT NULL"),
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            inner.map(lambda one: f"NOT ({one})"),
            st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
                lambda t: f"({t[0]}) {t[1]} ({t[2]})"
            ),
        ),
        max_leaves=6,
    )


SOURCE = open_source(ROWS, SCHEMA)
ENGINE = duckdb.connect()
ENGINE.execute("CREATE TABLE staff (id BIGINT, dept VARCHAR, age BIGINT, pay DOUBLE)")
ENGINE.executemany("INSERT INTO staff VALUES (?, ?, ?, ?)", list(zip(*ROWS.values(), strict=True)))
ONE = ((1, 0, 0, 0),)


def counted(where):
    return SOURCE.tally(Tally(ONE, where=Everything() if where is None else where))[0][0]


@settings(max_examples=300, deadline=None)
@given(conditions())
def test_where_passes_the_rows_of_which_an_engine_says_true(text):
    """Three-valued logic over missing values, by two-valued filters."""
    for each in (text, f"NOT ({text})"):
        statement = f"SELECT COUNT(*) FROM staff WHERE {each}"
        exact = ENGINE.execute(statement).fetchone()[0]
        assert counted(read_sql(statement, SOURCE.schema).where) == exact


@settings(max_examples=100, deadline=None)
@given(st.lists(conditions(), min_size=1, max_size=3))
def test_cases_hold_the_rows_of_an_engine(tests):
    """Each row in the first case that is true of it, or in ELSE."""
    whens = " ".join(f"WHEN {test} THEN '{i}'" for i, test in enumerate(tests))
    case = f"CASE {whens} ELSE 'none' END"
    exact = dict(ENGINE.execute(f"SELECT {case}, COUNT(*) FROM staff GROUP BY 1").fetchall())
    by = read_sql(f"SELECT COUNT(*) FROM staff GROUP BY {case}", SOURCE.schema).by
    found = {label: counted(one) for label, one in zip(by.labels, by.conditions, strict=True)}
    assert {label: n for label, n in found.items() if n} == exact


def about(where):
    return setting_of(SOURCE.schema, PrivacyUnit(), None, where)


AGGREGATES = [
    "COUNT(*) FILTER (WHERE {})",
    "COUNT(age) FILTER (WHERE {})",
    "SUM(CASE WHEN {} THEN 1 ELSE 0 END)",
    "SUM(CASE WHEN {} THEN 0 ELSE 1 END)",
    "SUM(IF({}, NULL, 1))",
    "COUNT(CASE WHEN {} THEN NULL ELSE pay END)",
    "COUNT(CASE WHEN {} THEN pay END)",
    "COUNT(CASE WHEN {} THEN 1 ELSE NULL END)",
]


@settings(max_examples=150, deadline=None)
@given(conditions(), conditions(), st.sampled_from(AGGREGATES))
def test_aggregates_of_some_rows_count_those_of_an_engine(test, where, aggregate):
    aggregate = aggregate.format(test)
    statement = f"SELECT {aggregate} AS a, COUNT(*) AS n FROM staff WHERE {where}"
    exact, whole = ENGINE.execute(statement).fetchone()
    asked = read_sql(statement, SOURCE.schema)
    some = asked.query["a"]
    assert some.question == hm.Count()
    assert counted(some.within(about(asked.where)).where) == (exact or 0)
    assert counted(asked.where) == whole
