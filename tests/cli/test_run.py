"""Running a plan: answers, files, ledgers, partial answers; and what check and cost say."""

import csv
import io
import json
import re

import pytest

import halfmask as hm
from halfmask.cli.planfile import QUERIES
from halfmask.cli.planfile.kinds import fields_of
from halfmask.curator import Curator

WIDE = """\
[table]
source = "staff.csv"
unit = "employee_id"
rows = 100

[budget]
epsilon = 4

[[release]]
name = "Löhne 💶"
epsilon = "1/3"
[release.queries]
n = { query = "count" }
total = { query = "sum", column = "salary", lower = 0, upper = 100_000 }

[[release]]
name = "by dept"
query = "mean"
column = "salary"
lower = 0
upper = 100_000
where = "dept in ['ops', 'Küche'] or dept is None"
by = { column = "dept", keys = ["ops", "Küche", "", "a,\\"b\\""], missing = true }
epsilon = 1

[[release]]
name = "bands"
query = "histogram"
column = "salary"
edges = [-inf, 40_000, 1_250_000, inf]
epsilon = 1
"""


@pytest.fixture
def durable(plan_text):
    return plan_text.replace("epsilon = 2", 'epsilon = 2\nledger = "staff.ledger"')


def test_run_prints_a_line_for_each_number_and_what_is_left(folder):
    result = folder.plan(WIDE, "run")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == ["release", "of", "value", "95", "%", "interval", "cost"]
    assert len(lines) == 1 + 2 + 5 + 3 + 2
    assert [line.split()[0] for line in lines[1:3]] == ["Löhne", "total"]
    for label in ("ops", "Küche", "(missing)", 'a,"b"', "below 40 000", "1 250 000 or more"):
        assert label in result.out
    assert lines[-2] == (
        "The promise: epsilon 7/3 for all of these together; protected: one employee_id with up to "
        "1 row, added or removed."
    )
    assert lines[-1].startswith("Left: epsilon 1.666666666666 of epsilon 4 (in memory")


def test_piped_output_is_plain(folder, plan_text):
    result = folder.plan(plan_text, "run")
    assert not re.search(r"[\x1b─━│┃╭]", result.out)
    assert all(line == line.rstrip() for line in result.out.splitlines())


def test_json_and_csv_hold_the_same_numbers_with_every_digit(folder):
    folder.write("plan.toml", WIDE)
    assert folder.run("run", "plan.toml", "--json", "out.json", "--csv", "out.csv").code == 0
    content = json.loads(folder.read("out.json"))
    rows = list(csv.DictReader(io.StringIO(folder.read("out.csv"))))
    assert content["halfmask"] == hm.__version__
    assert content["remaining"] == {"measure": "pure", "epsilon": "1.666666666666"}
    releases = content["releases"]
    assert list(releases) == ["Löhne 💶", "by dept", "bands"]
    parts, groups, bins = releases.values()
    expected = [
        *(one["value"] for one in parts.values()),
        *(group["value"] for group in groups["groups"]),
        *bins["value"],
    ]
    assert [float(row["value"]) for row in rows] == expected
    bounds = [
        *(one["interval"]["bounds"] for one in parts.values()),
        *(group["interval"]["bounds"] for group in groups["groups"]),
        *bins["interval"]["bounds"],
    ]
    assert [[float(row["low"]), float(row["high"])] for row in rows] == bounds
    assert [row["key"] for row in rows[2:7]] == ["ops", "Küche", "", 'a,"b"', "(missing)"]
    assert {row["cost"] for row in rows} == {"epsilon 1/3", "epsilon 1"}
    assert all(one["private"] for one in (parts["n"], groups, bins))


