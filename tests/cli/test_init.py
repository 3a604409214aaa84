"""halfmask init: a plan from names and kinds, which a person completes."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def completed(text: str) -> str:
    """Fill in the placeholders as a person would."""
    text = text.replace('lower = "?"', "lower = 0").replace('upper = "?"', "upper = 100")
    return text.replace('["?"] }', '["ops"] }').replace('["?"]  # rising', "[0, 1]  # rising")


def uncommented(text: str) -> str:
    """Put every release that is a comment in force."""
    marks = ("# [[", "# name", "# query", "# column", "# edges", "# by", "# epsilon")
    lines = [line[2:] if line.startswith(marks) else line for line in text.splitlines()]
    return "\n".join(lines)


@pytest.fixture(params=["staff.csv", "staff.parquet"])
def table(folder, request):
    columns = {"employee_id": [1, 2], "dept": ["ops", "Küche"], "salary": [1.5, 2.0]}
    pq.write_table(pa.table(columns), folder.path / "staff.parquet")
    return request.param


def test_the_plan_fails_check_until_it_is_filled_in(folder, table):
    assert folder.run("init", table).code == 0
    refused = folder.run("check", "plan.toml")
    assert refused.code == 1
    assert "still to be filled in" in refused.err
    assert ", lower" in refused.err
    assert folder.plan(completed(folder.read("plan.toml"))).code == 0
    assert folder.plan(completed(folder.read("plan.toml")), "run").code == 0


def test_what_is_a_comment_works_when_it_is_not(folder, table):
    folder.run("init", table)
    whole = completed(uncommented(folder.read("plan.toml"))).replace("epsilon = 1 ", "epsilon = 9 ")
    result = folder.plan(whole)
    assert (result.code, result.err) == (0, "")
    assert "4 releases" in result.out


def test_a_series_is_offered_of_a_column_of_times(folder):
    times = pa.array([0, 1], pa.timestamp("us"))
    pq.write_table(pa.table({"at": times, "pay": [1.5, 2.0]}), folder.path / "log.parquet")
    folder.run("init", "log.parquet")
    text = completed(folder.read("plan.toml")).replace("# ledger", "ledger")
    head, _, series = text.partition("# [[series]]")
    lines = [line.removeprefix("# ") for line in series.splitlines()]
    whole = "\n".join([head, "[[series]]", *lines])
    assert "still to be filled in" in folder.plan(whole).err
    assert folder.plan(whole.replace('start = "?"', 'start = "2020-01-01"')).code == 0


def test_the_unit_is_offered_by_its_name(folder, table):
    folder.run("init", table)
    text = folder.read("plan.toml")
    assert '# unit = "employee_id"' in text
    assert folder.plan(completed(text).replace("# unit", "unit")).code == 0


def test_rows_do_not_change_the_plan(folder):
    """Two tables of one header give one plan."""
    folder.run("init", "staff.csv", "-o", "a.toml")
    folder.write("staff.csv", "employee_id,dept,salary\nsecret,secret,secret\n")
    folder.run("init", "staff.csv", "-o", "b.toml")
    assert folder.read("a.toml").replace("a.toml", "b.toml") == folder.read("b.toml")
    assert "secret" not in folder.read("b.toml")


def test_it_never_writes_over_a_plan(folder):
    folder.write("plan.toml", "mine")
    result = folder.run("init", "staff.csv")
    assert result.code == 1
    assert "-o" in result.err
    assert folder.read("plan.toml") == "mine"


def test_the_source_is_named_from_the_plans_own_folder(folder):
    (folder.path / "plans").mkdir()
    assert folder.run("init", "staff.csv", "-o", "plans/staff.toml").code == 0
    assert 'source = "../staff.csv"' in folder.read("plans/staff.toml")
    folder.write("plans/staff.toml", completed(folder.read("plans/staff.toml")))
    assert folder.run("check", "plans/staff.toml").code == 0


@pytest.mark.parametrize(
    "name", ['a "b"', "back\\slash", "Gehalt €", "tab\there", "del\x7f", "# x"]
)
def test_names_that_need_quoting(folder, name):
    quoted = '"' + name.replace('"', '""') + '"'
    folder.write("odd.csv", f"{quoted},other\n1,2\n")
    assert folder.run("init", "odd.csv").code == 0
    result = folder.plan(completed(uncommented(folder.read("plan.toml"))))
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.csv", "no file"),
        ("plan.txt", "extension"),
        ("twice.csv", "'a'"),
        ("empty.csv", "header"),
    ],
)
def test_a_table_that_cannot_be_opened(folder, name, told):
    folder.write("plan.txt", "a")
    folder.write("twice.csv", "a,a\n")
    folder.write("empty.csv", "")
    result = folder.run("init", name)
    assert result.code == 1
    assert told in result.err
    assert not (folder.path / "plan.toml").exists()
