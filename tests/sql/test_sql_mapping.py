"""Each supported piece of SQL is the public query that it should be."""

from datetime import datetime

import pytest

import halfmask as hm
from halfmask.plan import Everything, Not, Schema
from halfmask.sql import read_sql

SCHEMA = Schema.of(
    {
        "who": "integer",
        "dept": "text",
        "Salary": "real",
        "age": "integer",
        "hired": "time",
        "active": "boolean",
        "Note": "text",
        "note": "text",
        "NOTE": "text",
    }
)
DAYS = ("01-15", "01-22", "01-29", "02-05", "02-12", "02-19", "02-26", "03-04")
BOUNDS = {"Salary": (0, 100), "age": (0, 120), "hired": ("2000-01-01", "2030-01-01")}


def read(text, **given):
    return read_sql(text, SCHEMA, **{"unit": "who", "bounds": BOUNDS, **given})


def one(aggregate):
    return read(f"SELECT {aggregate} FROM staff").query


@pytest.mark.parametrize(
    ("aggregate", "query"),
    [
        ("COUNT(*)", hm.Count()),
        ("count(1)", hm.Count()),
        ("COUNT(who)", hm.Count()),
        ("COUNT(DISTINCT who)", hm.CountDistinct()),
        ("SUM(salary)", hm.Sum("Salary", 0, 100)),
        ("AVG(Salary)", hm.Mean("Salary", 0, 100)),
        ("mean(salary)", hm.Mean("Salary", 0, 100)),
        ("avg(staff.age) AS mean_age", hm.Mean("age", 0, 120)),
        ("VAR_POP(age)", hm.Variance("age", 0, 120)),
        ("STDDEV_POP(age)", hm.StandardDeviation("age", 0, 120)),
        ("MEDIAN(age)", hm.Median("age", 0, 120)),
        ("MEDIAN(who)", hm.Median("who")),
        ("MEDIAN(hired)", hm.Median("hired", "2000-01-01", "2030-01-01")),
        ("QUANTILE(age, 0.25)", hm.Quantile("age", 0.25, 0, 120)),
        ("QUANTILE_CONT(age, .25)", hm.Quantile("age", 0.25, 0, 120)),
        ("PERCENTILE_CONT(age, 0.25)", hm.Quantile("age", 0.25, 0, 120)),
        (
            "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)",
            hm.Quantile("age", 0.9, 0, 120),
        ),
        ("QUANTILE(age, [0.25, 0.5])", hm.Quantile("age", [0.25, 0.5], 0, 120)),
        ("APPROX_PERCENTILE(age, 0.5)", hm.Quantile("age", 0.5, 0, 120)),
        ("percentile_disc(1) within group (order by who asc)", hm.Quantile("who", 1)),
        ("MODE(dept)", hm.MostCommon("dept")),
        ("MODE() WITHIN GROUP (ORDER BY dept)", hm.MostCommon("dept")),
    ],
)
def test_an_aggregate_is_a_query(aggregate, query):
    found = one(aggregate)
    assert type(found) is type(query)
    assert repr(found) == repr(query)


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        ("age >= 30", "age >= 30"),
        ("30 < age", "age > 30"),
        ("age <> -3", "age != -3"),
        ("age != (2.5)", "age != 2.5"),
        ("age BETWEEN 18 AND 65", "(age >= 18) and (age <= 65)"),
        ("age NOT BETWEEN 18 AND 65", "(age < 18) or (age > 65)"),
        ("dept = 'r&d'", "dept == 'r&d'"),
        ("dept IN ('ops', 'it''s')", "dept in ['ops', \"it's\"]"),
        ("dept NOT IN ('a', 'b')", "(not (dept in ['a', 'b'])) and (dept != 'b')"),
        ("dept IS NULL", "dept is None"),
        ("dept IS NOT NULL", "not (dept is None)"),
        ("active", "active == True"),
        ("NOT active", "active == False"),
        ("active IS NOT TRUE", "not (active == True)"),
        ("active = FALSE", "active == False"),
        ("hired >= DATE '2024-02-29'", "hired >= datetime('2024-02-29T00:00:00')"),
        ("hired < TIMESTAMP '2024-02-29 12:00'", "hired < datetime('2024-02-29T12:00:00')"),
        ("hired < CAST('2024-02-29' AS DATE)", "hired < datetime('2024-02-29T00:00:00')"),
        ("hired < '2024-02-29'", "hired < '2024-02-29'"),
        ("dept LIKE 'op%'", "(dept >= 'op') and (dept < 'oq')"),
        ("dept NOT LIKE 'op%'", "(dept < 'op') or (dept >= 'oq')"),
        ("dept LIKE 'ops'", "dept == 'ops'"),
        ("NOT dept LIKE 'ops'", "dept != 'ops'"),
        ("dept LIKE '\U0010ffff%'", r"dept >= '\U0010ffff'"),
        ("dept LIKE '\ud7ff%'", r"(dept >= '\ud7ff') and (dept < '\ue000')"),
        ("age < 3 AND (age > 1 OR dept = 'a')", "(age < 3) and ((age > 1) or (dept == 'a'))"),
        ("NOT (age < 3 AND age > 1)", "(age >= 3) or (age <= 1)"),
        ("NOT (age < 3 OR NOT dept = 'a')", "(age >= 3) and (dept == 'a')"),
        ("\"note\" = 'x' /* a remark */", "note == 'x'"),
        ("staff.AGE = 3 -- a remark", "age == 3"),
    ],
)
def test_a_condition_is_a_filter(condition, rule):
    asked = read(f"SELECT COUNT(*) FROM staff WHERE {condition}").where
    assert str(asked) == rule
    assert hm.where(rule) == asked or "hired" in rule  # it can be typed as a rule, too


