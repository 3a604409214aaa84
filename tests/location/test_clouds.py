"""Points at scale: the same integers however rows are parted, held, streamed or put on the grid."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.plan import Held, Near, OnGrid, Points, cloud, counted
from halfmask.privacy import ZCDP, Pure
from halfmask.queries.covariance_body import body_of
from halfmask.queries.location import (
    DepthChoice,
    DepthShare,
    Frame,
    Halfspaces,
    Medians,
    Outers,
    Radii,
    Scales,
    Signs,
    SpatialSums,
    Total,
    Whitened,
    public_directions,
)
from halfmask.queries.location.steps import Steps

LOW, HIGH, D = -1000, 1000, 3
GRIDS = tuple(OnGrid(f"x{j}", LOW, HIGH, 0) for j in range(D))
POINTS, PRICE = Points(GRIDS), ZCDP("0.1")
FRAME = Frame((3.25, 2.25, 1.25), (0.7, 1.7, 2.7))
TURNED = Whitened.by(FRAME, [[1, 2, 0], [0.5, 0, 1], [1, 1, 9]])
PLACES = ((0, 0, 0), (3, 2, 1), (999, -9, 0))
HALVES = Halfspaces(FRAME, public_directions(D))


def signs(frame):
    return Signs(POINTS, 1, PRICE, frame, 1.5, 0.8, 4.0)


class Parted(Near):
    """An array in blocks that end anywhere, in any order."""

    def __init__(self, table, cuts, order):
        self.table = table
        parts = np.split(table, cuts)
        self.parts = [parts[i % len(parts)] for i in order] if order else parts

    size = D

    def __len__(self):
        return len(self.table)

    def blocks(self):
        yield from self.parts

    def cells(self, j):
        return counted(self.array()[:, j])

    def array(self):
        return np.concatenate(self.parts)


def body(cells):
    shifted = tuple(OnGrid(grid.column, 0, HIGH - LOW, 0) for grid in GRIDS)
    return body_of(shifted, gaussian=True).sums(cells)


def depth(made):
    return DepthChoice(POINTS, 1, Pure(1), made, PLACES, False).scores


ANSWERS = {
    "directions": signs(FRAME).sums,
    "directions, turned": signs(TURNED).sums,
    "products": Outers(POINTS, 1, PRICE, FRAME, outer=4.0).sums,
    "products, turned": Outers(POINTS, 1, PRICE, TURNED).sums,
    "scales": lambda x: Scales(POINTS, 1, PRICE, FRAME, 2000.0).scores(x).tolist(),
    "radii": lambda x: Radii(POINTS, 1, PRICE, TURNED, (6.0, 1.5), 32).scores(x).tolist(),
    "halfspaces": depth(HALVES),
    "halfspaces, summed": depth(Halfspaces(FRAME, public_directions(D), summed=True)),
    "pulls": depth(SpatialSums(Signs(POINTS, 1, PRICE, FRAME, math.inf, 0.0, math.inf))),
    "share": DepthShare(POINTS, 1, PRICE, HALVES, PLACES[0], False).counts,
    "medians": lambda x: Medians(POINTS, 1, Pure(1)).release(x, seeded_words(5)),
    "number": lambda x: Total(POINTS, 0, Pure(1)).release(x, None),
}
CELL = st.one_of(st.sampled_from([LOW, HIGH, 3, 0]), st.integers(-9, 9), st.integers(LOW, HIGH))


@st.composite
def parted(draw):
    """A table, and the same rows in parts."""
    n = draw(st.integers(0, 30))
    table = draw(arrays.arrays(np.int64, (n, D), elements=CELL))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=5)))
    return table, Parted(table, cuts, draw(st.permutations(range(len(cuts) + 1))))


@pytest.mark.parametrize("name", ANSWERS)
@given(parted())
@settings(max_examples=40, deadline=None)
def test_the_same_integers_for_any_parting(name, drawn):
    """Law 1 for points: blocks may end anywhere and come in any order."""
    table, parts = drawn
    assert ANSWERS[name](parts) == ANSWERS[name](table) == ANSWERS[name](Held(table))


@given(parted())
@settings(max_examples=30, deadline=None)
def test_sums_of_products_for_any_parting(drawn):
    table, parts = drawn
    shifted = Parted(table - LOW, [], None)
    shifted.parts = [part - LOW for part in parts.parts]
    assert body(shifted) == body(table - LOW)


@given(parted(), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_sums_may_pass_sixty_four_bits(drawn, rows):
    """Runs of few rows stand for runs of 2^24: what they add up to is exact."""

    class Huge:
        def of(self, block):
            return block.sum(axis=0) * 2**49

    table, parts = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cloud, "ROWS", rows)
        few = [block for part in parts.parts for block in np.split(part, range(rows, 30, rows))]
        found = cloud.added(Huge(), few, D).tolist()
    assert found == [sum(column) * 2**49 for column in table.T.tolist()]


@pytest.mark.parametrize("one", [signs(TURNED), Outers(POINTS, 1, PRICE, FRAME)])
def test_statistics_travel(one):
    """A worker gets them by pickle."""
    rows = np.arange(12).reshape(4, 3)
    assert (pickle.loads(pickle.dumps(one)).of(rows) == one.of(rows)).all()


@given(
    st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=60, unique=True),
    st.lists(st.floats(0, 1e12), max_size=40),
)
def test_steps_are_counted_as_by_bisection(marks, lengths):
    ladder = np.sort(np.array(marks))
    given = np.array([*lengths, *marks, 0.0, np.inf, *np.nextafter(ladder, 0)])
    found = Steps.of(ladder).places(given)
    assert (found == np.searchsorted(ladder, given, side="right")).all()


QUERIES = {
    "robust": (hm.RobustLocation(0, 60, ["x", "y"]), {"delta": 1e-6}),
    "robust, turned": (hm.RobustLocation(0, 60, ["x", "y"], whiten=True), {"delta": 1e-6}),
    "medians": (hm.CoordinateMedian(0, 60, ["x", "y"]), {}),
    "box": (hm.BoxMedian(0, 60, ["x", "y"]), {}),
    "spatial": (hm.SpatialMedian(0, 60, ["x", "y"]), {}),
    "tukey": (hm.DepthMedian("tukey", [[0, 0], [1, 1]], columns=["x", "y"]), {}),
    "dual": (hm.DepthMedian("integrated dual", [[0, 0], [1, 1]], columns=["x", "y"]), {}),
    "directions": (hm.DepthMedian("spatial", [[0, 0], [1, 1]], columns=["x", "y"]), {}),
    "check": (hm.DepthCheck((0, 0), 60, ["x", "y"]), {}),
    "signs": (hm.SignCovariance(0, 60, ["x", "y"]), {"delta": 1e-6}),
    "tyler": (hm.TylerScatter(0, 60, ["x", "y"]), {"delta": 1e-6}),
    "covariance": (hm.Covariance({"x": (-9, 9), "y": (-9, 9)}), {}),
    "correlation": (hm.Correlation({"x": (-9, 9), "y": (-9, 9)}), {"delta": 1e-6}),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A table with missing, infinite and NaN coordinates, in memory and as a file."""
    import polars as pl

    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 5000))
    x[::50], y[::77], y[::91] = np.nan, np.inf, -np.inf
    frame = pl.DataFrame({"who": np.arange(5000) // 2, "x": x, "y": y})
    frame = frame.with_columns(
        pl.when(pl.col("who") % 40 == 0).then(None).otherwise("x").alias("x")
    )
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.write_parquet(path)
    return frame, path


@pytest.mark.parametrize("extra", [{}, {"where": "x < 1.5"}, {"unit": "who"}], ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_held_streamed_and_direct_points_give_the_same_answers(rows, name, extra, monkeypatch):
    """By the same words; streamed in blocks of a few rows."""
    frame, path = rows
    (query, price), extra = QUERIES[name], dict(extra)
    opening = {"unit": extra.pop("unit")} if "unit" in extra else {}

    def answer(source):
        with hm.open(source, budget=hm.Approximate(9, 1e-5), words=seeded_words(7), **opening) as t:
            return t.ask(query, epsilon=8, **price, **extra).value

    held = answer(path)
    monkeypatch.setattr("halfmask.sources.table._HELD", 0)
    assert answer(path) == held
    assert answer(frame) == held


@pytest.mark.parametrize("entries", [1, 10_000, 2**21])
def test_a_snapshot_is_the_table(rows, monkeypatch, entries):
    monkeypatch.setattr("halfmask.sources.snapshot._ENTRIES", entries)
    source = hm.sources.open_source(rows[1])
    asked = Points((OnGrid("x", -10, 10, -3), OnGrid("y", -10, 10, -3)), unit="who")
    held = source.points(asked)
    monkeypatch.setattr("halfmask.sources.table._HELD", 0)
    found = source.cloud(asked)
    assert len(found) == len(held)

    def listed(table):
        return sorted(map(tuple, table.tolist()))

    assert listed(found.array()) == listed(held) == listed(np.concatenate(list(found.blocks())))
    for sort in (2**24, 0):
        monkeypatch.setattr("halfmask.sources.snapshot._SORTED", sort)
        assert [a.tolist() for a in found.cells(1)] == [a.tolist() for a in counted(held[:, 1])]
    del found
    assert source.points(asked).shape == held.shape
    assert source._engine.rows("SELECT * FROM duckdb_tables()", ValueError()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_an_array_is_not_copied():
    """The memory of a robust location of 120 MB, beside what is there before."""
    code = """
import numpy as np
import halfmask as hm
rng = np.random.default_rng(0)
def peak():  # that of this program alone
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
warm = rng.normal(size=(1000, 60))
hm.robust_location(warm, epsilon=8, delta=1e-6, radius=60)
X = np.empty((250_000, 60))
for row in X.reshape(250, -1):
    row[:] = rng.normal(size=len(row))
before = peak()
hm.robust_location(X, epsilon=1, delta=1e-6, radius=60)
print((peak() - before) / X.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < float(done.stdout) < 0.8
