"""Plans that name the error they want in place of a price."""

import re

import pytest

import halfmask as hm

WANTED = """\
[table]
source = "staff.csv"
rows = 100

[budget]
{budget}

[[release]]
name = "people"
query = "count"
error = "5"

[[release]]
name = "pay"
error = {{ n = 10, mean = 4_000 }}

[release.queries.n]
query = "count"

[release.queries.mean]
query = "mean"
column = "salary"
lower = 0
upper = 100_000
"""


def test_the_least_price_is_found_and_charged(folder):
    people = hm.epsilon_for(hm.Count(), error=5, rows=100)
    shown = folder.plan(WANTED.format(budget="epsilon = 3"), "preview")
    assert shown.code == 0, shown.err
    assert f"epsilon {people}" in shown.out
    assert "All of it fits." in shown.out
    assert "wins at most" in shown.out
    ran = folder.run("run", "plan.toml")
    assert ran.code == 0, ran.err
    charged = re.search(r"The promise: epsilon ([\d.]+) for all", ran.out)
    assert re.search(rf"In all: epsilon {charged[1]}\.", shown.out)


def test_what_does_not_fit_is_named_and_nothing_of_it_runs(folder):
    text = WANTED.format(budget="epsilon = 0.5")
    shown = folder.plan(text, "preview")
    assert shown.code == 0
    assert re.search(r"Does not fit, .*: pay \(epsilon [\d.]+\)\.", shown.out)
    ran = folder.run("run", "plan.toml")
    assert ran.code == 1
    assert "Nothing was charged" in ran.err


@pytest.mark.parametrize(("budget", "name"), [("rho = 3", "rho"), ("mu = 3", "mu")])
def test_the_price_is_in_the_currency_of_the_budget(folder, budget, name):
    shown = folder.plan(WANTED.format(budget=budget), "preview")
    assert shown.code == 0, shown.err
    assert re.search(rf"people +{name} 0\.", shown.out)


def test_such_a_plan_can_be_verified(folder):
    text = WANTED.split('\n[[release]]\nname = "pay"')[0].format(budget="epsilon = 3")
    folder.write("plan.toml", text)
    found = folder.run("verify", "plan.toml", "--seconds", "0.5")
    assert found.code == 0, found.out + found.err


BAD = {
    "two prices": ('error = "5"', 'error = "5"\nepsilon = 1', "an error and epsilon are given"),
    "no rows": ("rows = 100", "", "add your guess"),
    "no number": ('error = "5"', 'error = "few"', "error: must be a number"),
    "too little": ("mean = 4_000", "mean = 1e-9", "no price meets it"),
    "a missing one": ("n = 10, ", "", "one error for each of"),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals_name_the_release(folder, name):
    old, new, message = BAD[name]
    found = folder.plan(WANTED.format(budget="epsilon = 3").replace(old, new), "preview")
    assert found.code == 1
    assert message in found.err
    assert "plan.toml, line" in found.err
