"""A hot standby: what reads works there, a charge does not; who takes over may lack charges."""

from functools import partial

import pytest
from postgres_server import PostgresServer

import halfmask as hm
from halfmask.errors import LedgerError
from halfmask.privacy import Ledger, Pure


@pytest.fixture
def pair(durable_postgres):
    """A server of its own, as it will be crashed, and its standby."""
    primary = PostgresServer(durable=True)
    try:
        standby = PostgresServer(durable=True, of=primary)
        try:
            yield primary, standby
        finally:
            standby.stop()
    finally:
        primary.stop()


def followed(primary, standby):
    """Wait until the standby has all that the server has."""
    end = primary.sql("SELECT pg_current_wal_lsn()")
    while standby.sql(f"SELECT pg_last_wal_replay_lsn() < '{end}'") == "t":
        pass


def either(primary, standby):
    """An address of whichever of the two answers, the first before the second."""
    return f"postgresql://postgres@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres"


def both(primary, standby):
    """An address of whichever of the two takes charges."""
    return f"{either(primary, standby)}?target_session_attrs=read-write"


def test_a_standby_reads_and_one_that_takes_over_is_doubted(pair, tmp_path):
    primary, standby = pair
    ledger = Ledger(both(primary, standby), budget=1)
    ledger.charge(Pure(0.1), query="kept")
    primary.sql("CREATE TABLE staff AS SELECT i AS id FROM generate_series(1, 99) i")
    followed(primary, standby)

    copy, reader = Ledger(standby.url()), Ledger(either(primary, standby))
    copy.verify()
    assert copy.spent == Pure(0.1)
    with pytest.raises(LedgerError, match=r"is read-only: a standby.*No row was read"):
        copy.charge(Pure(0.1), query="q")
    with pytest.raises(LedgerError, match="is read-only: a standby"):
        Ledger(f"{standby.url()}#new", budget=1)
    with hm.open(standby.url(), table="staff", unit="id", ledger=tmp_path / "l", budget=50) as rows:
        assert round(rows.ask(hm.Count(), epsilon=50).value) == 99

    standby.sql("ALTER SYSTEM SET primary_conninfo = ''")  # it hears no more
    standby.sql("SELECT pg_reload_conf()")
    while standby.sql("SELECT count(*) FROM pg_stat_wal_receiver") != "0":
        pass
    other = Ledger(both(primary, standby))
    lost = other.charge(Pure(0.1), query="lost")
    primary.crash()
    assert reader.remaining == Pure(0.9)  # of the standby, on a connection that outlives its change
    standby.sql("SELECT pg_promote()")
    charges = [partial(book.charge, Pure(0.1), query="q") for book in (ledger, copy, reader)]
    for attempt in (*charges, *charges, other.verify):
        with pytest.raises(LedgerError, match="served by a standby that took over"):
            attempt()
    with pytest.raises(LedgerError, match="does not contain the given head"):
        Ledger(both(primary, standby)).verify(lost.hash)
    anew = Ledger(both(primary, standby))
    anew.charge(Pure(0.1), query="after a look")
    anew.verify()