def test_every_query_of_the_library_can_be_named_in_a_plan(folder):
    parameters = {
        "column": '"salary"',
        "lower": "0",
        "upper": "100_000",
        "edges": "[0, 50_000, inf]",
        "columns": "{ salary = [0, 100_000] }",
        "order": "1",
        "cells": "[0, 50_000, inf]",
        "matrix": "[[1, 0.5], [1, 1]]",
        "ranges": "[[0, inf], [50_000, inf]]",
        "k": "1",
        "keys": '["41000", "52500"]',
        "counts": "true",
        "candidates": '{ rich = "salary > 50_000", poor = "salary < 20_000" }',
        "filters": '{ poor = "salary < 20_000", all = "salary >= 0" }',
        "threshold": "2",
        "limit": "1",
        "of": '{ query = "sum", column = "salary", lower = 0, upper = 100_000 }',
        "center": "0",
        "radius": "[100_000]",
        "deviation": "10_000",
        "rows": "100_000",
        "plan": "[0.7, 0.2, 0.1]",
        "outliers": "false",
        "q": "[0.5, 0.9]",
        "coverage": "0.9",
        "bounds": '"private"',
        "share": "0.2",
        "location": "[0, 0]",
        "steps": "1",
        "size": "true",
        "whiten": "false",
        "clusters": "2",
        "loss": '"median"',
    }
    points = {"columns": '["salary"]'}
    plane = {"columns": '["salary", "employee_id"]', "radius": "100_000"}
    own = {
        "marginals": {"columns": "{ salary = [0, 50_000, 100_000] }"},
        "correlation": {"columns": "{ salary = [0, 100_000], employee_id = [0, 100] }"},
        "box_median": points,
        "coordinate_median": points,
        "robust_location": points,
        "location": points,
        "kmeans": points,
        "sign_covariance": plane,
        "tyler_scatter": plane,
        "spatial_median": points,
        "depth_median": {
            "depth": '"tukey"',
            "candidates": "[[0], [20_000], [50_000]]",
            "radius": "100_000",
            "directions": "[[1]]",
        }
        | points,
        "depth_check": {"point": "[50_000]", "radius": "100_000", "directions": "[[1]]"}
        | {"least": "0.25"}
        | points,
        "mean": {"lower": None, "upper": None},
    }
    releases, delta = [], {"robust_location", "tyler_scatter", "kmeans"}
    for name in QUERIES:
        values = parameters | own.get(name, {})
        named = {one.name: values[one.name] for one in fields_of(name)}
        lines = "\n".join(f"{key} = {value}" for key, value in named.items() if value is not None)
        price = "epsilon = 1\ndelta = 1e-7" if name in delta else "epsilon = 1"
        releases.append(f'[[release]]\nname = "{name}"\nquery = "{name}"\n{lines}\n{price}\n')
    head = '[table]\nsource = "staff.csv"\n[budget]\nepsilon = 100\ndelta = 1e-6\n'
    result = folder.plan(head + "\n".join(releases), "run")
    assert (result.code, result.err) == (0, "")


def test_keys_found_in_the_rows_are_run_and_verified(folder):
    plan = (
        '[table]\nsource = "staff.csv"\nrows = 40\n[budget]\nepsilon = 9\ndelta = 1e-6\n'
        '[[release]]\nname = "n"\nquery = "count"\nby = { column = "dept" }\n'
        "epsilon = 0.1\ndelta = 1e-9\n"
    )
    result = folder.plan(plan, "run")
    assert (result.code, result.err) == (0, "")
    assert "no key" in result.out  # a handful of rows: none passes a threshold of this price
    assert "(keys found in the rows)" in folder.plan(plan, "check").out
    named = folder.plan(plan.replace('{ column = "dept" }', '"dept"'), "run")
    assert (named.code, named.out) == (0, result.out)
    verified = folder.plan(plan, "verify")
    assert verified.code == 0
    assert "holds" in verified.out


def test_a_plan_can_name_every_public_query():
    public = {
        value
        for value in vars(hm).values()
        if isinstance(value, type) and hasattr(value, "expected") and hasattr(value, "check")
    }
    assert set(QUERIES.values()) == public - {hm.Filtered}  # which is `where` of a query


