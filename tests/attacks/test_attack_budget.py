"""Attacks on the budget: 17 threads, 18 processes and copies, 19 refunds, 23 replay,
25 rounding of prices, 28 adaptive prices, 29 odometers."""

import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from copy import copy, deepcopy
from fractions import Fraction

import numpy as np
import pytest

import halfmask as hm
from halfmask.mechanisms import Additive
from halfmask.privacy import Purse
from halfmask.room import Room

TABLE = {"x": np.arange(10.0)}


class Tallied:
    """A source that counts how often rows are read, and may fail while it does."""

    def __init__(self, inner, error=None):
        self.inner, self.error, self.reads = inner, error, 0
        self.schema, self.name = inner.schema, inner.name

    def tally(self, tally):
        self.reads += 1
        if self.error is not None:
            raise self.error
        return self.inner.tally(tally)

    def close(self):
        self.inner.close()


def opened(error=None, **options):
    curator = hm.open(TABLE, **options)
    source = Tallied(curator._source, error)
    return hm.Curator(source, curator.unit, curator.ledger, curator._words), source


# 17. Threads.


def race(spend, threads=8, tries=5):
    """Let threads spend at once; count what was let through."""
    passed, gate = [], threading.Barrier(threads)

    def run():
        gate.wait()
        passed.append(sum(bool(spend()) for _ in range(tries)))

    racing = [threading.Thread(target=run) for _ in range(threads)]
    for thread in racing:
        thread.start()
    for thread in racing:
        thread.join()
    return sum(passed)


class Careless:
    """The textbook's accountant: looks, and only later takes."""

    def __init__(self, left):
        self.left = left

    def spend(self):
        if self.left < 1:
            return False
        time.sleep(0.001)
        self.left -= 1
        return True


@pytest.mark.parametrize("place", ["memory", "file"])
def test_17_threads_cannot_spend_one_budget_twice(place, tmp_path):
    ledger = hm.Ledger(None if place == "memory" else tmp_path / "l.ledger", budget=1)
    curator, source = opened(ledger=ledger)

    def spend():
        try:
            curator.ask(hm.Count(), epsilon=0.1)
        except hm.BudgetExhausted:
            return False
        return True

    assert race(spend) == source.reads == 10
    assert curator.ledger.spent == hm.Pure(1)
    assert len(curator.ledger.entries()) == 10
    ledger.verify()
    assert race(Careless(10).spend) > 10


def test_17_threads_with_one_request_pay_once(tmp_path):
    curator, source = opened(ledger=hm.Ledger(tmp_path / "l.ledger", budget=1))
    answers = []

    def spend():
        try:
            answers.append(curator.ask(hm.Count(), epsilon=0.4, request_id="r").value)
        except hm.LedgerError:  # it is still being answered
            return False
        return True

    race(spend)
    assert source.reads == 1
    assert len(set(answers)) == 1
    assert curator.ledger.spent == hm.Pure("0.4")


# 18. Processes and copies.

SPENDERS = """
import os, sys
import halfmask as hm
path, passed = sys.argv[1], 0
ledger = hm.Ledger(path, budget=1)
ledger.charge(hm.Pure("0.1"), query="before the fork")
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        curator = hm.open({"x": [1.0] * 9}, ledger=ledger)
        for _ in range(6):
            try:
                curator.ask(hm.Count(), epsilon="0.1")
                passed += 1
            except hm.BudgetExhausted:
                pass
        os._exit(passed)
    children.append(child)
print(sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_18_forks_share_one_budget(tmp_path):
    path = tmp_path / "l.ledger"
    done = subprocess.run(
        [sys.executable, "-c", SPENDERS, path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "9"
    ledger = hm.Ledger(path)
    ledger.verify()
    assert ledger.spent == hm.Pure(1)


FORKED = """
import os
import halfmask as hm
curator = hm.open({"x": [1.0] * 9}, budget=1)
if os.fork() == 0:
    try:
        curator.ledger.charge(hm.Pure(1), query="q")
    except hm.LedgerError:
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_18_a_budget_in_memory_is_not_doubled_by_a_fork():
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "7"


