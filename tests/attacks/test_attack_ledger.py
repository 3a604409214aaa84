"""Attacks on the ledger's file: 18 edits, swaps and removals under a ledger in use, 23 replay."""

import os
import shutil
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


def put_back(kept, path, how):
    """Three ways to bring back an older file."""
    if how == "written over":
        shutil.copy(kept, path)
    elif how == "moved over":
        os.replace(kept, path)
    else:
        path.unlink()
        shutil.copy(kept, path)


@pytest.mark.parametrize("how", ["written over", "moved over", "made anew"])
@pytest.mark.parametrize("charges", [0, 1])
def test_18_a_ledger_that_was_put_back_under_an_open_one_is_noticed(tmp_path, how, charges):
    path, kept = tmp_path / "l.ledger", tmp_path / "kept"
    curator = hm.open(TABLE, budget=2, ledger=path)
    for _ in range(charges):
        curator.ask(hm.Count(), epsilon="0.5")
    curator.ledger.close()
    shutil.copy(path, kept)
    first = curator.ask(hm.Count(), epsilon="0.5", request_id="r")
    curator.ledger.close()
    put_back(kept, path, how)
    for attempt in (
        lambda: curator.ask(hm.Count(), epsilon="0.5"),
        lambda: curator.ledger.spent,
        curator.ledger.entries,
        curator.ledger.verify,
        lambda: curator.ledger.stored("r"),
    ):
        with pytest.raises(hm.LedgerError, match=r"charges (may be|are) missing"):
            attempt()
    opened_anew = hm.Ledger(path)  # by somebody who trusts it: a new object has seen nothing
    with pytest.raises(hm.LedgerError, match="given head"):
        opened_anew.verify(first.provenance.ledger_head)


def test_18_a_head_read_from_others_charges_is_remembered(tmp_path):
    path, kept = tmp_path / "l.ledger", tmp_path / "kept"
    reader, other = hm.Ledger(path, budget=2), hm.Ledger(path)
    for one in (reader, other):
        one.close()
    shutil.copy(path, kept)
    other.charge(hm.Pure(1), query="q")
    assert reader.remaining == hm.Pure(1)
    for one in (reader, other):
        one.close()
    shutil.copy(kept, path)
    with pytest.raises(hm.LedgerError, match="put back"):
        reader.charge(hm.Pure(1), query="q")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be removed")
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("gone", ["l.ledger*", "l.ledger", "l.ledger-wal"])
def test_18_a_ledger_whose_file_was_removed_is_not_charged(tmp_path, closed, gone):
    path = tmp_path / "l.ledger"
    curator = hm.open(TABLE, budget=2, ledger=path)
    curator.ask(hm.Count(), epsilon="0.5")
    if closed:
        curator.ledger.close()  # and with it the log: what was in it is in the file
    found = list(tmp_path.glob(gone))
    for one in found:
        one.unlink()
    if found:
        with pytest.raises(hm.LedgerError):
            curator.ask(hm.Count(), epsilon="0.5")
    else:
        curator.ask(hm.Count(), epsilon="0.5")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere an open file cannot be removed")
def test_18_the_log_of_a_ledger_behind_a_link_is_watched_where_it_is(tmp_path):
    """Without it the next charge was granted, and others found neither that one nor any before."""
    (tmp_path / "far").mkdir()
    (tmp_path / "l.ledger").symlink_to(tmp_path / "far" / "l.ledger")
    ledger = hm.Ledger(tmp_path / "l.ledger", budget=3)
    ledger.charge(hm.Pure(1), query="q")
    ledger.charge(hm.Pure(1), query="q")
    (tmp_path / "far" / "l.ledger-wal").unlink()
    with pytest.raises(hm.LedgerError, match="charges may be missing"):
        ledger.charge(hm.Pure(1), query="q")


def test_18_a_ledger_moved_away_and_back_goes_on(tmp_path):
    path, away = tmp_path / "l.ledger", tmp_path / "away"
    ledger = hm.Ledger(path, budget=2)
    ledger.charge(hm.Pure(1), query="q")
    ledger.close()
    path.rename(away)
    with pytest.raises(hm.LedgerError):
        ledger.charge(hm.Pure(1), query="q")
    away.rename(path)
    ledger.charge(hm.Pure(1), query="q")
    ledger.verify()


def test_11_ten_thousand_text_keys_and_edges_can_be_asked():
    keys = [f"k{i:05d}" for i in range(20_000)]
    curator = hm.open({"s": ["k00001"], "x": [1]}, budget=4)
    curator.ask(hm.Histogram("x", range(20_000)), epsilon=1)
    asked = {"by": hm.Keys("s", keys), "epsilon": 1, "request_id": "r"}
    first = curator.ask(hm.Count(), **asked)
    assert curator.ask(hm.Count(), **asked).to_dict() == first.to_dict()
    assert curator.ledger.spent == hm.Pure(2)
    other = hm.Keys("s", [*keys[:-1], "another"])  # differs where the text is cut
    with pytest.raises(hm.InvalidQuery, match="request_id") as caught:
        curator.ask(hm.Count(), **asked | {"by": other})
    assert len(str(caught.value)) < 2000
    with pytest.raises(hm.BudgetExhausted) as exhausted:
        curator.ask(hm.Count(), by=other, epsilon=3)
    assert len(str(exhausted.value)) < 2000


def test_23_a_long_question_is_told_from_every_other(tmp_path):
    """Also from a short one that spells out what is stored of the long one."""
    ledger = hm.Ledger(tmp_path / "l.ledger", budget=9)
    price, long = hm.Pure(1), "x" * 100_000
    texts = [long, long + "a", long + "b", long + "aa", "y" + long]
    for number, text in enumerate(texts):
        ledger.charge(price, query=text, request_id=str(number))
    stored = [entry.query for entry in ledger.entries()]
    assert len(set(stored)) == len(texts)
    assert stored[0] == long
    assert all(len(text) < 100_200 for text in stored)
    for number, receipt in enumerate(texts):
        with pytest.raises(hm.LedgerError, match="no stored answer"):  # the same request
            ledger.charge(price, query=receipt, request_id=str(number))
        for other in [*texts[:number], *texts[number + 1 :], *stored[1:]]:
            with pytest.raises(hm.InvalidQuery, match="was used for"):
                ledger.charge(price, query=other, request_id=str(number))
    ledger.verify()
