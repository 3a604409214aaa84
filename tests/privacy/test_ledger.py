"""The ledger in one process: sums, refusals, repeats, copies and the chain."""

import contextlib
import copy
import os
import pickle
import sqlite3
import stat
import threading
from datetime import datetime, timedelta

import pytest

from halfmask.errors import BudgetExhausted, InvalidQuery, LedgerError
from halfmask.privacy import GDP, ZCDP, Approximate, Ledger, Pure, pure_mu


@pytest.fixture(params=["memory", "file", "postgres"])
def ledger(request):
    if request.param == "memory":
        return Ledger(budget=1)
    return Ledger(request.getfixturevalue(f"{request.param}_home").place, budget=1)


def test_ten_asks_at_a_tenth_fit_a_budget_of_one_and_an_eleventh_is_refused(ledger):
    for _ in range(10):
        ledger.charge(Pure(0.1), query="Count()")
    with pytest.raises(BudgetExhausted) as refusal:
        ledger.charge(Pure(0.1), query="Count()")
    assert str(refusal.value).startswith(
        "Count(): costs epsilon 0.1, and epsilon 0 is left of epsilon 1;"
    )
    assert "No row was read" in str(refusal.value)
    assert ledger.spent == Pure(1)
    assert str(ledger.remaining) == "epsilon 0"
    assert len(ledger.entries()) == 10
    ledger.verify()


@pytest.mark.parametrize(
    ("budget", "part"),
    [(GDP(1), GDP(1).share(0.1)), (ZCDP(1), ZCDP(0.1)), (Approximate(1, 1e-6), None)],
    ids=str,
)
def test_ten_tenths_fit_in_every_currency(budget, part):
    ledger = Ledger(budget=budget)
    for _ in range(10):
        ledger.charge(part or budget.share(0.1), query="q")
    with pytest.raises(BudgetExhausted):
        ledger.charge(
            type(budget).from_amounts(*[x / 10**6 for x in budget.amounts], up=True), query="q"
        )


def test_a_converted_price_is_charged_upwards_and_told_in_both_currencies():
    ledger = Ledger(budget=GDP(0.5))
    ledger.charge(Pure(0.1), query="q")
    (entry,) = ledger.entries()
    assert entry.price == Pure(0.1)
    assert entry.cost.squared >= pure_mu(Pure(0.1).epsilon) ** 2
    with pytest.raises(BudgetExhausted, match=r"epsilon 1 \(mu 1\.23.* here\)"):
        ledger.charge(Pure(1), query="q")
    with pytest.raises(InvalidQuery, match="no proved price"):
        ledger.charge(ZCDP(0.01), query="q")
    assert len(ledger.entries()) == 1


def test_an_amount_below_a_unit_costs_a_unit_and_thirds_round_up():
    ledger = Ledger(budget=1)
    ledger.charge(Pure(1e-12).share(1e-6), query="q")
    assert ledger.spent == Pure(1e-12)
    ledger.charge(Pure("1/3"), query="q")
    assert ledger.spent.epsilon == Pure("0.333333333335").epsilon


def test_entries_tell_who_when_what_and_the_running_sum(ledger):
    before = datetime.now().astimezone()
    ledger.charge(Pure(0.5), query="Mean('pay')", actor="ada")
    ledger.charge(Pure(0.25), query="Count()")
    first, second = ledger.entries()
    assert (first.seq, second.seq) == (1, 2)
    assert first.actor == "ada"
    assert second.actor
    assert first.query == "Mean('pay')"
    assert (first.cost, second.cost) == (Pure(0.5), Pure(0.25))
    assert (first.total, second.total) == (Pure(0.5), Pure(0.75))
    time = datetime.fromisoformat(first.time)
    assert time.utcoffset() == timedelta(0)
    assert timedelta(0) <= time - before < timedelta(minutes=1)
    assert ledger.head == second.hash != first.hash
    with pytest.raises(AttributeError):
        first.actor = "eve"


def test_a_repeated_request_is_free_and_returns_its_stored_answer(ledger):
    receipt = ledger.charge(Pure(0.4), query="Count()", request_id="r1")
    assert not receipt.repeated
    assert ledger.stored("r1") is None
    ledger.record(receipt, '{"value": 3}')
    again = ledger.charge(Pure(0.4), query="Count()", request_id="r1")
    assert again.repeated
    assert again.answer == ledger.stored("r1") == '{"value": 3}'
    assert (again.seq, again.hash) == (receipt.seq, receipt.hash)
    assert ledger.spent == Pure(0.4)
    assert ledger.stored("r2") is None


def test_a_repeated_request_is_free_even_when_nothing_is_left(ledger):
    ledger.record(ledger.charge(Pure(1), query="q", request_id="r"), "7")
    assert ledger.charge(Pure(1), query="q", request_id="r").answer == "7"


@pytest.mark.parametrize(("cost", "query"), [(Pure(0.5), "Count()"), (Pure(0.4), "Sum()")])
def test_a_request_id_used_for_something_else_is_refused(ledger, cost, query):
    ledger.record(ledger.charge(Pure(0.4), query="Count()", request_id="r1"), "3")
    with pytest.raises(InvalidQuery, match="request_id: 'r1' was used for Count"):
        ledger.charge(cost, query=query, request_id="r1")
    assert ledger.spent == Pure(0.4)


def test_a_request_that_was_charged_but_never_answered_is_refused(ledger):
    ledger.charge(Pure(0.4), query="Count()", request_id="r1")
    with pytest.raises(LedgerError, match="new request_id"):
        ledger.charge(Pure(0.4), query="Count()", request_id="r1")
    assert ledger.spent == Pure(0.4)


