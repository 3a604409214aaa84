"""[[series]] and [table.join] in a plan: the same as `Curator.series` and `hm.Join`."""

import pandas as pd
import pytest

import halfmask as hm

LOG = """\
at,who,dept
2025-01-03,1,ops
2025-01-14,2,r&d
2025-02-07,1,ops
2999-01-01,3,ops
"""

PLAN = """
[table]
source = "log.csv"
rows = 100

[table.schema]
at = "time"

[budget]
epsilon = 100_000
ledger = "log.ledger"

[[release]]
name = "rows"
query = "count"
epsilon = 10_000

[[series]]
name = "logins"
query = "count"
time = "at"
start = "2025-01-01"
every = "month"
periods = 3
by = { column = "dept", keys = ["ops", "r&d"] }
epsilon = 10_000
"""


@pytest.fixture
def log(folder):
    folder.write("log.csv", LOG)
    return folder


def lines(result, name):
    """The values of a release, by what they are of."""
    rows = [line for line in result.out.splitlines() if "epsilon" in line or line[:1] == " "]
    found, here = {}, ""
    for row in rows:
        here = row.split("  ")[0] or here
        if here == name:
            cells = [one for one in row.removeprefix(here).strip().split("  ") if one]
            found[cells[0]] = cells[1].strip()
    return found


def test_a_series_is_paid_once_and_goes_on_from_run_to_run(log):
    checked = log.plan(PLAN, "check")
    assert checked.code == 0
    assert "1 release and 1 series of" in checked.out
    assert "by dept (keys: 2)" in checked.out
    assert "In all: epsilon 20000." in checked.out
    first = log.plan(PLAN, "run")
    assert first.code == 0
    assert lines(first, "logins") == {
        "ops, 2025-01": "1",
        "ops, 2025-02": "2",
        "ops, 2025-03": "2",
        "r&d, 2025-01": "1",
        "r&d, 2025-02": "1",
        "r&d, 2025-03": "1",
    }
    again = log.plan(PLAN, "check")
    assert "In all: epsilon 10000. Paid before: logins." in again.out
    assert "All of it fits." in log.plan(PLAN, "preview").out
    second = log.run("run", "plan.toml", "--json", "out.json")
    assert lines(second, "logins") == lines(first, "logins")
    assert '"logins"' in log.read("out.json")
    prices = [str(one.cost) for one in hm.Ledger(log.path / "log.ledger").entries()]
    assert sorted(prices, reverse=True)[:3] == ["epsilon 10000"] * 3  # two runs of rows, one series
    assert set(prices[1:]) <= {"epsilon 10000", "epsilon 0"}


def test_through_names_the_last_period(log):
    early = PLAN.replace("periods = 3", 'periods = 3\nthrough = "2025-01"').replace(
        'by = { column = "dept", keys = ["ops", "r&d"] }\n', ""
    )
    assert lines(log.plan(early, "run"), "logins") == {"2025-01": "2"}
    later = early.replace('"2025-01"\n', "2025-02-03\n")
    assert lines(log.plan(later, "run"), "logins") == {"2025-01": "2", "2025-02": "3"}


def test_a_series_alone_is_a_plan_and_is_attacked(log):
    alone = PLAN[: PLAN.index("[[release]]")] + PLAN[PLAN.index("[[series]]") :]
    assert log.plan(alone, "cost").code == 0
    attacked = log.run("verify", "plan.toml", "--seconds", "2")
    assert attacked.code == 0
    assert "1 series attacked" in attacked.out
    assert log.plan(alone, "run").code == 0
    assert "In all: nothing. Paid before: logins." in log.plan(alone, "check").out
    assert log.plan(alone, "run").code == 0


def test_what_arrives_in_a_folder_is_a_period_a_run(folder):
    plan = """
table = { source = "log" }
budget = { epsilon = 1000, ledger = "log.ledger" }
series = [{ name = "costs", query = "count", periods = 9, epsilon = 900 }]
"""
    log = folder.path / "log"
    log.mkdir()
    pd.DataFrame({"x": [1, 2]}).to_parquet(log / "monday.parquet")
    assert lines(folder.plan(plan, "run"), "costs") == {"arrival 1": "2"}
    assert lines(folder.plan(plan, "run"), "costs") == {"arrival 1": "2"}  # nothing new
    pd.DataFrame({"x": [1]}).to_parquet(log / "tuesday.parquet")
    assert lines(folder.plan(plan, "run"), "costs") == {"arrival 1": "2", "arrival 2": "3"}


