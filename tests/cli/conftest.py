"""A folder with a small table, and the command run in this process."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from halfmask.cli import app

STAFF = """\
employee_id,dept,salary
1,ops,41000
2,ops,52500
3,r&d,60250
4,r&d,55000
5,Küche,39000
"""

PLAN = """\
[table]
source = "staff.csv"
unit = "employee_id"
rows = 100

[budget]
epsilon = 2

[[release]]
name = "people"
query = "count"
epsilon = 0.5

[[release]]
name = "mean salary"
query = "mean"
column = "salary"
lower = 0
upper = 100_000
epsilon = 0.5
"""


class Folder:
    """A folder that holds staff.csv; `run` runs the command with names inside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("staff.csv", STAFF)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def run(self, *words: str) -> SimpleNamespace:
        """Return code, out and err; an exception that is no exit is the test's failure."""
        before = Path.cwd()
        os.chdir(self.path)
        try:
            result = CliRunner().invoke(app, list(words), prog_name="halfmask")
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return SimpleNamespace(code=result.exit_code, out=result.stdout, err=result.stderr)

    def plan(self, text: str, command: str = "check") -> SimpleNamespace:
        self.write("plan.toml", text)
        return self.run(command, "plan.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def plan_text() -> str:
    return PLAN
