"""The laws of queries, written once and run over all of them.

A new query joins by one line in QUERIES (and one in BODIES where several answers share its sums).
"""

import itertools
import json
import math
from fractions import Fraction
from operator import ne

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.mechanisms import Staircase
from halfmask.noise import seeded_words
from halfmask.plan import Everything, Filters, Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.procedures import Procedure
from halfmask.queries import Moments, Range, Setting
from halfmask.sources import open_source

LOW, HIGH = -20.0, 100.0
EDGES = [-20.0, 0.0, 7.5, 40.0, math.inf]


def clipped(x):
    return np.clip(x[~np.isnan(x)], LOW, HIGH)


def in_bins(x):
    x = x[~np.isnan(x)]
    return [int(((a <= x) & (x < b)).sum()) for a, b in itertools.pairwise(EDGES)]


# each query beside its plain answer on a float array with NaN for missing
QUERIES = {
    "count": (hm.Count(), len),
    "distinct": (hm.CountDistinct(), len),
    "sum": (hm.Sum("x", LOW, HIGH), lambda x: clipped(x).sum()),
    "mean": (hm.Mean("x", LOW, HIGH), lambda x: clipped(x).mean()),
    "variance": (hm.Variance("x", LOW, HIGH), lambda x: clipped(x).var()),
    "deviation": (hm.StandardDeviation("x", LOW, HIGH), lambda x: clipped(x).std()),
    "histogram": (hm.Histogram("x", EDGES), in_bins),
    "median": (hm.Median("x", LOW, HIGH), lambda x: np.median(clipped(x))),
    "quantiles": (
        hm.Quantile("x", [0.75, 0.5, 0.1], LOW, HIGH),
        lambda x: np.quantile(clipped(x), [0.75, 0.5, 0.1]),
    ),
    "values": (hm.Filtered(hm.Count(), "x is not None"), lambda x: (~np.isnan(x)).sum()),
    "filtered": (hm.Filtered(hm.Sum("x", LOW, HIGH), "x > 7"), lambda x: clipped(x[x > 7]).sum()),
}
CHOSEN = {"median", "quantiles"}  # their intervals are public bounds
ALL = pytest.mark.parametrize("name", QUERIES)

BODIES = {
    "count": hm.Count(),
    "distinct": hm.CountDistinct(),
    "sum": hm.Sum("x", LOW, HIGH),
    "sum of one sign": hm.Sum("x", 3.0, HIGH),
    "histogram": hm.Histogram("x", EDGES),
    "two-sided sums": Moments("x", Range(LOW, HIGH)),
    "two-sided sums and missing rows": Moments("x", Range(LOW, HIGH), missing=True),
    "sums of degree 2": Moments("x", Range(LOW, HIGH), degree=2),
    "sums of degree 2 and missing rows": Moments("x", Range(LOW, HIGH), degree=2, missing=True),
}


class Centred:
    """The last sums of a mean: about the given centres, one a key."""

    def __init__(self, *centres):
        self.centres = centres

    def prepare(self, setting, price):
        centres, mean = self.centres[: len(setting.keys)], hm.Mean("x", LOW, HIGH)
        return mean._last(setting, price, centres, mean.body().lay(setting, price))


BODIES["centred sums"] = Centred(100, None, 1000)


class Behind:
    """The noisy counts that a ranking is read off."""

    def __init__(self, query):
        self.query = query

    def prepare(self, setting, price):
        return self.query.prepare(setting, price).prepared


BODIES["counts of a ranking"] = Behind(hm.TopK("g", 2, ["a", "b", None], counts=True))


class Part:
    """A question of some rows, at its own filter."""

    def __init__(self, filtered):
        self.filtered = filtered

    def prepare(self, setting, price):
        return self.filtered.question.prepare(self.filtered.within(setting), price)


BODIES["filtered count"] = Part(hm.Filtered(hm.Count(), "x >= 3"))
BODIES["filtered units"] = Part(hm.Filtered(hm.CountDistinct(), "x >= 3"))
BODIES["filtered sum"] = Part(hm.Filtered(hm.Sum("x", LOW, HIGH), "g == 'a'"))

ELSE = Keys("g", ["a", "b"], other=True)
FILTERS = Filters("x < 0", "x >= 0 and g == 'a'", "x >= 0 and g == 'b' or x is None")

value = st.one_of(
    st.none(),
    st.floats(-50, 150),
    st.sampled_from([LOW, HIGH, 0.0, -0.0, math.nan, math.inf, -math.inf, 1e308, 5e-324]),
)
row = st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", "z"]), value)


