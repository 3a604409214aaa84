"""Every bad plan: refused with file, line or key, reason and fix; nothing charged, no traceback."""

import pytest

BAD = {
    "unknown key of a query": ("lower = 0", "lowre = 0", ["line 18", "'lowre'", "'lower'"]),
    "unknown key of the table": ("rows = 100", "row = 100", ["line 4", "'row'", "'rows'"]),
    "unknown table": ("[budget]", "[buget]", ["line 6", "'buget'", "'budget'"]),
    "unknown query": ('"mean"\n', '"men"\n', ["line 16", "'men'", "'mean'"]),
    "wrong type: text for a number": (
        "lower = 0",
        'lower = "0"',
        ["line 18, release 2, lower", "a number is needed, and a text is given"],
    ),
    "wrong type: number for a text": (
        'column = "salary"',
        "column = 3",
        ["line 17, release 2, column", "a text in quotes is needed"],
    ),
    "wrong type: truth value for a number": (
        "upper = 100_000",
        "upper = true",
        ["line 19", "a number is needed, and true or false is given"],
    ),
    "wrong type: date for a number": ("lower = 0", "lower = 2024-02-29", ["line 18", "a date"]),
    "wrong type: text for whole": ("rows = 100", 'rows = "many"', ["line 4", "a whole number"]),
    "a table and a list of one name": (
        '[[release]]\nname = "people"',
        '[release]\nname = "people"',
        ["not valid TOML"],
    ),
    "no budget at all": ("[budget]\nepsilon = 2\n", "", ["there is no [budget]"]),
    "one release, not a list": (
        None,
        '[table]\nsource = "staff.csv"\n[budget]\nepsilon = 1\n[release]\nname = "people"\n',
        ["line 5, release: a list of tables is needed, and a table is given"],
    ),
    "a list of texts": (
        None,
        'release = ["count"]\n[table]\nsource = "staff.csv"\n[budget]\nepsilon = 1\n',
        ["line 1, release: a list of tables is needed, and a list is given"],
    ),
    "no rows supposed": ("rows = 100", "rows = 0", ["line 4", "0 rows"]),
    "empty text": ('name = "people"', 'name = ""', ["line 10", "an empty text is given"]),
    "missing column key": ('column = "salary"\n', "", ["line 14, release 2", "column is missing"]),
    "missing price": ("epsilon = 0.5\n\n", "\n", ["line 9, release 1", "none given"]),
    "missing source": ('source = "staff.csv"\n', "", ["line 1, table", "source is missing"]),
    "missing name": ('name = "people"\n', "", ["line 9, release 1", "name is missing"]),
    "reversed bounds": ("lower = 0", "lower = 200_000", ["line 18, release 2, lower", "swap"]),
    "equal bounds": ("lower = 0", "lower = 100_000", ["line 18", "both"]),
    "infinite bound": ("upper = 100_000", "upper = inf", ["line 18", "finite"]),
    "NaN bound": ("upper = 100_000", "upper = nan", ["line 18", "finite"]),
    "still to be filled in": ("lower = 0", 'lower = "?"', ["line 18", "still to be filled in"]),
    "missing table file": ("staff.csv", "stuff.csv", ["line 2, table.source", "stuff.csv"]),
    "unknown extension": ("staff.csv", "plan.toml", ["line 2, table.source", ".csv"]),
    "missing column": ('"salary"\n', '"slary"\n', ["line 17", "'slary'", "'salary'"]),
    "missing unit column": ('"employee_id"', '"emploee_id"', ["line 1", "'employee_id'"]),
    "relation": ("rows = 100", 'relation = "both"', ["line 4", "'both'", "add_remove"]),
    "rows per unit": ("rows = 100", "rows_per_unit = 0", ["line 4", "rows_per_unit"]),
    "schema of no column": (
        "rows = 100",
        'schema = { slary = "real" }',
        ["table", "'slary'", "'salary'"],
    ),
    "schema of no kind": ("rows = 100", 'schema = { salary = "money" }', ["line 4", "'money'"]),
    "negative epsilon": ("epsilon = 0.5\n\n", "epsilon = -1\n\n", ["line 12", "above 0"]),
    "zero epsilon": ("epsilon = 0.5\n\n", "epsilon = 0\n\n", ["line 12", "above 0"]),
    "NaN epsilon": ("epsilon = 0.5\n\n", "epsilon = nan\n\n", ["line 12", "finite"]),
    "text epsilon": ("epsilon = 0.5\n\n", 'epsilon = "half"\n\n', ["line 12", "1/3"]),
    "two prices": (
        "epsilon = 0.5\n\n",
        "epsilon = 0.5\nrho = 1\n\n",
        ["line 9, release 1", "epsilon and rho given"],
    ),
    "delta alone": ("epsilon = 0.5\n\n", "delta = 1e-6\n\n", ["release 1", "none given"]),
    "delta beside rho": ("epsilon = 0.5\n\n", "rho = 1\ndelta = 0.1\n\n", ["line 13", "delta"]),
    "price of another currency": ("epsilon = 0.5\n\n", "rho = 0.1\n\n", ["release 1", "zcdp"]),
    "budget too small": ("epsilon = 2", "epsilon = 0.9", ["costs epsilon 1", "epsilon 0.9 is"]),
    "no budget": ("epsilon = 2\n", "", ["line 6, budget", "none given"]),
    "ledger without a budget": (
        "epsilon = 2\n",
        'ledger = "a.ledger"\n',
        ["line 7, budget.ledger", "add the budget"],
    ),
    "duplicate names": ('"mean salary"', '"people"', ["line 15, release 2, name", "two releases"]),
    "bad where": (
        "epsilon = 0.5\n\n",
        'epsilon = 0.5\nwhere = "salary >"\n\n',
        ["line 13, release 1, where"],
    ),
    "where that calls": (
        "epsilon = 0.5\n\n",
        "epsilon = 0.5\nwhere = \"__import__('os').system('touch owned')\"\n\n",
        ["line 13, release 1, where"],
    ),
    "where of no column": (
        "epsilon = 0.5\n\n",
        "epsilon = 0.5\nwhere = \"dpt == 'ops'\"\n\n",
        ["release 1", "'dpt'", "'dept'"],
    ),
    "keys of no column": (
        "epsilon = 0.5\n\n",
        'epsilon = 0.5\nby = { column = "dpt", keys = ["ops"] }\n\n',
        ["release 1", "'dpt'", "'dept'"],
    ),
    "keys twice": (
        "epsilon = 0.5\n\n",
        'epsilon = 0.5\nby = { column = "dept", keys = ["ops", "ops"] }\n\n',
        ["line 13, release 1, by", "twice"],
    ),
    "no keys": (
        "epsilon = 0.5\n\n",
        'epsilon = 0.5\nby = { column = "dept", keys = [] }\n\n',
        ["line 13, release 1, by", "no values"],
    ),
    "keys of two kinds": (
        "epsilon = 0.5\n\n",
        'epsilon = 0.5\nby = { column = "dept", keys = ["ops", 1] }\n\n',
        ["line 13, release 1, by", "mixes"],
    ),
    "by a number": ("epsilon = 0.5\n\n", "epsilon = 0.5\nby = 3\n\n", ["line 13", "a table"]),
    "no query in queries": (
        'query = "count"',
        "queries = {}",
        ["line 11, release 1, queries", "no query"],
    ),
    "query and queries": (
        'query = "count"',
        'query = "count"\nqueries = { n = { query = "count" } }',
        ["release 1", "'query'"],
    ),
    "shares of others": (
        'query = "count"',
        'queries = { n = { query = "count" } }\nshares = { m = 1 }',
        ["release 1", "shares"],
    ),
    "nothing asked": (None, '[table]\nsource = "staff.csv"\n[budget]\nepsilon = 1\n', ["nothing"]),
    "empty list": (
        None,
        'release = []\n[table]\nsource = "staff.csv"\n[budget]\nepsilon = 1\n',
        ["nothing is asked"],
    ),
    "empty plan": (None, "", ["plan.toml: there is no [table]"]),
    "no TOML": (None, "[table]\nsource = staff.csv\n", ["plan.toml: not valid TOML", "line 2"]),
    "key twice": ("lower = 0", "lower = 0\nlower = 1", ["not valid TOML", "line 19"]),
    "nested beyond reason": (None, "x = " + "[" * 3000, ["not valid TOML"]),
}


