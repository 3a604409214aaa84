"""Choices and checks by depth: scores by the definition, how far a row moves them, their words."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

import halfmask as hm
from halfmask import depth
from halfmask.plan import Everything
from halfmask.postprocess import within
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.procedures import DepthCheck, DepthMedian
from halfmask.queries import Setting
from halfmask.queries.location import public_directions
from halfmask.sources import open_source

PLACES = ((0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (-3.0, 1.0), (2.5, 2.5))
RAYS = ((1.0, 0.0), (0.0, 1.0), (1.0, -1.0), (2.0, 1.0))
MEDIANS = {
    name: DepthMedian(name, PLACES, 20.0, ("x", "y"), None if name == "spatial" else RAYS)
    for name in ("tukey", "integrated dual", "spatial")
}
CHECK = DepthCheck((0.0, 0.0), 8.0, ("x", "y"), RAYS)
every_depth = pytest.mark.parametrize("name", MEDIANS)

# few values, so that rows tie with each other and with candidates; some are moved to the bounds
value = st.sampled_from([0.0, 1.0, 2.0, -3.0, 2.5, 7.0, 50.0, float("inf"), float("nan")])
row = st.tuples(st.integers(0, 2), value, value)


@st.composite
def units(draw):
    column = draw(st.sampled_from([None, "u"]))
    rows = draw(st.integers(1, 2)) if column else 1
    return PrivacyUnit(column, rows, None, draw(st.sampled_from(list(Relation))))


def table(rows):
    u, x, y = zip(*rows, strict=True) if rows else ((), (), ())
    return open_source(
        {"u": np.array(u, np.int64), "x": np.array(x, float), "y": np.array(y, float)}
    )


def neighbour(rows, extra, unit):
    """Remove a unit, or put `extra` in its place under `replace`."""
    gone = rows[0][0]
    kept = rows[1:] if unit.column is None else [r for r in rows if r[0] != gone]
    if unit.relation is Relation.ADD_REMOVE:
        return kept
    return kept + (extra[:1] if unit.column is None else [(gone, x, y) for _, x, y in extra])


neighbours = given(
    unit=units(),
    rows=st.lists(row, min_size=1, max_size=7),
    extra=st.lists(row, min_size=1, max_size=3),
)


@every_depth
@neighbours
@settings(max_examples=60, deadline=None)
def test_no_choice_tells_neighbours_apart_by_more_than_epsilon(name, unit, rows, extra):
    """epsilon-DP, exactly: the law of the choice through units, bounds, ties and rounding."""
    choice = MEDIANS[name]._choice(Setting(table(rows).schema, unit, Everything()), Pure("0.7"))
    one, two = (
        choice.mechanism.log_mass(choice.scores(table(part).points(choice.request)))
        for part in (rows, neighbour(rows, extra, unit))
    )
    assert np.abs(one - two).max() <= 0.7 + 1e-9


@every_depth
@pytest.mark.parametrize("relation", Relation)
def test_the_loss_of_a_choice_is_not_far_below_epsilon(name, relation):
    """A third of it is reached by neighbours of few rows: noise is not wasted."""
    unit, worst = PrivacyUnit(relation=relation), 0.0
    corners = [(0, x, y) for x, y in itertools.product([-9.0, 0.0, 9.0], repeat=2)]
    choice = MEDIANS[name]._choice(Setting(table(corners).schema, unit), Pure(1))
    laws = {
        rows: choice.mechanism.log_mass(choice.scores(table(list(rows)).points(choice.request)))
        for k in (1, 2)
        for rows in itertools.combinations(corners, k)
    }
    for rows, law in laws.items():
        for other, their in laws.items():
            if len(set(rows) ^ set(other)) == (1 if relation is Relation.ADD_REMOVE else 2):
                worst = max(worst, np.abs(law - their).max())
    assert worst > 1 / 3


@neighbours
@settings(max_examples=60, deadline=None)
def test_no_unit_moves_the_counts_of_a_check_beyond_their_reach(unit, rows, extra):
    setting = Setting(table(rows).schema, unit)
    for price in (Pure(1), GDP(1)):
        counts = CHECK._counts(setting, price)
        one, two = (
            counts.counts(table(part).points(counts.request))
            for part in (rows, neighbour(rows, extra, unit))
        )
        moved = [abs(a - b) for a, b in zip(one, two, strict=True)]
        if price == Pure(1):
            assert sum(moved) <= counts.mechanism.sensitivity
        else:
            assert sum(m * m for m in moved) <= counts.mechanism.sensitivity_squared


@st.composite
def points(draw):
    n = draw(st.integers(0, 30))
    cell = st.one_of(st.integers(-8, 8), st.sampled_from([0, 1, 2]))
    return draw(arrays.arrays(np.int64, (n, 2), elements=cell)).astype(float)


@every_depth
@given(points())
@settings(max_examples=40, deadline=None)
def test_scores_are_the_depths_of_the_definition(name, rows):
    source = open_source({"x": rows[:, 0], "y": rows[:, 1]})
    choice = MEDIANS[name]._choice(Setting(source.schema, PrivacyUnit()), Pure(1))
    found = np.array(choice.scores(source.points(choice.request))) / choice.depth.parts
    if name == "spatial":
        gaps = rows[None] - np.array(PLACES)[:, None]
        lengths = np.linalg.norm(gaps, axis=2, keepdims=True)
        units = np.divide(gaps, lengths, out=np.zeros_like(gaps), where=lengths > 0)
        assert np.allclose(found, -np.linalg.norm(units.sum(axis=1), axis=1), atol=1e-4)
        return
    seen, at = rows @ np.array(RAYS).T, np.array(PLACES) @ np.array(RAYS).T
    below = (seen[None] <= at[:, None]).sum(axis=1)
    above = (seen[None] >= at[:, None]).sum(axis=1)
    sides = np.minimum(below, above)
    assert found.tolist() == (sides.min(axis=1) if name == "tukey" else sides.mean(axis=1)).tolist()


def test_scores_agree_with_the_depths_of_the_depth_room():
    rows = np.random.default_rng(1).normal(size=(300, 4))
    places = np.random.default_rng(2).normal(size=(9, 4))
    rays = public_directions(4)
    source = open_source(rows)
    twins = {
        "tukey": depth.tukey_depth(places, rows, np.array(rays)),
        "integrated dual": 300 * depth.integrated_dual_depth(places, rows, rays, score="minimum"),
        "spatial": 300 * (depth.spatial_depth(places, rows) - 1),
    }
    for name, twin in twins.items():
        choice = DepthMedian(name, places)._choice(Setting(source.schema, PrivacyUnit()), Pure(1))
        scores = np.array(choice.scores(source.points(choice.request))) / choice.depth.parts
        assert np.allclose(scores, twin, atol=1e-3)


@every_depth
def test_blocks_and_order_of_rows_change_nothing(name, monkeypatch):
    rows = np.random.default_rng(3).integers(-7, 7, (90, 2)).astype(float)
    source = open_source({"x": rows[:, 0], "y": rows[:, 1]})
    choice = MEDIANS[name]._choice(Setting(source.schema, PrivacyUnit()), Pure(1))
    exact = source.points(choice.request)
    whole = choice.scores(exact)
    for entries in (1, 7, 100):
        monkeypatch.setattr("halfmask.queries.location.standard.ENTRIES", entries)
        assert choice.scores(exact[::-1]) == whole


@every_depth
@pytest.mark.parametrize("price", [{"epsilon": 4}, {"rho": 1}, {"mu": 2}], ids=str)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_the_deepest_candidate_is_chosen(name, price, relation):
    x = np.random.default_rng(5).normal(size=(2000, 2)) + np.array([1.0, 0.0])
    budget = hm.ZCDP(100) if set(price) & {"rho", "mu"} else hm.Pure(100)
    curator = hm.open({"x": x[:, 0], "y": x[:, 1]}, budget=budget, relation=relation)
    found = curator.ask(MEDIANS[name], **price)
    assert found.value == (1.0, 0.0)
    assert [cell.bin for cell in found.cells()] == ["x", "y"]


STRANGE = {
    "none": np.empty((0, 2)),
    "one": np.ones((1, 2)),
    "equal": np.full((500, 2), 1.0),
    "missing": np.full((50, 2), np.nan),
    "infinite": np.array([[np.inf, -np.inf]] * 30),
    "beyond the bounds": np.full((10, 2), 1e300),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_tables_get_an_answer(name):
    curator = hm.open({"x": STRANGE[name][:, 0], "y": STRANGE[name][:, 1]}, budget=100)
    for query in MEDIANS.values():
        assert curator.ask(query, epsilon=1).value in PLACES
    assert 0 <= curator.ask(CHECK, epsilon=1).value <= 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"depth": "projection"}, "depth: 'projection'; give one of tukey"),
        ({"candidates": []}, "candidates"),
        ({"candidates": [[1.0, 2.0]]}, "two or more"),
        ({"candidates": [[1.0, 2.0], [1.0, 2.0]]}, "twice"),
        ({"candidates": [[1.0, 2.0], [1.0, float("nan")]]}, "finite"),
        ({"candidates": [[1.0, 2.0], [1.0]]}, "candidates"),
        ({"candidates": "here"}, "candidates"),
        ({"directions": [[0.0, 0.0]]}, "zero"),
        ({"directions": [[float("inf"), 0.0]]}, "finite"),
        ({"radius": -1}, "radius"),
    ],
)
def test_what_is_no_choice_is_refused(given, said):
    with pytest.raises(hm.InvalidQuery, match=said):
        DepthMedian(**{"depth": "tukey", "candidates": PLACES, "radius": None} | given)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (DepthMedian("tukey", [[0.0] * 3, [1.0] * 3]), "columns"),
        (DepthMedian("tukey", PLACES, directions=[[1.0]]), "directions: 1 coordinates for 2"),
        (DepthMedian("spatial", PLACES, directions=RAYS), "spatial depth has none"),
        (DepthMedian("tukey", PLACES, radius=1.0), "radius: 1.0 does not reach"),
        (DepthCheck((0.0, 0.0, 0.0), 5), "columns"),
        (DepthCheck((0.0, 0.0), 5, directions=[[1.0]]), "directions"),
        (DepthCheck((0.0, 0.0), 5, ("x", "z")), "z"),
    ],
)
def test_what_does_not_fit_the_table_is_refused_before_it_costs(query, said):
    curator = hm.open({"x": np.ones(2), "y": np.ones(2)}, budget=1)
    with pytest.raises(hm.InvalidQuery, match=said):
        curator.ask(query, epsilon=1)
    assert curator.remaining == Pure(1)


@pytest.mark.parametrize("least", [0, 0.5, -1, "a"])
def test_a_share_that_no_point_or_every_point_has_is_refused(least):
    with pytest.raises(hm.InvalidQuery, match="least"):
        DepthCheck((0.0,), 1, least=least)


@pytest.mark.parametrize("price", [{"epsilon": "0.2"}, {"rho": "0.02"}], ids=str)
@pytest.mark.parametrize("d", [2, 50])
def test_a_failed_centre_is_told_from_a_good_one(d, price):
    """At two deviations in each coordinate; a quarter of outliers does not make a centre fail."""
    rows = np.random.default_rng(d).normal(size=(4000, d))
    rows[::4] += 10
    curator = hm.open(rows, budget=hm.ZCDP(100) if "rho" in price else hm.Pure(100))
    good, bad = (curator.ask(DepthCheck((x,) * d, 100), **price) for x in (0.15, -2.0))
    assert good.estimate.ok
    assert "lies amid" in good.estimate.statement
    assert not good.doubt
    assert not bad.estimate.ok
    assert bad.doubt
    assert "CAUTION" in bad.statement  # "do not use", or rarely that the noise is too large


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ((480, 520), "lies amid"),
        ((100, 900), "does not lie"),
        ((8, 9), "noise is too large"),
        ((0, 0), "noise is too large"),
        ((-35, -20), "noise is too large"),
        ((-5, 900), "does not lie"),
    ],
)
def test_what_noisy_counts_tell_is_said_in_words(counts, word):
    """Noise of scale 10; a share of two negative counts tells nothing."""
    measured = CHECK.prepare(Setting(table([(0, 0.0, 0.0)]).schema, PrivacyUnit()), Pure("0.1"))
    (found,) = measured.read([counts])
    assert word in found.statement
    assert found.ok == (word == "lies amid")
    assert found.doubt == ("" if found.ok else found.statement)
    assert within(found, 0, 1).doubt == found.doubt, "tidying heals nothing"


@pytest.mark.parametrize("price", [Pure("0.2"), ZCDP("0.05"), GDP("0.3")], ids=str)
@pytest.mark.parametrize("relation", Relation)
def test_intervals_of_a_check_cover_and_previews_predict(price, relation):
    """Covered as often as a true 90 % would be (false alarm 1e-6), and not if 2/3 as wide."""
    rows = np.random.default_rng(6).normal(size=(501, 2))
    source = open_source({"x": rows[:, 0], "y": rows[:, 1]})
    setting = Setting(source.schema, PrivacyUnit(relation=relation))
    measured, counts = CHECK.prepare(setting, price), CHECK._counts(setting, price)
    exact = source.points(measured.request)
    deep, others = counts.counts(exact)
    truth, times = deep / (deep + others), 1200
    found = [measured.read(measured.release(exact, None))[0] for _ in range(times)]
    held = dict.fromkeys((1, 2 / 3), 0)
    for one in found:
        low, high = one.interval(0.9)
        for factor in held:
            held[factor] += abs(truth - (low + high) / 2) <= factor * (high - low) / 2
    floor = stats.binom.ppf(1e-6, times, 0.9)
    assert held[1] >= floor > held[2 / 3]
    error = np.sqrt(np.mean([(one.value - truth) ** 2 for one in found]))
    assert 0.8 < error / CHECK.expected(setting, price, 501).rmse < 1.25


def test_a_repeated_request_gets_the_same_release(tmp_path):
    rows = np.random.default_rng(7).normal(size=(30, 2))
    book = hm.Ledger(tmp_path / "l.ledger", budget=hm.Pure(5))
    curator = hm.open({"x": rows[:, 0], "y": rows[:, 1]}, ledger=book)
    for query in (*MEDIANS.values(), CHECK):
        asked = {"epsilon": "0.5", "request_id": query.title + repr(query)}
        assert curator.ask(query, **asked).value == curator.ask(query, **asked).value
    assert book.remaining == Pure(3)
