"""The first count to reach a threshold: through the door, from real rows."""

import itertools

import numpy as np
import pytest

import halfmask as hm
from halfmask.errors import InvalidQuery
from halfmask.plan import Everything, Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.queries import Setting
from halfmask.sources import open_source

MONTHS = {f"by {m}": f"month <= {m}" for m in range(1, 13)}
ROWS = {
    "month": [1 + i % 12 for i in range(1200)],
    "pay": [float(i % 7) for i in range(1200)],
    "who": [i // 2 for i in range(1200)],
}


@pytest.fixture
def table():
    return hm.open(ROWS, budget=10**6)


@pytest.mark.parametrize("price", [{"epsilon": 1000}, {"epsilon": 1000, "delta": 1e-9}])
def test_at_a_large_price_the_answer_is_the_plain_one(table, price):
    ledger = hm.Ledger(budget=hm.Approximate(10**6, "1e-3")) if "delta" in price else None
    asked = hm.open(ROWS, ledger=ledger) if ledger else table
    assert asked.ask(hm.AboveThreshold(MONTHS, 450), **price).value == "by 5"
    assert asked.ask(hm.AboveThreshold(MONTHS, 1100, limit=3), **price).value == ("by 11", "by 12")
    assert asked.ask(hm.AboveThreshold(MONTHS, 1300), **price).value is None
    first = asked.ask(hm.AboveThreshold(["month == 1", "month <= 3"], 290), **price)
    assert first.value == "month <= 3"
    total = hm.AboveThreshold(MONTHS, 999.5, of=hm.Sum("pay", 0, 6))
    exact = np.cumsum(
        [
            sum(p for m, p in zip(ROWS["month"], ROWS["pay"], strict=True) if m == k)
            for k in range(1, 13)
        ]
    )
    assert asked.ask(total, **price).value == f"by {1 + int(np.argmax(exact >= 1000))}"


def test_the_release_reads_well_and_is_replayed_for_free(table):
    asked = hm.AboveThreshold(MONTHS, 450, limit=2)
    first = table.ask(asked, epsilon=50, request_id="a")
    left = table.remaining
    again = table.ask(asked, epsilon=50, request_id="a")
    assert again.value == first.value == ("by 5", "by 6")
    assert table.remaining == left
    assert "reaches 450" in str(first)
    assert first.mechanism[0].startswith("sparse vector")
    assert first.to_dict()["value"] == ["by 5", "by 6"] or first.to_dict()["value"] == (
        "by 5",
        "by 6",
    )
    assert table.ask(hm.AboveThreshold(MONTHS, 10**9), epsilon=50).value is None


@pytest.mark.parametrize("price", [ZCDP(1), GDP(1)], ids=str)
def test_other_currencies_are_paid_by_the_epsilon_they_cover(price):
    table = hm.open(ROWS, budget=price)
    name = "rho" if isinstance(price, ZCDP) else "mu"
    release = table.ask(hm.AboveThreshold(MONTHS, 450), **{name: 1})
    assert release.cost == price


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("column", [None, "who"])
@pytest.mark.parametrize("of", [hm.Count(), hm.Sum("pay", 0, 6), hm.Sum("pay", -3, 6)], ids=repr)
def test_no_neighbour_moves_a_score_beyond_the_sensitivity(relation, column, of):
    """Every unit of a small table, gone or in place of another; all scores, and their direction."""
    unit = PrivacyUnit(column, 2 if column else 1, relation=relation)
    rows = [(1, 6.0, 1), (2, -9.0, 1), (2, 3.0, 2), (5, 1.0, 3), (9, 6.0, 3), (12, 6.0, 3)]

    def scores(kept):
        cells = [np.array([r[i] for r in kept], dtype=t) for i, t in enumerate((int, float, int))]
        source = open_source(dict(zip(("month", "pay", "who"), cells, strict=True)))
        setting = Setting(source.schema, unit, Everything())
        prepared = hm.AboveThreshold(MONTHS, 1, of=of).prepare(setting, Pure(1))
        return prepared, prepared.scored.scores(prepared.request.answered_by(source))[0]

    for gone, put in itertools.product((1, 2, 3), repeat=2):
        place = 2 if column else 0
        whole = [r for r in rows if r[place] != gone] if column else rows[1:] + rows[:0]
        other = whole
        if relation is Relation.REPLACE:
            other = [*whole, *((m, p, gone) for m, p, w in rows if w == put)][: len(rows)]
            if not column:
                other = [*whole, rows[put]]
        prepared, one = scores(rows)
        _, two = scores(other)
        moved = [b - a for a, b in zip(one, two, strict=True)]
        assert max(map(abs, moved)) <= prepared.mechanism.sensitivity
        if prepared.mechanism.monotonic:
            assert min(moved) >= 0 or max(moved) <= 0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: hm.AboveThreshold("month < 3", 1), r"^filters: .* is no list"),
        (lambda: hm.AboveThreshold({}, 1), r"^candidates: none are given"),
        (lambda: hm.AboveThreshold(MONTHS, "many"), r"^threshold: 'many' is no finite number"),
        (lambda: hm.AboveThreshold(MONTHS, float("nan")), r"^threshold: nan"),
        (lambda: hm.AboveThreshold(MONTHS, 1, limit=0), r"^limit: 0"),
        (lambda: hm.AboveThreshold(MONTHS, 1, of=hm.Mean("pay", 0, 1)), r"^of: "),
    ],
)
def test_bad_arguments_are_refused(build, message):
    with pytest.raises(InvalidQuery, match=message):
        build()


def test_groups_are_refused_and_previews_are_given(table):
    asked = hm.AboveThreshold(MONTHS, 450)
    with pytest.raises(InvalidQuery, match=r"^by: "):
        table.ask(asked, by=Keys("month", [1, 2]), epsilon=1)
    assert table.remaining == hm.Pure(10**6)
    assert table.preview(asked, epsilon=1, rows=1000).rmse == pytest.approx(4, rel=0.1)
    assert eval(repr(asked), {"AboveThreshold": hm.AboveThreshold}) == asked
    assert len({asked, hm.AboveThreshold(MONTHS, 450)}) == 1


def test_more_names_than_filters_are_refused():
    with pytest.raises(hm.InvalidQuery, match="limit: 5 names of 2 filters; ask for fewer"):
        hm.AboveThreshold({"a": "x > 0", "b": "x > 1"}, 1, limit=5)
