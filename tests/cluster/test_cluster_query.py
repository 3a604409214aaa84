"""Clusters as a query: the stages of the estimator, asked through the door."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.cluster import PrivateKMeans
from halfmask.noise import seeded_words

PRICE = {"epsilon": 1, "delta": 1e-6}
BUDGET = hm.Approximate(9, 1e-4)


def table(n=4000, d=2):
    rng = np.random.default_rng(0)
    places = np.linspace(-5, 5, 3)[rng.integers(0, 3, n)]
    return rng.normal(scale=0.3, size=(n, d)) + places[:, None]


def centres(found):
    return np.sort(np.array(found)[:, 0])


@pytest.mark.parametrize("loss", ["mean", "median"])
@pytest.mark.parametrize("d", [2, 20])
def test_a_query_finds_what_the_estimator_finds(d, loss):
    """By the same words: the stages are the same, and rows differ by the cells of the grid."""
    X = table(d=d)
    with hm.open(X, budget=BUDGET, words=seeded_words(4)) as opened:
        found = opened.ask(hm.KMeans(3, radius=30, loss=loss), **PRICE)
    one = PrivateKMeans(3, **PRICE, row_bound=30, loss=loss, words=seeded_words(4)).fit(X)
    assert np.allclose(found.value, one.cluster_centers_, atol=1e-3)
    assert np.allclose(found.estimate.sizes, one.cluster_sizes_, atol=1e-3)
    assert np.allclose(centres(found.value), [-5, 0, 5], atol=1)


def test_a_centre_and_a_radius_of_each_column_are_units():
    X = table() * [1, 100] + [7, 0]
    query = hm.KMeans(3, center=(7, 0), radius=(10, 1000))
    with hm.open(X, budget=hm.GDP(2)) as opened:
        found = np.array(opened.ask(query, mu=1).value)
    assert np.allclose(centres(found), [2, 7, 12], atol=0.5)
    assert np.allclose(np.sort(found[:, 1]), [-500, 0, 500], atol=50)


@pytest.mark.parametrize("unit", [None, "who"])
def test_streamed_and_held_rows_give_the_same_clusters(tmp_path, monkeypatch, unit):
    import polars as pl

    path, X = tmp_path / "rows.parquet", table()
    frame = pl.DataFrame({"who": np.arange(len(X)) // 2, "x": X[:, 0], "y": X[:, 1]})
    frame.write_parquet(path)

    def answer(source):
        words = seeded_words(2)
        rows = 2 if unit else 1
        with hm.open(source, unit=unit, rows_per_unit=rows, budget=BUDGET, words=words) as opened:
            return opened.ask(hm.KMeans(3, 0, 10, ["x", "y"]), **PRICE).value

    held = answer(frame)
    monkeypatch.setattr("halfmask.sources.table._HELD", 0)
    assert answer(path) == held


def test_rows_in_postgresql_give_the_clusters_of_an_array(postgres):
    import psycopg

    rows, query = table(600), hm.KMeans(3, 0, 10, ["x", "y"])
    with psycopg.connect(postgres.url()) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE clustered (x DOUBLE PRECISION, y DOUBLE PRECISION)")
        cursor.executemany("INSERT INTO clustered VALUES (%s, %s)", rows.tolist())
    found = []
    held = {"source": {"x": rows[:, 0], "y": rows[:, 1]}}
    for source in (held, {"source": postgres.url(), "table": "clustered"}):
        with hm.open(**source, budget=BUDGET, words=seeded_words(2)) as opened:
            found.append(opened.ask(query, **PRICE).value)
    assert found[0] == found[1]


def test_a_repeated_request_is_answered_by_the_same_release():
    with hm.open(table(), budget=BUDGET) as opened:
        one, other = (opened.ask(hm.KMeans(3, 0, 10), **PRICE, request_id="k") for _ in "ab")
        assert one.value == other.value
        assert one.estimate.sizes == other.estimate.sizes
        assert opened.remaining.epsilon == 8
        assert str(one).startswith("3 clusters of all numeric columns: 1, x0: ")
        assert [name for name, *_ in one.estimate.cells()][:3] == ["1, x0", "1, x1", "2, x0"]


def test_previews_tell_the_noise_and_rise_with_clusters():
    with hm.open(table(), budget=BUDGET) as opened:
        few, many = (opened.preview(hm.KMeans(k, 0, 10), rows=4000, **PRICE) for k in (2, 20))
    assert 0 < few.rmse < many.rmse < 10
    assert "equal size" in few.assuming


@pytest.mark.parametrize(
    ("rows", "query"),
    [
        (np.zeros((0, 2)), hm.KMeans(3, 0, 1)),
        (np.ones((2, 2)), hm.KMeans(5, 0, 1)),
        (np.full((9, 2), np.nan), hm.KMeans(2, 0, 1, loss="median")),
        (np.full((9, 20), 1e300), hm.KMeans(2, 0, 1)),
    ],
    ids=["none", "few", "missing", "huge"],
)
def test_odd_tables_give_centres_inside_the_radius(rows, query):
    with hm.open(rows, budget=BUDGET) as opened:
        found = np.array(opened.ask(query, **PRICE).value)
    assert found.shape == (query.clusters, rows.shape[1])
    assert (np.linalg.norm(found, axis=1) <= 1 + 1e-6).all()


@pytest.mark.parametrize(
    ("given", "price", "said"),
    [
        ({"clusters": 0}, PRICE, "clusters: 0 given"),
        ({"clusters": 2.5}, PRICE, r"clusters: 2.5 given"),
        ({"radius": -1}, PRICE, "radius"),
        ({"loss": "mode"}, PRICE, "loss: unknown value 'mode'"),
        ({"columns": ["z"]}, PRICE, "'z'"),
        ({}, {"epsilon": 1}, "needs mu, or epsilon with a delta"),
        ({}, {"rho": 1}, "needs mu, or epsilon with a delta"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is_charged(given, price, said):
    with hm.open(table(9), budget=BUDGET) as opened:
        with pytest.raises(hm.InvalidQuery, match=said):
            opened.ask(hm.KMeans(**({"clusters": 2, "radius": 9} | given)), **price)
        assert opened.remaining == BUDGET
