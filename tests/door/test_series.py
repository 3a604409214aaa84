"""Series at the door: one charge, closings that are stored once, restarts, races and crashes."""

import itertools
import json
import multiprocessing
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.privacy import Ledger
from halfmask.room import Room
from halfmask.series import Series
from halfmask.sources import open_source

NAMES = itertools.count(1)
NUMBERS = {"at": [0.5, 1.5, 1.7, 3.2, 9.0, None, -1.0], "u": [1, 1, 2, 2, 3, 3, 1]}
NUMBERS["x"] = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])


def opened(ledger=None, table=NUMBERS, budget=1, **options):
    return hm.open(table, budget=budget, ledger=ledger, **options)


def declared(curator, name="log", query=None, **options):
    plain = {"time": "at", "start": 0, "every": 1, "periods": 4, "epsilon": 1, "table": "log"}
    return curator.series(name, query or hm.Count(), **(plain | options))


@pytest.fixture(params=["file", "postgres"])
def path(request, tmp_path):
    """Where the ledger is kept: every law of a series holds for either."""
    if request.param == "file":
        return tmp_path / "log.ledger"
    server = request.getfixturevalue("durable_postgres")
    return f"{server.url()}#series_{next(NAMES)}"


def test_declaring_and_previewing_spend_nothing_and_read_nothing():
    curator = opened()
    preview = declared(curator).preview()
    assert 3 < preview.interval_width / preview.rmse < 6
    assert "all 4 periods" in str(preview)
    assert curator.ledger.entries() == []
    assert declared(curator).closed == ()


def test_the_price_is_charged_once_and_every_release_is_in_the_chain(path):
    series = declared(opened(path))
    first = series.release("0 to 1")
    again, counts = series.release("3 to 4"), series.counts("3 to 4")
    assert first.value == again.value[:1]
    assert np.cumsum(counts.value).tolist() == list(again.value)
    ledger = Ledger(path)
    assert [str(entry.cost) for entry in ledger.entries()] == ["epsilon 1"] + 4 * ["epsilon 0"]
    assert str(ledger.remaining) == "epsilon 0"
    assert len(ledger.report().prices) == 1
    ledger.verify(again.provenance.ledger_head)
    assert again.provenance.ledger_entry == 5
    assert "epsilon 1 for one row" in again.statement
    assert "if rows are only added" in again.statement
    assert [cell.bin for cell in again.cells()] == list(series.periods)
    assert json.loads(again.to_json())["value"] == list(again.value)


def test_an_exhausted_budget_stops_a_series_before_it_begins_and_never_later(path):
    series = declared(opened(path))
    series.release("0 to 1")
    with pytest.raises(hm.BudgetExhausted):
        declared(opened(path), "other").release("0 to 1")
    assert len(declared(opened(path)).release("2 to 3").value) == 3


def test_another_process_goes_on_where_a_series_was_with_the_table_of_the_day(path):
    before = declared(opened(path)).release("1 to 2")
    grown = {name: [*column, *column] for name, column in NUMBERS.items()}
    series = declared(opened(path, grown))
    assert series.closed == ("0 to 1", "1 to 2")
    assert series.release("1 to 2").value == before.value
    assert series.release("2 to 3").value[:2] == before.value


def test_the_promise_of_a_begun_series_is_fixed(path):
    declared(opened(path)).release("0 to 1")
    for other in ({"periods": 5}, {"start": 1}, {"epsilon": "0.5"}, {"where": "x > 1"}):
        with pytest.raises(hm.InvalidQuery, match="was used for"):
            declared(opened(path), **other).release(2.5)
    with pytest.raises(hm.InvalidQuery, match="was used for"):
        declared(opened(path, unit="u")).release("0 to 1")
    assert len(Ledger(path).entries()) == 2


def test_a_series_goes_on_with_the_strategy_that_it_began_with(path, monkeypatch):
    periods = {"periods": 60}
    begun = declared(opened(path), **periods)
    value = begun.release("0 to 1").value
    monkeypatch.setattr("halfmask.queries.series.closing.choose", lambda *_: pytest.fail("chosen"))
    assert declared(opened(path), **periods).release("0 to 1").value == value


