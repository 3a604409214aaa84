"""Series over folders of Parquet files: each file is read at one closing, and never again."""

import itertools
import os
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest

import halfmask as hm
from halfmask.plan import Arrivals
from halfmask.privacy import ZCDP, Ledger, PrivacyUnit, Pure
from halfmask.queries import Running, Setting
from halfmask.sources import open_source

EPSILON = 500_000  # so that noise is none to speak of


def add(folder, name, values):
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f"({value}, 'é')" for value in values) or "(0.0, 'é')"
    where = "" if len(values) else " WHERE FALSE"
    duckdb.connect().execute(
        f"COPY (SELECT x::DOUBLE AS x, g FROM (VALUES {listed}) t(x, g){where}) TO '{path}'"
    )
    return path


def opened(folder, query=None, **options):
    ledger = Path(folder).parent / "log.ledger"
    if not ledger.exists():
        Ledger(ledger, budget=2 * EPSILON)
    plain = {"periods": 4, "epsilon": EPSILON}
    return hm.open(folder, ledger=ledger).series("log", query or hm.Count(), **(plain | options))


@pytest.fixture
def folder(tmp_path):
    add(tmp_path / "rows", "a.parquet", [1, 2, 3])
    return tmp_path / "rows"


def test_a_closing_counts_what_arrived_since_the_last_one(folder):
    assert opened(folder).release(1).value == (3,)
    add(folder, "0-before-a-by-name.parquet", [5])
    add(folder, "deep/b.parquet", [7, 8, 9])
    series = opened(folder)
    assert series.closed == ("arrival 1",)
    assert series.release("arrival 2").value == (3, 7)
    assert series.counts(2).value == (3, 4)
    assert opened(folder).release(3).value == (3, 7, 7)  # nothing came
    assert "by arrival (one price for all 4 periods" in series.release(1).statement
    assert len(Ledger(folder.parent / "log.ledger").entries()) == 4


def test_sums_and_filters_arrive_too(folder):
    of = hm.Sum("x", 0, 8)
    assert opened(folder, of, where="x > 1").release(1).value == pytest.approx((5,), abs=0.01)
    add(folder, "b.parquet", [100, 1])
    assert opened(folder, of, where="x > 1").release(2).value == pytest.approx((5, 13), abs=0.02)


def test_files_that_were_read_may_turn_to_garbage_between_their_ends_or_go(folder):
    """So they are not read: of a file that stays its columns' names are looked up, at its end."""
    old = add(folder, "old.parquet", np.arange(50_000) % 997 / 7)
    assert opened(folder).release(1).value == (50_003,)
    state, content = old.stat(), bytearray(old.read_bytes())
    (footer,) = (
        duckdb.connect()
        .execute(f"SELECT footer_size FROM parquet_file_metadata('{old}')")
        .fetchone()
    )
    content[4 : len(content) - footer - 8] = bytes(len(content) - footer - 12)
    old.write_bytes(content)
    os.utime(old, ns=(state.st_atime_ns, state.st_mtime_ns))
    (folder / "a.parquet").unlink()
    add(folder, "new.parquet", [1])
    assert opened(folder).release(2).value == (50_003, 50_004)
    with pytest.raises(hm.ReleaseFailed):  # it is garbage indeed
        hm.open(folder, budget=1).ask(hm.Sum("x", 0, 1), epsilon=1)


def test_only_new_files_are_in_the_query_that_is_run(folder):
    opened(folder).release(1)
    add(folder, "b.parquet", [1])
    series, seen = opened(folder), []
    inner = series.source._engine.rows
    series.source._engine.rows = lambda sql, error: seen.append(sql) or inner(sql, error)
    series.release(2)
    read = {Path(name).name for name in re.findall(r"'([^']*\.parquet)'", " ".join(seen))}
    assert read == {"b.parquet"}


def test_a_file_that_was_read_and_is_written_again_is_refused_by_name(folder):
    opened(folder).release(1)
    later = opened(folder)
    add(folder, "a.parquet", [1, 2, 3, 4])
    for series in (later, opened(folder)):
        with pytest.raises(hm.InvalidQuery, match=r"'a\.parquet' was read when arrival 1.*No row"):
            series.release(2)
    (folder / "a.parquet").unlink()
    add(folder, "b.parquet", [4])
    assert opened(folder).release(2).value == (3, 4)


def test_a_new_file_that_is_written_after_opening_waits(folder):
    series = opened(folder)
    later = series.opened + 10**9
    os.utime(folder / "a.parquet", ns=(later, later))
    with pytest.raises(hm.InvalidQuery, match="since the table was opened; open it again"):
        series.release(1)
    assert Ledger(folder.parent / "log.ledger").entries() == []


