"""Sign covariances and Tyler's shape through the door."""

from dataclasses import fields

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.privacy import gdp_after_zcdp
from halfmask.procedures.location import Composite
from halfmask.procedures.location.elliptical import seen
from halfmask.procedures.scatter import SignCovariance, TylerScatter
from halfmask.procedures.scatter.tyler import TylerStages
from halfmask.queries.location import Outers

BUDGET = hm.Approximate(100_000, "0.01")
PRICE = {"epsilon": 1, "delta": "1e-6"}


def bent(d, correlation=0.9):
    """The correlations of an autoregression."""
    return correlation ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


def points(n, shape, kind="normal", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(shape)))
    if kind == "Cauchy":
        X /= np.abs(rng.normal(size=(n, 1)))
    X = X @ np.linalg.cholesky(shape).T + 3
    if kind == "outliers":
        X[: n // 4] += 10 * np.sqrt(np.diag(shape))
    return X


def asked(X, query, **price):
    budget = hm.ZCDP(100) if "rho" in price else hm.GDP(100) if "mu" in price else BUDGET
    return hm.open(X, budget=budget).ask(query, **(price or PRICE))


def off(found, shape):
    """The root mean square logarithm of the eigenvalues of one in terms of the other, traces 1."""
    root = np.linalg.inv(np.linalg.cholesky(shape))
    logs = np.log(np.linalg.eigvalsh(root @ np.array(found) @ root.T))
    return float(np.std(logs))


@pytest.mark.parametrize("kind", ["normal", "outliers", "Cauchy"])
@pytest.mark.parametrize("stretch", [1.0, 1e6])
def test_a_shape_is_found_whatever_the_tails_and_the_axes(kind, stretch):
    """At 10 000 points in 6 dimensions the error is about 0.05; one axis 1e6 times another."""
    units = np.array([1, stretch, 1, 1, 1, 1])
    shape = bent(6) * np.outer(units, units)
    release = asked(points(10_000, shape, kind), TylerScatter(0, tuple(1000 * units)))
    value = np.array(release.value)
    assert off(value, shape) < 0.12
    assert (value == value.T).all()
    assert np.trace(value) == pytest.approx(6)
    assert not release.doubt


def test_points_that_are_kept_tell_more_of_heavy_tails_and_nothing_beside_outliers():
    shape = np.eye(5)
    heavy, wrong = points(8000, shape, "Cauchy"), points(8000, shape, "outliers")
    query = TylerScatter(0, 1000, outliers=False)
    assert off(asked(heavy, query).value, shape) < 0.12
    assert off(asked(wrong, query).value, shape) > 0.5
    assert off(asked(wrong, TylerScatter(0, 1000)).value, shape) < 0.15


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_steps_make_up_for_axes_of_different_lengths(steps):
    shape = bent(5, 0.99)
    release = asked(points(20_000, shape), TylerScatter(0, 100, steps=steps))
    assert (off(release.value, shape) < 0.1) == (steps > 1)


def test_a_size_is_that_of_the_covariance_of_normal_points():
    shape = bent(5) * 49
    release = asked(points(20_000, shape), TylerScatter(0, 1000, size=True))
    assert np.trace(release.value) == pytest.approx(5 * 49, rel=0.12)
    assert asked(points(20_000, shape), TylerScatter(0, 1000, steps=1, size=True)).value[0][0] > 30


def signs(X, centre):
    u = X - centre
    length = np.linalg.norm(u, axis=1, keepdims=True)
    u = u[length[:, 0] > 0] / length[length[:, 0] > 0]
    return u.T @ u / len(u)


PRICES = [{"epsilon": "0.5"}, {"rho": "0.05"}, {"mu": "0.5"}, {"epsilon": 1, "delta": "1e-6"}]


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("location", [None, (3, 3, 3)])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_sign_covariance_is_the_mean_of_outer_products(price, location, relation):
    """Its noise is the stated one: within a third, for 60 releases of 6 entries each."""
    X = points(8000, np.eye(3))
    exact, query = signs(X, 3), SignCovariance(0, 50, deviation=1, location=location)
    budget = {"epsilon": BUDGET, "rho": hm.ZCDP(100), "mu": hm.GDP(100)}[next(iter(price))]
    curator = hm.open(X, budget=budget, relation=relation)
    releases = [curator.ask(query, **price) for _ in range(60)]
    errors = [np.array(release.value) - exact for release in releases]
    stated = releases[0].estimate.error / 3  # of the whole matrix, and so of an entry
    assert 3 / 4 < np.sqrt(np.mean(np.square(errors))) / stated < 4 / 3


def test_a_sign_covariance_needs_no_centre_of_units_of_one_size():
    """Columns whose grids differ by 2^30: directions are in the units of the columns."""
    X = points(4000, np.eye(2)) * [1, 3]
    release = asked(X, SignCovariance((0, 0), (1e9, 50)), epsilon=50)
    assert np.allclose(np.diag(release.value), seen(np.array([1.0, 9.0])), atol=0.05)
    assert release.estimate.error < 0.05
    assert "x0, x1" in [cell.bin for cell in release.cells()]


TABLES = {
    "none": np.empty((0, 3)),
    "one": np.ones((1, 3)),
    "equal": np.full((500, 3), 7.0),
    "missing": np.full((50, 3), np.nan),
    "infinite": np.array([[np.inf, -np.inf, np.inf]] * 30),
    "beyond the bounds": np.full((10, 3), 1e300),
    "n below d": np.random.default_rng(0).normal(size=(5, 40)),
    "duplicates": np.tile(np.random.default_rng(0).normal(size=(4, 3)), (500, 1)),
    "a constant column": np.random.default_rng(0).normal(size=(2000, 3)) * [1, 0, 1],
    "a line": np.random.default_rng(0).normal(size=(2000, 1)) * [1, 2, 3],
    "lattice": np.rint(np.random.default_rng(0).normal(size=(2000, 3))),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    "query",
    [SignCovariance(0, 100), TylerScatter(0, 100), TylerScatter(0, 100, steps=4, size=True)],
    ids=["sign", "tyler", "size"],
)
def test_strange_tables_get_a_matrix(query, table):
    release = asked(table, query)
    value = np.array(release.value)
    assert np.isfinite(value).all()
    assert (value == value.T).all()
    assert np.linalg.eigvalsh(value).min() > -1e-9 * np.abs(value).max()
    assert np.isfinite(np.array(release.interval())).all()
    assert "sign cov" in release.statement.lower() or "shape" in release.statement.lower()


def test_a_shape_of_too_few_points_is_doubted_and_has_no_intervals():
    release = asked(points(100, np.eye(3)), TylerScatter(0, 100))
    assert "CAUTION: too few points" in release.statement
    assert {cell.low for cell in release.cells()} == {None}


def test_what_is_wrong_in_public_is_refused_before_it_costs():
    curator = hm.open(np.zeros((9, 3)), budget=BUDGET)
    refused = [
        (SignCovariance(0, 9, columns=["x0"]), "single one"),
        (TylerScatter(0, 9, columns=["x0"]), "single one"),
        (SignCovariance(0, 9, location=(0, 0)), "2 coordinates for 3 columns"),
        (SignCovariance(0, 9, location=(0, 0, 10)), "outside of the bounds"),
        (TylerScatter(0, 9, rows=50), r"about \d+ are needed"),
        (TylerScatter(0, 1e200, size=True), "rescale"),
    ]
    for query, said in refused:
        with pytest.raises(hm.InvalidQuery, match=said):
            curator.ask(query, **PRICE)
    with pytest.raises(hm.InvalidQuery, match="SignCovariance"):
        curator.ask(TylerScatter(0, 9), epsilon=1)
    assert curator.remaining == BUDGET
    for query in (SignCovariance(0, 9), SignCovariance(0, 9, location=(0, 0, 0))):
        with pytest.raises(hm.InvalidQuery, match="scale"):
            curator.ask(query, epsilon="1e-6")
    assert curator.remaining == BUDGET
    poor = hm.open(np.zeros((9, 3)), budget=hm.ZCDP(1))
    for query in (TylerScatter(0, 9), hm.RobustLocation(0, 9, whiten=True)):
        with pytest.raises(hm.InvalidQuery, match="too small for all stages"):
            poor.ask(query, rho="3e-10")
    assert poor.remaining == hm.ZCDP(1)
    wide = hm.open(np.zeros((2, 301)), budget=BUDGET)
    with pytest.raises(hm.InvalidQuery, match="at most 300"):
        wide.ask(SignCovariance(0, 9), **PRICE)
    for given in ({"location": "here"}, {"location": (0, np.nan)}, {"location": 3}):
        with pytest.raises(hm.InvalidQuery, match="location"):
            SignCovariance(0, 9, **given)
    for steps in (0, 6, 1.5, True):
        with pytest.raises(hm.InvalidQuery, match="steps"):
            TylerScatter(0, 9, steps=steps)


@pytest.mark.parametrize("query", [SignCovariance(0, 50), TylerScatter(0, 50, steps=3)])
def test_stages_spend_what_their_price_is_worth_and_no_more(query):
    """The measurements of one run, added up; the composite refuses stages that would spend more."""
    spent = []
    curator = hm.open(points(3000, np.eye(3)), budget=BUDGET)
    composite = query.prepare(curator._setting(None, None), hm.Approximate(1, "1e-6"))
    assert isinstance(composite, Composite)
    exact = curator._source.points(composite.request)

    def measure(measurement):
        spent.append(measurement)
        return measurement.read(measurement.release(exact, None))

    composite.stages.run(composite.inside, measure)
    rho = sum(one.cost.rho for one in spent if isinstance(one.cost, hm.ZCDP))
    squared = sum(one.cost.squared for one in spent if isinstance(one.cost, hm.GDP))
    price = composite.cost
    tyler = isinstance(composite.stages, TylerStages)  # all in mu
    mu = price.largest_gdp().mu if tyler else gdp_after_zcdp(rho, price.epsilon, price.delta)
    assert 0.9999 * mu**2 < squared <= mu**2
    assert isinstance(spent[-1], Outers)
    assert bool(rho) is not tyler

    class Greedy(type(composite.stages)):
        def run(self, price, measure):
            super().run(price, measure)
            return super().run(price, measure)

    greedy = Greedy(*(getattr(composite.stages, field.name) for field in fields(composite.stages)))
    with pytest.raises(hm.BudgetExhausted):
        Composite(composite.points, greedy, composite.cost, composite.inside).release(exact, None)


@pytest.mark.parametrize(
    ("n", "d", "price"), [(5000, 3, PRICE), (20_000, 10, {"rho": "0.01"})], ids=["3", "10"]
)
def test_the_error_of_a_shape_is_the_predicted_one(n, d, price):
    """Root mean square over 16 d (d + 1)/2 entries, within a third."""
    errors = [
        np.array(asked(points(n, np.eye(d), seed=seed), TylerScatter(0, 50), **price).value)
        for seed in range(16)
    ]
    budget = hm.ZCDP(9) if "rho" in price else BUDGET
    preview = hm.open(np.zeros((1, d)), budget=budget).preview(TylerScatter(0, 50), rows=n, **price)
    found = np.sqrt(np.mean(np.square(np.array(errors) - np.eye(d))))
    assert 3 / 4 < found / preview.rmse < 4 / 3


def test_intervals_of_a_shape_cover_the_same_step_without_noise():
    """The last noise, taken out: of 40 * 10 entries, as many are covered as 90 % (1e-6).

    Entries of one release are not independent: counted as a quarter of their number.
    """
    d, held, times = 4, 0, 40
    X = points(10_000, bent(d, 0.6))
    curator = hm.open(X, budget=hm.ZCDP(9))
    composite = TylerScatter(0, 50).prepare(curator._setting(None, None), hm.ZCDP("0.02"))
    exact = curator._source.points(composite.request)
    for _ in range(times):
        tape = []

        def measure(measurement, tape=tape):
            records = measurement.release(exact, None)
            tape.append((measurement, records))
            return measurement.read(records)

        noisy = composite.stages.run(composite.inside, measure)
        last, _ = tape[-1]
        replies = [one.read(records) for one, records in tape[:-1]]
        replies.append(last.read([last.sums(exact)]))
        clean = composite.stages.run(composite.inside, lambda _, r=replies: r.pop(0))
        low, high = np.moveaxis(np.array(noisy.interval(0.9)), -1, 0)
        inside = (low <= clean.value) & (clean.value <= high)
        held += int(inside[np.triu_indices(d)].sum())
    entries = times * d * (d + 1) // 2
    assert held / 4 >= stats.binom.ppf(1e-6, entries // 4, 0.9)


@pytest.mark.parametrize(
    "query",
    [TylerScatter(0, 50), SignCovariance(0, 50), SignCovariance(0, 9, location=[3] * 3)],
    ids=["tyler", "sign", "about a public centre"],
)
def test_a_repeated_request_gets_the_same_release(query, tmp_path):
    curator = hm.open(points(800, np.eye(3)), ledger=hm.Ledger(tmp_path / "l", budget=BUDGET))
    one, two = (curator.ask(query, request_id="spread", **PRICE) for _ in range(2))
    assert one.value == two.value
    assert one.interval() == two.interval()


@pytest.mark.parametrize("d", [2, 10])
def test_what_is_called_feasible_is_found(d):
    """At the least number of rows: failures at most 1 in 100, false alarm 1e-6 for that."""
    curator, radius = hm.open(np.zeros((3, d)), budget=BUDGET), 2.0**19
    setting, price = curator._setting(None, None), hm.Approximate(1, "1e-6")
    stages = TylerScatter(0, radius)._stages(setting, price, 1000)
    rows, failures = stages.needed(price.largest_zcdp()), 0
    for seed in range(60):
        X = points(rows, bent(d, 0.5), "Cauchy" if seed % 2 else "normal", seed) - 3
        found = asked(X, TylerScatter(0, radius, rows=rows)).value
        failures += off(found, bent(d, 0.5)) > 0.8
    assert failures <= stats.binom.isf(1e-6, 60, 0.01)
