"""Robust and coordinatewise centres through the door."""

import re
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.procedures.location import (
    BoxMedian,
    Composite,
    CoordinateMedian,
    Location,
    RobustLocation,
    SpatialMedian,
)
from halfmask.procedures.location.budget import Budget
from halfmask.procedures.location.stages import RobustStages
from halfmask.queries import price_of
from halfmask.queries.location import Signs

BUDGET = hm.Approximate(1000, "0.01")
PRICE = {"epsilon": 2, "delta": "1e-6"}


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + np.arange(d)


def asked(X, query, **price):
    budget = hm.ZCDP(10) if "rho" in price else BUDGET
    return hm.open(X, budget=budget).ask(query, **(price or PRICE))


def far(release, d):
    return np.abs(np.array(release.value) - np.arange(d)).max()


FIVE = [RobustLocation, CoordinateMedian, BoxMedian, SpatialMedian, partial(Location, rows=4000)]


@pytest.mark.parametrize("query", FIVE)
def test_a_centre_is_found_among_outliers(query):
    """4000 normal points, every tenth moved far away; the bound is 8 deviations of the error."""
    X = normal(4000, 5)
    X[::10] += 40
    assert far(asked(X, query(0, 1000)), 5) < 0.35


def test_outliers_that_move_medians_do_not_move_a_robust_location():
    X = normal(6000, 10)
    X[: len(X) // 4] += 10
    release = asked(X, RobustLocation(0, 100))
    assert far(release, 10) < 0.2 < np.median(X - np.arange(10), axis=0).min()


def test_stretched_axes_and_integer_lattices():
    X = normal(5000, 3) * [1e-3, 1.0, 1e6]
    release = asked(X, RobustLocation(0, (1.0, 100.0, 1e8)))
    assert (np.abs(np.array(release.value) / [1e-3, 1, 1e6] - np.arange(3)) < 0.3).all()
    lattice = np.rint(normal(5000, 3) * 3)
    assert far(asked(lattice / 3, RobustLocation(0, 100)), 3) < 0.4


@pytest.mark.parametrize(
    "query",
    [
        RobustLocation(0, 100),
        CoordinateMedian(0, 100),
        BoxMedian(0, 100),
        SpatialMedian(0, 100),
    ],
)
@pytest.mark.parametrize(
    "table",
    [
        np.empty((0, 2)),
        np.ones((1, 2)),
        np.full((500, 2), 7.0),
        np.full((50, 2), np.nan),
        np.array([[np.inf, -np.inf]] * 30),
        np.full((10, 1), 1e300),
        normal(5, 40),
    ],
    ids=["none", "one", "equal", "missing", "infinite", "beyond the bounds", "n below d"],
)
def test_strange_tables_get_an_answer_inside_the_bounds(query, table):
    release = asked(table, query)
    assert len(release.value) == table.shape[1]
    assert all(-100 <= x <= 100 for x in release.value)


def test_what_is_infeasible_is_refused_before_it_costs():
    curator = hm.open(normal(200, 20), budget=BUDGET)
    with pytest.raises(hm.InvalidQuery, match=r"about \d+ are needed"):
        curator.ask(RobustLocation(0, 1e6, rows=200), epsilon="0.1", delta="1e-6")
    assert curator.remaining == BUDGET


def test_a_location_needs_a_delta_or_a_currency_of_gaussian_noise():
    curator = hm.open(normal(50, 2), budget=BUDGET)
    with pytest.raises(hm.InvalidQuery, match="price"):
        curator.ask(RobustLocation(0, 10), epsilon=1)
    assert curator.remaining == BUDGET


@pytest.mark.parametrize("price", [{"rho": "0.02"}, {"mu": "0.2"}])
def test_a_location_is_priced_in_the_currencies_of_gaussian_noise(price):
    curator = hm.open(normal(4000, 3), budget=price_of(**price))
    assert far(curator.ask(RobustLocation(0, 100), **price), 3) < 0.3
    assert curator.remaining.amounts == (0, 0)


def test_the_plan_of_the_article_is_taken():
    release = asked(normal(4000, 3), RobustLocation(0, 100, plan=(0.7, 0.2, 0.1)), **PRICE)
    assert far(release, 3) < 0.5
    with pytest.raises(hm.InvalidQuery, match="sum to 1"):
        RobustLocation(0, 1, plan=(0.7, 0.2, 0.2))


def test_a_repeated_request_gets_the_same_release(tmp_path):
    X = normal(800, 2)
    curator = hm.open(X, ledger=hm.Ledger(tmp_path / "l.ledger", budget=BUDGET))
    one, two = (curator.ask(RobustLocation(0, 50), request_id="centre", **PRICE) for _ in range(2))
    assert one.value == two.value
    assert one.interval() == two.interval()


def test_coordinates_bear_the_names_of_their_columns():
    table = {"tall": normal(500, 1)[:, 0], "wide": normal(500, 1)[:, 0]}
    for query in (RobustLocation(0, 9), CoordinateMedian(0, 9, columns=["wide", "tall"])):
        release = asked(table, query)
        names = query.columns or ("tall", "wide")
        assert tuple(cell.bin for cell in release.cells()) == names


def test_units_and_filters_are_kept():
    table = {"u": np.repeat(np.arange(2000), 2), "x": np.repeat(normal(2000, 1)[:, 0], 2)}
    table["x"][1::2] = 90.0  # the second row of each unit; one of both is kept
    curator = hm.open(table, unit="u", budget=BUDGET)
    release = curator.ask(CoordinateMedian(0, 100, columns=["x"]), where="x < 50", **PRICE)
    assert abs(release.value[0]) < 0.2


@pytest.mark.parametrize("whiten", [False, True])
def test_stages_spend_what_their_price_is_worth_and_no_more(whiten):
    """The measurements of one run, added up; the composite refuses stages that would spend more."""
    spent = []
    query, setting = RobustLocation(0, 100, whiten=whiten), None
    curator = hm.open(normal(3000, 4), budget=BUDGET)
    setting = curator._setting(None, None)
    composite = query.prepare(setting, hm.Approximate(1, "1e-6"))
    assert isinstance(composite, Composite)
    exact = curator._source.points(composite.request)

    def measure(measurement):
        spent.append(measurement.cost)
        return measurement.read(measurement.release(exact, None))

    composite.stages.run(composite.inside, measure)
    squared, most = sum(cost.squared for cost in spent), composite.inside.squared
    assert 0.9999 * most < squared <= most
    assert composite.inside == composite.cost.largest_gdp()

    class Greedy(RobustStages):
        def run(self, price, measure):
            super().run(price, measure)
            return super().run(price, measure)

    stages = composite.stages
    greedy = Greedy(*(getattr(stages, field.name) for field in fields(stages)))
    with pytest.raises(hm.BudgetExhausted):
        Composite(stages.points, greedy, composite.cost, composite.inside).release(exact, None)


def test_whitened_steps_err_less_along_short_axes_and_no_more_along_the_columns():
    """Root mean squares of 16 errors, correlations of 0.99: a ratio of 0.65, false alarm 1e-6."""
    shape = 0.99 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    root, errors = np.linalg.cholesky(shape), {}
    for whiten in (False, True):
        errors[whiten] = []
        for seed in range(16):
            X = np.random.default_rng(seed).normal(size=(5000, 4)) @ root.T
            errors[whiten].append(asked(X, RobustLocation(0, 100, whiten=whiten)).value)
    plain, turned = np.array(errors[False]), np.array(errors[True])
    short = np.linalg.inv(root).T
    assert np.linalg.norm(turned @ short) < 0.85 * np.linalg.norm(plain @ short)
    assert np.linalg.norm(turned) < 1.6 * np.linalg.norm(plain)


@pytest.mark.parametrize("whiten", [False, True])
def test_intervals_cover_where_the_steps_end_without_noise(whiten):
    """The noise of the steps taken out: at least 90 % of 40 * 3 coordinates but for 1e-6."""
    X = normal(20_000, 3) @ [[1, 0, 0], [0.9, 0.3, 0], [0, 0, 1]]
    curator = hm.open(X, budget=hm.ZCDP(9))
    query = RobustLocation(0, 100, whiten=whiten)
    composite = query.prepare(curator._setting(None, None), hm.ZCDP("0.02"))
    exact, held = curator._source.points(composite.request), 0
    for _ in range(40):
        replies = []

        def noisy(measurement, replies=replies):
            replies.append(measurement.read(measurement.release(exact, None)))
            return replies[-1]

        def clean(measurement, replies=replies):
            reply = replies.pop(0)
            signs = isinstance(measurement, Signs)
            return measurement.read([measurement.sums(exact)]) if signs else reply

        found = composite.stages.run(composite.inside, noisy)
        ended = composite.stages.run(composite.inside, clean)
        pairs = zip(found.interval(0.9), ended.value, strict=True)
        held += sum(low <= x <= high for (low, high), x in pairs)
    assert held >= stats.binom.ppf(1e-6, 120, 0.9)


@pytest.mark.parametrize("n", [100, 10_000, 10**6])
@pytest.mark.parametrize("d", [1, 10, 200])
@pytest.mark.parametrize("rho", [1e-4, 0.1])
def test_shares_of_a_budget_are_a_split(n, d, rho):
    budget = Budget.plan(n, d, hm.ZCDP(rho), 40.0, 2)
    parts = (budget.count, budget.medians, budget.scales, budget.radii, budget.refinement)
    assert min(parts) > 0
    assert sum(parts) == 1


CASES = [
    (RobustLocation, 4000, 2, {"epsilon": "0.5", "delta": "1e-6"}),
    (RobustLocation, 20_000, 20, {"epsilon": 1, "delta": "1e-7"}),
    (CoordinateMedian, 4000, 3, {"epsilon": "0.5"}),
    (CoordinateMedian, 6000, 10, {"rho": "0.01"}),
    (BoxMedian, 2000, 2, {"epsilon": "0.5"}),
    (BoxMedian, 5000, 10, {"epsilon": 1}),
    (SpatialMedian, 1500, 10, {"epsilon": "0.5"}),
]


@pytest.mark.parametrize(("query", "n", "d", "price"), CASES)
def test_the_error_is_the_predicted_one(query, n, d, price):
    """Root mean square over 24 d coordinates, within five deviations and a fifth."""
    errors = []
    for seed in range(24):
        X = normal(n, d, seed)
        release = asked(X, query(0, 60), **price)
        errors.append(np.array(release.value) - np.arange(d))
    preview = hm.open(X, budget=BUDGET).preview(query(0, 60), rows=n, **price)
    allowed = 1.2 * (1 + 5 / np.sqrt(2 * 24 * d))
    found = np.sqrt(np.mean(np.square(errors)))
    assert preview.rmse / allowed < found < preview.rmse * allowed


@pytest.mark.parametrize(
    ("rows", "d", "price", "best"),
    [
        (1000, 2, {"epsilon": "0.5"}, SpatialMedian),
        (10_000, 50, {"epsilon": "0.5", "delta": "1e-6"}, RobustLocation),
        (10_000, 50, {"epsilon": "0.5"}, BoxMedian),
        (2600, 20, {"rho": "0.002"}, RobustLocation),
    ],
)
def test_the_best_estimator_is_chosen_from_public_facts(rows, d, price, best):
    """Whatever the table: no row is read."""
    curator = hm.open(np.zeros((3, d)), budget=BUDGET)
    setting = curator._setting(None, None)
    assert type(Location(0, 60, rows=rows).chosen(setting, price_of(**price))) is best
    sure = Location(0, 60, rows=10**6, outliers=True).chosen(setting, hm.Approximate(1, "1e-6"))
    assert type(sure) is RobustLocation


RADIUS = 2.0**19  # so that deviations of 1 are the least that are supposed


def least_feasible(query, d, price):
    """The least number of rows that it takes to be enough."""
    setting = hm.open(np.zeros((3, d)), budget=BUDGET)._setting(None, None)

    def enough(rows):
        expected = query(0, RADIUS).expected(setting, price_of(**price), rows)
        return "too few" not in expected.assuming

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@pytest.mark.parametrize("d", [1, 2, 10])
@pytest.mark.parametrize("query", [BoxMedian, CoordinateMedian, SpatialMedian, RobustLocation])
def test_what_is_called_feasible_is_found(query, d):
    """At the least number of rows, failures are at most 1 in 100: false alarm 1e-6 for that."""
    price = {"epsilon": "0.5"} | ({"delta": "1e-6"} if query is RobustLocation else {})
    rows, failures = least_feasible(query, d, price), 0
    draws = 1 if query is SpatialMedian else 10
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(rows, d))
        if seed % 2:
            X /= np.abs(np.random.default_rng(seed + 99).normal(size=(rows, 1)))  # Cauchy
        curator = hm.open(X, budget=BUDGET)
        for _ in range(draws):
            found = np.array(curator.ask(query(0, RADIUS), **price).value)
            failures += bool(np.abs(found).max() > 20)
    assert failures <= stats.binom.isf(1e-6, 20 * draws, 0.01)


