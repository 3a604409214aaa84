"""Times finer than microseconds: one integer in every source, whatever the machine's time zone."""

import time
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfmask as hm
from halfmask.plan import GridCounts, OnGrid, Tally, col
from halfmask.sources import open_source

TIMES = [-1, -999, -1000, -1001, -1500, 0, 1, 999, 1000, 1500, None]
ENDS = [2**63 - 1, 1 - 2**63, 2**63 - 308, 308 - 2**63, 2**63 - 309, 309 - 2**63]
COUNT = ((1, 0, 0, 0),)


def tables(folder, zone, unit="ns", cells=(*TIMES, *ENDS)):
    arrow = pa.table({"t": pa.array(cells, pa.timestamp(unit, tz=zone))})
    path = folder / f"{unit}.parquet"
    pq.write_table(arrow, path)
    frame = arrow.to_pandas()
    yield from (arrow, path, frame)
    yield frame.astype({"t": pd.ArrowDtype(arrow["t"].type)})
    yield pl.DataFrame({"t": pl.Series(cells, dtype=pl.Int64).cast(pl.Datetime(unit, zone))})
    yield duckdb.connect().read_parquet(str(path))
    if zone is None:
        filled = np.array(["NaT" if cell is None else cell for cell in cells], f"M8[{unit}]")
        yield {"t": filled}
        yield {"t": pd.Series(pd.Categorical(filled))}


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"])
def machine(request, monkeypatch):
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="a process has a zone in POSIX alone")
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
@pytest.mark.usefixtures("machine")
def test_nanoseconds_are_cut_alike_wherever_they_are(tmp_path, zone):
    """An engine went to the nearest microsecond, and to an instant's clock on this machine."""
    kept = [cell // 1000 for cell in TIMES if cell is not None] + [e // 1000 for e in ENDS[4:]]
    fine = GridCounts(OnGrid("t", -(2**53), 2**53, 0))
    clipped = np.clip(kept, -(2**53), 2**53)
    expected = [part.tolist() for part in np.unique(clipped, return_counts=True)]
    for table in tables(tmp_path, zone):
        source = open_source(table)
        ((cells, weights),) = source.grid_counts(fine)
        assert [cells.tolist(), weights.tolist()] == expected
        for moment in (datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_998)):
            before = source.tally(Tally(COUNT, where=col("t") < moment))
            micros = (moment - datetime(1970, 1, 1)).total_seconds() * 1e6
            assert before == ((sum(k < micros for k in kept),),)
        source.close()


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_unit_of_nanoseconds_is_refused_unless_it_is_declared(tmp_path, zone):
    """Two people a nanosecond apart were one unit, and one could move a sum by twice its bound."""
    for table in tables(tmp_path, zone):
        with pytest.raises(
            hm.InvalidQuery, match=r"cut to microseconds: .* schema=\{'t': 'time'\}"
        ):
            hm.open(table, unit="t", budget=1)
        assert hm.open(table, unit="t", budget=1, schema={"t": "time"}).unit.column == "t"
    for table in tables(tmp_path, zone, "us", [1, 2, None]):
        assert hm.open(table, unit="t", budget=1).unit.column == "t"


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMPTZ"])
def test_an_infinite_time_is_after_all_others_with_a_zone_and_without(kind):
    """As on PostgreSQL; with a zone it was missing."""
    listed = ", ".join(f"('{word}'::{kind})" for word in ("infinity", "-infinity", "2024-01-01"))
    source = open_source(duckdb.connect().sql(f"FROM (VALUES {listed}) t(t)"))
    for moment, after in ((datetime.min, 2), (datetime.max, 1)):
        assert source.tally(Tally(COUNT, where=col("t") > moment)) == ((after,),)
        assert source.tally(Tally(COUNT, where=col("t") < moment)) == ((3 - after,),)
    assert source.tally(Tally(COUNT, where=col("t").is_missing())) == ((0,),)


def test_tens_of_microseconds_that_wrap_around_are_missing():
    """Two of them that no microseconds can say could be one unit."""
    cells = np.array([5, 5 + 2**62, 5 + 2**61, -(2**62)], "M8[10us]")
    source = open_source({"t": cells})
    assert source.tally(Tally(COUNT, where=col("t").is_missing())) == ((3,),)
