"""The door: what it charges, when it reads, and what it lets out."""

import json
import pickle
import threading

import numpy as np
import pytest

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.privacy import Purse
from halfmask.room import Room

PAY = {
    "employee_id": [1, 1, 2, 3, 4, 5],
    "dept": ["ops", "r&d", "ops", "ops", None, "r&d"],
    "pay": [40_000.0, 42_000.0, 55_000.0, float("nan"), 61_000.0, 70_000.0],
}
KINDS = {"dept": "text"}
MEAN = hm.Mean("pay", 0, 100_000)


def opened(budget=10, **options):
    return hm.open(PAY, schema=KINDS, budget=budget, **options)


class Spy:
    """A source that counts its tallies, or fails in them."""

    def __init__(self, inner, error=None):
        self.inner, self.error, self.tallies = inner, error, 0
        self.schema = inner.schema
        self.name = inner.name

    def tally(self, tally):
        self.tallies += 1
        if self.error:
            raise self.error
        return self.inner.tally(tally)

    def close(self):
        self.inner.close()


def spied(error=None, **options):
    curator = opened(**options)
    spy = Spy(curator._source, error)
    return hm.Curator(spy, curator.unit, curator.ledger, curator._words), spy


def test_ten_asks_of_a_tenth_fit_a_budget_of_one_and_an_eleventh_does_not():
    curator, spy = spied(budget=1)
    for _ in range(10):
        curator.ask(hm.Count(), epsilon=0.1)
    with pytest.raises(hm.BudgetExhausted, match=r"0\.1"):
        curator.ask(hm.Count(), epsilon=0.1)
    assert spy.tallies == 10
    assert curator.ledger.spent == hm.Pure(1)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        ({"query": hm.Mean("pya", 0, 1), "epsilon": 1}, "did you mean 'pay'"),
        ({"query": hm.Mean("dept", 0, 1), "epsilon": 1}, "a number is needed"),
        ({"query": MEAN}, "give one of epsilon, rho or mu"),
        ({"query": MEAN, "epsilon": 1, "mu": 1}, "epsilon and mu given"),
        ({"query": MEAN, "rho": 1, "delta": 1e-6}, "delta: goes with epsilon"),
        ({"query": MEAN, "epsilon": 0}, "epsilon"),
        ({"query": MEAN, "epsilon": -1}, "epsilon"),
        ({"query": MEAN, "epsilon": float("nan")}, "epsilon"),
        ({"query": MEAN, "epsilon": float("inf")}, "epsilon"),
        ({"query": MEAN, "epsilon": 5e-324}, "epsilon"),
        ({"query": MEAN, "epsilon": True}, "epsilon"),
        ({"query": MEAN, "epsilon": 1, "where": "pya > 3"}, "did you mean 'pay'"),
        ({"query": MEAN, "epsilon": 1, "where": "pay >"}, "where"),
        ({"query": MEAN, "epsilon": 1, "where": 3}, "where"),
        ({"query": MEAN, "epsilon": 1, "by": "dept"}, "Keys"),
        ({"query": MEAN, "epsilon": 1, "by": hm.Keys("dpt", ["ops"])}, "did you mean 'dept'"),
        ({"query": hm.Count, "epsilon": 1}, "Count"),
        ({"query": "Count()", "epsilon": 1}, "Count"),
        ({"query": {}, "epsilon": 1}, "no query"),
        ({"query": {"n": hm.Count(), "m": 3}, "epsilon": 1}, "'m'"),
        ({"query": {"n": hm.Count()}, "epsilon": 1, "shares": {"m": 1}}, "shares"),
        (
            {"query": {"n": hm.Count(), "m": MEAN}, "epsilon": 1, "shares": {"n": 0.3, "m": 0.3}},
            "sum",
        ),
        ({"query": MEAN, "mu": 1}, "gdp"),
    ],
)
def test_what_the_schema_or_price_shows_is_refused_before_the_charge(ask, reason):
    curator, spy = spied()
    with pytest.raises(hm.InvalidQuery, match=reason):
        curator.ask(**ask)
    assert spy.tallies == 0
    assert not curator.ledger.entries()


@pytest.mark.parametrize(
    "bounds", [(5, 3), (3, 3), (0, float("inf")), (float("nan"), 1), ("a", 1), (None, 1), (0, True)]
)
@pytest.mark.parametrize("query", [hm.Sum, hm.Mean, hm.Variance, hm.StandardDeviation])
def test_bad_bounds_cannot_be_built(query, bounds):
    with pytest.raises(hm.InvalidQuery, match="bounds"):
        query("pay", *bounds)