def test_true_and_false_are_all_rows_and_none():
    assert read("SELECT COUNT(*) FROM t WHERE TRUE").where is None
    assert read("SELECT COUNT(*) FROM t WHERE FALSE").where == Not(Everything())


def test_a_long_chain_is_no_deeper_than_a_short_one():
    text = " OR ".join(f"age = {i}" for i in range(400))
    assert read(f"SELECT COUNT(*) FROM t WHERE {text}").where.depth < 12


def test_several_aggregates_are_named_by_as_or_by_their_text():
    asked = read("SELECT AVG(age) AS years, COUNT(*) FROM t").query
    assert asked == {"years": hm.Mean("age", 0, 120), "COUNT(*)": hm.Count()}


@pytest.mark.parametrize("group", ["dept", "DEPT", "1", "staff.dept", '"dept"', "t", "T"])
def test_groups_are_by_public_keys(group):
    item = "dept AS t" if group in "tT" else "dept"
    asked = read(f"SELECT {item}, COUNT(*) FROM staff GROUP BY {group}", keys={"dept": ["a", "b"]})
    assert asked.by == hm.Keys("dept", ["a", "b"])
    assert asked.query == hm.Count()


def test_without_public_keys_they_are_to_be_found():
    assert read("SELECT COUNT(*) FROM staff GROUP BY dept").by == "dept"


def test_several_columns_are_the_combinations_of_their_keys():
    asked = read(
        "SELECT dept, active, COUNT(*) FROM staff GROUP BY dept, active",
        keys={"dept": ["ops", None], "active": [True, False]},
    )
    assert asked.query == hm.Count()
    assert asked.by.labels == ("ops, True", "ops, False", "missing, True", "missing, False")
    assert str(asked.by.conditions[3]) == "(dept is None) and (active == False)"
    asked.by.check(SCHEMA)
    for keys in ({"dept": ["a"]}, {"dept": map(str, range(15)), "age": range(14)}):
        with pytest.raises(hm.InvalidQuery, match="200 combinations at most"):
            read("SELECT COUNT(*) FROM staff GROUP BY dept, age", keys=keys)
    with pytest.raises(hm.InvalidQuery, match="both called 'a, b, c'"):
        read(
            "SELECT COUNT(*) FROM staff GROUP BY dept, note",
            keys={"dept": ["a", "a, b"], "note": ["b, c", "c"]},
        )


def test_cases_are_filters_that_exclude_each_other():
    text = (
        "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'other' END AS g, "
        "COUNT(*) FROM staff GROUP BY g"
    )
    by = read(text).by
    assert by.labels == ("young", "middle", "other")
    by.check(SCHEMA)
    assert str(by.conditions[1]) == "(age < 60) and (not (age < 30))"
    assert read(text.replace("BY g", "BY 1")).by == by
    named = read("SELECT COUNT(*) FROM t GROUP BY CASE WHEN age < 3 THEN 'self' END").by
    assert named.labels == ("self",)


def test_counting_a_column_leaves_out_the_rows_without_it():
    asked = read("SELECT COUNT(age) AS n, AVG(age) FROM t WHERE dept = 'a'")
    assert asked.query == {"n": hm.Count(), "AVG(age)": hm.Mean("age", 0, 120)}
    assert str(asked.where) == "(dept == 'a') and (not (age is None))"
    beside = read("SELECT COUNT(age), COUNT(*) AS n FROM t")
    has = hm.Filtered(hm.Count(), "age is not None")
    assert beside.query == {"COUNT(age)": has, "n": hm.Count()}
    assert beside.where is None


OLD = "age >= 65"


