"""Robust and coordinatewise centres through the door."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.procedures.location import Composite, CoordinateMedian, RobustLocation
from halfmask.procedures.location.budget import Budget
from halfmask.procedures.location.robust import Stages

BUDGET = hm.Approximate(1000, "0.01")
PRICE = {"epsilon": 2, "delta": "1e-6"}


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + np.arange(d)


def asked(X, query, **price):
    return hm.open(X, budget=BUDGET).ask(query, **(price or PRICE))


def far(release, d):
    return np.abs(np.array(release.value) - np.arange(d)).max()


@pytest.mark.parametrize("query", [RobustLocation, CoordinateMedian])
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


@pytest.mark.parametrize("query", [RobustLocation(0, 100), CoordinateMedian(0, 100)])
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


def test_a_location_needs_rho_or_a_delta():
    curator = hm.open(normal(50, 2), budget=BUDGET)
    for price in ({"epsilon": 1}, {"mu": 1}):
        with pytest.raises(hm.InvalidQuery, match="price"):
            curator.ask(RobustLocation(0, 10), **price)
    assert curator.remaining == BUDGET


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


def test_units_and_filters_are_kept():
    table = {"u": np.repeat(np.arange(2000), 2), "x": np.repeat(normal(2000, 1)[:, 0], 2)}
    table["x"][1::2] = 90.0  # the second row of each unit; one of both is kept
    curator = hm.open(table, unit="u", budget=BUDGET)
    release = curator.ask(CoordinateMedian(0, 100, columns=["x"]), where="x < 50", **PRICE)
    assert abs(release.value[0]) < 0.2


def test_stages_spend_what_their_price_is_worth_and_no_more():
    """The measurements of one run, added up; the composite refuses stages that would spend more."""
    spent = []
    query, setting = RobustLocation(0, 100), None
    curator = hm.open(normal(3000, 4), budget=BUDGET)
    setting = curator._setting(None, None)
    composite = query.prepare(setting, hm.Approximate(1, "1e-6"))
    assert isinstance(composite, Composite)
    exact = curator._source.points(composite.request)

    def measure(measurement):
        spent.append(measurement.cost.in_measure(composite.inside.measure).amounts[0])
        return measurement.read(measurement.release(exact, None))

    composite.stages.run(composite.inside, measure)
    assert 0.98 * composite.inside.rho < sum(spent) <= composite.inside.rho
    assert composite.inside.at_delta("1e-6").epsilon <= 1

    class Greedy(Stages):
        def run(self, price, measure):
            super().run(price, measure)
            return super().run(price, measure)

    stages = composite.stages
    greedy = Greedy(stages.region, stages.points, stages.moved, stages.asked)
    with pytest.raises(hm.BudgetExhausted):
        Composite(stages.points, greedy, composite.cost, composite.inside).release(exact, None)


@pytest.mark.parametrize("n", [100, 10_000, 10**6])
@pytest.mark.parametrize("d", [1, 10, 200])
@pytest.mark.parametrize("rho", [1e-4, 0.1])
def test_shares_of_a_budget_are_a_split(n, d, rho):
    budget = Budget.plan(n, d, rho, 40.0, 2)
    parts = (budget.count, budget.medians, budget.scales, budget.radii, budget.refinement)
    assert min(parts) > 0
    assert sum(parts) == 1


@pytest.mark.parametrize(("n", "d", "epsilon"), [(4000, 2, "0.5"), (6000, 10, 1), (20_000, 20, 1)])
def test_the_error_is_the_predicted_one(n, d, epsilon):
    """Root mean square over 12 d coordinates, within 35 %: five deviations for 24 of them."""
    errors = []
    for seed in range(12):
        X = normal(n, d, seed)
        release = asked(X, RobustLocation(0, 60), epsilon=epsilon, delta="1e-6")
        errors.append(np.array(release.value) - np.arange(d))
    preview = hm.open(X, budget=BUDGET).preview(
        RobustLocation(0, 60), rows=n, epsilon=epsilon, delta="1e-6"
    )
    allowed = 1 + 5 / np.sqrt(2 * 12 * d)
    found = np.sqrt(np.mean(np.square(errors)))
    assert preview.rmse / allowed < found < preview.rmse * allowed