@pytest.mark.parametrize("edges", [[], [1], [3, 1], [1, 1], [0, float("nan")], ["a", "b"], 7])
def test_bad_edges_cannot_be_built(edges):
    with pytest.raises(hm.InvalidQuery, match=r"edges|Bins|bins"):
        hm.Histogram("pay", edges)


def test_the_price_is_charged_before_the_rows_are_read_and_stays_when_reading_fails():
    canary = "row 17 is Ada Lovelace"
    curator, _spy = spied(error=RuntimeError(canary))
    with pytest.raises(hm.ReleaseFailed) as caught:
        curator.ask(hm.Count(), epsilon=1)
    assert curator.ledger.spent == hm.Pure(1)
    error = caught.value
    assert canary not in str(error)
    assert error.__context__ is None
    assert error.__cause__ is None


def test_a_purse_stops_a_procedure_that_asks_for_more_than_its_price():
    curator, spy = spied()
    room = Room(spy, curator._words, Purse(hm.Pure(1)))
    setting = curator._setting(None, None)
    room.measure(hm.Count().prepare(setting, hm.Pure("0.6")))
    with pytest.raises(hm.BudgetExhausted):
        room.measure(hm.Count().prepare(setting, hm.Pure("0.6")))
    assert spy.tallies == 1


def test_what_is_asked_together_shares_one_price_and_one_pass():
    curator, spy = spied()
    asked = {
        "n": hm.Count(),
        "total": hm.Sum("pay", 0, 100_000),
        "pay": MEAN,
        "spread": hm.StandardDeviation("pay", 0, 100_000),
    }
    answers = curator.ask(asked, epsilon=1)
    assert list(answers) == list(asked)
    assert curator.ledger.spent == hm.Pure(1)
    assert spy.tallies == 1
    assert len({release.provenance for release in answers.values()}) == 1


def test_sharing_one_price_beats_splitting_it():
    """Count, sum and mean together have less error than a third of the price gives to each."""
    curator = hm.open({"pay": np.full(1000, 50_000.0)}, budget=10**5)
    asked = {"n": hm.Count(), "total": hm.Sum("pay", 0, 100_000), "pay": MEAN}
    shared = curator.preview(asked, epsilon=1, rows=1000)
    for name, query in asked.items():
        alone = curator.preview(query, epsilon=1 / 3, rows=1000)
        assert shared[name].rmse < 0.8 * alone.rmse


def test_shares_are_taken_as_told():
    curator = opened()
    asked = {"n": hm.Count(), "ages": hm.Histogram("pay", [0, 1, 2])}
    told = curator.preview(asked, epsilon=1, rows=10, shares={"n": "0.9", "ages": "0.1"})
    assert told["n"].rmse == pytest.approx(curator.preview(hm.Count(), epsilon=0.9, rows=10).rmse)


def test_relative_errors_are_alike_where_the_price_is_split():
    curator = opened()
    asked = {"n": hm.Count(), "bins": hm.Histogram("pay", [0, 25e3, 50e3, 75e3, 100e3])}
    told = curator.preview(asked, epsilon="0.01", rows=1000)
    assert told["n"].rmse / 1000 == pytest.approx(told["bins"].rmse / 250, rel=0.01)


def test_groups_are_answered_for_every_public_key_and_no_other():
    curator = opened(budget=10**6)
    release = curator.ask(hm.Count(), by=hm.Keys("dept", ["ops", "hr", None]), epsilon=10**5)
    assert {key: round(value) for key, value in release.value.items()} == {
        "ops": 3,
        "hr": 0,
        None: 1,
    }
    assert len(release) == 3
    assert release["hr"].value == release.value["hr"]
    frame = release.to_frame()
    assert list(frame.columns) == ["dept", "value", "low", "high"]
    assert release.interval()["hr"] == release["hr"].interval()
    with pytest.raises(KeyError):
        release["r&d"]


def test_groups_compose_in_parallel():
    """All groups of one ask have the noise of one, and cost what one costs."""
    curator = opened()
    release = curator.ask(hm.Count(), by=hm.Keys("dept", ["ops", "r&d", "hr"]), epsilon=1)
    assert release.cost == hm.Pure(1)
    assert curator.ledger.spent == hm.Pure(1)
    assert release.mechanism == ("discrete Laplace, scale 1",)


def test_a_filter_keeps_only_its_rows():
    curator = opened(budget=10**6)
    high = curator.ask(hm.Count(), where="pay >= 50_000 and dept in ['ops', 'r&d']", epsilon=10**5)
    assert high.value == 2


