"""Ctrl-C in the middle of an ask: the charge stays, the message says so, and all still works."""

import json
import subprocess
import sys

import duckdb
import numpy as np
import pytest

import halfmask as hm
from halfmask.privacy import Ledger

RUNNING = """
import os, signal, sys, threading, time
import duckdb
import halfmask as hm

def kick():
    while not hm.Ledger("t.ledger").entries():   # charged, so the rows are being read
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

curator = hm.open("rows.parquet", unit="u", ledger="t.ledger")
threading.Thread(target=kick).start()
try:
    curator.ask(hm.Sum("x", 0, 1), epsilon=1, request_id="first")
    print("answered")
except hm.Interrupted as stopped:
    assert stopped.__context__ is None and stopped.__cause__ is None
    print(stopped)
print(curator.remaining)
print(abs(curator.ask(hm.Count(), where="x < 0", epsilon=1).value) < 60)
try:
    curator.ask(hm.Sum("x", 0, 1), epsilon=1, request_id="first")
except hm.LedgerError as refused:
    print(refused)
print(curator.remaining)
curator.ledger.verify()
"""


def test_ctrl_c_while_rows_are_read_keeps_the_charge_and_says_so(tmp_path):
    duckdb.connect().execute(
        "COPY (SELECT hash(i) % 3000000 AS u, 0.5 AS x FROM range(6000000) t(i)) "
        f"TO '{tmp_path / 'rows.parquet'}' (FORMAT parquet)"
    )
    Ledger(tmp_path / "t.ledger", budget=3)
    done = subprocess.run(
        [sys.executable, "-c", RUNNING],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    stopped, left, works, refused, after = done.stdout.splitlines()
    assert stopped.startswith("Interrupted after the price was charged; the charge stays")
    assert (left, works, after) == ("epsilon 2", "True", "epsilon 1")
    assert "was charged but has no stored answer" in refused
    assert len(Ledger(tmp_path / "t.ledger").entries()) == 2
    assert done.stderr == ""


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture
def curator():
    return hm.open({"x": np.zeros(10), "at": np.arange(10)}, budget=2)


def test_an_answer_that_was_stored_before_the_stop_is_given_again_for_free(curator, monkeypatch):
    record = Ledger.record
    monkeypatch.setattr(Ledger, "record", lambda *given: (record(*given), stop()))
    with pytest.raises(hm.Interrupted, match="the charge stays"):
        curator.ask(hm.Count(), epsilon=1, request_id="a")
    monkeypatch.undo()
    stored = json.loads(curator.ledger.stored("a"))["tape"][0][0][0]
    assert curator.ask(hm.Count(), epsilon=1, request_id="a").value == int(stored)
    assert curator.remaining == hm.Pure(1)


def test_before_the_charge_ctrl_c_is_plain_and_free(curator, monkeypatch):
    monkeypatch.setattr(Ledger, "charge", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        curator.ask(hm.Count(), epsilon=1)
    assert not isinstance(stopped.value, hm.Interrupted)
    assert curator.remaining == hm.Pure(2)


def test_an_interrupted_series_goes_on_for_free(curator, monkeypatch):
    series = curator.series(
        "s", hm.Count(), time="at", start=0, every=5, periods=2, epsilon=1, table="t"
    )
    monkeypatch.setattr(Ledger, "follow", stop)
    with pytest.raises(hm.Interrupted, match="release it again, free of charge"):
        series.release("5 to 10")
    monkeypatch.undo()
    assert curator.remaining == hm.Pure(1)
    assert series.closed == ()
    assert len(series.release("5 to 10").value) == 2
    assert curator.remaining == hm.Pure(1)


def test_ctrl_c_is_no_ordinary_error(curator):
    """So `except Exception` in a loop of asks does not swallow it."""
    assert issubclass(hm.Interrupted, KeyboardInterrupt)
    assert not issubclass(hm.Interrupted, Exception)
