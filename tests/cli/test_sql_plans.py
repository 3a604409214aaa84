"""A plan that asks in SQL is the plan that asks by name."""

from pathlib import Path

import pytest

import halfmask as hm
from halfmask.cli.planfile import Document, read_plan

TABLE = """
[table]
source = "salaries.csv"
unit = "employee_id"
rows = 100

[table.schema]
salary = { kind = "real", lower = 0, upper = 100_000 }
dept = { keys = ["ops", "r&d"] }

[budget]
epsilon = 3

[[release]]
name = "one"
epsilon = 1
"""


def asked(release, table=TABLE):
    (ask,) = read_plan(Document(Path("plan.toml"), table + release)).asks
    return ask


def test_a_select_is_the_release_that_names_its_query():
    spoken = asked(
        "sql = \"SELECT dept, AVG(salary) FROM staff WHERE NOT salary < 3 AND dept <> 'it''s' "
        'GROUP BY dept"\n'
    )
    named = asked(
        'query = "mean"\ncolumn = "salary"\nlower = 0\nupper = 100_000\n'
        "where = '''(salary >= 3) and (dept != \"it's\")'''\n"
        'by = { column = "dept", keys = ["ops", "r&d"] }\n'
    )
    assert (spoken.query, spoken.by, spoken.rows) == (named.query, named.by, named.rows)
    assert spoken.where == named.where
    assert spoken.query == hm.Mean("salary", 0, 100_000)


def test_several_aggregates_share_a_price_or_an_error():
    text = 'sql = "SELECT COUNT(*) AS people, MEDIAN(salary) AS pay FROM staff"\n'
    several = asked(text + 'shares = { people = "1/4", pay = "3/4" }\n')
    assert several.query == {"people": hm.Count(), "pay": hm.Median("salary", 0, 100_000)}
    assert several.shares == {"people": "1/4", "pay": "3/4"}
    units = 'sql = "SELECT COUNT(DISTINCT employee_id) FROM staff"\nerror = 5\n'
    assert asked(units, TABLE.replace("epsilon = 1\n", "")).query == hm.CountDistinct()


def test_each_of_several_queries_may_have_its_filter():
    spoken = asked(
        'sql = "SELECT COUNT(*) AS n, SUM(CASE WHEN salary > 3 THEN 1 END) AS rich FROM staff"\n'
    )
    named = asked(
        'queries = { n = { query = "count" }, rich = { query = "count", where = "salary > 3" } }\n'
    )
    assert spoken.query == named.query
    assert named.query["rich"] == hm.Filtered(hm.Count(), "salary > 3")
    with pytest.raises(hm.InvalidQuery, match=r"line \d+, release 1, queries.n.where: where"):
        asked('queries = { n = { query = "count", where = "salary >" } }\n')


def test_names_of_as_are_no_columns():
    text = "SELECT dept AS d, COUNT(*) AS n FROM staff GROUP BY d HAVING n > 3 ORDER BY N DESC"
    found = asked(f'sql = "{text}"\n')
    assert found.by == hm.Keys("dept", ["ops", "r&d"])
    assert found.arrangement.steps[0] == "kept where n > 3"
    with pytest.raises(hm.InvalidQuery, match="ORDER BY takes keys"):
        asked(f'sql = "{text.replace("N DESC", "m")}"\n')


def test_released_groups_are_shown_as_sql_says(folder):
    plan = """
[table]
source = "staff.csv"
schema = { dept = { keys = ["ops", "r&d", "Küche"] } }

[budget]
epsilon = 1000

[[release]]
name = "top"
sql = "SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept ORDER BY n DESC, dept LIMIT 2"
epsilon = 900
"""
    done = "(in the order of n DESC, dept; the first 2 shown; picked by noisy numbers, which"
    assert done in folder.plan(plan, "check").out
    found = folder.plan(plan, "run")
    assert found.code == 0
    assert [line.split()[0] for line in found.out.splitlines()[1:3]] == ["top", "r&d"]
    assert "Küche" not in found.out
    assert "top: of the groups released: in the order of n DESC, dept;" in found.out


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ('sql = "SELECT MAX(salary) FROM staff"', "release 1, sql: sql: MAX.*one person's"),
        ('sql = "SELECT SUM(age) FROM staff"', "needs bounds of 'age'"),
        ('sql = "SELECT COUNT(*) FROM t"\nwhere = "age > 3"', "unknown key 'where'"),
        ('sql = "SELECT COUNT(*) FROM t"\nby = "dept"', "unknown key 'by'"),
        ('sql = "SELECT COUNT(*) FROM t"\nquery = "count"', "unknown key 'query'"),
        ("sql = 3", "a text in quotes is needed"),
    ],
)
def test_what_sql_cannot_ask_is_refused_with_its_line(release, reason):
    with pytest.raises(hm.InvalidQuery, match=reason):
        asked(release)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("{ lower = 0 }", "lower is given without upper"),
        ("{ lower = 2, upper = 1 }", "lower 2 is not below upper 1"),
        ("{ kind = 3 }", "a text in quotes is needed"),
        ("{ bounds = [0, 1] }", "unknown key 'bounds'"),
        ('{ keys = "ops" }', "a list is needed"),
        ("3", "a text in quotes is needed"),
    ],
)
def test_what_is_declared_of_a_column_is_checked_with_its_line(column, reason):
    table = TABLE.replace('{ keys = ["ops", "r&d"] }', column)
    with pytest.raises(hm.InvalidQuery, match=rf"line \d+.*{reason}"):
        asked('sql = "SELECT COUNT(*) FROM staff"\n', table)


def test_declared_columns_run_and_other_releases_may_use_them(tmp_path, monkeypatch):
    (tmp_path / "salaries.csv").write_text("employee_id,dept,salary\n1,ops,3\n2,r&d,4\n")
    monkeypatch.chdir(tmp_path)
    ask = asked('sql = "SELECT SUM(salary) FROM staff"\n')
    plan = read_plan(Document(Path("plan.toml"), TABLE + 'query = "count"\n'))
    with hm.open(plan.table.source, budget=1, **plan.table.options) as curator:
        assert curator.ask(ask.query, **ask.options).cost == hm.Pure(1)
        assert curator.schema.column("salary").public.bounds == (0, 100_000)
