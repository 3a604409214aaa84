"""What SQL cannot be asked is refused before any charge, with the piece and the reason."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm

REFUSED = {
    "SELECT salary FROM staff": "salary: a value of a row never leaves the table",
    "SELECT * FROM staff": "a value of a row never leaves",
    "SELECT dept, salary, COUNT(*) FROM staff GROUP BY dept": "salary: a value of a row",
    "SELECT dept FROM staff GROUP BY dept": "no aggregate is asked",
    "SELECT 1 FROM staff": "1: not answered",
    "SELECT MAX(salary) FROM staff": r"MAX\(salary\): the extreme value is one person's",
    "SELECT VAR_SAMP(salary) FROM staff": "divisor is n - 1",
    "SELECT STDDEV(salary) FROM staff": "divisor is n - 1",
    "SELECT CORR(salary, age) FROM staff": "hm.Covariance",
    "SELECT AVG(age) FROM staff": r"AVG\(age\): needs bounds of 'age'.*hm.Public\(lower.*'private'",
    "SELECT SUM(age) FROM staff": r"SUM\(age\): needs bounds of 'age' that are known without",
    "SELECT AVG(salary * 2) FROM staff": "takes the name of one column",
    "SELECT AVG(DISTINCT salary) FROM staff": "takes the name of one column",
    "SELECT AVG(salary) + 1 FROM staff": "compute with what is released",
    "SELECT ROUND(AVG(salary)) FROM staff": "compute with what is released, which is free",
    "SELECT SUM(salary) / COUNT(*) FROM staff": "compute with what is released, which is free",
    "SELECT AVG(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM staff": "a share is COUNT",
    "SELECT COUNT(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM staff": "a CASE inside of an aggregate",
    "SELECT SUM(CASE WHEN age > 3 THEN 1 WHEN age > 2 THEN 2 END) FROM staff": "CASE inside",
    "SELECT SUM(CASE age WHEN 3 THEN 1 END) FROM staff": "a CASE inside of an aggregate",
    "SELECT SUM(CASE WHEN age > 3 THEN 2 END) FROM staff": "takes the name of one column",
    "SELECT MAX(age) FILTER (WHERE age > 3) FROM staff": "the extreme value is one person's",
    "SELECT COUNT(*) FILTER (WHERE eyes = 3) FROM staff": "there is no 'eyes'",
    "SELECT BOOL_OR(age) FROM staff": "one row decides it",
    "SELECT ANY_VALUE(age) FROM staff": "a value of a row never leaves",
    "SELECT STRING_AGG(dept, ',') FROM staff": "a value of a row never leaves",
    "SELECT APPROX_COUNT_DISTINCT(dept) FROM staff": "only privacy units are counted apart",
    "SELECT QUANTILE(salary, [0.5, age]) FROM staff": "a number from 0 to 1",
    "SELECT COUNT(DISTINCT dept) FROM staff": "only privacy units are counted apart",
    "SELECT COUNT(DISTINCT id, dept) FROM staff": "only privacy units are counted apart",
    "SELECT COUNT() FROM staff": "say what to count",
    "SELECT COUNT(NULL) FROM staff": "takes the name of one column",
    "SELECT SUM(salary) OVER (PARTITION BY dept) FROM staff": "a window function",
    "SELECT QUANTILE(salary) FROM staff": "does not read as SQL near '\\)'",
    "SELECT QUANTILE_CONT(salary) FROM staff": "takes 2 arguments",
    "SELECT QUANTILE(salary, age) FROM staff": "a number from 0 to 1",
    "SELECT QUANTILE(salary, 7) FROM staff": "no number from 0 to 1",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM staff": "ascending",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, dept) FROM staff": "one column",
    "SELECT COUNT(*), COUNT(*) FROM staff": "twice; name each by AS",
    "SELECT (SELECT COUNT(*) FROM staff) FROM staff": "a subquery is not answered",
    "SELECT COUNT(*) FROM staff WHERE born > DATE '2024-02-29 14:00'": "a DATE has no time of day",
    "SELECT COUNT(*) FROM staff WHERE born > CAST('2024-02-29T14:00' AS DATE)": "no time of day",
    "SELECT COUNT(*) FROM (SELECT * FROM staff) s": "FROM names one table",
    "SELECT COUNT(*) FROM read_csv('other.csv')": "FROM names one table",
    "SELECT COUNT(*) FROM other.staff": "FROM names one table",
    "SELECT COUNT(*) FROM staff TABLESAMPLE (10)": "FROM names one table",
    "SELECT COUNT(*)": "FROM is missing",
    "SELECT COUNT(*) FROM staff, visits": "one table is open; to join two",
    "SELECT COUNT(*) FROM staff JOIN visits USING (id)": "one table is open; to join two",
    "SELECT COUNT(*) FROM staff GROUP BY dept, age": "several columns need public keys",
    "SELECT COUNT(*) FROM staff GROUP BY ROLLUP (dept)": r"ROLLUP \(dept\): GROUP BY takes",
    "SELECT COUNT(*) FROM staff GROUP BY 7": "SELECT has 1 items",
    "SELECT COUNT(*) FROM staff GROUP BY age % 10": "GROUP BY takes columns, one period",
    "SELECT COUNT(*) FROM staff GROUP BY MONTH(born)": "GROUP BY takes columns, one period",
    "SELECT COUNT(*) FROM staff GROUP BY DATE_TRUNC('month', born)": "when periods begin and end",
    "SELECT COUNT(*) FROM staff GROUP BY DATE_TRUNC('month', age)": "'age' holds no times",
    "SELECT COUNT(*) FROM staff GROUP BY DATE_TRUNC('epoch', born)": "periods are of one year",
    "SELECT COUNT(*) FROM staff GROUP BY DATE(born, 'UTC')": "times are compared as they stand",
    "SELECT COUNT(*) FROM staff GROUP BY DATE(left_at)": "more than 200 periods lie",
    "SELECT COUNT(*) FROM staff GROUP BY DATE(left_at), dept": "GROUP BY takes columns, one period",
    "SELECT COUNT(*) FROM staff GROUP BY CASE age WHEN 3 THEN 'x' END": "groups by CASE",
    "SELECT COUNT(*) FROM staff GROUP BY CASE WHEN age = 3 THEN age END": "groups by CASE",
    "SELECT DISTINCT COUNT(*) FROM staff": "leave DISTINCT out",
    "WITH s AS (SELECT * FROM staff) SELECT COUNT(*) FROM s": "without WITH",
    "SELECT COUNT(*) FROM staff UNION SELECT COUNT(*) FROM staff": "nothing else is answered",
    "SELECT COUNT(*) FROM staff FOR UPDATE": "LOCK: this part of a SELECT is not answered",
    "SELECT COUNT(*) FROM staff; SELECT COUNT(*) FROM staff": "2 statements are given",
    "DROP TABLE staff": "nothing else is answered",
    "VACUUM staff": "nothing else is answered",
    "SELECT FROM WHERE": "does not read as SQL|FROM",
    "SELECT 'a": "does not read as SQL",
    "": "is no text",
    "SELECT " + "(" * 4000 + "1" + ")" * 4000: "nested too deeply",
    "SELECT " + "1" * 10_001: "more than 10000 characters",
    "SELECT COUNT(*) FROM staff WHERE age = NULL": "write IS NULL",
    "SELECT COUNT(*) FROM staff WHERE age IN (1, NULL)": "write IS NULL",
    "SELECT COUNT(*) FROM staff WHERE age IN (SELECT 1)": "IN takes a list of values",
    "SELECT COUNT(*) FROM staff WHERE dept LIKE '%o'": "LIKE takes the beginning of a text",
    "SELECT COUNT(*) FROM staff WHERE dept LIKE 'o_%'": "LIKE takes the beginning of a text",
    "SELECT COUNT(*) FROM staff WHERE dept LIKE dept": "texts stand in single quotes",
    "SELECT COUNT(*) FROM staff WHERE dept ILIKE 'o%'": "a filter compares a column with",
    "SELECT COUNT(*) FROM staff WHERE age LIKE '3%'": "LIKE compares a column of text",
    "SELECT COUNT(*) FROM staff WHERE age > salary": "a filter compares a column with",
    'SELECT COUNT(*) FROM staff WHERE dept = "ops"': "texts stand in single quotes",
    "SELECT COUNT(*) FROM staff WHERE age + 1 > 3": "a filter compares a column with",
    "SELECT COUNT(*) FROM staff WHERE 1 = 1": "a filter compares a column with",
    "SELECT COUNT(*) FROM staff WHERE EXISTS (SELECT 1)": "a filter compares a column with",
    "SELECT COUNT(*) FROM staff WHERE age IS DISTINCT FROM 3": "a filter compares a column with",
    "SELECT COUNT(*) FROM staff WHERE age = 1e999": "is not finite",
    "SELECT COUNT(*) FROM staff WHERE born > TIMESTAMP '2024-02-29 14:00:00.1234567'": "micro",
    "SELECT COUNT(*) FROM staff WHERE born > TIMESTAMP(0) '2024-02-29 14:00:00.7'": "microsecond",
    "SELECT COUNT(*) FROM staff WHERE age = DATE '2024-02-30'": "no ISO date",
    "SELECT COUNT(*) FROM staff WHERE age = 'x'": "cannot be compared",
    "SELECT COUNT(*) FROM staff WHERE eyes = 3": "there is no 'eyes'",
    "SELECT COUNT(*) FROM staff WHERE other.age = 3": "FROM names no table 'other', but staff",
    "SELECT COUNT(*) FROM staff s WHERE staff.age = 3": "FROM names no table 'staff', but s",
    "SELECT MODE(dept) FROM staff": "list public keys",
    "SELECT dept, COUNT(*) FROM staff GROUP BY dept": "list public keys",
}


ROWS = {
    "id": [1, 2, 3],
    "dept": ["ops", "r&d", None],
    "age": [30, 40, 50],
    "born": ["1990-01-01"] * 3,
    "left_at": [None] * 3,
    "salary": [1, 2, 3],
}


@pytest.fixture
def staff():
    return hm.open(
        ROWS,
        unit="id",
        budget=1,
        schema={
            "age": "integer",
            "born": "time",
            "left_at": hm.Public("time", lower="2020-01-01", upper="2024-01-01"),
            "dept": "text",
            "salary": hm.Public("real", lower=0, upper=10),
        },
    )


@pytest.mark.parametrize("text", REFUSED)
def test_the_rest_of_sql_is_refused_before_a_charge(staff, text):
    with pytest.raises(hm.InvalidQuery, match=REFUSED[text]):
        staff.sql(text, epsilon=0.5)
    assert not staff.ledger.entries()


WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON USING UNION ALL AS IN IS NOT NULL AND OR
BETWEEN LIKE CASE WHEN THEN ELSE END COUNT SUM AVG MEDIAN QUANTILE PERCENTILE_CONT WITHIN FILTER
OVER DISTINCT CAST DATE INTERVAL WITH EXISTS TRUE FALSE COUNT(*) AVG(salary) SUM(salary) staff dept
age salary id s. * ( ) , ; . = <> < >= + - / || :: 1 2.5 1e9 'ops' '2024-01-01' "age" ` [ ] { } ? @
$1 %s -- /* */ \\ ' " \x00 é
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "COUNT(DISTINCT id)"])
JUNK = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=12).map(
        lambda words: "SELECT COUNT(*) FROM staff " + " ".join(words)
    ),
    st.lists(PIECES, max_size=12).map(
        lambda words: "SELECT COUNT(*) FROM staff WHERE " + " ".join(words)
    ),
    st.lists(PIECES, max_size=8).map(lambda words: f"SELECT {' '.join(words)} FROM staff"),
)


@settings(max_examples=600, deadline=None)
@given(JUNK)
def test_junk_is_refused_or_asked_and_never_breaks(text):
    """What is no statement raises InvalidQuery; nothing is charged by reading."""
    staff = TABLE
    try:
        asked = staff.statement(text)
        staff.preview(asked.query, by=asked.by, where=asked.where, rows=10, epsilon=1, delta=1e-6)
    except hm.InvalidQuery as problem:
        assert str(problem)  # noqa: PT017
    assert not staff.ledger.entries()


TABLE = hm.open(
    {"id": [1], "dept": ["ops"], "age": [30], "salary": [1]},
    budget=1,
    schema={"age": "integer", "dept": "text", "salary": hm.Public("real", lower=0, upper=10)},
)


def test_without_the_parser_the_message_says_what_to_install(staff, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(hm.HalfmaskError, match=r"pip install 'halfmask\[sql\]'"):
        staff.sql("SELECT COUNT(*) FROM staff", epsilon=0.1)
    assert not staff.ledger.entries()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"bounds": {"wage": (0, 1)}}, "there is no 'wage'"),
        ({"bounds": [1]}, "a list is no mapping"),
        ({"bounds": {"age": 3}}, "two numbers"),
        ({"bounds": {"age": (1, 2, 3)}}, "two numbers"),
        ({"bounds": {"age": (2, 1)}}, "swap them"),
        ({"keys": {"dept": "ops"}}, "is no list"),
    ],
)
def test_bounds_and_keys_are_checked(staff, given, reason):
    with pytest.raises(hm.InvalidQuery, match=reason):
        staff.sql("SELECT dept, AVG(age) FROM staff GROUP BY dept", epsilon=0.5, **given)
    assert not staff.ledger.entries()