def test_a_durable_ledger_is_spent_until_it_refuses(folder, durable):
    """Two runs at epsilon 1 fit a budget of 2; a third is refused whole, and nothing is charged."""
    assert folder.plan(durable, "run").code == 0
    assert folder.plan(durable, "run").code == 0
    third = folder.plan(durable, "run")
    assert third.code == 1
    assert "costs epsilon 1 in all, and epsilon 0 is left of epsilon 2" in third.err
    assert "Nothing was charged" in third.err
    assert third.out == ""
    ledger = hm.Ledger(folder.path / "staff.ledger")
    assert [entry.price for entry in ledger.entries()] == [hm.Pure(0.5)] * 4
    assert folder.run("check", "plan.toml").code == 1
    assert folder.run("cost", "plan.toml").code == 1


def test_a_plan_that_fits_only_in_part_is_refused_whole(folder, durable):
    hm.Ledger(folder.path / "staff.ledger", budget=2).charge(hm.Pure("1.4"), query="before")
    refused = folder.plan(durable, "run")
    assert refused.code == 1
    assert "epsilon 0.6 is left" in refused.err
    assert len(hm.Ledger(folder.path / "staff.ledger").entries()) == 1


def test_thirds_round_up_in_the_ledger_and_so_on_paper(folder, plan_text):
    """Three thirds cost 1e-12 more than 1 in the ledger: refused before the first is charged."""
    text = plan_text.replace("epsilon = 2", 'epsilon = 1\nledger = "staff.ledger"')
    text = text.replace("epsilon = 0.5", 'epsilon = "1/3"')
    third = '[[release]]\nname = "more"\nquery = "count"\nepsilon = "1/3"\n'
    refused = folder.plan(text + third, "run")
    assert refused.code == 1
    assert not (folder.path / "staff.ledger").exists()


def test_check_and_cost_make_no_ledger_and_charge_nothing(folder, durable):
    for command in ("check", "cost"):
        assert folder.plan(durable, command).code == 0
        assert not (folder.path / "staff.ledger").exists()
    folder.plan(durable, "run")
    for command in ("check", "cost"):
        assert folder.plan(durable, command).code == 0
    assert len(hm.Ledger(folder.path / "staff.ledger").entries()) == 2


def test_a_ledger_of_another_budget_is_refused(folder, durable):
    folder.plan(durable, "run")
    other = folder.plan(durable.replace("epsilon = 2", "epsilon = 3"), "run")
    assert other.code == 1
    assert "epsilon 2" in other.err
    assert "epsilon 3" in other.err


def test_the_ledger_alone_is_budget_enough(folder, durable):
    folder.plan(durable, "run")
    alone = folder.plan(durable.replace("epsilon = 2\n", ""), "run")
    assert alone.code == 0
    assert "Left: epsilon 0 of epsilon 2 (staff.ledger)" in alone.out


def test_the_actor_is_written_into_the_ledger(folder, durable):
    folder.write("plan.toml", durable)
    assert folder.run("run", "plan.toml", "--actor", "Zoë").code == 0
    assert {entry.actor for entry in hm.Ledger(folder.path / "staff.ledger").entries()} == {"Zoë"}
    assert "Zoë" in folder.run("ledger", "show", "staff.ledger").out


@pytest.mark.parametrize(
    ("failure", "code", "told"),
    [
        (hm.BudgetExhausted("somebody was faster"), 1, "halfmask: somebody was faster\n"),
        (hm.ReleaseFailed("charged, then the engine failed"), 1, "halfmask: charged, then"),
        (KeyboardInterrupt(), 130, ""),
        (hm.Interrupted("Interrupted after the price"), 130, "halfmask: Interrupted after the"),
    ],
    ids=["spent by another", "engine", "interrupted", "after the charge"],
)
def test_what_was_paid_for_is_shown_when_the_rest_fails(
    folder, durable, monkeypatch, failure, code, told
):
    """The second ask fails, whatever the reason; the first one's answer is not lost."""
    whole = Curator.ask

    def failing(self, query, **options):
        if isinstance(query, hm.Mean):
            raise failure
        return whole(self, query, **options)

    monkeypatch.setattr(Curator, "ask", failing)
    folder.write("plan.toml", durable)
    result = folder.run("run", "plan.toml", "--json", "out.json")
    assert result.code == code
    assert result.err.startswith(told)
    assert "people" in result.out
    assert "mean salary" not in result.out
    assert "The promise: epsilon 0.5 for all of these together" in result.out
    assert list(json.loads(folder.read("out.json"))["releases"]) == ["people"]


