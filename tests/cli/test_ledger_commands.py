"""ledger show and ledger verify."""

import sqlite3

import pytest

import halfmask as hm
from halfmask.privacy import is_stored


@pytest.fixture
def head(folder, plan_text):
    folder.plan(plan_text.replace("epsilon = 2", 'epsilon = 2\nledger = "staff.ledger"'), "run")
    return hm.Ledger(folder.path / "staff.ledger").head


@pytest.mark.usefixtures("head")
def test_show_lists_every_charge_and_what_is_left(folder):
    shown = folder.run("ledger", "show", "staff.ledger")
    assert shown.code == 0
    assert "Count()" in shown.out
    assert "Mean(" in shown.out
    assert shown.out.splitlines()[-1] == "Left: epsilon 1 of epsilon 2."


@pytest.mark.usefixtures("head")
def test_show_fits_a_hundred_columns_unless_asked_in_full(folder):
    short = folder.run("ledger", "show", "staff.ledger").out
    assert max(map(len, short.splitlines())) <= 100
    assert "; of " not in short
    assert "; of " in folder.run("ledger", "show", "--full", "staff.ledger").out


@pytest.mark.usefixtures("head")
def test_report_says_what_the_charges_come_to(folder):
    before = hm.Ledger(folder.path / "staff.ledger").head
    shown = folder.run("ledger", "report", "staff.ledger", "--delta", "1e-9")
    assert shown.code == 0
    assert "Budget epsilon 2; 2 charges, epsilon 1 spent, epsilon 1 left." in shown.out
    assert "in a ledger of zcdp" in shown.out
    assert hm.Ledger(folder.path / "staff.ledger").head == before
    assert folder.run("ledger", "report", "staff.ledger", "--delta", "0").code == 1


def test_verify_accepts_a_whole_ledger_and_a_head_of_it(folder, head):
    plain = folder.run("ledger", "verify", "staff.ledger")
    assert plain.code == 0
    assert "whole. 2 charges, epsilon 1 spent of epsilon 2" in plain.out
    assert head in plain.out
    assert folder.run("ledger", "verify", "staff.ledger", "--head", head).code == 0


@pytest.mark.usefixtures("head")
def test_verify_refuses_a_head_that_is_not_there(folder):
    result = folder.run("ledger", "verify", "staff.ledger", "--head", "0" * 64)
    assert result.code == 1
    assert "does not contain the given head" in result.err


@pytest.mark.usefixtures("head")
def test_verify_tells_a_changed_row(folder):
    with sqlite3.connect(folder.path / "staff.ledger") as connection:
        connection.execute("UPDATE spend SET actor = 'nobody' WHERE seq = 1")
    connection.close()
    result = folder.run("ledger", "verify", "staff.ledger")
    assert result.code == 1
    assert "row 1 was changed" in result.err


@pytest.mark.parametrize("command", ["show", "report", "verify"])
def test_a_ledger_that_is_not_there_is_not_made(folder, command):
    result = folder.run("ledger", command, "none.ledger")
    assert result.code == 1
    assert "there is no such ledger" in result.err
    assert not (folder.path / "none.ledger").exists()


@pytest.mark.parametrize("command", ["show", "report", "verify"])
def test_a_file_that_is_no_ledger_is_left_as_it_was(folder, command):
    before = folder.read("staff.csv")
    result = folder.run("ledger", command, "staff.csv")
    assert result.code == 1
    assert "is not a ledger" in result.err
    assert folder.read("staff.csv") == before


def test_control_characters_in_a_ledger_never_reach_the_terminal(folder):
    ledger = hm.Ledger(folder.path / "staff.ledger", budget=1)
    ledger.charge(hm.Pure(0.1), query="\x1b[2Jgone", actor="a\rb")
    shown = folder.run("ledger", "show", "staff.ledger")
    assert "\\x1b[2Jgone" in shown.out
    assert "\x1b" not in shown.out
    assert "\r" not in shown.out


@pytest.fixture
def address(durable_postgres):
    """Where a ledger on a server may be made, with a password that nobody may see."""
    base = durable_postgres.new_database()
    return f"{base.replace('postgres@', 'postgres:s3cret@')}#payroll"


def test_a_plan_and_the_commands_take_a_ledger_on_a_server(folder, plan_text, address):
    shown = f"{address.replace('postgres:s3cret@', '')}"
    durable = plan_text.replace("epsilon = 2", f'epsilon = 2\nledger = "{address}"')
    told = [folder.plan(durable, "check")]
    assert not is_stored(address)
    told += [folder.plan(durable, command) for command in ("run", "cost", "verify")]
    assert f"Left: epsilon 1 of epsilon 2 ({shown})." in told[1].out
    told += [folder.run("ledger", command, address) for command in ("show", "report", "verify")]
    assert [one.code for one in told] == [0] * len(told)
    assert "Count()" in told[4].out
    assert "2 charges, epsilon 1 spent, epsilon 1 left" in told[5].out
    assert f"{shown}: whole. 2 charges, epsilon 1 spent of epsilon 2" in told[6].out
    alone = folder.plan(durable.replace("epsilon = 2\n", "", 1), "run")
    assert "Left: epsilon 0 of epsilon 2" in alone.out
    told += [alone, folder.plan(durable, "run")]
    assert told[-1].code == 1
    assert not [one for one in told if "s3cret" in one.out + one.err]
    assert not list(folder.path.glob("*postgres*"))


@pytest.mark.parametrize("command", ["show", "report", "verify"])
def test_a_ledger_that_is_not_on_the_server_is_not_made(folder, address, command):
    result = folder.run("ledger", command, address)
    assert result.code == 1
    assert "#payroll: there is no such ledger" in result.err
    assert "s3cret" not in result.err
    assert not is_stored(address)


def test_a_plan_without_a_budget_names_the_ledger_that_is_not_there(folder, plan_text, address):
    result = folder.plan(plan_text.replace("epsilon = 2", f'ledger = "{address}"'))
    assert "line 7, budget.ledger: ledger: there is none yet at 'postgresql://" in result.err
    assert "s3cret" not in result.err
    mistyped = folder.plan(plan_text.replace("epsilon = 2", f'ledger = "{address}!"'))
    assert "line 7, budget.ledger: ledger: the name after #" in mistyped.err
    assert "s3cret" not in mistyped.err
