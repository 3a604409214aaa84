"""Attacks on the ledger's file: 18 edits, swaps and removals under a ledger in use, 23 replay."""

import sqlite3

import numpy as np
import pytest

import halfmask as hm

TABLE = {"x": np.arange(1000.0), "u": np.arange(1000)}


def tamper(path, *statements):
    """Change a ledger's file behind its back."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE release SET answer = replace(answer, '[[["', '[[["9') WHERE seq = 1""",
        "UPDATE release SET answer = (SELECT answer FROM release WHERE seq = 2) WHERE seq = 1",
        "UPDATE spend SET actor = 'eve' WHERE seq = 1",
        "UPDATE release SET hash = 'ab' WHERE seq = 1",
    ],
)
def test_23_an_answer_that_was_changed_in_the_ledger_is_not_given_again(tmp_path, change):
    path = tmp_path / "l.ledger"
    with hm.open(TABLE, budget=2, ledger=path) as curator:
        curator.ask(hm.Count(), epsilon="0.5", request_id="r")
        curator.ask(hm.Count(), epsilon="0.5", request_id="s")
        curator.ledger.close()
    tamper(path, change)
    ledger = hm.Ledger(path)
    with pytest.raises(hm.LedgerError, match="answer of row 1"):
        hm.open(TABLE, ledger=ledger).ask(hm.Count(), epsilon="0.5", request_id="r")
    with pytest.raises(hm.LedgerError, match="answer of row 1"):
        ledger.stored("r")
    assert ledger.stored("s")


OF_ANY_ACCOUNT = [
    "UPDATE account SET budget = budget * 9",
    "UPDATE account SET spent = spent + 1",
    "UPDATE account SET spent_delta = spent_delta + 1",
    "UPDATE account SET head_seq = head_seq + 1",
]
OF_CHARGES = [
    "UPDATE account SET spent = spent / 2",
    "UPDATE spend SET total = 0 WHERE seq = (SELECT max(seq) FROM spend)",
    "UPDATE account SET spent = 0; UPDATE spend SET total = 0",
]


@pytest.mark.parametrize(
    ("change", "charges"),
    [(change, charges) for charges in (0, 1, 3) for change in OF_ANY_ACCOUNT]
    + [(change, charges) for charges in (1, 3) for change in OF_CHARGES],
)
def test_18_a_charge_looks_whether_the_account_fits_its_last_row(tmp_path, change, charges):
    path = tmp_path / "l.ledger"
    ledger = hm.Ledger(path, budget=hm.Approximate(4, "1e-3"))
    for _ in range(charges):
        ledger.charge(hm.Approximate(1, "1e-6"), query="q")
    ledger.close()
    tamper(path, *change.split(";"))
    with pytest.raises(hm.LedgerError, match="changed by hand"):
        hm.Ledger(path).charge(hm.Approximate(1, "1e-6"), query="q")