@st.composite
def settings_of(draw):
    column = draw(st.sampled_from([None, "u"]))
    rows = draw(st.integers(1, 3)) if column else 1
    by = draw(st.sampled_from([None, Keys("g", ["a", "b", "c"]), ELSE, FILTERS]))
    groups = draw(st.sampled_from([None, 1, 2])) if column and by else None
    relation = draw(st.sampled_from(list(Relation)))
    return by, PrivacyUnit(column, rows, groups, relation)


def table(rows):
    return open_source(
        {
            "u": np.array([r[0] for r in rows], dtype=np.int64),
            "g": np.array([r[1] for r in rows], dtype="U1"),
            "x": np.array([math.nan if r[2] is None else r[2] for r in rows], dtype=float),
        },
        schema={"g": "text"},
    )


def distances(body, setting, price, rows, others):
    """The L1 and squared L2 distance of two tables' exact vectors, in units of their own reach."""
    prepared = body.prepare(setting, price)
    one, two = (prepared.vectors(table(t).tally(prepared.tally)) for t in (rows, others))
    parts, alone = [], 0
    for (output, a), (_, b) in zip(one, two, strict=True):
        alone += isinstance(output.mechanism, Staircase) and sum(map(ne, a, b))
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        mechanism = output.mechanism
        if isinstance(price, Pure):
            parts.append(Fraction(sum(moved), max(mechanism.sensitivity, 1)))
            assert mechanism.sensitivity or not any(moved)
        else:
            parts.append(Fraction(sum(m * m for m in moved), max(mechanism.sensitivity_squared, 1)))
            assert mechanism.sensitivity_squared or not any(moved)
    assert alone <= 1  # staircase noise is for units that move one integer
    return sum(parts)


def neighbour(rows, extra, unit):
    """Remove a unit (or put `extra` in its place, under `replace`)."""
    if unit.column is None:
        return rows[1:] + (extra[:1] if unit.relation is Relation.REPLACE else [])
    gone = rows[0][0]
    kept = [r for r in rows if r[0] != gone]
    if unit.relation is Relation.ADD_REMOVE:
        return kept
    return kept + [(gone, g, x) for _, g, x in extra]


@pytest.mark.parametrize("name", BODIES)
@given(
    drawn=settings_of(),
    rows=st.lists(row, min_size=1, max_size=8),
    extra=st.lists(row, min_size=1, max_size=4),
    price=st.sampled_from([Pure("0.7"), Pure(3), ZCDP("0.3"), GDP(1)]),
)
@settings(max_examples=30, deadline=None)
def test_no_neighbour_moves_the_exact_integers_beyond_the_reach(name, drawn, rows, extra, price):
    """The privacy law: sensitivity, through units, groups, bins, grids and combination."""
    by, unit = drawn
    setting = Setting(table(rows).schema, unit, Everything(), by)
    others = neighbour(rows, extra, unit)
    assert distances(BODIES[name], setting, price, rows, others) <= 1


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("relation", Relation)
def test_the_reach_is_attained(name, relation):
    """Noise is not wasted: some neighbours move the integers by all of the reach, nearly."""
    unit = PrivacyUnit(relation=relation)
    corners = [LOW, HIGH, (LOW + HIGH) / 2, 3.0, None]
    setting = Setting(table([(0, "a", 1.0)]).schema, unit)
    if relation is Relation.ADD_REMOVE:
        pairs = [([(0, "a", x)], []) for x in corners]
    else:
        pairs = [([(0, "a", x)], [(0, g, y)]) for x in corners for y in corners for g in "ab"]
    if name in {"count", "distinct", "centred sums"} and relation is Relation.REPLACE:
        return  # the number of rows is public then, and sums are centred already: never noised
    base = [(9, "a", 50.0)]
    body = BODIES[name]
    reached = [distances(body, setting, Pure(1), base + a, base + b) for a, b in pairs]
    assert max(reached) >= Fraction(99, 100)


@ALL
def test_at_a_large_price_the_answer_is_the_plain_one(name):
    query, plain = QUERIES[name]
    x = np.concatenate([np.random.default_rng(5).normal(30, 40, 2000), [np.nan] * 50])
    curator = hm.open({"x": x}, budget=10**6)
    release = curator.ask(query, epsilon=10**5)
    assert np.allclose(release.value, plain(x), rtol=1e-4, atol=0.5)
    low_high = np.atleast_2d(release.interval())
    assert np.all(low_high[:, 0] - 1e-3 <= np.ravel(plain(x)))
    assert np.all(low_high[:, 1] + 1e-3 >= np.ravel(plain(x)))