@pytest.mark.parametrize(
    ("aggregate", "query", "rows"),
    [
        ("COUNT(*) FILTER (WHERE age >= 65)", hm.Count(), OLD),
        ("COUNT_IF(age >= 65)", hm.Count(), OLD),
        ("SUM(CASE WHEN age >= 65 THEN 1 ELSE 0 END)", hm.Count(), OLD),
        ("SUM(IF(age >= 65, 1, 0))", hm.Count(), OLD),
        ("COUNT(CASE WHEN age >= 65 THEN 1 END)", hm.Count(), OLD),
        ("COUNT(CASE WHEN age >= 65 THEN who ELSE NULL END)", hm.Count(), OLD),
        ("COUNT(DISTINCT CASE WHEN age >= 65 THEN who END)", hm.CountDistinct(), OLD),
        ("COUNT(DISTINCT who) FILTER (WHERE age >= 65)", hm.CountDistinct(), OLD),
        ("AVG(CASE WHEN age >= 65 THEN salary END)", hm.Mean("Salary", 0, 100), OLD),
        ("SUM(CASE WHEN NOT age < 65 THEN salary ELSE 0 END)", hm.Sum("Salary", 0, 100), OLD),
        ("MEDIAN(salary) FILTER (WHERE age >= 65)", hm.Median("Salary", 0, 100), OLD),
        ("COUNT(age) FILTER (WHERE active)", hm.Count(), "active == True and age is not None"),
    ],
)
def test_aggregates_of_some_rows_are_filtered(aggregate, query, rows):
    """Alone the condition stands in WHERE, beside others it is their own."""
    alone = read(f"SELECT {aggregate} FROM staff")
    assert (alone.query, alone.where) == (query, hm.where(rows))
    beside = read(f"SELECT {aggregate} AS some, COUNT(*) AS n FROM staff WHERE dept = 'a'")
    assert beside.query == {"some": hm.Filtered(query, rows), "n": hm.Count()}
    assert str(beside.where) == "dept == 'a'"


def test_aggregates_of_the_same_rows_share_them():
    text = "SELECT COUNT(*) FILTER (WHERE active) AS n, AVG(age) FILTER (WHERE active) AS a FROM t"
    asked = read(text)
    assert asked.query == {"n": hm.Count(), "a": hm.Mean("age", 0, 120)}
    assert str(asked.where) == "active == True"
    assert read("SELECT COUNT(*) FILTER (WHERE TRUE) FROM t").where is None
    assert read("SELECT SUM(1) FROM t").query == hm.Count()


def test_truth_values_lie_between_0_and_1():
    assert read("SELECT AVG(active) FROM t").query == hm.Mean("active", 0, 1)


@pytest.mark.parametrize(
    ("period", "labels"),
    [
        ("DATE_TRUNC('month', hired)", ("2024-01", "2024-02", "2024-03")),
        ("date_trunc('quarter', staff.hired)", ("2024-01-01",)),
        ("YEAR(hired)", ("2024",)),
        ("EXTRACT(YEAR FROM hired)", ("2024",)),
        ("DATE_TRUNC('week', hired)", tuple(f"2024-{d}" for d in DAYS)),
    ],
)
def test_periods_lie_between_the_bounds_of_a_column_of_times(period, labels):
    given = {"bounds": {"hired": ("2024-01-15", "2024-03-05")}}
    by = read(f"SELECT {period} AS p, COUNT(*) FROM staff GROUP BY p", **given).by
    assert by.labels == labels
    by.check(SCHEMA)
    assert read(f"SELECT {period}, COUNT(*) FROM staff GROUP BY 1", **given).by == by


def test_days_are_dates():
    bounds = {"hired": ("2024-02-28", "2024-03-01")}
    for day in ("hired::date", "DATE(hired)", "DATE_TRUNC('day', hired)"):
        by = read(f"SELECT COUNT(*) FROM t GROUP BY {day}", bounds=bounds).by
        assert by.labels == ("2024-02-28", "2024-02-29", "2024-03-01")


def test_bounds_come_from_the_schema_and_an_argument_goes_before():
    schema = Schema.of({"pay": "real", "dept": "text"}).knowing(
        {"pay": hm.Public(lower=0, upper=9), "dept": hm.Public(keys=["a"])}
    )
    text = "SELECT AVG(pay) FROM t GROUP BY dept"
    assert read_sql(text, schema).query == hm.Mean("pay", 0, 9)
    assert read_sql(text, schema).by == hm.Keys("dept", ["a"])
    given = read_sql(text, schema, bounds={"pay": (1, 2)}, keys={"dept": ["b", None]})
    assert (given.query, given.by) == (hm.Mean("pay", 1, 2), hm.Keys("dept", ["b", None]))
    bought = read_sql(text, schema, bounds={"pay": "private"})
    assert bought.query == hm.Mean("pay", bounds="private")


def test_names_are_exact_first_and_then_by_letters_alone():
    found = read("SELECT COUNT(*) FROM t WHERE note = 'x' AND NOTE = 'y' AND Note = 'z'").where
    assert found.columns() == ("note", "NOTE", "Note")
    assert read("SELECT COUNT(*) FROM t WHERE SALARY > 1").where.columns() == ("Salary",)
    with pytest.raises(hm.InvalidQuery, match=r"nOTE may be 'Note' or 'note' or 'NOTE'"):
        read("SELECT COUNT(*) FROM t WHERE nOTE = 'x'")
    with pytest.raises(hm.InvalidQuery, match=r"there is no 'SALARY'"):
        read('SELECT COUNT(*) FROM t WHERE "SALARY" > 1')


def test_a_moment_is_read_as_one():
    where = read("SELECT COUNT(*) FROM t WHERE hired = DATE '2024-02-29'").where
    assert where.value == datetime(2024, 2, 29)


@pytest.mark.parametrize("end", [";", " -- all", "; -- all", " /* all */ ;", "; /* all */ ;"])
def test_a_comment_is_no_second_statement(end):
    assert read(f"SELECT COUNT(*) FROM staff{end}").query == hm.Count()
