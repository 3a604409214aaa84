"""Series: what one unit moves in all closings together, by exhaustion over small histories.

A history is what the table shows at each closing: rows come late, go, and come back.
"""

import itertools
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.audit import audit
from halfmask.plan import Periods, where
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation
from halfmask.queries import Running, Setting
from halfmask.queries.series.strategy import Causal
from halfmask.sources import open_source

STRATEGIES = ["each", "blocks 2", "blocks 4", "roots"]
BLOCKS = {  # over four periods no block is worth its noise: so here are some
    "blocks 2": (
        [[5, 0, 0, 0], [0, 2, 0, 0], [1, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 6]],
        [1, 2, 2, 3, 4],
    ),
    "blocks 4": (
        [[6, 0, 0, 0], [0, 4, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1], [0, 2, 3, 5]],
        [1, 2, 3, 4, 4],
    ),
}
PERIODS = Periods(0, 1, 4)
SCHEMA = open_source({"at": [0.5], "x": [1.0], "u": [1], "g": ["a"]}).schema


def laid(of=None, price=None, unit=None, strategy=None, periods=PERIODS):
    setting = Setting(SCHEMA, unit or PrivacyUnit())
    with pytest.MonkeyPatch.context() as patched:
        if strategy in BLOCKS:
            patched.setattr("halfmask.queries.series.closing.causal", made)
        return Running(of or hm.Count(), "at", periods).lay(setting, price or Pure(1), strategy)


def made(text, periods):
    matrix, closes = BLOCKS[text]
    return Causal(text, np.array(matrix), np.array(closes))


def measured(closings, total_at):
    """All sums without their noise; total_at(t, edge) is what the table shows at closing t."""
    found = []
    for t in range(1, closings.question.periods.number + 1):
        closing = closings.closing(t, t)
        found += closing.exact([((total_at(t, edge),),) for edge in closing.edges])
    return found


def length(vector):
    return sum(map(abs, vector)), sum(one * one for one in vector)


def row_total(period, shown):
    """The total of one row that holds shown[t - 1] at closing t."""
    return lambda t, edge: shown[t - 1] * (period <= edge)


def held_total(rows, k):
    """The total of one unit of rows (period, closing of arrival, closing of departure)."""
    return lambda t, edge: min(k, sum(p <= edge and a <= t < d for p, a, d in rows))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_continual_counting_privacy_of_a_row_that_comes_late_goes_and_comes_back(strategy):
    """Whatever it holds while it is there, as long as its time stays in one period."""
    closings, worst = laid(hm.Sum("x", -3, 2), strategy=strategy), (0, 0)
    far, (l1, squared) = closings.tally.reach, closings.strategy.norms
    for period in range(1, 5):
        for shown in itertools.product([0, far, -far], repeat=4):
            moved = length(measured(closings, row_total(period, shown)))
            worst = max(worst[0], moved[0]), max(worst[1], moved[1])
    assert worst == (far * l1, far * far * squared)  # no more, and no less


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("k", [1, 2])
def test_continual_counting_privacy_of_a_unit_whose_rows_come_at_any_time(strategy, k):
    """Its rows may be of any periods, and come after these closed: all histories of three rows."""
    closings = laid(strategy=strategy, unit=PrivacyUnit("u", k))
    l1, squared = closings.strategy.norms
    assert closings.tally.unit.norm == k
    kinds, worst = [(p, a, 9) for p in range(1, 5) for a in range(1, 5)], (0, 0)
    for rows in itertools.combinations_with_replacement(kinds, 3):
        moved = length(measured(closings, held_total(rows, k)))
        worst = max(worst[0], moved[0]), max(worst[1], moved[1])
    assert worst == (k * l1, k * k * squared)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_row_that_is_taken_away_moves_the_sums_by_one_row_more_at_most(strategy):
    """And it may: the condition of the promise is not idle."""
    closings, k, beyond = laid(strategy=strategy, unit=PrivacyUnit("u", 1)), 1, False
    l1, squared = closings.strategy.norms
    kinds = [(p, a, d) for p in range(1, 5) for a in range(1, 5) for d in range(a + 1, 6)]
    for rows in itertools.combinations_with_replacement(kinds, 2):
        gone = sum(departure < 5 for _, _, departure in rows)
        moved = length(measured(closings, held_total(rows, k)))
        assert moved[0] <= (k + gone) * l1
        assert moved[1] <= (k + gone) ** 2 * squared
        beyond |= moved[0] > k * l1
    assert beyond


