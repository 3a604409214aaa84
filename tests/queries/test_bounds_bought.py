"""Bounds that are paid for: ranges by coverage, means that buy theirs, tables of suggestions."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import halfmask as hm
from halfmask.errors import InvalidQuery
from halfmask.plan import Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure
from halfmask.procedures.bounds_bought import BoundsBought, Within
from halfmask.queries import Setting, Tails
from halfmask.sources import open_source

PAY = np.random.default_rng(5).lognormal(10.5, 0.5, 20_000)


@pytest.fixture(scope="module")
def curator():
    columns = {"pay": PAY, "same": np.full(PAY.size, 41_000.0), "g": np.arange(PAY.size) % 2}
    return hm.open(columns | {"off": PAY - 2.0**20, "i": PAY.astype(int)}, budget=10**6)


@pytest.mark.parametrize("column", ["pay", "off", "i"])
def test_bounds_hold_the_share_that_was_asked(curator, column):
    low, high = curator.ask(hm.Bounds(column, coverage=0.9), epsilon=5).value
    values = {"pay": PAY, "off": PAY - 2.0**20, "i": PAY.astype(int)}[column]
    assert abs(((values >= low) & (values <= high)).mean() - 0.9) < 0.01


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.125}, {"mu": 0.5}], ids=str)
def test_a_mean_that_buys_its_bounds_is_near_the_plain_one(price):
    """Nearer than half the error of bounds that are ten times too wide, whatever the currency."""
    budget = {"epsilon": Pure(10**4), "rho": ZCDP(10**4), "mu": GDP(999)}[next(iter(price))]
    curator = hm.open({"pay": PAY}, budget=budget)
    errors = []
    for _ in range(40):
        release = curator.ask(hm.Mean("pay", bounds="private"), **price)
        errors.append(abs(release.value - PAY.mean()))
        assert "privately chosen bounds" in release.post_processing[0]
    assert np.median(errors) < 150


def test_equal_values_and_groups_have_means(curator):
    """Medians of several: a bound passes the values by 2^i with probability about 2^-i."""
    private, by = hm.Mean("same", bounds="private"), Keys("g", [0, 1, 7])
    found = [curator.ask(private, epsilon=2).value for _ in range(15)]
    assert abs(np.median(found) - 41_000) < 100
    grouped = [curator.ask(hm.Mean("pay", bounds="private"), epsilon=2, by=by) for _ in range(15)]
    for g in (0, 1):
        assert abs(np.median([one.value[g] for one in grouped]) - PAY[g::2].mean()) < 500
    both = [curator.ask({"mean": private, "rows": hm.Count()}, epsilon=2) for _ in range(15)]
    assert abs(np.median([one["mean"].value for one in both]) - 41_000) < 100


def test_no_rows_and_few_rows_give_finite_means():
    for rows in ([], [5.0], [np.nan] * 3):
        curator = hm.open({"x": np.array(rows)}, budget=10)
        assert math.isfinite(curator.ask(hm.Mean("x", bounds="private"), epsilon=1).value)


def test_the_parts_cost_no_more_than_the_price():
    curator = hm.open({"pay": PAY}, budget=1)
    curator.ask(hm.Mean("pay", bounds="private", share="1/3"), epsilon=1)
    assert "0" in str(curator.remaining)
    with pytest.raises(hm.BudgetExhausted):
        curator.ask(hm.Count(), epsilon="1e-9")


def test_the_clip_bound_minimises_bias_and_noise():
    """The rows beyond are those that the noise of a sum spans, and half a scale of the choice."""
    source = open_source({"pay": PAY})
    setting = Setting(source.schema, PrivacyUnit())
    tails = Tails.least("pay", setting, Pure("0.1"), Pure("0.9"))
    assert tails.rows == math.ceil(math.sqrt(2) / 0.9 + 0.5 * 2 * 20)
    measurement = tails.prepare(setting, Pure(100))
    exact = measurement.request.answered_by(source)
    low, high = measurement.read(measurement.release(exact, None))[0].value
    assert abs(int((low > PAY).sum()) - tails.rows) <= 5
    assert abs(int((high < PAY).sum()) - tails.rows) <= 5


def test_previews_say_when_rows_are_too_few(curator):
    question = hm.Mean("pay", bounds="private")
    assert "larger share" in str(curator.preview(question, epsilon=0.5, rows=500))
    assert "larger share" not in str(curator.preview(question, epsilon=0.5, rows=10**5))
    assert isinstance(question._bought(), BoundsBought)


def test_suggestions_weigh_bias_against_noise(curator):
    release = curator.ask(hm.SuggestBounds("pay"), epsilon=1)
    low, high = release.value
    assert 0 <= low < 20_000
    assert 100_000 < high <= 2**20
    assert "outside" in release.statement
    at_small, at_large = (release.estimate.table(epsilon) for epsilon in (0.01, 100))
    assert at_small[0].upper <= at_large[0].upper
    assert [one.error for one in at_small] == sorted(one.error for one in at_small)
    clipped = np.clip(PAY, at_small[0].lower, at_small[0].upper)
    assert abs(PAY.mean() - clipped.mean()) <= 2 * at_small[0].bias + 200
    assert hm.open({"x": np.array([])}, budget=9).ask(hm.SuggestBounds("x"), epsilon=1).value


BAD = {
    "coverage: 1 is no share": lambda: hm.Bounds("x", coverage=1),
    "coverage: 'most' is no share": lambda: hm.Bounds("x", coverage="most"),
    "lower and upper are missing": lambda: hm.Mean("x"),
    'share: goes with bounds="private"': lambda: hm.Mean("x", 0, 1, share=0.1),
    "bounds: 'guess' is unknown": lambda: hm.Mean("x", bounds="guess"),
    "goes with no lower and upper": lambda: hm.Mean("x", 0, 1, bounds="private"),
    "share: must be at most 0.99": lambda: hm.Mean("x", bounds="private", share=1),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_questions_are_refused_in_words(words):
    with pytest.raises(InvalidQuery, match=words):
        BAD[words]()


@pytest.mark.parametrize(
    ("value", "doubted"), [(0.5, True), (50.0, False), (99.5, True), (1, True)]
)
def test_an_answer_at_the_edge_of_bought_bounds_is_doubted(value, doubted):
    """A hundred salaries seem to lie beyond bounds that were found at zero."""
    found = Within(SimpleNamespace(value=value, post_processing=()), 0.0, 100.0)
    assert bool(found.doubt) is doubted