@pytest.mark.parametrize("option", ["--json", "--csv"])
@pytest.mark.parametrize("name", ["no/where.out", "."])
def test_a_file_that_cannot_be_written_is_refused_before_the_charge(folder, durable, option, name):
    folder.write("plan.toml", durable)
    result = folder.run("run", "plan.toml", option, name)
    assert result.code == 1
    assert "folder" in result.err
    assert not (folder.path / "staff.ledger").exists()


def test_rows_never_decide_whether_a_run_succeeds(folder, plan_text):
    """Empty, one row, text for numbers, all missing: an ordinary noisy answer each time."""
    header = "employee_id,dept,salary\n"
    for rows in ("", "1,ops,1\n", "1,ops,none\n2,ops,\n", ",,\n" * 3, '1,"ops,1\n2,ops,3,4\n'):
        folder.write("staff.csv", header + rows)
        result = folder.plan(plan_text, "run")
        assert (result.code, result.err) == (0, "")
        assert "mean salary" in result.out


def test_check_says_what_would_be_asked(folder):
    result = folder.plan(WIDE)
    assert result.code == 0
    for part in (
        "3 releases of staff.csv",
        "protected: one employee_id with up to 1 row, added or removed",
        "n: number of rows",
        "by dept (keys: 5) where dept in",
        "In all: epsilon 7/3.",
        "nothing was spent",
    ):
        assert part in result.out


def test_cost_says_the_errors_to_expect_only_for_a_guess(folder, plan_text):
    guessed = folder.plan(plan_text, "cost").out
    blind = folder.plan(plan_text.replace("rows = 100\n", ""), "cost").out
    assert re.search(r"people +epsilon 0\.5 +2\.\d", guessed)
    assert "rows = 1000" not in guessed
    assert re.search(r"people +epsilon 0\.5$", blind, re.MULTILINE)
    assert "Say `rows = 1000`" in blind


def test_cost_predicts_the_error_of_the_public_preview(folder, plan_text):
    shown = folder.plan(plan_text, "cost").out
    with hm.open(folder.path / "staff.csv", unit="employee_id", budget=1) as staff:
        preview = staff.preview(hm.Mean("salary", 0, 100_000), rows=100, epsilon=0.5)
    figures = re.search(r"mean salary +epsilon 0\.5 +([\d ]+?)  ", shown)
    assert float(figures[1].replace(" ", "")) == pytest.approx(preview.rmse, rel=0.01)


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        ("rho = 1", "rho = 0.1"),
        ("rho = 1", "mu = 0.3"),
        ("rho = 1", "epsilon = 0.3"),
        ("mu = 1", "mu = 0.3"),
        ("epsilon = 3\ndelta = 1e-6", "epsilon = 1"),
        ("epsilon = 3\ndelta = 0", "delta = 0\nepsilon = 1"),
    ],
)
def test_other_currencies(folder, plan_text, budget, price):
    text = plan_text.replace("epsilon = 2", budget).replace("epsilon = 0.5", price)
    for command in ("check", "cost", "run"):
        result = folder.plan(text, command)
        assert (result.code, result.err) == (0, "")


def test_shares_split_the_price_as_told(folder):
    text = WIDE.replace(
        "[release.queries]", 'shares = { n = "1/4", total = 0.75 }\n[release.queries]'
    )
    assert folder.plan(text, "run").code == 0


def test_a_seeded_run_is_not_offered(folder):
    for name in ("run", "check", "cost"):
        assert "seed" not in folder.run(name, "--help").out
    assert folder.plan(WIDE.replace("rows = 100", "seed = 1"), "run").code == 1
