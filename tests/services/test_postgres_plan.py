"""A release plan whose table is in a database; plans hold no password."""

import json

import pytest
from source_postgres import fill
from typer.testing import CliRunner

from halfmask.cli import app

PLAN = """
[table]
source = "{source}"
table = "{table}"
unit = "id"

[budget]
epsilon = 50

[[release]]
name = "people"
query = "count"
epsilon = 40
"""


@pytest.fixture(scope="module")
def url(postgres):
    address = postgres.new_database()
    fill(address, {"id": "int", "pay": "float8"}, {"id": range(99), "pay": range(99)}, "staff")
    return address


@pytest.fixture
def run(tmp_path):
    def command(word, source, *more, table="public.staff"):
        plan = tmp_path / "plan.toml"
        plan.write_text(PLAN.format(source=source, table=table), encoding="utf-8")
        return CliRunner().invoke(app, [word, str(plan), *map(str, more)])

    return command


def test_a_plan_asks_a_table_of_a_database(run, url, tmp_path):
    for word in ("check", "cost"):
        done = run(word, url)
        assert done.exit_code == 0, done.output
    done = run("run", url, "--json", tmp_path / "found.json")
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert "99" in json.dumps(found)


def test_a_plan_is_verified_without_a_row(run, url):
    done = run("verify", url, "--seconds", 1)
    assert done.exit_code == 0, done.output


def test_a_password_in_a_plan_is_refused(run, url):
    for source in (
        url.replace("postgres@", "postgres:s3cret@"),
        f"{url}?password=s3cret",
    ):
        done = run("check", source)
        assert done.exit_code == 1
        assert "holds a password" in done.output
        assert "s3cret" not in done.output


def test_what_is_wrong_is_told_by_its_line(run, url):
    done = run("check", url, table="stuff")
    assert done.exit_code == 1
    assert "no table or view 'stuff'" in " ".join(done.output.split())
    done = run("check", "staff.csv")
    assert "the source is no database" in " ".join(done.output.split())