STAFF = "who,dept\n1,ops\n1,ops\n2,r&d\n3,ops\n"
VISITS = "who,cost\n1,10\n2,20\n2,30\n4,40\n"
JOIN = """
[table]
source = "who.csv"
unit = "who"
rows_per_unit = 4
schema = { cost = { kind = "real", lower = 0, upper = 50 }, who = "integer" }

[table.join]
source = "visits.csv"
on = "who"

[budget]
epsilon = 100_000

[[release]]
name = "cost"
sql = "SELECT SUM(cost) AS cost, COUNT(*) AS n FROM clinic WHERE dept = 'ops'"
epsilon = 100_000
"""


@pytest.fixture
def clinic(folder):
    folder.write("who.csv", STAFF)
    folder.write("visits.csv", VISITS)
    folder.write("floors.csv", "dept,floor\nops,1\nr&d,2\n")
    return folder


def test_a_join_in_a_plan_is_the_join_in_python(clinic):
    """The unit's bound stands behind the join."""
    result = clinic.plan(JOIN, "run")
    assert result.code == 0
    assert {name: float(one) for name, one in lines(result, "cost").items()} == pytest.approx(
        {"cost": 20, "n": 2}, abs=0.1
    )
    named = JOIN.replace("sql = ", "# ").replace(
        "epsilon = 100_000\n\n[[", "epsilon = 100_000\n\n[["
    )
    named += 'query = "count"\nwhere = "dept is not None"\n'
    assert "4" in clinic.plan(named, "run").out
    for command in ("check", "cost", "preview", "verify"):
        assert clinic.plan(JOIN, command).code == 0
    public = JOIN.replace('"visits.csv"\non = "who"', '"floors.csv"\non = "dept"\npublic = true')
    public = public.replace("SUM(cost) AS cost, ", "").replace(
        'cost = { kind = "real", lower = 0, upper = 50 }, ', ""
    )
    assert clinic.plan(public, "run").code == 0


@pytest.mark.parametrize("name", ["who.csv", "visits.csv"])
def test_results_are_not_written_over_a_joined_table(clinic, name):
    clinic.write("plan.toml", JOIN)
    result = clinic.run("run", "plan.toml", "--csv", name)
    assert result.code == 1
    assert "which would be overwritten" in result.err


def changed(plan, old, new):
    assert old in plan
    return plan.replace(old, new, 1)


