"""Every plot returns the axes it is given, says what it shows, and draws the numbers it was given.

`drawn` lists all plots once: a new one joins by one line.
"""

import io
import math

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import halfmask as hm
from halfmask import mechanisms, plots
from halfmask.depth import tukey_depth
from halfmask.noise import seeded_words

X = np.clip(np.random.default_rng(7).normal(50_000, 15_000, 100), 0, None)
TABLE = {"x": X, "g": np.array(["ops", "r&d", "sales", "board"] * 25)}
POINTS = np.random.default_rng(2).normal(size=(400, 2)) * [1, 2]
MEAN = hm.Mean("x", 0, 100_000)
KEYS = hm.Keys("g", ["ops", "r&d", "sales", "board"])
PRICES = (0.1, 0.3, 1, 3)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def opened(**options):
    return hm.open(TABLE, budget=10, **options)


def asked(query, **options):
    return opened().ask(query, epsilon=1, **options)


def spent():
    staff = opened()
    for price in (0.5, 0.25, 2, 1):
        staff.ask(hm.Count(), epsilon=price)
    return staff.ledger


def previews(query, prices=PRICES, rows=100):
    return {price: opened().preview(query, epsilon=price, rows=rows) for price in prices}


def swept(tops=(30_000, 50_000, 70_000, 100_000, 150_000)):
    return hm.sweep(lambda top: hm.Mean("x", 0, top), TABLE, over=tops, epsilon=1, repeats=200)


def priced():
    return hm.sweep(MEAN, TABLE, epsilon=list(PRICES), repeats=200)


def by_rows():
    return {n: opened().preview(MEAN, epsilon=0.5, rows=n) for n in (30, 100, 300, 1000, 10_000)}


def middle():
    with hm.open(POINTS, budget=1) as table:
        return table.ask(hm.BoxMedian(0, 3), epsilon=1)


def with_region(ax=None):
    return plots.depth_contours(POINTS, middle(), region=(0, (2, 3)), ax=ax)


drawn = {
    "price, measured": lambda ax=None: plots.error_against_price(
        priced(), predicted=previews(MEAN), ax=ax
    ),
    "price, predicted": lambda ax=None: plots.error_against_price(previews(hm.Count()), ax=ax),
    "bound": lambda ax=None: plots.error_against_bound(swept(), label="salary held to", ax=ax),
    "rows": lambda ax=None: plots.error_against_rows(by_rows(), deviation=15_000, ax=ax),
    "histogram": lambda ax=None: plots.sampling_histogram(
        hm.trials(MEAN, TABLE, epsilon=0.5, repeats=500), ax=ax
    ),
    "histogram, clipped": lambda ax=None: plots.sampling_histogram(
        hm.trials(hm.Mean("x", 0, 50_000), TABLE, epsilon=1, repeats=500), ax=ax
    ),
    "histogram of counts": lambda ax=None: plots.sampling_histogram(
        hm.trials(hm.Count(), TABLE, epsilon=0.5, repeats=500), ax=ax
    ),
    "intervals": lambda ax=None: plots.release_intervals(
        asked(hm.Histogram("x", [0, 30_000, 45_000, 60_000, 80_000, math.inf])), ax=ax
    ),
    "interval of one": lambda ax=None: plots.release_intervals(asked(MEAN), ax=ax),
    "groups": lambda ax=None: plots.group_bars(asked(hm.Count(), by=KEYS), ax=ax),
    "neighbours": lambda ax=None: plots.neighbouring_outputs(
        mechanisms.DiscreteLaplace(1, 1), ax=ax
    ),
    "neighbours, Gaussian": lambda ax=None: plots.neighbouring_outputs(
        mechanisms.DiscreteGaussian(1, "0.005"), ax=ax
    ),
    "budget": lambda ax=None: plots.budget_timeline(spent(), ax=ax),
    "contours": with_region,
    "contours alone": lambda ax=None: plots.depth_contours(POINTS, depth=tukey_depth, ax=ax),
}


@pytest.mark.parametrize("name", drawn)
def test_every_plot_draws_on_new_axes_and_says_what_it_shows(name):
    ax = drawn[name]()
    assert isinstance(ax, Axes)
    assert ax.get_title(loc="left")
    target = io.BytesIO()
    ax.figure.savefig(target, format="png")
    assert target.tell() > 5000


@pytest.mark.parametrize("name", drawn)
def test_every_plot_accepts_axes(name):
    _, (left, right) = pyplot.subplots(1, 2)
    assert drawn[name](ax=left) is left
    assert not right.lines
    assert not right.collections


def test_every_plot_is_listed():
    named = {"price", "bound", "rows", "histogram", "intervals", "groups", "neighbours", "budget"}
    assert {name.split(",")[0].split(" ")[0] for name in drawn} >= named
    assert len(plots.__all__) == 9


def test_lines_stand_at_the_numbers():
    sweep = swept()
    lines = {line.get_label(): line for line in plots.error_against_bound(sweep).lines}
    assert np.allclose(lines["error: both together"].get_ydata(), sweep.rmse)
    assert np.allclose(lines["bias: clipped away"].get_ydata(), np.abs(sweep.clipping))
    assert lines["least"].get_xdata()[0] == sweep.best
    tried = hm.trials(MEAN, TABLE, epsilon=0.5, repeats=100)
    ends = [line.get_xdata()[0] for line in plots.sampling_histogram(tried).lines]
    assert ends == pytest.approx([float(tried.truth), tried.mean])
    ledger = spent()
    assert plots.budget_timeline(ledger).lines[0].get_ydata()[-1] == 3.75
    groups = asked(hm.Count(), by=KEYS)
    heights = [bar.get_height() for bar in plots.group_bars(groups).patches]
    assert heights == list(groups.value.values())


def test_the_band_holds_the_neighbour_of_a_pure_price():
    ax = plots.neighbouring_outputs(mechanisms.DiscreteLaplace(1, 1))
    one, other = (line.get_ydata() for line in ax.lines[:2])
    assert np.all(other <= one * math.e * (1 + 1e-12))
    assert np.all(other >= one / math.e * (1 - 1e-12))
    assert ax.collections


def test_seeded_answers_say_so():
    staff = hm.open(TABLE, budget=1, words=seeded_words(1))
    ax = plots.release_intervals(staff.ask(MEAN, epsilon=1))
    assert "NOT PRIVATE" in ax.texts[-1].get_text()


REFUSED = {
    "a sweep over bounds has no price": lambda: plots.error_against_price(swept((10, 20))),
    "a sweep over prices has no bound": lambda: plots.error_against_bound(priced()),
    "vectors have no histogram": lambda: plots.sampling_histogram(
        hm.trials(hm.Histogram("x", [0, 1, 2]), TABLE, epsilon=1, repeats=2)
    ),
    "names have no interval": lambda: plots.release_intervals(
        asked(hm.MostCommon("g", ["ops", "r&d"]))
    ),
    "groups of vectors": lambda: plots.group_bars(asked(hm.Histogram("x", [0, 1, 2]), by=KEYS)),
    "an empty ledger": lambda: plots.budget_timeline(opened().ledger),
    "points in space": lambda: plots.depth_contours(np.zeros((3, 3))),
    "a centre of one column": lambda: plots.depth_contours(POINTS, asked(hm.Count())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_drawn_is_refused(name):
    with pytest.raises(hm.InvalidQuery):
        REFUSED[name]()