def test_a_unit_counts_only_its_rows_per_unit():
    one = hm.open(PAY, schema=KINDS, unit="employee_id", budget=10**6)
    two = hm.open(PAY, schema=KINDS, unit="employee_id", rows_per_unit=2, budget=10**6)
    assert one.ask(hm.Count(), epsilon=10**5).value == 5
    assert two.ask(hm.Count(), epsilon=10**5).value == 6
    assert one.ask(hm.CountDistinct(), epsilon=10**5).value == 5


def test_a_release_says_all_that_a_reader_needs():
    curator = opened()
    release = curator.ask(MEAN, epsilon=0.5, where="dept != 'hr'")
    told = json.loads(release.to_json())
    assert told["query"] == "Mean('pay', 0, 100000)"
    assert told["value"] == release.value
    assert told["interval"]["bounds"] == list(release.interval(0.95))
    assert told["cost"] == {"measure": "pure", "epsilon": "0.5"}
    assert told["unit"] == "one row, added or removed"
    assert told["relation"] == release.relation == "add_remove"
    assert told["private"] is True
    assert told["where"]
    assert told["post_processing"]
    assert told["ledger"]["head"] == curator.ledger.head
    assert "epsilon 0.5" in release.statement
    assert "<table>" in release._repr_html_()


def test_seeded_noise_says_so_in_every_rendering():
    curator = opened(words=seeded_words(1))
    for release in (
        curator.ask(MEAN, epsilon=1),
        curator.ask(MEAN, by=hm.Keys("dept", ["ops"]), epsilon=1),
    ):
        assert release.seeded
        assert "NOT PRIVATE" in str(release)
        assert "NOT PRIVATE" in release._repr_html_()
        assert "NOT PRIVATE" in release.to_json()
        assert release.to_dict()["private"] is False
        assert not release.to_frame()["private"].any()


def test_names_are_escaped_in_html():
    curator = hm.open({"<script>": [1.0, 2.0]}, budget=1)
    release = curator.ask(hm.Mean("<script>", 0, 1), epsilon=1)
    assert "<script>" not in release._repr_html_()


def test_a_repeated_request_gets_the_same_release_free_of_charge(tmp_path):
    path, file = tmp_path / "pay.ledger", tmp_path / "pay.csv"
    file.write_text("dept,pay\nops,40000\nr&d,42000\nops,55000\n")
    asked = {"n": hm.Count(), "pay": MEAN}
    by = hm.Keys("dept", ["ops", "r&d"])
    with hm.open(file, budget=2, ledger=path) as curator:
        first = curator.ask(asked, by=by, epsilon=1, request_id="a")
    with hm.open(file, ledger=path) as again:
        second = again.ask(asked, by=by, epsilon=1, request_id="a")
        assert again.ledger.spent == hm.Pure(1)
        for name in first:
            assert first[name].to_dict() == second[name].to_dict()
            assert first[name].interval(0.5) == second[name].interval(0.5)
        with pytest.raises(hm.HalfmaskError):
            again.ask(hm.Count(), epsilon=1, request_id="a")
    with hm.open(PAY, schema=KINDS, ledger=path) as other, pytest.raises(hm.HalfmaskError):
        other.ask(asked, by=by, epsilon=1, request_id="a")


def test_a_preview_reads_no_row_and_spends_nothing():
    curator, spy = spied()
    for query in (hm.Count(), MEAN, {"n": hm.Count(), "pay": MEAN}):
        curator.preview(query, epsilon=1, rows=100, by=hm.Keys("dept", ["ops"]))
    assert spy.tallies == 0
    assert not curator.ledger.entries()
    for rows in (0, -1, 2.5, True, "many"):
        with pytest.raises(hm.InvalidQuery, match="rows"):
            curator.preview(MEAN, epsilon=1, rows=rows)


