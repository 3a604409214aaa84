"""The estimator: what it finds, every odd table, and scikit-learn's own checks."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from halfmask.cluster import PrivateKMeans
from halfmask.noise import seeded_words
from halfmask.privacy import Approximate, Ledger

PRIVATE = {
    "check_fit_idempotent": "noise is fresh with each fit",
    "check_estimators_empty_data_messages": "refusing no rows would tell that there are none",
    "check_dtype_object": "refusing what is no number, row by row, would tell of that row",
}


@parametrize_with_checks(
    [PrivateKMeans(3, 1, 1e-6), PrivateKMeans(2, 1, 1e-6, row_bound=10, loss="median")],
    expected_failed_checks=lambda _: PRIVATE,
)
def test_what_scikit_learn_asks_of_estimators(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of checks that are skipped
        check(estimator)


def blobs(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    places = np.array([[4.0, 0, 0], [0, 4, 0], [0, 0, 4], [-4, -4, 0]])
    return places[rng.integers(4, size=n)] + 0.3 * rng.normal(size=(n, 3)), places


def apart(found, places):
    """The largest distance from a place to the nearest centre found."""
    return max(np.linalg.norm(found - place, axis=1).min() for place in places)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("loss", ["mean", "median"])
def test_clusters_that_are_apart_are_found(loss, relation):
    X, places = blobs()
    one = PrivateKMeans(4, 2, 1e-6, row_bound=8, loss=loss, relation=relation)
    one.fit(X)
    assert apart(one.cluster_centers_, places) < 0.5
    assert one.cluster_sizes_.sum() == pytest.approx(3000, rel=0.25)
    assert (np.linalg.norm(one.cluster_centers_, axis=1) <= 8).all()


def test_without_noise_nothing_is_lost():
    """At a huge epsilon: the inertia is that of k-means, and centres are means of their cells."""
    digits = load_digits().data / 16
    plain = KMeans(10, n_init=5, random_state=0).fit(digits)
    one = PrivateKMeans(10, 10**6, 1e-6, row_bound=10, words=seeded_words(1)).fit(digits)
    inertia = (one.transform(digits).min(axis=1) ** 2).sum()
    assert inertia < 1.06 * plain.inertia_
    assert one.n_components_ == 15


def test_digits_at_a_price_are_told_apart():
    """Purity of ten clusters of 1797 digits, epsilon 4; a tenth is chance, k-means has 0.75."""
    digits = load_digits()
    found = PrivateKMeans(10, 4, 1e-5).fit(digits.data).predict(digits.data)
    right = sum(np.bincount(digits.target[found == c], minlength=10).max() for c in range(10))
    assert right / len(found) > 0.4


def test_a_median_is_pulled_less_by_far_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.2, size=(4000, 2)) + np.array([1.0, 0.0])
    X[:600] = [-40.0, 0.0]
    mean, median = (
        PrivateKMeans(1, 100, 1e-6, row_bound=50, loss=loss).fit(X).cluster_centers_[0, 0]
        for loss in ("mean", "median")
    )
    assert abs(median - 1) < abs(mean - 1) / 2


@pytest.mark.parametrize("columns", [2, 20])
@pytest.mark.parametrize("bound", ["unit", 3.0])
@pytest.mark.parametrize(
    "rows",
    [
        lambda d: np.zeros((0, d)),
        lambda d: np.ones((1, d)),
        lambda d: np.zeros((50, d)),
        lambda d: np.ones((500, d)),
        lambda d: np.full((9, d), np.nan),
        lambda d: np.full((9, d), 1e308),
        lambda d: np.full((9, d), -1e-320),
        lambda d: np.ones((9, d), dtype=bool),
        lambda d: np.ones((9, d), dtype=np.uint64) << np.uint64(63),
    ],
    ids=["none", "one", "zeros", "equal", "nan", "huge", "tiny", "bool", "uint64"],
)
def test_odd_tables_give_centres_like_any_other(rows, bound, columns):
    """More clusters than rows, all rows equal, none: finite centres, the price spent, no noise."""
    ledger = Ledger(budget=Approximate(10, "1e-3"))
    X = rows(columns)
    for loss in ("mean", "median"):
        one = PrivateKMeans(7, 1, 1e-6, row_bound=bound, loss=loss, ledger=ledger).fit(X)
        assert one.cluster_centers_.shape == (7, columns)
        assert np.isfinite(one.cluster_centers_).all()
        assert len(one.predict(X)) == len(X)
    assert ledger.spent.epsilon == 2


def test_equal_rows_are_found_where_they_are():
    one = PrivateKMeans(1, 1, 1e-6, row_bound=5).fit(np.full((5000, 2), 2.0))
    assert np.abs(one.cluster_centers_ - 2).max() < 0.1


def test_rows_that_are_no_vectors_have_no_label():
    X, _ = blobs(200)
    one = PrivateKMeans(4, 1, 1e-6, row_bound=8).fit(X)
    X[3, 1], X[5, 0] = math.nan, math.inf
    assert np.flatnonzero(one.predict(X) == -1).tolist() == [3, 5]
    assert np.isnan(one.transform(X)[[3, 5]]).all()


def test_nothing_of_single_rows_is_kept():
    X, _ = blobs(500)
    one = PrivateKMeans(4, 1, 1e-6, row_bound=8).fit(X)
    assert not hasattr(one, "labels_")
    assert not hasattr(one, "inertia_")
    kept = [np.asarray(value) for name, value in vars(one).items() if name.endswith("_")]
    assert all(500 not in value.shape for value in kept)


def test_seeded_words_repeat_a_fit_and_secure_ones_do_not():
    X, _ = blobs(300)
    one, again = (
        PrivateKMeans(4, 1, 1e-6, row_bound=8, words=seeded_words(3)).fit(X).cluster_centers_
        for _ in range(2)
    )
    assert (one == again).all()
    fresh = PrivateKMeans(4, 1, 1e-6, row_bound=8)
    assert (fresh.fit(X).cluster_centers_ != fresh.fit(X).cluster_centers_).all()


def test_a_clone_shares_the_ledger():
    ledger = Ledger(budget=Approximate(3, "1e-5"))
    one = PrivateKMeans(2, 1, 1e-6, ledger=ledger)
    for each in (one, clone(one), clone(clone(one))):
        each.fit(np.ones((5, 2)))
    assert ledger.remaining.epsilon == 0


def test_a_model_without_a_ledger_is_pickled():
    X, _ = blobs(300)
    one = PrivateKMeans(4, 1, 1e-6, row_bound=8).fit(X)
    assert (pickle.loads(pickle.dumps(one)).predict(X) == one.predict(X)).all()


def test_it_stands_in_a_pipeline_and_names_its_columns():
    X, _ = blobs(300)
    line = make_pipeline(FunctionTransformer(), PrivateKMeans(4, 1, 1e-6, row_bound=8))
    line.set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    distances = line.fit(frame).transform(frame)
    assert list(distances.columns) == [f"privatekmeans{i}" for i in range(4)]


def test_a_model_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        PrivateKMeans(4, 1, 1e-6).predict([[1.0]])
