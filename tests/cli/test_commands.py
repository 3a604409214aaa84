"""The command itself: help everywhere, version, exit codes, the installed entry point."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
import typer

from halfmask import __version__
from halfmask.cli import app


def commands(command: click.Command, *path: str) -> list[tuple[str, click.Command]]:
    found = [(" ".join(path), command)]
    for name, inner in getattr(command, "commands", {}).items():
        found += commands(inner, *path, name)
    return found


ALL = commands(typer.main.get_command(app), "halfmask")


def test_the_commands_are_those_promised():
    names = {name for name, _ in ALL}
    promised = {"init", "check", "cost", "preview", "run", "verify", "report", "ledger"}
    promised |= {f"ledger {name}" for name in ("show", "report", "verify")}
    assert names == {"halfmask", *(f"halfmask {name}" for name in promised)}


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_command_and_parameter_has_help(name, command):
    assert command.help, f"{name} has no help"
    assert command.help.endswith(".")
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{name} {parameter.name} has no help"


@pytest.mark.parametrize("name", [name for name, _ in ALL])
def test_help_shows_and_exits_with_0(folder, name):
    shown = folder.run(*name.split()[1:], "--help")
    assert shown.code == 0
    assert "Usage" in shown.out


def test_version(folder):
    assert folder.run("--version").out == f"halfmask {__version__}\n"


@pytest.mark.parametrize("words", [[], ["frob"], ["check"], ["run", "--frob", "x"], ["ledger"]])
def test_wrong_usage_exits_with_2(folder, words):
    assert folder.run(*words).code == 2


def test_the_installed_command_refuses_without_a_traceback(tmp_path):
    """The entry point as a person meets it, in a process of its own."""
    command = Path(sys.executable).with_name("halfmask")
    done = subprocess.run(
        [command, "run", "none.toml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("halfmask: none.toml: there is no such file")
    assert "Traceback" not in done.stderr


def test_a_delta_that_is_no_small_chance_is_cautioned_once_in_words(folder):
    plan = (
        '[table]\nsource = "staff.csv"\nrows = 10_000\n[budget]\nepsilon = 9\ndelta = 1e-4\n'
        '[[release]]\nname = "n"\nquery = "count"\nepsilon = 1\ndelta = 1e-5\n'
        '[[release]]\nname = "m"\nquery = "count"\nepsilon = 1\ndelta = 1e-5\n'
    )
    shown = folder.plan(plan, "cost")
    assert shown.code == 0
    assert shown.err.count("CAUTION") == 1
    assert ".py" not in shown.err
