"""Series: strategies are causal, exact and unbiased; their error is the least, and as predicted."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.plan import Periods
from halfmask.privacy import ZCDP, PrivacyUnit, Pure
from halfmask.queries import Running, Setting
from halfmask.queries.series.strategy import _block_error, _candidates, _weights, causal
from halfmask.queries.workload.gaussian import optimum
from halfmask.queries.workload.load import RangeLoad
from halfmask.sources import open_source

CASES = [
    *((text, periods) for text in ("each", "roots") for periods in (1, 2, 5, 12, 27)),
    *(("blocks 2", 1), ("blocks 8", 5), ("blocks 3", 27), ("blocks 8", 44), ("blocks 7", 60)),
]
ALL = pytest.mark.parametrize(("text", "periods"), CASES)


@ALL
def test_sums_are_known_when_they_close_and_weigh_later_periods_no_less(text, periods):
    known = causal(text, periods)
    assert (np.diff(known.closes) >= 0).all()
    for row, closes in zip(known.matrix, known.closes, strict=True):
        assert not row[closes:].any()
        assert (np.diff(row[:closes]) >= 0).all()
        assert row[0] >= 0
        assert row[closes - 1] > 0
    assert known.norms == (
        max(sum(abs(int(x)) for x in column) for column in known.matrix.T),
        max(sum(int(x) ** 2 for x in column) for column in known.matrix.T),
    )


def test_some_cases_have_blocks():
    assert [len(causal(text, number).closes) - number for text, number in CASES[-3:]] == [2, 3, 6]


@ALL
def test_totals_are_unbiased_and_the_best_that_is_known_so_far(text, periods):
    """A twin: least squares over all rows that are closed, by the normal equations."""
    known = causal(text, periods)
    for t in range(1, periods + 1):
        gains = known.gains(t)
        so_far = known.matrix[: gains.shape[1], :t].astype(float)
        assert (known.closes[: gains.shape[1]] <= t).all()
        np.testing.assert_allclose(gains @ so_far, np.tri(t), atol=1e-9)
        least = np.linalg.pinv(so_far.T @ so_far)[:t, :t].sum()
        assert math.isclose((gains[-1] ** 2).sum(), least, rel_tol=1e-9)


@ALL
def test_a_total_once_released_is_never_moved_by_later_closings(text, periods):
    known = causal(text, periods)
    last = known.gains(periods)
    for t in range(1, periods):
        gains = known.gains(t)
        np.testing.assert_allclose(last[:t, : gains.shape[1]], gains, rtol=1e-9, atol=1e-15)
        assert not last[:t, gains.shape[1] :].any()


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize("periods", [8, 12, 27, 60])
def test_the_error_of_blocks_is_that_of_their_gains(width, periods):
    known = causal(f"blocks {width}", periods)
    scale, _ = known.norms
    assert (known.matrix.sum(axis=0) == scale).all()
    error = (known.gains(periods) ** 2).sum() * scale**2
    assert math.isclose(_block_error(periods, width), error, rel_tol=1e-3)


@pytest.mark.parametrize(("size", "later"), [(2, 40), (3, 9), (6, 30), (9, 200)])
def test_the_weights_of_a_block_are_the_best(size, later):
    """A twin: all weights and the sum's coefficient, free, by a general search from many starts."""

    def error(free):
        w, c = 1 / (1 + np.exp(-free[:-1])), free[-1]
        inside = ((size - 1 - np.arange(size)) / w**2).sum()
        return inside + later * (c**2 + (((1 - c * (1 - w)) / w) ** 2).sum())

    found = [minimize(error, np.append(np.full(size, start), 1.5)).fun for start in (-1, 0, 1, 2)]
    least, weights = _weights(size, later)
    assert math.isclose(least, min(*found, size * (size - 1) / 2 + later * size), rel_tol=1e-3)
    assert list(weights) == sorted(weights, reverse=True)


@pytest.mark.parametrize("periods", [2, 3, 12, 24, 100])
def test_square_roots_come_near_the_least_error_of_any_strategy(periods):
    """In squares within three hundredths, even of those that wait for the last period."""
    known = causal("roots", periods)
    _, squared = known.norms
    reached = squared * (known.gains(periods) ** 2).sum()
    load = RangeLoad(periods, np.zeros(periods, dtype=np.int64), np.arange(1, periods + 1))
    _, _, bound = optimum(load.gram())
    assert bound <= reached * (1 + 1e-9)
    assert reached <= bound * 1.03


@pytest.mark.parametrize("price", [Pure(1), ZCDP("1/2")])
@pytest.mark.parametrize("periods", [1, 6, 24, 60, 365])
def test_the_choice_is_never_worse_than_noise_in_each_period_or_in_each_total(price, periods):
    source = open_source({"at": [0.0]})
    setting, question = (
        Setting(source.schema, PrivacyUnit()),
        Running(hm.Count(), "at", Periods(0, 1, periods)),
    )
    chosen = question.lay(setting, price).blank().expected().rmse
    for text, _ in _candidates(periods, isinstance(price, Pure)):
        assert chosen <= question.lay(setting, price, text).blank().expected().rmse * (1 + 1e-12)
    split = hm.Count().expected(setting, price.share(f"1/{periods}"), 1).rmse
    assert chosen <= split * (1 + 1e-12)


@pytest.mark.parametrize("price", [Pure("0.8"), ZCDP("0.3")])
@pytest.mark.parametrize("text", ["each", "blocks 3", "roots"])
@pytest.mark.parametrize("single", [False, True])
def test_intervals_hold_the_truth_as_often_as_they_say(price, text, single):
    """And errors are as predicted. False alarms: 1e-6, by Bernstein's bound for 84 shares."""
    source = open_source({"at": [0.5, 1.5, 1.7, 3.2, 5.0, 6.5]})
    setting = Setting(source.schema, PrivacyUnit())
    closings = Running(hm.Count(), "at", Periods(0, 1, 7)).lay(setting, price, text)
    closing, words, trials = closings.closing(1, 7), seeded_words(11), 4000
    exact = closing.exact(closing.request.answered_by(source))
    counts = np.array([1, 2, 0, 1, 0, 1, 1])
    truth = counts if single else counts.cumsum()
    noisy = closings.mechanism.release(exact * trials, words)
    one = closings.totals(noisy[: len(exact)], 7, single=single)
    low, high = np.array(one.interval(0.9)).T
    values = np.array(noisy).reshape(trials, -1) @ one.gains.T
    off = np.abs(values - truth)
    missed, errors = (off > (high - low) / 2).sum(axis=0), (off**2).mean(axis=0)
    np.testing.assert_allclose(values[0], one.value)
    np.testing.assert_allclose((low + high) / 2, one.value)
    slack = math.sqrt(2 * 0.09 * trials * math.log(84e6)) + math.log(84e6)
    assert (missed <= 0.1 * trials + slack).all()
    assert missed.sum() >= 7 * (0.1 * trials - slack) / 2  # nor are they far too wide
    spread = np.sqrt(errors) / one.deviations
    assert ((spread > 0.75) & (spread < 1.33)).all()  # so 2/3 and 3/2 are told apart
