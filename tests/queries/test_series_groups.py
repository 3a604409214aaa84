"""Series by groups, and of units by arrival: what a unit moves in all closings together."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.plan import Arrivals, Everything, Filters, Keys, Periods
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.queries import Running, Setting
from halfmask.sources import open_source

KEYS = Keys("g", ["a", "b", None])
EACH = {
    "keys": KEYS,
    "other": Keys("g", ["a"], other=True),
    "filters": Filters("x < 1", "x >= 1 and g == 'a'"),
}
PERIODS = Periods(0, 1, 4)
KINDS = {"at": "real", "u": "integer", "x": "real", "g": "text"}
SCHEMA = hm.Schema.of(KINDS)
OF = [hm.Count(), hm.CountDistinct(), hm.Sum("x", 0, 4), hm.Sum("x", -4, 3)]
PRICES = [Pure("0.7"), ZCDP("0.3"), GDP(1)]


def table(rows):
    columns = zip(*[row[:4] for row in rows], strict=True) if rows else ((),) * 4
    u, at, x, g = (list(column) for column in columns)
    frame = pd.DataFrame({"u": np.array(u, dtype=np.int64), "at": np.array(at, dtype=float)})
    frame["x"] = np.array(x, dtype=float)
    frame["g"] = np.array(g, dtype=object)
    return open_source(frame, KINDS)


def measured(closings, rows):
    """All sums of a history without their noise: at closing t rows that arrived by t are there."""
    found = []
    for t in range(1, 5):
        closing = closings.closing(t, t)
        there = table([row for row in rows if row[4] <= t])
        found += closing.exact(closing.request.answered_by(there))
    return found


def loss(closings, one, other, price):
    """The distance of two histories over what the price allows."""
    pair = zip(measured(closings, one), measured(closings, other), strict=True)
    return spent(closings, [a - b for a, b in pair], price)


def spent(closings, moved, price):
    """How far sums moved over what the price allows, squared but for a pure one."""
    scale, l2_squared = closings.mechanism.scale, sum(m * m for m in moved)
    if isinstance(price, Pure):
        return sum(map(abs, moved)) / (scale * price.epsilon)
    return l2_squared / (scale**2 * (2 * price.rho if isinstance(price, ZCDP) else price.mu**2))


def rows_of(unit, least=0, most=4):
    row = st.tuples(
        st.just(unit) if unit else st.integers(1, 3),
        st.sampled_from([0.5, 1.5, 2.5, 3.5, 9.0]),
        st.sampled_from([-9.0, 0.0, 0.5, 2.0, 9.0, None]),
        st.sampled_from(["a", "b", "c", None]),
        st.integers(1, 4),
    )
    return st.lists(row, min_size=least, max_size=most)


@given(
    rest=rows_of(0),
    one=rows_of(9, least=1),
    other=rows_of(9, least=1),
    of=st.sampled_from(OF),
    by=st.sampled_from(sorted(EACH)),
    price=st.sampled_from(PRICES),
    relation=st.sampled_from(list(Relation)),
    strategy=st.sampled_from(["each", "roots"]),
    rows=st.sampled_from([None, 1, 2]),
)
@settings(max_examples=40, deadline=None)
def test_parallel_composition_of_a_series_over_groups(
    rest, one, other, of, by, price, relation, strategy, rows
):
    """A row moves one group alone; a unit each group by as much as if it were the only one."""
    if rows is None:
        unit, one, other = PrivacyUnit(relation=relation), one[:1], other[:1]
    else:
        unit = PrivacyUnit("u", rows, EACH[by].size, relation=relation)
        of = of if of != OF[-1] else OF[-2]
    setting = Setting(SCHEMA, unit, Everything(), EACH[by])
    question = Running(of, "at", PERIODS)
    question.check(setting)
    closings = question.lay(setting, price, strategy)
    gone = other if relation is Relation.REPLACE else []
    assert loss(closings, rest + one, rest + gone, price) <= 1


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_reach_over_groups_is_attained(price):
    row = (9, 0.5, 9.0, "a", 1)
    alone = Running(hm.Count(), "at", PERIODS).lay(
        Setting(SCHEMA, PrivacyUnit(), Everything(), KEYS), price, "roots"
    )
    assert 0.99 < loss(alone, [row], [], price) <= 1
    unit = PrivacyUnit("u", 2, 3)
    spread = Running(hm.Count(), "at", PERIODS).lay(
        Setting(SCHEMA, unit, Everything(), KEYS), price, "roots"
    )
    rows = [(9, 0.5, 9.0, g, 1) for g in ("a", "b", None)] * 2
    assert 0.99 < loss(spread, rows, [], price) <= 1


def test_groups_whose_units_are_picked_or_scaled_are_refused():
    """Rows in one group would push those of another out of sums that are released."""
    for unit in (PrivacyUnit("u"), PrivacyUnit("u", 2, 2)):
        setting = Setting(SCHEMA, unit, Everything(), KEYS)
        with pytest.raises(hm.InvalidQuery, match="groups_per_unit=3, for so many times the noise"):
            Running(hm.Count(), "at", PERIODS).check(setting)


LOG = {
    "at": [0.5, 0.7, 1.2, 1.9, 2.5, 2.6, 9.0, None],
    "g": ["a", "b", "a", None, "c", "a", "a", "b"],
    "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
}
GIVEN = {"time": "at", "start": 0, "every": 1, "periods": 3, "epsilon": 10**5, "table": "log"}


def opened(path, **options):
    return hm.open(LOG, schema={"g": "text"}, budget=10**6, ledger=path, **options)


def test_each_group_has_the_totals_that_a_series_of_its_own_has(tmp_path):
    log = opened(tmp_path / "log.ledger")
    series = log.series("logins", hm.Count(), by=KEYS, **GIVEN)
    first = series.release("0 to 1")
    assert first.value == {"a": (1,), "b": (1,), None: (0,)}
    again = opened(tmp_path / "log.ledger").series("logins", hm.Count(), by=KEYS, **GIVEN)
    totals, counts = again.release("2 to 3"), again.counts("2 to 3")
    assert totals.value == {"a": (1, 2, 3), "b": (1, 1, 1), None: (0, 1, 1)}
    assert counts.value == {"a": (1, 1, 1), "b": (1, 0, 0), None: (0, 1, 0)}
    assert totals["a"].cells()[1].bin == "1 to 2"
    assert totals.rising().rounded().value == totals.value
    assert str(log.remaining) == "epsilon 900000"  # the price of one, for all groups
    assert totals.by == "g"
    assert "by at" in totals.statement
    sums = log.series("sums", hm.Sum("x", 0, 10), by=Filters(few="x < 4", many="x >= 4"), **GIVEN)
    found = sums.release("2 to 3").value
    assert np.allclose(found["few"], (3, 6, 6), atol=0.01)
    assert np.allclose(found["many"], (0, 4, 15), atol=0.01)


def test_other_groups_under_the_same_name_are_refused(tmp_path):
    log = opened(tmp_path / "log.ledger")
    log.series("logins", hm.Count(), by=KEYS, **GIVEN).release("0 to 1")
    for by in (None, Keys("g", ["a", "b"])):
        with pytest.raises(hm.InvalidQuery, match=r"was used for .* by Keys"):
            log.series("logins", hm.Count(), by=by, **GIVEN).release("1 to 2")
    with pytest.raises(hm.InvalidQuery, match="would differ from period to period"):
        log.series("found", hm.Count(), by="g", **GIVEN)
    with pytest.raises(hm.InvalidQuery, match="there is no 'h'"):
        log.series("other", hm.Count(), by=Keys("h", ["a"]), **GIVEN)


def test_groups_of_units_that_count_in_all_of_them(tmp_path):
    log = opened(tmp_path / "log.ledger", unit="x", groups_per_unit=3)
    grouped = log.series("logins", hm.Count(), by=KEYS, **GIVEN)
    assert grouped.release("2 to 3").value["a"] == (1, 2, 3)
    noisy = GIVEN | {"epsilon": "0.1"}
    plain = log.series("alone", hm.Count(), **noisy).preview()
    spread = log.series("spread", hm.Count(), by=KEYS, **noisy).preview()
    assert 2.9 < spread.rmse / plain.rmse < 3.1


def test_groups_of_what_arrives(tmp_path):
    folder, path = tmp_path / "log", tmp_path / "log.ledger"
    folder.mkdir()
    for number, name in enumerate(("monday", "tuesday"), 1):
        rows = pd.DataFrame({"g": ["a"] * number + ["b"]})
        rows.to_parquet(folder / f"{name}.parquet")
        log = hm.open(folder, ledger=path, budget=10**6)
        by = Keys("g", ["a", "b"])
        series = log.series("logins", hm.Count(), periods=5, by=by, epsilon=10**5)
        assert series.ready == series.periods[:number]
        found = series.release(number).value
        assert series.ready == series.closed == series.periods[:number]
    assert found == {"a": (1, 3), "b": (1, 2)}


def test_what_is_ready_of_a_series(tmp_path):
    """Of time what is over, of numbers what was closed."""
    log = opened(tmp_path / "log.ledger")
    numbers = log.series("numbers", hm.Count(), **GIVEN)
    assert numbers.ready == ()
    numbers.release("0 to 1")
    assert numbers.ready == ("0 to 1",)
    days = hm.open({"at": ["2020-01-01"]}, schema={"at": "time"}, budget=1)
    given = {"time": "at", "periods": 400, "epsilon": 1, "table": "log"}
    past = days.series("past", hm.Count(), start="2020-01-01", every="day", **given)
    assert past.ready == past.periods
    coming = days.series("coming", hm.Count(), start="2020-01-01", every="year", **given)
    assert "2020" in coming.ready
    assert "2200" not in coming.ready


@pytest.mark.parametrize("zone", [None, UTC])
def test_what_is_over_on_some_clocks_alone_is_not_ready(zone):
    """An hour that has not begun in UTC may be over elsewhere: a table without a zone may mean it.

    So it can be closed by name, but not by "all that are over". From a start with a zone on, all
    clocks agree, and it can not be closed at all.
    """
    days = hm.open({"at": ["2020-01-01"]}, schema={"at": "time"}, budget=10**6)
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0, tzinfo=zone)
    start = hour - timedelta(hours=20)
    given = {"time": "at", "periods": 30, "every": "hour", "epsilon": 1, "table": "log"}
    series = days.series("hours", hm.Count(), start=start, **given)
    assert 19 <= len(series.ready) <= 21 if zone else 7 <= len(series.ready) <= 9
    if zone:
        with pytest.raises(hm.InvalidQuery, match="is not over"):
            series.release(series.periods[23])
    else:
        assert len(series.release(series.periods[23]).value) == 24


def arrived(closings, rows):
    """What closings by arrival measure: each the rows of its own files."""
    found = []
    for t in range(1, 5):
        closing = closings.closing(t, t)
        there = table([row for row in rows if row[4] == t])
        found += closing.exact(closing.request.answered_by(there))
    return found


@given(
    rest=rows_of(0),
    one=rows_of(9, least=1, most=8),
    other=rows_of(9, least=1, most=8),
    of=st.sampled_from([hm.Count(), hm.Sum("x", 0, 4), hm.Sum("x", -4, 3)]),
    by=st.sampled_from([None, *EACH.values()]),
    price=st.sampled_from(PRICES),
    relation=st.sampled_from(list(Relation)),
    rows=st.sampled_from([1, 2]),
)
@settings(max_examples=40, deadline=None)
def test_composition_of_closings_that_a_unit_may_all_be_in(
    rest, one, other, of, by, price, relation, rows
):
    unit = PrivacyUnit("u", rows, by and by.size, relation=relation)
    setting, question = Setting(SCHEMA, unit, Everything(), by), Running(of, "", Arrivals(4))
    question.check(setting)
    closings = question.lay(setting, price)
    gone = other if relation is Relation.REPLACE else []
    pair = zip(arrived(closings, rest + one), arrived(closings, rest + gone), strict=True)
    assert spent(closings, [a - b for a, b in pair], price) <= 1


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_reach_over_arrivals_is_attained(price):
    setting = Setting(SCHEMA, PrivacyUnit("u", 2))
    closings = Running(hm.Count(), "", Arrivals(4)).lay(setting, price)
    rows = [(9, 0.5, 9.0, "a", t) for t in (1, 2, 3, 4) for _ in range(3)]
    pair = zip(arrived(closings, rows), arrived(closings, []), strict=True)
    assert 0.99 < spent(closings, [a - b for a, b in pair], price) <= 1


def test_units_of_what_arrives_count_in_each_period(tmp_path):
    folder, path = tmp_path / "log", tmp_path / "log.ledger"
    folder.mkdir()
    for number, name in enumerate(("monday", "tuesday"), 1):
        pd.DataFrame({"u": [1, 1, number + 1]}).to_parquet(folder / f"{name}.parquet")
        log = hm.open(folder, unit="u", ledger=path, budget=10**6)
        found = log.series("log", hm.Count(), periods=5, epsilon=10**5).release(number)
    assert found.value == (2, 4)
    assert "each unit held to its bound in each" in found.mechanism[0]
    rows = hm.open(folder, budget=1).series("rows", hm.Count(), periods=5, epsilon="0.1").preview()
    units = log.series("units", hm.Count(), periods=5, epsilon="0.1").preview()
    assert 4.8 < units.rmse / rows.rmse < 5.2
    with pytest.raises(hm.InvalidQuery, match="would be counted again"):
        log.series("who", hm.CountDistinct(), periods=5, epsilon=1)