def test_other_noise_than_that_of_its_beginning_is_refused(path, monkeypatch):
    declared(opened(path)).release("0 to 1")
    monkeypatch.setattr("halfmask.queries.series.closing.Closings.fixed", "something else")
    with pytest.raises(hm.LedgerError, match="begun with other noise"):
        declared(opened(path)).release("1 to 2")


def test_rows_of_closed_periods_are_never_read_again():
    curator = opened(words=seeded_words(3))
    series = declared(curator)
    series.release("1 to 2")
    asked = []
    inner = curator._source.tally
    curator._source.tally = lambda tally: asked.append(str(tally.where)) or inner(tally)
    series.release("1 to 2")
    assert asked == []
    series.release("2 to 3")
    assert asked == ["(at >= 0) and (at < 2)", "(at >= 0) and (at < 3)"]


@pytest.mark.parametrize("point", ["follow", "measure"])
def test_after_a_crash_the_price_stays_paid_and_only_one_noise_is_ever_seen(
    path, point, monkeypatch
):
    """Before a closing is stored nothing of it was shown; after it, it is what everybody sees."""
    with monkeypatch.context() as crash:
        owner = Ledger if point == "follow" else Room
        crash.setattr(owner, point, lambda *_, **__: (_ for _ in ()).throw(OSError("power cut")))
        with pytest.raises(OSError, match="power cut"):
            declared(opened(path)).release("0 to 1")
    assert [str(entry.cost) for entry in Ledger(path).entries()] == ["epsilon 1"]
    seen = {declared(opened(path)).release("0 to 1").value for _ in range(3)}
    assert len(seen) == 1
    assert len(Ledger(path).entries()) == 2