def test_18_no_copy_carries_a_budget_of_its_own(tmp_path):
    inside = hm.Ledger(budget=1)
    for attempt in (pickle.dumps, deepcopy, copy):
        with pytest.raises(hm.LedgerError):
            attempt(inside)
    for attempt in (pickle.dumps, deepcopy, copy):
        with pytest.raises(hm.LedgerError):
            attempt(Purse(hm.Pure(1)))
    ledger = hm.Ledger(tmp_path / "l.ledger", budget=1)
    for twin in (copy(ledger), deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        twin.charge(hm.Pure("0.25"), query="q")
    assert ledger.remaining == hm.Pure("0.25")
    curator = hm.open(TABLE, budget=1)
    same = copy(curator)
    same.ask(hm.Count(), epsilon=1)
    with pytest.raises(hm.BudgetExhausted):
        curator.ask(hm.Count(), epsilon=0.1)


def test_18_a_release_exposes_a_ledger_that_was_copied_and_put_back(tmp_path):
    path, kept = tmp_path / "l.ledger", tmp_path / "kept"
    with hm.open(TABLE, budget=1, ledger=path) as curator:
        first = curator.ask(hm.Count(), epsilon=0.5)
        curator.ledger.close()
        shutil.copy(path, kept)
        second = curator.ask(hm.Count(), epsilon=0.5)
        curator.ledger.close()
    path.unlink()
    shutil.copy(kept, path)
    restored = hm.Ledger(path)
    assert restored.remaining == hm.Pure("0.5")  # the file alone cannot know
    restored.verify(first.provenance.ledger_head)
    with pytest.raises(hm.LedgerError, match="restored"):
        restored.verify(second.provenance.ledger_head)


@pytest.mark.parametrize(
    "tamper",
    [
        "UPDATE account SET spent = 0",
        "UPDATE account SET budget = budget * 2",
        "UPDATE spend SET amount = 1, total = 1 WHERE seq = 1",
        "DELETE FROM spend WHERE seq = 2",
        "UPDATE spend SET query = 'nothing'",
        "UPDATE release SET answer = '{}'",
        'UPDATE account SET budget_text = \'{"epsilon": "9", "measure": "pure"}\'',
    ],
)
def test_18_a_ledger_edited_by_hand_does_not_verify(tmp_path, tamper):
    path = tmp_path / "l.ledger"
    with hm.open(TABLE, budget=1, ledger=path) as curator:
        curator.ask(hm.Count(), epsilon=0.25, request_id="a")
        curator.ask(hm.Count(), epsilon=0.25, request_id="b")
        curator.ledger.verify()
        curator.ledger.close()
    with sqlite3.connect(path) as connection:
        connection.execute(tamper)
    connection.close()
    with pytest.raises(hm.LedgerError):
        hm.Ledger(path).verify()


# 19. Refunds: whatever fails after the charge, the charge stays, and rows are read once for it.


@pytest.mark.parametrize(
    "error", [RuntimeError("row 17"), MemoryError(), KeyboardInterrupt(), SystemExit(), OSError()]
)
def test_19_nothing_that_fails_while_rows_are_read_gives_money_back(error):
    curator, source = opened(error, budget=1)
    for turn in range(1, 3):
        with pytest.raises((hm.ReleaseFailed, KeyboardInterrupt, SystemExit)):
            curator.ask(hm.Count(), epsilon=0.5)
        assert source.reads == turn
        assert curator.ledger.spent == hm.Pure(Fraction(turn, 2))
    with pytest.raises(hm.BudgetExhausted):
        curator.ask(hm.Count(), epsilon=0.5)
    assert source.reads == 2


@pytest.mark.parametrize("error", [ValueError("noise"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("place", ["noise", "record"])
def test_19_nothing_that_fails_after_rows_were_read_gives_money_back(monkeypatch, error, place):
    def fail(*_, **__):
        raise error

    curator, source = opened(budget=1)
    with monkeypatch.context() as patch:
        if place == "noise":
            patch.setattr(Additive, "release", fail)
        else:
            patch.setattr(curator.ledger, "record", fail)
        told = place == "record" or not isinstance(error, MemoryError)
        with pytest.raises(type(error) if told else hm.ReleaseFailed):
            curator.ask(hm.Count(), epsilon=1, request_id="r")
    assert source.reads == 1
    with pytest.raises(hm.BudgetExhausted):
        curator.ask(hm.Count(), epsilon=1)
    with pytest.raises(hm.LedgerError, match="no stored answer"):
        curator.ask(hm.Count(), epsilon=1, request_id="r")
    assert source.reads == 1


def test_19_rows_are_not_read_where_the_charge_could_not_be_written(tmp_path, monkeypatch):
    curator, source = opened(ledger=hm.Ledger(tmp_path / "l.ledger", budget=9, patience=0.2))
    other = sqlite3.connect(tmp_path / "l.ledger", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(hm.LedgerError, match="locked"):
        curator.ask(hm.Count(), epsilon=1)
    other.execute("ROLLBACK")
    other.close()
    assert source.reads == 0
    assert curator.ledger.entries() == []


# 23. Replay.


def test_23_the_same_question_is_charged_again_and_answered_with_fresh_noise(tmp_path):
    curator, source = opened(ledger=hm.Ledger(tmp_path / "l.ledger", budget=2))
    answers = [curator.ask(hm.Sum("x", 0, 9), epsilon=0.1).value for _ in range(10)]
    assert curator.ledger.spent == hm.Pure(1)
    assert len(set(answers)) == 10
    first = curator.ask(hm.Sum("x", 0, 9), epsilon=0.1, request_id="r")
    reads = source.reads
    again = curator.ask(hm.Sum("x", 0, 9), epsilon=0.1, request_id="r")
    assert (again.value, again.provenance) == (first.value, first.provenance)
    assert source.reads == reads
    assert curator.ledger.spent == hm.Pure("1.1")


@pytest.mark.parametrize(
    "other",
    [
        {"query": hm.Sum("x", 0, 8), "epsilon": 1},
        {"query": hm.Sum("x", 0, 9), "epsilon": 2},
        {"query": hm.Sum("x", 0, 9), "epsilon": 1, "where": "x > 3"},
        {"query": hm.Sum("x", 0, 9), "epsilon": 1, "by": hm.Keys("x", [1])},
        {"query": {"x": hm.Sum("x", 0, 9)}, "epsilon": 1},
        {"query": hm.Sum("x", 0, 9), "epsilon": 1, "delta": 1e-6},
    ],
)
def test_23_a_request_does_not_answer_another_question(other):
    curator, source = opened(budget=hm.Approximate(99, 0.1))
    curator.ask(hm.Sum("x", 0, 9), epsilon=1, request_id="r")
    with pytest.raises(hm.InvalidQuery, match="request_id"):
        curator.ask(**other, request_id="r")
    assert source.reads == 1
    assert curator.ledger.spent == hm.Approximate(1, 0)


# 25. Rounding: the exact prices of what was answered never add up to more than the budget.


@pytest.mark.parametrize("seed", range(6))
def test_25_rounded_prices_never_add_up_to_more_than_the_budget(seed):
    draw = random.Random(seed)
    budget = Fraction(draw.randint(1, 10**6), draw.randint(1, 10**6))
    ledger = hm.Ledger(budget=budget)
    total = Fraction(0)
    for _ in range(200):
        price = budget * Fraction(draw.randint(1, 10**9), draw.randint(10**9, 10**11) * 3)
        if price < Fraction(1, 10**12):
            continue
        try:
            ledger.charge(hm.Pure(price), query="q")
        except hm.BudgetExhausted:
            break
        total += price
    assert Fraction(0) < total <= budget
    assert ledger.remaining.epsilon <= budget - total
    assert sum([0.1] * 10) != 1  # floats would refuse, or let through, by accident


def test_25_tenths_fit_and_a_billionth_more_does_not():
    curator = hm.open(TABLE, budget=1)
    for _ in range(10):
        curator.ask(hm.Count(), epsilon=0.1)
    with pytest.raises(hm.BudgetExhausted):
        curator.ask(hm.Count(), epsilon="1e-12")


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (hm.ZCDP(1), {"epsilon": 1}),
        (hm.GDP(1), {"epsilon": 0.5}),
        (hm.ZCDP(1), {"mu": 1}),
        (hm.Approximate(1, 1e-6), {"epsilon": 0.5}),
    ],
)
def test_25_prices_are_converted_upwards_or_refused(budget, price):
    curator = hm.open(TABLE, budget=budget)
    release = curator.ask(hm.Count(), **price)
    (entry,) = curator.ledger.entries()
    charged, proved = entry.cost.amounts, release.cost.in_measure(budget.measure).amounts
    assert proved[0] <= charged[0] <= proved[0] * Fraction(1001, 1000)
    assert charged[1] == proved[1] == 0
    with pytest.raises(hm.InvalidQuery, match="no proved price"):
        curator.ask(hm.Count(), epsilon=0.1, delta=1e-7) if budget.measure != "approximate" else (
            curator.ask(hm.Count(), rho=0.1)
        )


# 28. A filter that is fed prices chosen from the answers so far.


def test_28_prices_chosen_from_answers_stop_at_the_budget():
    curator, source = opened(budget=1)
    total, refused, price = Fraction(0), 0, Fraction(1, 7)
    for _ in range(200):
        try:
            answer = curator.ask(hm.Count(), epsilon=price).value
        except hm.BudgetExhausted:
            refused += 1
            price /= 2
        else:
            total += price
            price = price * 2 if answer > 10 else price * Fraction(2, 3)
        price = min(max(price, Fraction(1, 10**12)), Fraction(3))
        assert total <= 1
    assert refused
    assert source.reads == 200 - refused
    assert curator.ledger.spent.epsilon >= total


def test_28_a_procedure_cannot_take_more_than_its_price_however_it_chooses():
    curator, source = opened(budget=10)
    room = Room(source, curator._words, Purse(hm.Pure(1)))
    setting = curator._setting(None, None)
    taken = Fraction(0)
    for part in ("1/2", "1/3", "1/3", "1/6", "1e-9"):
        try:
            room.measure(hm.Count().prepare(setting, hm.Pure(part)))
        except hm.BudgetExhausted:
            continue
        taken += hm.Pure(part).epsilon
    assert taken == 1
    assert source.reads == 1  # the exact count is the same, and so is read once


# 29. Odometers: there is none. A budget comes first, and what is left depends on prices alone.


def test_29_nothing_is_spent_without_a_budget():
    for attempt in (lambda: hm.open(TABLE), hm.Ledger, lambda: hm.Ledger(budget=None)):
        with pytest.raises(hm.InvalidQuery, match="budget"):
            attempt()
    for name in ("odometer", "unlimited", "refund", "reset"):
        assert not hasattr(hm.Ledger, name)
        assert not hasattr(hm, name)


def test_29_what_is_left_depends_on_prices_and_not_on_rows():
    left = set()
    for table in ({"x": []}, {"x": [1]}, {"x": ["abc"] * 50}):
        curator = hm.open({"x": np.array(table["x"], object)}, schema={"x": "real"}, budget=3)
        curator.ask(hm.Mean("x", 0, 1), epsilon=1)
        curator.ask({"n": hm.Count(), "v": hm.Variance("x", 0, 1)}, epsilon=1)
        left.add(curator.remaining)
    assert left == {hm.Pure(1)}
