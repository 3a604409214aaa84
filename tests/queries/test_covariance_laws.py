"""Covariance and correlation: exact sums, the reach of their body, coverage, and error."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.plan import OnGrid
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation
from halfmask.queries import Setting
from halfmask.queries.covariance_body import Body, body_of
from halfmask.queries.covariance_read import projected
from halfmask.sources import open_source

COLUMNS = {"a": (0, 10), "b": (-5, 5), "c": (100, 400)}
PRICES = [Pure(1), ZCDP("0.1"), GDP("0.5"), Approximate(1, "1e-9")]


def grids(d):
    return tuple(OnGrid(f"x{i}", 0, 16 + 3 * i, 0, origin=0) for i in range(d))


def naive(body, points):
    """The definition, one row after the other, in fractions."""
    total = [Fraction(0)] * (3 * len(body.widths) + len(body.pairs))
    own, pairs = body.wholes
    for row in points.tolist():
        a = [Fraction(x, w) for x, w in zip(row, body.widths, strict=True)]
        parts = [
            b * f
            for x, b in zip(a, own, strict=True)
            for f in ((1 - x) ** 2, 2 * x * (1 - x), x**2)
        ]
        parts += [pairs[k] * (2 * a[i] - 1) * (2 * a[j] - 1) for (i, j), k in body.places.items()]
        total = [t + p for t, p in zip(total, parts, strict=True)]
    return tuple(total)


@st.composite
def clouds(draw, rows=6):
    d = draw(st.integers(1, 4))
    body = body_of(grids(d), gaussian=draw(st.booleans()))
    n = draw(st.integers(0, rows))
    points = [
        [draw(st.sampled_from([0, w, w // 2, 1, w - 1])) for w in body.widths] for _ in range(n)
    ]
    return body, np.array(points, dtype=np.int64).reshape(n, d)


@given(clouds())
@settings(max_examples=60, deadline=None)
def test_sums_are_those_of_the_definition(drawn):
    body, points = drawn
    assert body.sums(points) == naive(body, points)


def test_sums_do_not_overflow():
    body = Body((2**15, 2**15), (2**20, 2**20), (2**20,))
    points = np.full((200_000, 2), 2**15, dtype=np.int64)
    whole = 200_000 * 2**30 * 2**20
    assert body.sums(points) == (0, 0, whole, 0, 0, whole, whole)


@given(clouds(rows=2), clouds(rows=2), st.sampled_from(list(Relation)))
@settings(max_examples=150, deadline=None)
def test_no_unit_moves_the_sums_beyond_the_reach(one, other, relation):
    """The privacy law: a unit of up to two rows comes, goes, or is replaced by another."""
    body, rows = one
    same = other[0].widths == body.widths
    others = other[1] if relation is Relation.REPLACE and same else rows[:0]
    reach = body.reach(relation, 2)
    moved = [a - b for a, b in zip(body.sums(rows), body.sums(others), strict=True)]
    assert sum(map(abs, moved)) <= reach.l1
    assert sum(m * m for m in moved) <= reach.l2_squared


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("relation", Relation)
def test_the_reach_is_attained(d, relation):
    """At corners of the cube, by all pairs of them: nearly all of the reach is used.

    Under `replace` the bound for parts and that for products are met by different pairs: two
    thirds of it are reached.
    """
    body = body_of(tuple(OnGrid(f"x{i}", 0, 2**14, 0, origin=0) for i in range(d)), gaussian=False)
    corners = np.array(list(np.ndindex(*[2] * d))) * 2**14
    sums = [body.sums(corner[None]) for corner in corners]
    others = sums if relation is Relation.REPLACE else [(0,) * len(sums[0])]
    reach = body.reach(relation, 1)
    moves = [[abs(x - y) for x, y in zip(a, b, strict=True)] for a in sums for b in others]
    share = 0.999 if relation is Relation.ADD_REMOVE or d == 1 else 0.63
    assert max(map(sum, moves)) >= share * reach.l1
    assert max(sum(m * m for m in move) for move in moves) >= share * reach.l2_squared


def data(size=4000):
    rng = np.random.default_rng(5)
    a = rng.uniform(0, 12, size)
    b = a - 5 + rng.normal(0, 2, size)
    return {"a": a, "b": b, "c": rng.normal(300, 60, size)}


def exact(kind, table):
    clipped = [np.clip(table[name], *bounds) for name, bounds in COLUMNS.items()]
    return np.cov(clipped, bias=True) if kind is hm.Covariance else np.corrcoef(clipped)


KINDS = pytest.mark.parametrize("kind", [hm.Covariance, hm.Correlation])


@KINDS
def test_at_a_large_price_the_matrix_is_the_plain_one(kind):
    release = hm.open(data(), budget=10**6).ask(kind(COLUMNS), epsilon=10**5)
    assert np.allclose(release.value, exact(kind, data()), rtol=1e-3, atol=1e-3)


def estimates(kind, price, times, table=None, **unit):
    source = open_source(table or data())
    setting = Setting(source.schema, PrivacyUnit(**unit))
    prepared = kind(COLUMNS).prepare(setting, price)
    points = prepared.request.answered_by(source)
    sums = prepared.body.sums(points)
    records = [prepared.mechanism.release(sums) for _ in range(times)]
    return [prepared.read([record])[0] for record in records], setting


@KINDS
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("relation", Relation)
def test_intervals_cover(kind, price, relation):
    """Every entry alone, as often as a true 90 % would (false alarm 1e-6 over the nine)."""
    times, truth = 60, exact(kind, data())
    made, _ = estimates(kind, price, times, relation=relation)
    low_high = np.array([e.interval(0.9) for e in made])
    slack = 1e-4 * np.abs(truth)
    held = (low_high[..., 0] - slack <= truth) & (truth <= low_high[..., 1] + slack)
    assert held.sum(axis=0).min() >= stats.binom.ppf(1e-6 / 9, times, 0.9)


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_previews_predict_the_error(price):
    """On independent values spread evenly; raw covariances, a fifth of tolerance."""
    n = 3600
    grid = (np.arange(60) + 0.5) / 60
    x, y = (axis.ravel() for axis in np.meshgrid(grid, grid))
    table = {"a": 10 * x, "b": 10 * y - 5, "c": 100 + 300 * np.roll(x + 17 * y, 7) % 1}
    columns = {"a": (0, 10), "b": (-5, 5)}
    source = open_source(table)
    setting = Setting(source.schema, PrivacyUnit())
    query = hm.Covariance(columns)
    prepared = query.prepare(setting, price)
    sums = prepared.body.sums(prepared.request.answered_by(source))
    made = [prepared.read([prepared.mechanism.release(sums)])[0] for _ in range(400)]
    truth = np.cov([table["a"], table["b"]], bias=True)
    error = math.sqrt(np.mean([(np.array(e.raw) - truth) ** 2 for e in made]))
    assert 0.8 <= error / query.expected(setting, price, n).rmse <= 1.25


def test_priced_whole_beats_a_split_budget():
    """Against count, sums and products of the centred columns, bought apart in ten equal shares."""
    made, _ = estimates(hm.Covariance, Pure(1), 600)
    scales = np.array([(high - low) / 2 for low, high in COLUMNS.values()])
    unit = np.outer(scales, scales)
    truth = exact(hm.Covariance, data()) / unit
    ours = math.sqrt(np.mean([(np.array(e.raw) / unit - truth) ** 2 for e in made]))
    c = np.array(
        [
            (np.clip(data()[name], low, high) - (low + high) / 2) / ((high - low) / 2)
            for name, (low, high) in COLUMNS.items()
        ]
    )
    rng, errors = np.random.default_rng(8), []
    for _ in range(600):
        noise = rng.laplace(0, 10, 10)
        n, sums = c.shape[1] + noise[0], c.sum(axis=1) + noise[1:4]
        products = c @ c.T
        rows, columns = np.triu_indices(3)
        products[rows, columns] += noise[4:]
        products[columns, rows] = products[rows, columns]
        errors.append((products / n - np.outer(sums, sums) / n**2 - truth) ** 2)
    assert ours < 0.85 * math.sqrt(np.mean(errors))


def test_the_projection_is_the_nearest():
    """Positive semidefinite, idempotent, and nearer than random semidefinite matrices."""
    rng = np.random.default_rng(2)
    raw = rng.normal(size=(4, 4))
    raw = raw + raw.T
    near = projected(raw)
    assert np.linalg.eigvalsh(near).min() >= -1e-12
    assert np.allclose(projected(near), near)
    for _ in range(200):
        root = rng.normal(size=(4, 4))
        assert np.linalg.norm(raw - near) <= np.linalg.norm(raw - root @ root.T) + 1e-9


def test_small_tables_give_matrices_all_the_same():
    """Ten rows at a small price: semidefinite, ones on the diagonal, inside [-1, 1]; raw kept."""
    for _ in range(20):
        curator = hm.open(data(10), budget=3)
        cov = curator.ask(hm.Covariance(COLUMNS), epsilon=0.1)
        scaled = np.array(cov.value) / np.outer(*[cov.estimate.scales] * 2)
        assert np.linalg.eigvalsh(scaled).min() >= -1e-9
        assert np.array(cov.estimate.raw).shape == (3, 3)
        assert "projected" in " ".join(cov.post_processing)
        cor = np.array(curator.ask(hm.Correlation(COLUMNS), epsilon=0.1).value)
        assert np.all(np.abs(cor) <= 1)
        assert np.all(np.diagonal(cor) == 1)
        assert "a, b" in curator.ask(hm.Correlation(COLUMNS), epsilon=0.1).statement


def test_fifty_columns_fit():
    rng = np.random.default_rng(1)
    table = {f"x{i}": rng.uniform(0, 1, 500) for i in range(50)}
    release = hm.open(table, budget=hm.ZCDP(10**4)).ask(
        hm.Covariance(dict.fromkeys(table, (0, 1))), rho=10**4
    )
    assert np.allclose(release.value, np.cov(list(table.values()), bias=True), atol=5e-3)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "columns: 0 of them"),
        ({f"x{i}": (0, 1) for i in range(51)}, "columns: 51 of them"),
        (["a"], "columns: a list given"),
        ({"a": 3}, "columns: 'a' needs"),
        ({"a": "01"}, "columns: 'a' needs"),
        ({"a": (1, 0)}, "bounds: lower 1 is above upper 0"),
        ({"a": (0, math.inf)}, "bounds: upper"),
    ],
)
@KINDS
def test_bad_columns_are_refused_in_words(kind, columns, said):
    with pytest.raises(hm.InvalidQuery) as refused:
        kind(columns)
    assert str(refused.value).startswith(said)


def test_groups_are_refused_before_the_charge():
    curator = hm.open({"a": [1.0], "g": ["x"]}, budget=1, schema={"g": "text"})
    with pytest.raises(hm.InvalidQuery, match=r"^by: a matrix"):
        curator.ask(hm.Covariance({"a": (0, 1)}), by=hm.Keys("g", ["x"]), epsilon=1)
    with pytest.raises(hm.InvalidQuery):
        curator.ask(hm.Covariance({"z": (0, 1)}), epsilon=1)
    assert str(curator.remaining) == "epsilon 1"
