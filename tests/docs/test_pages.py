"""The newcomer's pages are true: their Python and commands run, their links lead somewhere."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from matplotlib import pyplot
from source_postgres import fill
from typer.testing import CliRunner

from halfmask.cli import app
from halfmask.cli.planfile import QUERIES, Document, read_plan
from halfmask.cli.planfile.kinds import fields_of

ROOT = Path(__file__).parent.parent.parent
NAMES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "examples").glob("*/README.md"))),
]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page(name), re.DOTALL | re.MULTILINE)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A folder that holds the examples, as the root of the repository does."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    pyplot.close("all")


DATABASES = "docs/databases.md"  # waits for servers


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", [n for n in NAMES if blocks(n, "python") and n != DATABASES])
def test_python_in_a_page_runs(name):
    """All blocks of a page, in order, in one namespace."""
    names: dict[str, object] = {}
    for block in blocks(name, "python"):
        exec(compile(block, name, "exec"), names)


def test_python_about_postgresql_runs(postgres):
    """Its address is exchanged for that of a throwaway server."""
    url = postgres.new_database()
    columns = {"employee_id": range(100), "dept": ["ops", "r&d"] * 50, "salary": range(100)}
    fill(url, {"employee_id": "int", "dept": "text", "salary": "numeric"}, columns, "staff")
    (block,) = (block for block in blocks(DATABASES, "python") if "postgresql://" in block)
    (address,) = re.findall(r'"(postgresql://.*?)"', block)
    exec(compile(block.replace(address, url), DATABASES, "exec"), {})


@pytest.mark.usefixtures("beside")
def test_the_first_example_spends_its_whole_budget():
    names: dict[str, object] = {}
    exec(compile(blocks("README.md", "python")[0], "README.md", "exec"), names)
    assert str(names["staff"].remaining) == "epsilon 0"


def without_figures(text: str) -> list[list[str]]:
    """The words of each line, without numbers that noise moves."""
    return [re.sub(r"\b\d[\d ]*(\.\d+)?|-", "", line).split() for line in text.splitlines()]


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("block", blocks("README.md", "console"))
def test_commands_in_the_readme_print_what_it_shows(block):
    first, shown = block.split("\n", 1)
    words = shlex.split(first.removeprefix("$ "))
    assert words[0] == "halfmask"
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0
    assert without_figures(result.stdout) == without_figures(shown)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "README.md"])
def test_commands_in_other_pages_are_commands(name):
    """Each names a command that has help; what they write and read need not be there."""
    for block in blocks(name, "console"):
        for line in block.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            assert words[0] == "halfmask"
            command = [word for word in words[1:] if word.isalpha()]
            assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0


def test_the_readme_gives_exactly_two_commands_for_a_fresh_machine():
    (block,) = blocks("README.md", "sh")
    assert block.splitlines() == ["python3 dev.py run", "python3 dev.py test"]


def test_the_readme_fits_on_few_screens():
    assert len(page("README.md").splitlines()) < 100


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_files(name):
    for target in re.findall(r"\]\(([^)#]+)\)", page(name)):
        if not target.startswith("https://"):
            assert (ROOT / name).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("block", blocks("docs/plan.md", "toml"))
def test_plans_in_the_plan_page_run(block, beside):
    folder = beside / "examples" / "salaries"
    (folder / "page.toml").write_text(block, encoding="utf-8")
    (folder / "floors.csv").write_text("dept,floor\nops,1\nr&d,2\n", encoding="utf-8")
    (folder / "log.csv").write_text("at,dept,ok\n2025-01-03,ops,true\n", encoding="utf-8")
    for command in ("check", "cost", "run"):
        result = CliRunner().invoke(app, [command, str(folder / "page.toml")])
        assert (result.exit_code, result.stderr) == (0, "")


def test_the_plan_page_names_every_query_with_its_keys():
    for name in QUERIES:
        (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", page("docs/plan.md"), re.MULTILINE)
        assert re.findall(r"`(\w+)`", row) == [field.name for field in fields_of(name)]


def test_the_plan_page_shows_every_key():
    """What a plan may say is learned from its own refusals: each lists the keys it knows."""
    whole, *others = blocks("docs/plan.md", "toml")
    shown = "\n".join((whole, *others))
    for where in ('[table]\nsource = "x"\n', '[table]\nsource="x"\n[budget]\nepsilon = 1\n'):
        with pytest.raises(Exception, match="known: ") as refused:
            read_plan(Document(Path("p.toml"), f"{where}zzzzzzzz = 1\n"))
        for key in str(refused.value).partition("known: ")[2].split(", "):
            assert key in ("delta", "rho", "mu") or re.search(rf"\b{key}\b", shown), key
    assert tomllib.loads(whole)
    assert {key for one in others for key in tomllib.loads(one)} >= {"series", "table"}


@pytest.mark.parametrize("plan", sorted((ROOT / "examples").glob("*/plan.toml")), ids=str)
def test_the_plans_of_the_examples_run(plan, beside):
    copy = beside / plan.relative_to(ROOT)
    result = CliRunner().invoke(app, ["run", str(copy)])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Left: epsilon 0 of" in result.stdout


def test_the_salaries_example_prints_its_whole_table(beside):
    """Two trials say nothing about errors; that the script runs, and its data stay as they are."""
    script = beside / "examples" / "salaries" / "salaries.py"
    done = subprocess.run(
        [sys.executable, script, "--trials", "2"], capture_output=True, text=True, check=True
    )
    tables = [line[:22].strip() for line in done.stdout.splitlines()[4:]]
    assert tables[0] == "the article's"
    assert len(tables) == 7
    written = script.with_name("salaries.csv").read_text(encoding="utf-8")
    assert written == page("examples/salaries/salaries.csv")


def test_every_command_is_told_somewhere():
    told = page("README.md") + page("docs/plan.md")
    for name in (
        "init",
        "check",
        "cost",
        "run",
        "preview",
        "report",
        "ledger show",
        "ledger verify",
    ):
        assert f"halfmask {name} " in told


def test_no_example_leaves_a_ledger_behind():
    assert not list((ROOT / "examples").rglob("*.ledger*"))