def test_one_period_closes_at_a_time(folder):
    with pytest.raises(hm.InvalidQuery, match="has arrived is arrival 1; close one at a time"):
        opened(folder).release(2)
    assert Ledger(folder.parent / "log.ledger").entries() == []
    for wrong in (0, 5, True, "1", None, 1.0):
        with pytest.raises(hm.InvalidQuery, match="period"):
            opened(folder).release(wrong)


def test_what_has_no_arrivals_is_refused_in_words(folder, tmp_path):
    with pytest.raises(hm.InvalidQuery, match="no folder or pattern"):
        hm.open({"x": [1]}, budget=1).series("s", hm.Count(), periods=2, epsilon=1)
    with pytest.raises(hm.InvalidQuery, match="earlier ones are in no file and in no ledger"):
        hm.open(folder, unit="x", budget=1, schema={"x": "real"}).series(
            "s", hm.CountDistinct(), periods=2, epsilon=1
        )
    with pytest.raises(hm.InvalidQuery, match="name the column"):
        hm.open(folder, budget=1).series("s", hm.Count(), start=0, every=1, periods=2, epsilon=1)
    with pytest.raises(hm.InvalidQuery, match="whole number"):
        hm.open(folder, budget=1).series("s", hm.Count(), periods=0, epsilon=1)


def test_a_pattern_of_files_grows_as_a_folder_does(folder):
    pattern = folder / "[ab].parquet"
    assert opened(pattern).release(1).value == (3,)
    add(folder, "b.parquet", [1])
    add(folder, "c.parquet", [1])
    assert opened(pattern).release(2).value == (3, 4)


def test_two_processes_that_close_at_once_read_each_file_once(folder):
    one, other = opened(folder), opened(folder)
    assert one.release(1).value == other.release(1).value == (3,)
    add(folder, "b.parquet", [1])
    assert opened(folder).release(2).value == (3, 4)
    assert one.release(2).value == (3, 4)
    with pytest.raises(hm.InvalidQuery, match="was opened before the one from which arrival 2"):
        other.release(3)


@pytest.mark.parametrize("price", [Pure(1), ZCDP("0.5")])
@pytest.mark.parametrize("query", [hm.Count(), hm.Sum("x", -3, 2)])
def test_continual_counting_privacy_of_a_row_that_arrives_in_any_file(price, query, tmp_path):
    """Every history of three files over three closings, with and without a row in one of them."""
    add(tmp_path, "a.parquet", [1])
    schema = open_source(tmp_path).schema
    closings = Running(query, "", Arrivals(3)).lay(Setting(schema, PrivacyUnit()), price)
    assert closings.strategy.text == "each"
    far, worst = closings.tally.reach, 0
    for closed_at, its_file, its_value in itertools.product(
        itertools.product(range(3), repeat=3), range(3), (far, -far)
    ):

        def sums(present, closed_at=closed_at, its_file=its_file, its_value=its_value):
            found = []
            for period in range(3):
                files = [f for f in range(3) if closed_at[f] == period]
                total = sum(10 * f + present * its_value * (f == its_file) for f in files)
                closing = closings.closing(period + 1, period + 1)
                assert len(closing.request.tallies) == 1
                found += closing.exact([((total,),)])
            return np.array(found)

        moved = np.abs(sums(1) - sums(0))
        worst = max(worst, moved.sum())
        assert np.count_nonzero(moved) == 1
    assert worst == far


@pytest.mark.parametrize("again", [os.rename, os.link, lambda a, b: os.symlink(a.resolve(), b)])
def test_a_file_that_was_read_is_not_read_under_another_name(folder, again):
    assert opened(folder).release(1).value == (3,)
    again(folder / "a.parquet", folder / "b.parquet")
    add(folder, "c.parquet", [5])
    with pytest.raises(
        hm.InvalidQuery, match=r"'b.parquet' .* another name.* arrival 1 was closed"
    ):
        opened(folder).release(2)
    (folder / "b.parquet").unlink()
    assert opened(folder).release(2).value == (3, 4)


def test_a_file_under_two_names_is_not_read_at_one_closing(folder):
    os.link(folder / "a.parquet", folder / "z.parquet")
    with pytest.raises(hm.InvalidQuery, match=r"'z.parquet' .* another name: it is 'a.parquet'"):
        opened(folder).release(1)
    assert Ledger(folder.parent / "log.ledger").remaining == Pure(2 * EPSILON)