def test_a_row_and_its_answer_are_stored_together_or_not_at_all(path, monkeypatch):
    with monkeypatch.context() as crash:
        crash.setattr(Series, "_written", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises((OSError, hm.LedgerError)):
            declared(opened(path)).release("0 to 1")
    assert len(Ledger(path).entries()) == 1
    Ledger(path).verify()


def test_who_loses_a_race_forgets_its_noise_and_measures_the_rest_anew(path, monkeypatch):
    """Else a period could be seen in an older table than the one before it."""
    measure, reads, rival = Room.measure, [], declared(opened(path))

    def overtaken(room, measurement):
        answer = measure(room, measurement)
        reads.append(measurement.first)
        if len(reads) == 1:  # while we hold a measurement of 1 to 3, another closes period 1
            rival.release("0 to 1")
        return answer

    monkeypatch.setattr(Room, "measure", overtaken)
    mine = declared(opened(path)).release("2 to 3")
    assert reads == [1, 1, 2]
    assert mine.value[:1] == declared(opened(path)).release("0 to 1").value
    assert len(Ledger(path).entries()) == 4


def closing_at_once(path, barrier, answers):
    series = declared(opened(path))
    barrier.wait()
    while True:
        try:
            return answers.put(series.release("3 to 4").value)
        except hm.InvalidQuery:  # the other one's table was opened later: open it again
            series = declared(opened(path))


def test_processes_that_close_the_same_periods_at_once_show_the_same_numbers(path):
    opened(path)
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(2), context.Queue()
    workers = [
        context.Process(target=closing_at_once, args=(path, barrier, answers)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    seen = {answers.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert len(seen) == 1
    assert len(Ledger(path).entries()) == 5
    Ledger(path).verify()


def test_a_seeded_closing_marks_all_totals_after_it(path):
    declared(opened(path, words=seeded_words(1))).release("0 to 1")
    later = declared(opened(path)).release("1 to 2")
    assert later.seeded
    assert "NOT PRIVATE" in str(later)


def near(series, through, truth):
    """Whether the totals are near; false alarms e^-40 each."""
    found = series.release(through)
    spread = np.array(found.estimate.deviations) * 60
    return (np.abs(np.array(found.value) - truth) <= spread).all()


def test_a_unit_counts_by_its_first_rows():
    """Units 1 to 20 have a row in each of three periods, of which two count."""
    table = {"at": [p + 0.5 for p in range(3) for _ in range(20)], "u": list(range(20)) * 3}
    table["x"] = [3.0] * 60
    units = {"unit": "u", "rows_per_unit": 2, "budget": 10**6, "table": table}
    price = {"epsilon": 1000}
    assert near(declared(opened(**units), **price), "2 to 3", [20, 40, 40])
    held = declared(opened(**units), query=hm.Sum("x", 0, 4), **price)
    assert near(held, "2 to 3", [60, 120, 160])
    distinct = declared(opened(**units), query=hm.CountDistinct(), **price)
    assert near(distinct, "2 to 3", [20, 20, 20])


def test_rows_without_a_time_outside_of_all_periods_or_filtered_do_not_count():
    curator = opened(budget=10**6)
    assert near(declared(curator, epsilon=1000), "3 to 4", [1, 3, 3, 4])
    assert near(declared(curator, "b", where="u == 2", epsilon=1000), "3 to 4", [0, 1, 1, 2])


def test_a_row_that_comes_after_its_period_closed_is_missed():
    late = {name: [*column, *column] for name, column in NUMBERS.items()}
    ledger = Ledger(budget=10**6)
    declared(hm.open(NUMBERS, ledger=ledger), epsilon=1000).release("1 to 2")
    assert near(declared(hm.open(late, ledger=ledger), epsilon=1000), "3 to 4", [1, 3, 3, 5])


def test_a_table_that_was_copied_while_another_closed_is_refused(tmp_path, monkeypatch):
    """Its copy was begun before the rows came that the other one read, though it was open later."""
    file, ledger = tmp_path / "log.csv", Ledger(budget=10**6)
    file.write_text("at\n0\n", encoding="utf-8")

    def slow(*given, **options):
        copied = open_source(*given, **options)
        monkeypatch.undo()
        file.write_text("at\n0\n0\n", encoding="utf-8")
        declared(hm.open(file, ledger=ledger), epsilon=1000).release("1 to 2")
        return copied

    monkeypatch.setattr("halfmask.curator.open_source", slow)
    late = declared(hm.open(file, ledger=ledger), epsilon=1000)
    with pytest.raises(hm.InvalidQuery, match="opened before the one from which 1 to 2"):
        late.release("2 to 3")
    assert len(late.release("1 to 2").value) == 2


@pytest.mark.parametrize("schema", [None, {"at": "time"}])
def test_months_of_a_csv_by_the_clock_of_a_zone(tmp_path, schema):
    file = tmp_path / "log.csv"
    rows = ["2025-01-31T22:59:59", "2025-01-31T23:00:00", "2025-02-28", "never", ""]
    file.write_text("at,n\n" + "".join(f"{row},1\n" for row in rows), encoding="utf-8")
    curator = hm.open(file, budget=10**6, schema=schema and {**schema, "n": "integer"})
    start = datetime(2025, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    series = declared(curator, start=start, every="month", epsilon=1000)
    assert series.periods == ("2025-01", "2025-02", "2025-03", "2025-04")
    assert near(series, date(2025, 3, 5), [1, 3, 3])


def test_a_period_that_is_not_over_anywhere_is_not_closed():
    today = datetime.now(UTC).date()
    curator = opened(table={"at": np.array(["2020-01-01"], dtype="datetime64[us]")})
    series = declared(curator, start=today - timedelta(days=2), every="day")
    assert len(series.release(today - timedelta(days=2)).value) == 1
    with pytest.raises(hm.InvalidQuery, match="is not over; release it then"):
        series.release(today + timedelta(days=1))
    assert len(series.closed) == 1


def test_totals_that_never_fall_are_named_and_the_raw_ones_kept():
    release = declared(opened(words=seeded_words(5)), epsilon="0.1", periods=4).release("3 to 4")
    risen = release.rising().non_negative()
    assert list(risen.value) == sorted(risen.value)
    assert risen.post_processing[1:] == (
        "moved so that they never fall",
        "negative values raised to 0",
    )
    assert risen.raw().value == release.value
    assert [cell.bin for cell in risen.cells()] == [cell.bin for cell in release.cells()]


WRONG = {
    "no name": ({"name": " "}, "give it a name"),
    "mean": ({"query": hm.Mean("x", 0, 1)}, "has no running total"),
    "no column": ({"time": "when"}, "there is no 'when'"),
    "time of a number": (
        {"time": "x", "start": "2026-01-01", "every": "month"},
        "cannot be compared",
    ),
    "step of a number": ({"every": "month"}, "does not go with start 0"),
    "step back": ({"every": -1}, "does not move on"),
    "periods": ({"periods": 0}, "whole number from 1 to"),
    "price": ({"epsilon": None}, "price: none given"),
    "filter": ({"where": "nothing > 1"}, "there is no 'nothing'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_refused_before_anything_is_charged(case):
    changed, words = WRONG[case]
    curator = opened()
    with pytest.raises(hm.InvalidQuery, match=words):
        declared(curator, **changed).release("0 to 1")
    assert curator.ledger.entries() == []


def test_a_unit_may_not_move_a_sum_back_and_forth():
    with pytest.raises(hm.InvalidQuery, match="both signs back and forth"):
        declared(opened(unit="u"), query=hm.Sum("x", -1, 1))
    declared(opened(unit="u"), query=hm.Sum("x", -4, -1)).release("0 to 1")
    declared(opened(), query=hm.Sum("x", -1, 1)).release("0 to 1")


@pytest.mark.parametrize("through", ["4 to 5", "", 4, -1, None, "2026-01"])
def test_a_period_that_is_none_is_refused(through):
    curator = opened()
    with pytest.raises(hm.InvalidQuery, match="the first is 0 to 1, the last 3 to 4"):
        declared(curator).release(through)
    assert curator.ledger.entries() == []


def test_a_closed_table_declares_no_series():
    curator = opened()
    curator.close()
    with pytest.raises(hm.InvalidQuery, match="was closed"):
        declared(curator)


def test_a_ledger_of_an_earlier_version_says_what_to_do(tmp_path, monkeypatch):
    from halfmask.privacy.store import sqlite as store

    path = tmp_path / "log.ledger"
    old = tuple(text.replace("amount >= 0", "amount > 0") for text in store._SCHEMA)
    monkeypatch.setattr(store, "_SCHEMA", old)
    curator = opened(path)
    with pytest.raises(hm.LedgerError, match="holds no series; begin the series in a new ledger"):
        declared(curator).release("0 to 1")
    assert str(curator.remaining) == "epsilon 1"  # found out before the charge


def test_a_series_belongs_to_one_table(path):
    """Else a unit with rows in several tables would pay once for all of them."""
    declared(opened(path)).release("0 to 1")
    other = opened(path, table={"at": [0.5, 2.5], "u": [1, 1]})
    with pytest.raises(hm.LedgerError, match="begun with the table 'log', and this is the table"):
        declared(other, table="another").release("1 to 2")
    with pytest.raises(hm.LedgerError, match="name it by table="):
        declared(other, table=None).release("1 to 2")
    assert len(declared(other).release("1 to 2").value) == 2


def test_an_older_table_closes_nothing_after_a_newer_one(path):
    """Rows would be taken away from one closing to the next: twice the price for their unit."""
    old, new = opened(path), opened(path)
    declared(new).release("0 to 1")
    with pytest.raises(hm.InvalidQuery, match="opened before the one from which 0 to 1"):
        declared(old).release("1 to 2")
    assert declared(old).release("0 to 1").value  # what is closed may be read by anybody
    declared(new).release("1 to 2")
    declared(opened(path)).release("2 to 3")


def test_answers_of_other_requests_are_no_closings(path):
    curator = opened(path, budget=2)
    curator.ask(hm.Count(), epsilon=0.5, request_id='series "log": 1')
    with pytest.raises(hm.LedgerError, match="another answer in the place of 'log', period 1"):
        declared(curator).release("0 to 1")


def test_a_closed_table_and_an_old_ledger_are_refused_before_the_charge(path):
    curator = opened(path)
    series = declared(curator)
    curator.close()
    with pytest.raises(hm.InvalidQuery, match="the table was closed"):
        series.release("0 to 1")
    assert str(Ledger(path).remaining) == "epsilon 1"
    with pytest.raises(hm.InvalidQuery, match="period: True is none"):
        declared(opened(path)).release(True)