def asked(query, x, price, times, seed=None, relation="add_remove"):
    """Releases of one query on one table, `times` times over."""
    source = open_source({"x": x})
    setting = Setting(source.schema, PrivacyUnit(relation=relation))
    known = {}
    words = None if seed is None else seeded_words(seed)

    def measure(measurement):
        request = measurement.request
        if request not in known:
            known[request] = request.answered_by(source)
        records = measurement.release(known[request], words)
        return measurement.read(json.loads(json.dumps(records)))  # as a ledger keeps them

    if isinstance(query, Procedure):
        return [query.run(setting, price, measure)[0] for _ in range(times)], setting
    prepared = query.prepare(setting, price)
    return [measure(prepared)[0] for _ in range(times)], setting


@ALL
@pytest.mark.parametrize("price", [Pure("0.5"), ZCDP("0.125"), GDP("0.5")], ids=str)
@pytest.mark.parametrize("relation", Relation)
def test_intervals_cover_as_often_as_they_say(name, price, relation):
    """Covered in a share of the trials that a true 90 % would give (false alarm 1e-6)."""
    query, plain = QUERIES[name]
    x = np.random.default_rng(6).normal(30, 40, 3000)
    times = 250
    estimates, _ = asked(query, x, price, times, relation=relation)
    truth = np.ravel(plain(x))
    held = 0
    for estimate in estimates:
        low_high = np.atleast_2d(estimate.interval(0.9))
        slack = 1e-5 * np.abs(truth) + 1e-6  # the grid of the values, far below the noise
        held += bool(low_high[0, 0] - slack[0] <= truth[0] <= low_high[0, 1] + slack[0])
    assert held >= stats.binom.ppf(1e-6, times, 0.9)


@ALL
def test_narrow_intervals_would_be_caught(name):
    """The law above rejects intervals from noise of 2/3 of the scale."""
    query, plain = QUERIES[name]
    x = np.random.default_rng(6).normal(30, 40, 3000)
    times = 4000  # at 2/3, 83 % of counts are covered: 7 deviations below what passes
    estimates, _ = asked(query, x, Pure("0.5"), times)
    truth = np.ravel(plain(x))[0]
    if name in {"variance", "deviation", *CHOSEN}:
        return  # intervals that are conservative (union bound) or public: 2/3 of them still cover
    values = [np.ravel(estimate.value)[0] for estimate in estimates]
    halves = [np.diff(np.atleast_2d(estimate.interval(0.9))[0])[0] / 3 for estimate in estimates]
    held = sum(abs(v - truth) <= h for v, h in zip(values, halves, strict=True))
    assert held < stats.binom.ppf(1e-6, times, 0.9)


@ALL
@pytest.mark.parametrize("price", [Pure("0.5"), GDP("0.5")], ids=str)
def test_previews_predict_the_error(name, price):
    """On values as the preview assumes them, the measured error is within a fifth of it."""
    query, plain = QUERIES[name]
    n, times = 20_000, 400
    x = LOW + (HIGH - LOW) * (np.arange(n) + 0.5) / n
    estimates, setting = asked(query, x, price, times)
    expected = query.expected(setting, price, n)
    errors = np.array([np.ravel(e.value) for e in estimates]) - np.ravel(plain(x))
    measured = math.sqrt((errors**2).mean())
    assert 0.8 <= measured / expected.rmse <= 1.25


def test_the_mean_of_two_sided_sums_beats_a_split_budget():
    """The article's size: half the error of two noisy numbers, and less."""
    x = np.clip(np.random.default_rng(7).normal(50_000, 15_000, 100), 0, 100_000)
    estimates, _ = asked(hm.Mean("x", 0, 100_000), x, Pure("0.5"), 1500)
    error = math.sqrt(np.mean([(e.value - x.mean()) ** 2 for e in estimates]))
    assert error < 2600


def test_large_means_are_centred():
    x = np.random.default_rng(8).normal(50_000, 15_000, 200_000)
    exact = np.clip(x, 0, 100_000).mean()
    estimates, _ = asked(hm.Mean("x", 0, 100_000), x, Pure("0.5"), 400)
    error = math.sqrt(np.mean([(e.value - exact) ** 2 for e in estimates]))
    assert error < 0.85 * 100_000 / (200_000 * 0.5)  # two-sided sums alone leave 1 of it
