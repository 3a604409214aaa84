"""Attacks on plans and on what is done after: 32 order and side effects, 33 closures over data;
and on the command, by somebody who may only write plans."""

import functools
import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import halfmask as hm
from halfmask.cli import app
from halfmask.sources import open_source

CANARY = "Ada-Lovelace-1815"
SECRET = 987_654_321.0
QUERIES = {
    "count": hm.Count(),
    "sum": hm.Sum("x", 0, 2**30),
    "mean": hm.Mean("x", 0, 2**30),
    "spread": hm.StandardDeviation("x", 0, 2**30),
    "histogram": hm.Histogram("x", [0, 2**29, 2**30]),
}


# 32. Plan order, side effects: a tally is inert, pinned, and gives the same integers every time.


def test_32_the_same_ask_sees_the_same_integers_whatever_came_before(record):
    rng = np.random.default_rng(32)
    table = {"u": rng.integers(0, 99, 2000), "k": rng.integers(0, 9, 2000), "x": rng.random(2000)}
    by, draw = hm.Keys("k", range(9)), random.Random(32)
    names, seen = list(QUERIES), {}
    for threads in (1, 3):
        source = open_source(table, threads=threads)
        first = hm.open(table, unit="u", groups_per_unit=2, budget=10**4)
        curator = hm.Curator(source, first.unit, first.ledger, first._words)
        for name in draw.sample(names * 2, 2 * len(names)):
            tape = record(curator, QUERIES[name], by=by, epsilon=1)
            given = [call[1] for call in tape.calls if len(tape.calls) == 9]
            assert seen.setdefault(name, given) == given


@pytest.mark.parametrize("text", ["random() < 0.5", "x < random()", "x == now()", "x > nextval(y)"])
def test_32_functions_are_refused(text):
    with hm.open({"x": [1.0]}, budget=1) as curator:
        with pytest.raises(hm.InvalidQuery):
            curator.ask(hm.Count(), where=text, epsilon=1)
        assert curator.remaining == hm.Pure(1)


def test_32_the_order_of_what_is_asked_together_changes_neither_price_nor_noise(record):
    forward, backward = dict(QUERIES), dict(reversed(QUERIES.items()))
    costs = []
    for asked in (forward, backward):
        curator = hm.open({"x": [1.0, 2.0]}, budget=1)
        tape = record(curator, asked, epsilon=1)
        costs.append(sorted(call[0].epsilon for call in tape.calls))
        assert sum(costs[-1]) <= 1
        assert curator.remaining == hm.Pure.from_amounts(*[0 * hm.Pure(1).epsilon] * 2, up=True)
    assert costs[0] == costs[1]


# 33. Closures over data: what leaves the door leads back to no row and to no exact integer.


@pytest.mark.parametrize("name", QUERIES)
def test_33_a_release_leads_back_to_no_row(record, tools, name):
    with hm.open({"s": [CANARY], "x": [SECRET]}, budget=9) as curator:
        tape = record(curator, QUERIES[name], epsilon="1e-3")
    exact = {number for _, numbers, _ in tape.calls for number in numbers if abs(number) > 99}
    noisy = {number for _, _, numbers in tape.calls for number in numbers}
    release = tape.released
    release.to_dict(), release.interval(), str(release), release.to_frame()
    found = tools.reachable(release)
    numbers = {one for one in found if type(one) in (int, float)}
    assert not numbers & (exact | {SECRET})
    assert name in ("mean", "spread") or numbers & noisy  # it holds what it was given
    kinds = {type(one).__name__ for one in found}
    assert not kinds & {"Table", "Engine", "DuckDBPyConnection", "Curator", "Room", "Ledger"}
    assert not any(CANARY in one for one in found if isinstance(one, str))


def test_33_a_closure_over_data_is_found(tools):
    rows = [SECRET]

    def helper():
        return rows

    for hiding in (helper, functools.partial(print, rows), {"deep": (lambda: helper(),)}):
        assert SECRET in [one for one in tools.reachable(hiding) if type(one) is float]


def test_33_a_preview_reads_no_row_and_spends_nothing():
    class Unreadable:
        schema, name = hm.Schema.of({"x": "real", "k": "text"}), "nothing"

        def tally(self, tally):
            raise AssertionError("a preview read rows")

        def close(self):
            pass

    first = hm.open({"x": [1.0]}, budget=1)
    curator = hm.Curator(Unreadable(), first.unit, first.ledger, first._words)
    for query in QUERIES.values():
        curator.preview(query, rows=100, epsilon=1)
        curator.preview(query, rows=100, epsilon=1, where="x > 1", by=hm.Keys("k", ["a"]))
    curator.preview(QUERIES, rows=100, epsilon=1)
    assert curator.ledger.entries() == []