rows_of = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.just(9)), max_size=4)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(one=rows_of, other=rows_of, k=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_continual_counting_privacy_of_a_unit_that_is_replaced(strategy, one, other, k):
    """Pure: the L1 distance over the scale is at most epsilon; Gaussian: |.|^2 / 2 sigma^2, rho."""
    unit = PrivacyUnit("u", k, relation=Relation.REPLACE)
    for price in (Pure("0.7"), ZCDP("0.3"), GDP(1)):
        closings = laid(strategy=strategy, unit=unit, price=price)
        pair = (measured(closings, held_total(rows, k)) for rows in (one, other))
        l1, squared = length([a - b for a, b in zip(*pair, strict=True)])
        scale = closings.mechanism.scale
        if isinstance(price, Pure):
            assert l1 <= scale * price.epsilon
        else:
            assert squared <= scale**2 * (2 * price.rho if isinstance(price, ZCDP) else price.mu**2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_continual_counting_privacy_of_a_row_that_is_replaced_in_a_sum_of_both_signs(strategy):
    unit = PrivacyUnit(relation=Relation.REPLACE)
    closings = laid(hm.Sum("x", -3, 2), ZCDP("0.3"), unit, strategy)
    far, worst = closings.tally.reach, 0
    for p, q, v in itertools.product(range(1, 5), range(1, 5), [-far, 0, far]):
        pair = (measured(closings, row_total(*row)) for row in ((p, [far] * 4), (q, [v] * 4)))
        worst = max(worst, length([a - b for a, b in zip(*pair, strict=True)])[1])
    assert worst <= closings.mechanism.scale**2 * 2 * closings.price.rho < worst * 1.001


@pytest.mark.parametrize("price", [Pure(1), Approximate(1, "1e-6"), ZCDP("1/2"), GDP(1)])
@pytest.mark.parametrize("number", [1, 2, 7, 60])
def test_the_noise_of_a_series_is_that_of_its_reach(price, number):
    closings = laid(price=price, periods=Periods(0, 1, number))
    l1, squared = closings.strategy.norms
    far = closings.tally.reach
    mechanism = closings.mechanism
    assert mechanism.cost == price
    if hasattr(mechanism, "sensitivity"):
        assert mechanism.sensitivity == far * l1
    else:
        assert mechanism.sensitivity_squared == far * far * squared


def outputs(closings, scale_of=1):
    """All noisy sums of a history, many times: data is the period of the one row, or None."""

    def drawn(data, size):
        exact = measured(closings, lambda t, e: data is not None and data <= e)
        mechanism = laid(price=Pure(scale_of), strategy=closings.strategy.text).mechanism
        return np.array(mechanism.release(exact * size)).reshape(size, -1)

    return drawn


@pytest.mark.parametrize(("strategy", "period"), [("each", 2), ("blocks 2", 1)])
def test_the_auditor_passes_the_noise_of_a_series_and_flags_half_of_it(strategy, period):
    """False alarms: 1e-6."""
    closings = laid(strategy=strategy)
    assert not audit(outputs(closings), period, None, epsilon=1, samples=200_000).violated
    assert audit(outputs(closings, 2), period, None, epsilon=1).violated


TIMES = Periods(date(2026, 1, 1), "month", 4)


def history(kind, periods, rows):
    """A table of rows (unit, months after 2026-01-15, value)."""
    months = [date(2026, 1, 15) + timedelta(days=30) * month for _, month, _ in rows]
    at = {
        "time": np.array(months, dtype="datetime64[us]"),
        "text": np.array([f"{month}T08:30" for month in months], dtype=object),
        "number": np.array([month for _, month, _ in rows], dtype=float) + 0.5,
    }[kind]
    columns = {"at": at, "u": np.array([unit for unit, _, _ in rows], dtype=np.int64)}
    columns["x"] = np.array([value for _, _, value in rows], dtype=float)
    return open_source(columns, schema={"at": "text"} if kind == "text" else None)


logs = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-1, 5), st.sampled_from([0.0, 0.3, 2.0, 9.0])),
    min_size=1,
    max_size=12,
)


@given(
    rows=logs,
    kind=st.sampled_from(["time", "number"]),
    k=st.integers(1, 3),
    strategy=st.sampled_from(STRATEGIES),
    of=st.sampled_from([hm.Count(), hm.CountDistinct(), hm.Sum("x", 0, 4)]),
    by_unit=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_what_is_measured_is_the_strategy_of_what_each_period_adds(
    rows, kind, k, strategy, of, by_unit
):
    """A twin: the question on the rows of periods 1 to t, by a filter that is written out."""
    periods = TIMES if kind == "time" else PERIODS
    source = history(kind, periods, rows)
    setting = Setting(source.schema, PrivacyUnit("u", k) if by_unit else PrivacyUnit())
    closings = Running(of, "at", periods).lay(setting, Pure(1), "each")
    closings = replace(closings, strategy=laid(strategy=strategy).strategy)
    ends = [f"2026-0{t + 1}-01" for t in range(1, 5)] if kind == "time" else range(1, 5)
    start = "2026-01-01" if kind == "time" else 0
    totals = []
    for end in ends:
        rule = where(f"at >= {start!r} and at < {end!r}")
        asked = of.prepare(Setting(source.schema, setting.unit, rule), Pure(1))
        ((total,),) = source.tally(asked.tally)
        totals.append(total)
    added = np.diff(totals, prepend=0).astype(object)
    closing = closings.closing(1, 4)
    exact = closing.exact(closing.request.answered_by(source))
    assert exact == (closings.strategy.matrix.astype(object) @ added).tolist()
