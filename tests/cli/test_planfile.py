"""Reading a plan: text becomes frozen objects, and keys are found on their lines."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.cli.planfile import Document, read_plan

TEXT = """\
[table]
source = "folder/staff.csv"
unit = "employee_id"
rows_per_unit = 3
relation = "replace"
rows = 100
[table.schema]
salary = "real"
[budget]
epsilon = "1/3"
delta = 1e-6
ledger = "x.ledger"
[[release]]
name = "a"
query = "mean"
column = "salary"
lower = 0
upper = 1.5
where = "age >= 18"
by = { column = "dept", keys = [1, 2], missing = true }
epsilon = 0.1
[[release]]
name = "b"
rows = 7
mu = 1
shares = { n = "1/4", d = 0.75 }
[release.queries.n]
query = "count_distinct"
[release.queries.d]
query = "standard_deviation"
column = "salary"
lower = -1
upper = 1
"""


def test_a_plan_maps_one_to_one_onto_public_objects():
    plan = read_plan(Document(Path("plans/p.toml"), TEXT))
    assert plan.table.source == Path("plans/folder/staff.csv")
    assert plan.table.options == {
        "unit": "employee_id",
        "rows_per_unit": 3,
        "relation": "replace",
        "schema": {"salary": "real"},
    }
    assert plan.budget.cost == hm.Approximate("1/3", 1e-6)
    assert plan.budget.ledger == Path("plans/x.ledger")
    first, second = plan.asks
    assert first.query == hm.Mean("salary", 0, 1.5)
    assert first.price == hm.Pure(0.1)
    assert first.by == hm.Keys("dept", [1, 2, None])
    assert first.where == "age >= 18"
    assert first.rows == 33  # of a hundred, in each of three groups
    assert second.query == {
        "n": hm.CountDistinct(),
        "d": hm.StandardDeviation("salary", -1, 1),
    }
    assert second.price == hm.GDP(1)
    assert second.shares == {"n": "1/4", "d": 0.75}
    assert second.rows == 7


ASKED = """\
[table]
source = "staff.csv"
rows = 90
[budget]
epsilon = 9
delta = 1e-6
[[release]]
name = "found"
query = "count"
by = { column = "city" }
epsilon = 1
delta = 1e-7
[[release]]
name = "others"
query = "choose"
candidates = { young = "age < 30", old = "age >= 65" }
of = { query = "sum", column = "spend", lower = 0, upper = 100 }
by = { column = "dept", keys = ["ops"], other = true }
epsilon = 1
[[release]]
name = "top"
query = "top_k"
column = "city"
k = 2
keys = ["Oslo", "Lund", "Bergen"]
counts = true
epsilon = 1
"""


def test_found_keys_all_other_keys_and_choices_have_their_tables():
    found, others, top = read_plan(Document(Path("p.toml"), ASKED)).asks
    assert found.by == "city"
    assert found.rows == 90
    assert others.by == hm.Keys("dept", ["ops"], other=True)
    assert others.rows == 45
    assert others.query == hm.Choose(
        {"young": "age < 30", "old": "age >= 65"}, of=hm.Sum("spend", 0, 100)
    )
    assert top.query == hm.TopK("city", 2, ["Oslo", "Lund", "Bergen"], counts=True)


def test_a_plan_is_frozen():
    plan = read_plan(Document(Path("p.toml"), TEXT))
    with pytest.raises(FrozenInstanceError):
        plan.asks[0].name = "other"


def test_reading_touches_no_file(tmp_path):
    """Neither the plan nor the table nor the ledger is there."""
    read_plan(Document(tmp_path / "none" / "p.toml", TEXT))
    assert list(tmp_path.iterdir()) == []


KEYS = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=1, max_size=8, unique=True)
VALUES = st.sampled_from(
    ['"a"', "[\n  1,\n\n  2,\n]", '"""\nb = 1\n[c]\n"""', "{ x = 1, y = [\n 2] }", "2024-02-29"]
)


@settings(deadline=None)
@given(KEYS, st.data())
def test_a_key_is_found_on_the_line_where_its_value_begins(keys, data):
    """The naive twin: the line is known because the text is written here, line by line."""
    lines: list[str] = []
    known = {}
    for number, key in enumerate(keys):
        if data.draw(st.booleans()):
            lines.append(f"# {key} = not here")
        lines.append("")
        if number % 3 == 0:
            lines.append("[[release]]")
            known[("release", number // 3 + 1)] = len(lines)
        known[("release", number // 3 + 1, key)] = len(lines) + 1
        lines += f"{key} = {data.draw(VALUES)}".split("\n")
    document = Document(Path("p.toml"), "\n".join(lines))
    assert {place: document.line_of(place) for place in known} == known


def test_inner_keys_are_found_too():
    document = Document(Path("p.toml"), TEXT)
    assert document.line_of(("release", 1, "by", "keys")) == 20
    assert document.line_of(("release", 2, "queries", "d", "upper")) == 33
    assert document.line_of(("release", 3)) is None
    assert document.line_of(("nothing",)) is None


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_plainly(text):
    with pytest.raises(hm.InvalidQuery, match=r"^p\.toml"):
        read_plan(Document(Path("p.toml"), text))