# The command, in the hands of somebody who may write plans.

PLAN = """\
[table]
source = "t.csv"
unit = "id"

[budget]
epsilon = 1
ledger = "l.ledger"

[[release]]
name = "people"
query = "count"
epsilon = 0.5
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    rows = "".join(f"{i},{i},{CANARY}{i}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"id,x,name\n{rows}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(text, *words):
        (tmp_path / "p.toml").write_text(text, encoding="utf-8")
        result = CliRunner().invoke(app, ["run", "p.toml", *words], prog_name="halfmask")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


def test_a_plan_cannot_spend_more_than_its_ledger_holds(command, tmp_path):
    assert [command(PLAN).exit_code for _ in range(3)] == [0, 0, 1]
    larger = command(PLAN.replace("epsilon = 1\n", "epsilon = 100\n", 1))
    assert larger.exit_code == 1
    assert "was opened with epsilon 1" in larger.stderr
    ledger = hm.Ledger(tmp_path / "l.ledger")
    assert ledger.spent == hm.Pure(1)
    ledger.verify()


@pytest.mark.parametrize(
    "line",
    [
        'where = "nothing > 1"',
        'where = "x >"',
        "where = \"__import__('os')\"",
        'by = { column = "name", keys = ["a", "a"] }',
        "epsilon2 = 3",
        "words = 1",
        'where = "name == None"',
    ],
)
def test_what_a_plan_gets_wrong_shows_no_row_and_costs_nothing(command, tmp_path, line):
    result = command(PLAN + line + "\n")
    assert result.exit_code == 1
    assert CANARY not in result.output
    assert not (tmp_path / "l.ledger").exists()


def test_what_a_plan_publishes_holds_no_row(command, tmp_path):
    by = 'by = { column = "name", keys = ["a", "b"], missing = true }\n'
    result = command(PLAN + by, "--json", "a.json", "--csv", "a.csv")
    assert result.exit_code == 0
    written = (tmp_path / "a.json").read_text() + (tmp_path / "a.csv").read_text()
    assert CANARY not in result.output + written
    assert len(json.loads((tmp_path / "a.json").read_text())["releases"]["people"]["groups"]) == 3
    assert CANARY.encode() not in (tmp_path / "l.ledger").read_bytes()


def test_a_plan_cannot_make_a_ledger_of_another_file(command, tmp_path):
    before = (tmp_path / "t.csv").read_bytes()
    assert command(PLAN.replace("l.ledger", "t.csv")).exit_code == 1
    assert (tmp_path / "t.csv").read_bytes() == before


LINKS = {"link": "t.csv", "to the plan": "p.toml", "to the ledger": "l.ledger"}
KEPT = ["t.csv", "./t.csv", "p.toml", "l.ledger", "l.ledger-wal", "hard", *LINKS]


@pytest.mark.parametrize("charged", [False, True])
@pytest.mark.parametrize("words", [("run", "--json"), ("run", "--csv"), ("verify", "--out")])
@pytest.mark.parametrize("target", KEPT)
def test_what_is_published_overwrites_neither_ledger_nor_table_nor_plan(
    command, tmp_path, target, words, charged
):
    if charged:
        assert command(PLAN).exit_code == 0
    (tmp_path / "p.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "hard").hardlink_to(tmp_path / "t.csv")
    for name, leads_to in LINKS.items():
        (tmp_path / name).symlink_to(leads_to)
    kept = {name: (tmp_path / name).read_bytes() for name in ("t.csv", "p.toml")}
    result = CliRunner().invoke(app, [words[0], "p.toml", words[1], target])
    assert result.exit_code == 1
    assert "would be overwritten; name another file" in result.stderr
    assert kept == {name: (tmp_path / name).read_bytes() for name in kept}
    assert (tmp_path / "l.ledger").exists() == charged
    if charged:
        assert hm.Ledger(tmp_path / "l.ledger").spent == hm.Pure("0.5")


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_what_is_published_overwrites_no_part_of_a_table(command, tmp_path, source):
    (tmp_path / "parts").mkdir()
    part = tmp_path / "parts" / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2]}), part)
    whole = part.read_bytes()
    result = command(PLAN.replace("t.csv", source), "--json", "parts/a.parquet")
    assert result.exit_code == 1
    assert "part of the plan's table" in result.stderr
    assert part.read_bytes() == whole


@pytest.mark.parametrize("other", ["a", "./a", "link"])
def test_two_results_are_not_written_to_one_file(command, tmp_path, other):
    (tmp_path / "link").symlink_to("a")
    result = command(PLAN, "--json", "a", "--csv", other)
    assert result.exit_code == 1
    assert "name two files" in result.stderr
    assert not (tmp_path / "l.ledger").exists()