def test_an_answer_is_final_and_belongs_to_its_ledger(ledger):
    receipt = ledger.charge(Pure(0.1), query="q")
    ledger.record(receipt, "1")
    with pytest.raises(LedgerError, match="final"):
        ledger.record(receipt, "2")
    stranger = Ledger(budget=1).charge(Pure(0.1), query="q")
    with pytest.raises(LedgerError, match="not of this ledger"):
        ledger.record(stranger, "1")


@pytest.mark.parametrize("text", ["", None, 3, ["q"]])
def test_a_query_is_a_text(ledger, text):
    with pytest.raises(InvalidQuery, match=r"^query:"):
        ledger.charge(Pure(0.1), query=text)
    assert ledger.entries() == []


@pytest.mark.parametrize("name", ["actor", "request_id"])
@pytest.mark.parametrize("text", ["", "x" * 100_001, 3])
def test_names_are_texts_of_bounded_length(ledger, name, text):
    with pytest.raises(InvalidQuery, match=f"^{name}:"):
        ledger.charge(Pure(0.1), query="q", **{name: text})
    assert ledger.entries() == []


@pytest.mark.parametrize(
    "text", ["naïve 名前 \U0001f3ad", "'; DROP TABLE spend; --", "a\0b", "\ud800"]
)
def test_any_text_is_kept_and_hashed(ledger, text):
    receipt = ledger.charge(Pure(0.1), query=text, actor=text, request_id=text)
    ledger.record(receipt, "1")
    assert ledger.stored(text) == "1"
    ledger.verify()
    (entry,) = ledger.entries()
    assert entry.query.encode("utf-8")
    assert text in {entry.query, "a\0b", "\ud800"}


def test_a_ledger_says_itself(ledger):
    ledger.charge(Pure(0.25), query="q")
    assert str(ledger).endswith("epsilon 0.75 left of epsilon 1, 1 charge")


# --- opening -------------------------------------------------------------------------------


def test_a_ledger_remembers(filled):
    again = Ledger(str(filled.place))
    assert again.budget == Pure(1)
    assert again.spent == Pure("0.3")
    assert [entry.query for entry in again.entries()] == ["one", "two", "three"]
    assert again.charge(Pure(0.1), query="two", request_id="two").answer == "[two]"
    again.verify()


def test_a_ledger_opens_with_an_equal_budget_and_refuses_another(filled):
    assert Ledger(filled.place, budget="1").spent == Pure("0.3")
    for other in (2, ZCDP(1), Approximate(1, 0)):
        with pytest.raises(LedgerError) as refusal:
            Ledger(filled.place, budget=other)
        assert "epsilon 1" in str(refusal.value)
        assert "given" in str(refusal.value)


def test_a_new_file_is_for_its_owner_only(file_home):
    Ledger(file_home.place, budget=1).charge(Pure(1), query="q")
    for file in file_home.place.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_new_ledger_needs_a_budget(tmp_path):
    with pytest.raises(LedgerError, match=r"does not exist; .*give a budget"):
        Ledger(tmp_path / "new.ledger")
    with pytest.raises(InvalidQuery, match=r"^budget: a new ledger"):
        Ledger()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_or_a_folder_itself_is_refused(tmp_path):
    with pytest.raises(LedgerError, match=r"folder .* does not exist"):
        Ledger(tmp_path / "no" / "a.ledger", budget=1)
    with pytest.raises(LedgerError, match="is a folder"):
        Ledger(tmp_path, budget=1)


def test_a_device_or_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match="not an ordinary file"):
        Ledger(tmp_path / "pipe", budget=1)


@pytest.mark.parametrize("budget", [None, 1])
def test_what_is_not_a_ledger_is_refused_and_left_as_it_is(tmp_path, budget):
    text = tmp_path / "salaries.csv"
    text.write_text("name,pay\n" * 1000)
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as connection:
        connection.executescript("CREATE TABLE account (id); CREATE TABLE spend (id)")
    connection.close()
    for file in (text, database):
        before = file.read_bytes()
        with pytest.raises(LedgerError, match="is not a ledger"):
            Ledger(file, budget=budget)
        assert file.read_bytes() == before


def test_an_empty_file_becomes_a_ledger_only_with_a_budget(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(LedgerError, match="empty file"):
        Ledger(tmp_path / "empty")
    assert Ledger(tmp_path / "empty", budget=1).remaining == Pure(1)


@pytest.mark.parametrize("name", ["a b?mode=memory#%41", "naïve 名", ":memory:", "-x"])
def test_any_file_name_is_taken_as_it_is(tmp_path, name):
    Ledger(tmp_path / name, budget=1).charge(Pure(0.1), query="q")
    assert (tmp_path / name).is_file()
    assert Ledger(tmp_path / name).spent == Pure(0.1)


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("a.ledger", budget=1)
    ledger.close()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    ledger.charge(Pure(0.1), query="q")
    assert list((tmp_path / "sub").iterdir()) == []


# --- copies and threads --------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_of_a_kept_ledger_spends_from_the_same_budget(filled, duplicate):
    ledger = Ledger(filled.place)
    other = duplicate(ledger)
    other.charge(Pure(0.7), query="q")
    with pytest.raises(BudgetExhausted):
        ledger.charge(Pure(0.1), query="q")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_ledger_in_memory_is_not_copied(duplicate):
    with pytest.raises(LedgerError, match="twice"):
        duplicate(Ledger(budget=1))


def test_eight_threads_racing_for_one_budget_never_overspend(ledger):
    granted, start = [], threading.Barrier(8)

    def race():
        start.wait()
        for _ in range(25):
            with contextlib.suppress(BudgetExhausted):
                granted.append(ledger.charge(Pure("0.01"), query="q").seq)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == list(range(1, 101))
    assert ledger.spent == Pure(1)
    ledger.verify()