@pytest.mark.parametrize("command", ["check", "cost", "run"])
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_plan_is_refused(folder, plan_text, fault, command):
    old, new, told = BAD[fault]
    assert old is None or old in plan_text
    result = folder.plan(new if old is None else plan_text.replace(old, new, 1), command)
    assert result.code == 1
    assert result.err.startswith("halfmask: plan.toml")
    assert result.err.count("\n") == 1
    for part in told:
        assert part in result.err
    assert {path.name for path in folder.path.iterdir()} == {"staff.csv", "plan.toml"}


AFTER_THE_BUDGET = [
    fault for fault, (old, _, _) in BAD.items() if old and not ("[budget]" in old or "= 2" in old)
]


@pytest.mark.parametrize("fault", AFTER_THE_BUDGET)
def test_a_bad_plan_charges_nothing(folder, plan_text, fault):
    """The same faults beside a durable ledger: its entries stay as they were."""
    old, new, _ = BAD[fault]
    durable = plan_text.replace("epsilon = 2", 'epsilon = 2\nledger = "staff.ledger"')
    assert folder.plan(durable, "run").code == 0
    before = folder.run("ledger", "show", "staff.ledger").out
    assert folder.plan(durable.replace(old, new, 1), "run").code == 1
    assert folder.run("ledger", "show", "staff.ledger").out == before


def test_the_plain_plan_is_good(folder, plan_text):
    """So that what is refused above is refused for its fault."""
    assert folder.plan(plan_text).code == 0


def test_a_plan_that_is_no_utf8(folder):
    (folder.path / "plan.toml").write_bytes(b'[table]\nsource = "K\xfcche.csv"\n')
    result = folder.run("check", "plan.toml")
    assert result.code == 1
    assert "byte 19 is not UTF-8" in result.err


def test_a_plan_that_is_a_folder(folder):
    result = folder.run("check", ".")
    assert result.code == 1
    assert "cannot be read" in result.err


def test_a_plan_with_windows_lines_and_byte_order_mark(folder, plan_text):
    text = "\ufeff" + plan_text.replace("lower = 0", "lower = 200_000").replace("\n", "\r\n")
    (folder.path / "plan.toml").write_bytes(text.encode())
    result = folder.run("check", "plan.toml")
    assert "line 18, release 2, lower" in result.err


def test_control_characters_of_a_plan_never_reach_the_terminal(folder, plan_text):
    result = folder.plan(plan_text.replace("people", "a\\u001b[31mb\\u0007"))
    assert "\x1b" not in result.out
    assert "a\\x1b[31mb\\x07" in result.out