@pytest.mark.parametrize("octaves", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("d", [1, 3])
def test_points_are_found_in_bounds_that_are_few_deviations_wide(d, octaves):
    """Points at one end of the bounds, a quarter at the other: at the least number of rows that is
    feasible, more than 1.5 deviations off at most 1 in 100 times; false alarm 1e-6 for that.

    Medians were not asked for where the bounds are up to 64 deviations apart: all of these failed.
    """
    radius = 2.0 ** (octaves - 1)
    query = RobustLocation(0, radius, deviation=1)
    setting = hm.open(np.zeros((3, d)), budget=BUDGET)._setting(None, None)
    rows = 50
    while "too few" in query.expected(setting, hm.GDP(1), rows).assuming:
        rows += 1
    failures = 0
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(rows, d)) - 0.9 * radius
        X[: rows // 4] = radius
        found = hm.open(X, budget=hm.GDP(1)).ask(query, mu=1)
        failures += bool(np.abs(np.array(found.value) + 0.9 * radius).max() > 1.5)
    assert failures <= stats.binom.isf(1e-6, 20, 0.01)


def test_where_no_estimator_will_do_the_needed_rows_are_said():
    curator = hm.open(np.zeros((3, 30)), budget=BUDGET)
    with pytest.raises(hm.InvalidQuery, match=r"about \d+ would do") as refusal:
        curator.ask(Location(0, 1000, rows=300), epsilon="0.1", delta="1e-6")
    enough = int(re.search(r"about (\d+)", str(refusal.value)).group(1))
    curator.ask(Location(0, 1000, rows=enough), epsilon="0.1", delta="1e-6")
    with pytest.raises(hm.InvalidQuery, match="too few"):
        curator.ask(Location(0, 1000, rows=enough * 9 // 10), epsilon="0.1", delta="1e-6")


def test_a_supposed_deviation_tells_what_is_feasible():
    curator = hm.open(np.zeros((3, 5)), budget=BUDGET)
    known, unknown = Location(0, 100, rows=320, deviation=10), Location(0, 100, rows=320)
    curator.ask(known, epsilon="0.5")
    with pytest.raises(hm.InvalidQuery, match="too few"):
        curator.ask(unknown, epsilon="0.5")
    with pytest.raises(hm.InvalidQuery, match="deviation"):
        Location(0, 100, rows=5, deviation=0)
    with pytest.raises(hm.InvalidQuery, match="rows: None"):
        Location(0, 100)


def test_functions_on_arrays_charge_what_they_are_given(tmp_path):
    X = normal(3000, 2)
    book = hm.Ledger(tmp_path / "l.ledger", budget=hm.Approximate(4, "1e-5"))
    for function in (
        hm.robust_location,
        hm.coordinatewise_median,
        hm.box_median,
        hm.spatial_median,
    ):
        found = function(X, epsilon=1, delta="1e-6", radius=50, ledger=book)
        assert far(found, 2) < 0.3
        assert found.cost == hm.Approximate(1, "1e-6")
    assert book.remaining.epsilon == 0
    with pytest.raises(hm.BudgetExhausted):
        hm.box_median(X, epsilon=1, radius=50, ledger=book)