REFUSED = [
    (JOIN, 'on = "who"', "", r"table.join: on is missing"),
    (JOIN, 'on = "who"', 'on = "who"\nwher = 3', r"line \d+, table.join.wher: unknown key 'wher'"),
    (JOIN, 'on = "who"', 'on = "who"\nhow = "outer"', r"line \d+, table.join.how: how: 'outer' is"),
    (JOIN, 'on = "who"', 'on = "who"\npublic = 1', r"line \d+, table.join.public: true or false"),
    (JOIN, 'on = "who"', 'on = "dept"', r"line \d+, table.join.on: on: there is no 'dept'"),
    (JOIN, 'unit = "who"', "", r"line \d+, table: unit: a row counts once"),
    (
        JOIN,
        'unit = "who"\nrows_per_unit = 4',
        "",
        r"line \d+, table: unit: None given, and two private tables",
    ),
    (JOIN, '"visits.csv"', '"none.csv"', r"line \d+, table.join.source: source: .*'none.csv'"),
    (JOIN, '"who.csv"', '"none.csv"', r"line \d+, table.source: source: .*'none.csv'"),
    (JOIN, '"visits.csv"', '"postgresql://h/d"', r"table.join.source: tables of a database"),
    (JOIN, '"who.csv"', '"postgresql://h/d"', r"line \d+, table.source: tables of a database"),
    (JOIN, "[table.join]", "[table.joined]", r"table.joined: unknown key 'joined'; did you"),
    (JOIN, "FROM clinic", "FROM a JOIN b USING (who)", r"release 1, sql: sql: JOIN b"),
    (PLAN, "[[series]]", "[series]", r"line \d+, series: a list of tables is needed"),
    (PLAN, "time =", "tme =", r"series 1, tme: unknown key 'tme'; did you mean 'time'"),
    (PLAN, 'time = "at"\n', "", r"series 1: time is missing"),
    (PLAN, 'every = "month"', "", r"series 1: every is missing"),
    (PLAN, '"month"', '"moth"', r"line \d+, series 1, every: every: 'moth'|every: "),
    (PLAN, "periods = 3", "", r"series 1: periods is missing"),
    (PLAN, "periods = 3", "periods = 0", r"line \d+, series 1, periods: periods: "),
    (PLAN, "periods = 3", 'periods = "?"', r"is still to be filled in"),
    (PLAN, '"2025-01-01"', '"2025-13-01"', r"line \d+, series 1, start: start: .* is no ISO date"),
    (PLAN, 'ledger = "log.ledger"', "", r"series 1: a series goes on .* `ledger = "),
    (PLAN, '"logins"', '"rows"', r"line \d+, series 1, name: two releases are named 'rows'"),
    (PLAN, "periods = 3", "periods = 3\nthrough = true", r"series 1, through: a period in quotes"),
    (
        PLAN,
        "periods = 3",
        'periods = 3\nthrough = "2026-01"',
        r"period: '2026-01' is none; the first is 2025-01",
    ),
    (PLAN, "periods = 3", 'periods = 3\nthrough = "x"', r"series 1.*period: 'x' is none"),
    (PLAN, ', keys = ["ops", "r&d"] }', " }", r"series 1, by: keys of a series are public"),
    (PLAN, 'time = "at"', 'time = "att"', r"series 1.*there is no 'att'"),
    (PLAN, 'time = "at"', 'time = "at"\nwhere = "x >"', r"line \d+, series 1, where: where"),
    (
        PLAN,
        'query = "count"\ntime',
        'query = "mean"\ncolumn = "who"\nlower = 0\nupper = 1\ntime',
        r"line \d+, series 1, query: has no running total",
    ),
    (PLAN, 'start = "2025-01-01"', 'start = "2400-01-01"', r"no period is known to be over"),
    (PLAN, "epsilon = 100_000", "epsilon = 15_000", r"costs epsilon 20000 in all"),
]


@pytest.mark.parametrize(("plan", "old", "new", "reason"), REFUSED)
def test_what_is_amiss_is_told_by_line_and_key_before_a_charge(clinic, plan, old, new, reason):
    clinic.write("log.csv", LOG)
    result = clinic.plan(changed(plan, old, new), "run")
    assert result.code == 1
    with pytest.raises(AssertionError, match=reason):  # for the message where it does not fit
        raise AssertionError(result.err.replace("\n", " "))
    ledger = clinic.path / "log.ledger"
    assert not ledger.exists() or not hm.Ledger(ledger).entries()


def test_a_series_of_a_join_is_refused(clinic):
    series = PLAN[PLAN.index("[[series]]") :]
    plan = JOIN.replace("epsilon = 100_000\n", 'epsilon = 1\nledger = "l.ledger"\n', 1) + series
    result = clinic.plan(plan, "check")
    assert "series 1: rows of a join change" in result.err


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (("periods = 3", 'periods = 3\nthrough = "2025-03"\nwhere = "who == 1"'), "was used for"),
        (("periods = 3", "periods = 4"), "was used for"),
        (("log.csv", "other.csv"), "a series belongs to one table"),
    ],
)
def test_what_no_series_goes_on_with_is_refused_before_a_release_is_paid(log, edit, reason):
    assert log.plan(PLAN, "run").code == 0
    log.write("other.csv", LOG)
    edited = PLAN.replace(*edit)
    for command in ("check", "run"):
        refused = log.plan(edited, command)
        assert refused.code == 1
        assert reason in refused.err
        assert "rows" not in refused.out
    assert "Left: epsilon 80000 of" in log.plan(PLAN, "cost").out


def test_a_period_that_is_not_over_is_refused_before_a_release_is_paid(log):
    text = PLAN.replace("periods = 3", 'periods = 4000\nthrough = "2999-01"')
    text = text.replace("periods = 4000", "periods = 2000").replace("2025-01-01", "2900-01-01")
    refused = log.plan(text, "run")
    assert refused.code == 1
    assert "is not over" in refused.err
    assert "rows" not in refused.out
