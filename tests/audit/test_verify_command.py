"""`halfmask verify`: a sound plan passes, what a false unit would cost is seen, no row is read."""

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from halfmask.cli import app
from halfmask.mechanisms import DiscreteLaplace
from halfmask.queries import Reach, Setting

PLAN = """\
[table]
source = "staff.csv"
unit = "employee_id"

[budget]
epsilon = 2

[[release]]
name = "salaries"
query = "sum"
column = "salary"
lower = 0
upper = 100_000
epsilon = 0.5

[[release]]
name = "adults"
query = "count"
where = "age >= 18"
by = { column = "dept", keys = ["ops", "r&d"] }
rho = 0.1
"""
HEADER = "employee_id,patient_id,dept,salary,age\n"


@pytest.fixture
def verify(tmp_path, monkeypatch):
    """Run the command on a plan beside a table."""
    monkeypatch.chdir(tmp_path)

    def run(plan=PLAN, *words, table=HEADER + "7,1,ops,41000,33\n", seconds=1):
        (tmp_path / "staff.csv").write_text(table, encoding="utf-8")
        (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
        result = CliRunner().invoke(app, ["verify", "plan.toml", "--seconds", str(seconds), *words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return SimpleNamespace(code=result.exit_code, out=result.stdout, err=result.stderr)

    return run


def test_a_sound_plan_holds_and_a_report_is_written(verify, tmp_path):
    shown = verify(PLAN, "--out", "report.html")
    assert shown.code == 0, shown.out
    assert shown.out.count("holds") == 2
    assert "rho 0.1" in shown.out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No violation found" in page
    assert page.count("<svg") >= 3
    assert "no row of yours was read" in page


CHOSEN = """\
[table]
source = "staff.csv"
unit = "employee_id"
groups_per_unit = 1

[budget]
epsilon = 4
delta = 1e-6

[[release]]
name = "pay"
query = "median"
column = "salary"
lower = 0
upper = 100_000
epsilon = 0.5

[[release]]
name = "departments"
query = "count"
by = { column = "dept" }
epsilon = 1
delta = 1e-8

[[release]]
name = "first"
query = "above_threshold"
filters = { old = "age >= 60", older = "age >= 50" }
threshold = 10
epsilon = 0.5
"""


def test_answers_that_are_chosen_are_verified_and_drawn(verify, tmp_path):
    shown = verify(CHOSEN, "--out", "report.html", seconds=4)
    assert shown.code == 0, shown.out + shown.err
    assert shown.out.count("holds") == 3
    assert "'first': sparse vector" in shown.out  # only sampled, and that is said
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "exponential mechanism on ranks" in page


def test_what_a_false_unit_would_cost_is_told(verify):
    shown = verify(PLAN, "--suppose", "3")
    assert shown.code == 1
    assert "VIOLATED for people of 3 units" in shown.out
    assert "1.5" in shown.out


def test_what_cannot_be_seen_is_said(verify):
    plan = PLAN.replace("upper = 100_000", "upper = 98_237.5").replace(
        'unit = "employee_id"', 'unit = "employee_id"\nrelation = "replace"'
    )
    shown = verify(plan)
    assert "whether one employee_id is one person" in shown.out
    assert "'patient_id'" in shown.out
    assert "98237.5" in shown.out
    assert "`replace` makes it so" in shown.out


def test_of_many_keys_the_first_are_tried(verify):
    many = ", ".join(f'"d{i}"' for i in range(40))
    shown = verify(PLAN.replace('"ops", "r&d"', many))
    assert shown.code == 0
    assert "the last 24 keys of 'adults'" in shown.out


def test_of_a_series_too_and_where_no_row_passes_it_is_said(verify):
    many = ", ".join(f'"d{i}"' for i in range(40))
    by = f'by = {{ column = "dept", keys = [{many}] }}\n'
    rows = PLAN.replace("epsilon = 2", 'epsilon = 4\nledger = "l.ledger"')
    rows = rows.replace('unit = "employee_id"', "")
    shown = verify(rows + SERIES + by + 'where = "age > 1 and age < 1"\n')
    assert shown.code == 0
    assert "the last 24 keys of 'logins'" in shown.out
    assert "what 'logins' costs: none of the simulated rows moved an answer" in shown.out
    assert "what 'adults' costs" not in shown.out
    shown = verify(PLAN.replace("epsilon = 2", 'epsilon = 4\nledger = "l.ledger"') + SERIES + by)
    assert shown.code == 1
    assert "groups_per_unit=40" in shown.err


def test_no_row_of_the_table_is_read(verify):
    """Rows that no other command could read make no difference: the header alone is looked at."""
    assert verify(PLAN, table=HEADER + '"\x00' * 50).code == 0


def test_noise_for_half_of_the_reach_is_caught(verify, monkeypatch):
    """A fault in the library itself, as a user's plan would meet it."""

    def halved(self, row_norm, *, swing=None, spread=False):
        return Reach(-(-self.rows * row_norm // 2), (self.rows * row_norm) ** 2)

    monkeypatch.setattr(Setting, "reach", halved)
    shown = verify(PLAN.replace("rho = 0.1", "epsilon = 0.1"), "--out", "report.html")
    assert shown.code == 1
    assert "VIOLATED" in shown.out
    assert "witness" in shown.out


def test_noise_that_is_not_the_stated_one_is_caught_by_samples(verify, monkeypatch):
    real = DiscreteLaplace._draw

    def weak(self, size, words):
        return real(self, size, words) // 2

    monkeypatch.setattr(DiscreteLaplace, "_draw", weak)
    shown = verify(PLAN, seconds=4)
    assert shown.code == 1
    assert "VIOLATED: epsilon 0.5 is claimed" in shown.out


def test_a_bad_plan_is_refused_by_line(verify):
    shown = verify(PLAN.replace('column = "salary"', 'column = "pay"'))
    assert shown.code == 1
    assert "line 11" in shown.err
    assert "there is no 'pay'" in shown.err
    assert verify(PLAN, "--out", "none/report.html").code == 1


def test_a_frame_tells_its_kinds_and_a_plan_may_overrule_them(verify):
    declared = PLAN.replace("[budget]", '[table.schema]\nsalary = "real"\n\n[budget]')
    assert verify(declared).code == 0
    wrong = PLAN.replace("[budget]", '[table.schema]\npay = "real"\n\n[budget]')
    shown = verify(wrong)
    assert shown.code == 1
    assert "no 'pay'" in shown.err


SERIES = """
[[series]]
name = "logins"
query = "count"
time = "age"
start = 0
every = 10
periods = 12
epsilon = 1
"""


def test_a_series_is_attacked_like_a_release(verify):
    plan = PLAN.replace("epsilon = 2", 'epsilon = 4\nledger = "l.ledger"') + SERIES
    shown = verify(plan)
    assert shown.code == 0, shown.out
    assert "2 releases and 1 series attacked" in shown.out
    assert shown.out.count("holds") == 3
    shown = verify(plan, "--suppose", "3", "--out", "report.html")
    assert shown.code == 1
    assert "running number of rows" in shown.out
    assert "there when these close" in shown.out