def test_racing_threads_never_overspend():
    curator = opened(budget=5)
    refused = []

    def spend():
        for _ in range(5):
            try:
                curator.ask(hm.Count(), epsilon="0.5")
            except hm.BudgetExhausted:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert curator.ledger.spent == hm.Pure(5)
    assert len(refused) == 10


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (hm.Pure(2), {"epsilon": 1}),
        (hm.Approximate(2, 1e-6), {"epsilon": 1, "delta": 1e-7}),
        (hm.Approximate(2, 1e-6), {"epsilon": 1}),
        (hm.ZCDP(2), {"rho": 0.5}),
        (hm.ZCDP(2), {"epsilon": 1}),
        (hm.ZCDP(2), {"mu": 1}),
        (hm.GDP(2), {"mu": 1}),
        (hm.GDP(2), {"epsilon": 1}),
    ],
    ids=str,
)
def test_every_query_takes_every_price_that_the_ledger_converts(budget, price):
    queries = (
        hm.Count(),
        hm.CountDistinct(),
        hm.Sum("pay", 0, 100_000),
        MEAN,
        hm.Variance("pay", 0, 100_000),
        hm.Histogram("pay", [0, 50_000, 100_000]),
    )
    for query in queries:
        curator = opened(budget=budget)
        release = curator.ask(query, by=hm.Keys("dept", ["ops", "r&d"]), **price)
        assert release.interval(0.9)
        assert curator.ledger.spent.amounts[0] > 0


@pytest.mark.parametrize("rows", [[], [1.0], [float("nan")] * 3, [5e-324, -0.0], [1e308, -1e308]])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_what_only_the_rows_show_gets_an_ordinary_noisy_answer(rows, relation):
    curator = hm.open({"x": np.array(rows, dtype=float)}, budget=100, relation=relation)
    for query in (
        hm.Count(),
        hm.CountDistinct(),
        hm.Sum("x", 0, 1),
        hm.Mean("x", 0, 1),
        hm.Variance("x", 0, 1),
        hm.StandardDeviation("x", 0, 1),
        hm.Histogram("x", [0, 0.5, 1]),
    ):
        release = curator.ask(query, epsilon=1)
        assert np.all(np.isfinite(release.value))
        assert np.all(np.isfinite(release.interval()))
        assert release.to_json()


@pytest.mark.parametrize("bounds", [(-1e290, 1e290), (0, 1e-290), (-0.1, 0.3), (1e15, 2e15)])
def test_bounds_of_any_size_have_a_grid(bounds):
    curator = hm.open({"x": [1e308, -1e308, 0.2, 1e15]}, budget=10**6)
    for query in (hm.Sum("x", *bounds), hm.Mean("x", *bounds), hm.Variance("x", *bounds)):
        assert np.isfinite(curator.ask(query, epsilon=1).value)


@pytest.mark.parametrize("bounds", [(0, 5e-324), (1e15, 1e15 + 1)])
def test_bounds_closer_than_doubles_tell_are_refused(bounds):
    curator, spy = spied()
    with pytest.raises(hm.InvalidQuery, match="too close"):
        curator.ask(hm.Sum("pay", *bounds), epsilon=1)
    assert spy.tallies == 0


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", 0.01, 1, 100, 10**5])
def test_every_price_has_a_noise_that_can_be_drawn(epsilon):
    curator = opened(budget=10**6, unit="employee_id", rows_per_unit=3)
    for query in (hm.Count(), hm.Sum("pay", -1, 100_000), MEAN, hm.Variance("pay", 0, 1)):
        assert np.isfinite(curator.ask(query, epsilon=epsilon).value)


def test_opening_without_a_budget_or_with_a_wrong_unit_is_refused(tmp_path):
    with pytest.raises(hm.InvalidQuery, match="budget"):
        hm.open(PAY, schema=KINDS)
    with pytest.raises(hm.InvalidQuery, match="did you mean 'employee_id'"):
        hm.open(PAY, schema=KINDS, unit="employe_id", budget=1)
    with pytest.raises(hm.InvalidQuery, match="relation"):
        hm.open(PAY, schema=KINDS, relation="swap", budget=1)
    with pytest.raises(hm.HalfmaskError, match=r"none\.csv"):
        hm.open(tmp_path / "none.csv", budget=1)
    with pytest.raises(hm.InvalidQuery, match="budget"):
        hm.open(PAY, schema=KINDS, budget=1, ledger=hm.Ledger(budget=1))


def test_neither_repr_nor_pickle_shows_a_row():
    curator = hm.open({"name": ["Ada Lovelace"], "x": [123456.789]}, budget=1)
    release = curator.ask(hm.Count(), epsilon=1)
    for shown in (repr(curator), str(curator), repr(release), str(curator.ledger)):
        assert "Lovelace" not in shown
        assert "123456" not in shown
    with pytest.raises((hm.HalfmaskError, TypeError)):
        pickle.dumps(curator)


def test_a_preview_says_what_its_price_means():
    staff = hm.open({"x": [1.0]}, budget=1)
    preview = staff.preview(hm.Count(), epsilon=1, rows=100)
    assert preview.meaning.endswith("wins at most 73.2 % of the time")
    assert staff.remaining == hm.Pure(1)
