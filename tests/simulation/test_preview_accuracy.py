"""Previews are right: within 5 % of the error measured over 2000 trials, for every query.

The rows are what the previews assume, so only noise differs. Allowed beside the 5 % is the sampling
error of a root mean square, from the trials' own fourth moments, at a false-alarm rate of 1e-6.
"""

import math

import numpy as np
import pytest
from scipy import stats

import halfmask as hm
from halfmask.cli.planfile import QUERIES
from halfmask.queries import price_of

LOW, HIGH = -20.0, 100.0
EDGES = [LOW, 0.0, 7.5, 40.0, HIGH]
ROWS, TRIALS = 2000, 2000
EVEN = (np.arange(ROWS) + 0.5) / ROWS
TABLE = {
    "x": LOW + (HIGH - LOW) * EVEN,
    "y": np.random.default_rng(1).permutation(EVEN),
    "g": np.array(["a", "b"])[np.arange(ROWS) % 2],
}
PAIR = {"x": (LOW, HIGH), "y": (0, 1)}

ACCURATE = {
    "count": hm.Count(),
    "count_distinct": hm.CountDistinct(),
    "sum": hm.Sum("x", LOW, HIGH),
    "mean": hm.Mean("x", LOW, HIGH),
    "variance": hm.Variance("x", LOW, HIGH),
    "standard_deviation": hm.StandardDeviation("x", LOW, HIGH),
    "histogram": hm.Histogram("x", EDGES),
    "median": hm.Median("x", LOW, HIGH),
    "quantile": hm.Quantile("x", [0.75, 0.5, 0.1], LOW, HIGH),
    "linear_queries": hm.LinearQueries("x", EDGES, [[1, 1, 1, 1], [1, -1, 0, 0]]),
    "ranges": hm.Ranges("x", EDGES),
    "prefixes": hm.Prefixes("x", EDGES),
    "marginals": hm.Marginals({"x": EDGES, "g": ["a", "b"]}),
    "covariance": hm.Covariance(PAIR),
    "correlation": hm.Correlation(PAIR),
}

OTHERWISE = {
    "bounds": "an error in rows, since no bounds say what a row is worth",
    "suggest_bounds": "a table of choices, not a number",
    "top_k": "names; the chance of a wrong one depends on the rows",
    "most_common": "a name",
    "choose": "a name",
    "above_threshold": "names",
    "spatial_median": "sampling of normal points counted in: a formula, since it takes long",
    "depth_median": "a candidate, chosen",
    "depth_check": "of a point that halves the rows, which is not known of these",
    "kmeans": "of clusters of equal size, which is not known of these",
    "tyler_scatter": "a shape, sampling of normal points counted in: a formula, as it takes long",
}


def ratio(errors, predicted, share=0.05):
    """Measured over predicted error, and how far from 1 it may be."""
    squares = np.mean(np.square(errors).reshape(len(errors), -1), axis=1)
    measured = math.sqrt(squares.mean())
    chance = squares.std() / math.sqrt(len(squares)) / squares.mean() / 2
    return measured / predicted, share + stats.norm.isf(1e-6 / 2) * chance


def test_every_query_is_under_the_law_or_named_as_an_exception():
    accurate = set(ACCURATE) | set(CENTRES)
    assert set(QUERIES) == accurate | set(OTHERWISE)
    assert not accurate & set(OTHERWISE)


@pytest.mark.parametrize("name", ACCURATE)
def test_predicted_errors_are_those_of_the_trials(name):
    query, price = ACCURATE[name], {"epsilon": "0.5"}
    tried = hm.trials(query, TABLE, repeats=TRIALS, **price)
    predicted = hm.open(TABLE, budget=1).preview(query, rows=ROWS, **price).rmse
    errors = tried.estimates - tried.exact
    if name == "correlation":  # its diagonal is known
        errors = errors[:, *np.triu_indices(errors.shape[1], 1)]
    found, far = ratio(errors, predicted)
    assert far < 1 / 3  # a prediction off by 3/2 is caught
    assert abs(found - 1) < far


@pytest.mark.parametrize("name", ["count", "sum", "variance", "histogram", "covariance"])
def test_predicted_errors_of_gaussian_noise(name):
    query, price = ACCURATE[name], {"mu": "0.5"}
    tried = hm.trials(query, TABLE, repeats=TRIALS, **price)
    predicted = hm.open(TABLE, budget=hm.GDP(1)).preview(query, rows=ROWS, **price).rmse
    found, far = ratio(tried.estimates - tried.exact, predicted)
    assert far < 1 / 4
    assert abs(found - 1) < far


FEW = ("mean", "variance", "standard_deviation", "median", "quantile", "covariance", "correlation")


@pytest.mark.parametrize("name", FEW)
def test_predicted_errors_of_a_hundred_rows(name):
    """Where noise is no longer small beside the rows: formulas were off by up to 1.4."""
    query, price = ACCURATE[name], {"epsilon": "0.5"}
    few = {column: values[:: ROWS // 100] for column, values in TABLE.items()}
    tried = hm.trials(query, few, repeats=TRIALS // 2, **price)
    predicted = hm.open(few, budget=1).preview(query, rows=100, **price).rmse
    errors = tried.estimates - tried.exact
    if name == "correlation":
        errors = errors[:, *np.triu_indices(errors.shape[1], 1)]
    found, far = ratio(errors, predicted)
    assert far < 1 / 3
    assert abs(found - 1) < far


CENTRES = {
    "box_median": (hm.BoxMedian(0, 20), {"epsilon": 1}, 400),
    "coordinate_median": (hm.CoordinateMedian(0, 20), {"epsilon": 1}, 400),
    "location": (hm.Location(0, 20, rows=500), {"rho": "0.2"}, 300),
    "robust_location": (hm.RobustLocation(0, 20), {"rho": "0.2"}, 300),
    "sign_covariance": (hm.SignCovariance(0, 20), {"rho": "0.2"}, 300),
}


@pytest.mark.parametrize("name", CENTRES)
def test_centres_and_shapes_of_normal_points_err_as_predicted(name):
    """Against what the points were drawn about, sampling error and all."""
    query, price, tries = CENTRES[name]
    random, errors = np.random.default_rng(3), []
    with hm.open(np.zeros((2, 2)), budget=hm.ZCDP(1)) as table:
        predicted = table.preview(query, rows=500, **price)
        priced = query.prepare(table._setting(None, None), price_of(**price))
    for _ in range(tries):
        points = hm.open(random.normal(size=(500, 2)), budget=1)
        with points:
            exact = priced.request.answered_by(points._source)
            (answer,) = priced.read(priced.release(exact, None))
            errors.append(np.ravel(answer.value))
    truth = [0.5, 0, 0, 0.5] if name == "sign_covariance" else [0, 0]
    found, far = ratio(np.array(errors) - truth, predicted.rmse)
    assert predicted.how.startswith("simulated")
    assert abs(found - 1) < far < 1 / 3
