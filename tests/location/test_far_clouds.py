"""Points that stay in an engine: the answers of an array, and refusals before any charge."""

from contextlib import closing

import numpy as np
import pytest

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.plan import OnGrid, Points, counted, where
from halfmask.sources import open_source

BOX = {"center": 0, "radius": 60, "columns": ["x", "y"]}
QUERIES = {
    "robust": (hm.RobustLocation(**BOX, whiten=True), {"delta": 1e-6}),
    "medians": (hm.CoordinateMedian(**BOX), {}),
    "best": (hm.Location(**BOX, rows=5000), {}),
    "tukey": (hm.DepthMedian("tukey", [[0, 0], [1, 1]], columns=["x", "y"]), {}),
    "directions": (hm.DepthMedian("spatial", [[0, 0], [1, 1]], columns=["x", "y"]), {}),
    "check": (hm.DepthCheck((0, 0), 60, ["x", "y"]), {}),
    "signs": (hm.SignCovariance(**BOX), {"delta": 1e-6}),
    "tyler": (hm.TylerScatter(**BOX), {"delta": 1e-6}),
    "covariance": (hm.Covariance({"x": (-9, 9), "y": (-9, 9)}), {}),
}
EXTRAS = ({}, {"where": "x < 1.5"}, {"unit": "who"})


def table(n=3000):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, n))
    x[::50], y[::77], y[::91] = np.nan, np.inf, -np.inf
    return np.array(
        list(zip(np.arange(n) // 2, x, y, strict=True)), [("who", "i8"), ("x", "f8"), ("y", "f8")]
    )


@pytest.fixture(scope="module")
def postgres_table(postgres):
    import psycopg

    with psycopg.connect(postgres.url()) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE clouds (who BIGINT, x DOUBLE PRECISION, y DOUBLE PRECISION)")
        with cursor.copy("COPY clouds FROM STDIN") as copy:
            for row in table().tolist():
                copy.write_row(row)
    return {"source": postgres.url(), "table": "clouds"}


@pytest.fixture(scope="module")
def spark_table(spark):
    """In more partitions than workers, one of which holds no row."""
    rows = table()
    listed = [[None if x != x else x for x in row] for row in rows.tolist()]
    frame = spark.createDataFrame(listed, "who BIGINT, x DOUBLE, y DOUBLE")
    return {"source": frame.repartition(3).unionAll(frame.where("who < 0")).cache()}


@pytest.fixture(scope="module")
def connect_table(spark_table, connect):
    """The same through Spark Connect."""
    spark_table["source"].createOrReplaceGlobalTempView("clouds")
    yield {"source": connect.table("global_temp.clouds")}
    connect.sql("DROP VIEW global_temp.clouds").collect()


@pytest.fixture(params=["postgres_table", "spark_table"])
def far(request):
    """What `open` takes."""
    return request.getfixturevalue(request.param)


def asked(far, query, price, unit=None, **extra):
    budget = hm.Approximate(9, 1e-5)
    with hm.open(**far, budget=budget, words=seeded_words(7), unit=unit) as opened:
        return opened.ask(query, epsilon=8, **price, **extra).value


@pytest.mark.parametrize("name", QUERIES)
def test_far_points_give_the_answers_of_an_array(postgres_table, name):
    """By the same words, for all queries of points, filters and units."""
    query, price = QUERIES[name]
    for extra in EXTRAS if price else EXTRAS[2:]:
        one = asked({"source": table()}, query, price, **extra)
        if name == "best":  # which takes a box where points are held
            assert np.allclose(asked(postgres_table, query, price, **extra), one, atol=0.2)
        else:
            assert asked(postgres_table, query, price, **extra) == one


def test_a_robust_location_of_a_spark_table(spark_table):
    """Which asks for cells and for sums; an engine that is slow is asked no more."""
    query = hm.RobustLocation(**BOX)
    one = asked({"source": table()}, query, {"delta": 1e-6}, "who")
    assert asked(spark_table, query, {"delta": 1e-6}, "who") == one


@pytest.mark.parametrize("loss", ["mean", "median"])
@pytest.mark.parametrize("of", ["postgres_table", "spark_table", "connect_table"])
def test_clusters_of_far_points_are_those_of_an_array(of, loss, request):
    """Same words, same release: the sums of their stages are the same integers."""
    query = hm.KMeans(2, **BOX, loss=loss)
    one = asked({"source": table()}, query, {"delta": 1e-6})
    assert asked(request.getfixturevalue(of), query, {"delta": 1e-6}) == one


def test_what_needs_all_points_is_refused_before_it_is_charged(far):
    for query in (hm.BoxMedian(**BOX), hm.SpatialMedian(**BOX)):
        with hm.open(**far, budget=1) as opened:
            with pytest.raises(hm.InvalidQuery, match=r"open the rows as an array.*Nothing was"):
                opened.ask(query, epsilon=1)
            assert opened.remaining == hm.Pure(1)


def test_a_far_cloud_is_the_table(far, monkeypatch):
    request = Points((OnGrid("x", -10, 10, -3), OnGrid("y", -10, 10, -3)), unit="who")
    near = open_source(table()).points(request)
    with closing(open_source(**far)) as source:
        found = source.cloud(request)
        assert len(found) == len(near)
        for batch in (1, 3000, 2**20) if "table" in far else (1,):
            monkeypatch.setattr("halfmask.sources.postgres_engine._BATCH", batch)
            assert found.total(Sum()).tolist() == near.sum(axis=0).tolist()
        for j in range(2):
            assert [a.tolist() for a in found.cells(j)] == [a.tolist() for a in counted(near[:, j])]


def test_no_rows_add_nothing(far):
    request = Points((OnGrid("x", -10, 10, -3),), where=where("x > 100"))
    with closing(open_source(**far)) as source:
        found = source.cloud(request)
        assert (len(found), found.total(Sum()).tolist()) == (0, [0])


class Sum:
    def of(self, block):
        return block.sum(axis=0)
