"""A budget on a PostgreSQL server, at the door: charged first, replayed, and never told where."""

from contextlib import ExitStack
from itertools import count

import pytest

import halfmask as hm

PAY = {"pay": [40_000.0, 42_000.0, 55_000.0], "dept": ["ops", "r&d", "ops"]}
MEAN = hm.Mean("pay", 0, 100_000)
NAMES = count(1)


@pytest.fixture
def address(durable_postgres):
    return f"{durable_postgres.url(password='s3cret')}#door_{next(NAMES)}"


def test_two_curators_spend_one_budget_and_a_request_is_answered_once(address):
    with ExitStack() as opened:
        first = opened.enter_context(hm.open(PAY, budget=2, ledger=address))
        second = first.with_ledger(hm.Ledger(address))
        release = first.ask(MEAN, by=hm.Keys("dept", ["ops", "r&d"]), epsilon=1, request_id="a")
        again = second.ask(MEAN, by=hm.Keys("dept", ["ops", "r&d"]), epsilon=1, request_id="a")
        assert again.to_dict() == release.to_dict()
        assert second.remaining == hm.Pure(1)
        second.ask(hm.Count(), epsilon=1)
        with pytest.raises(hm.BudgetExhausted):
            first.ask(hm.Count(), epsilon="0.001")
        first.ledger.verify(release.provenance.ledger_head)


def test_nothing_that_is_shown_tells_the_password(address):
    with hm.open(PAY, budget=2, ledger=address) as curator:
        release = curator.ask(MEAN, epsilon=1)
        told = [repr(curator), str(curator.ledger), repr(curator.ledger), str(release)]
        told += [repr(release), release.to_json(), release.statement, release._repr_html_()]
        told += [str(release.report()), str(curator.ledger.report()), str(curator.ledger.entries())]
    assert not [text for text in told if "s3cret" in text]


def test_no_row_is_read_where_the_server_is_gone(address, durable_postgres, monkeypatch):
    curator = hm.open(PAY, budget=2, ledger=address)
    monkeypatch.setattr(type(curator._source), "tally", lambda *_: pytest.fail("read"))
    durable_postgres.crash()
    try:
        with pytest.raises(hm.LedgerError, match="cannot be reached"):
            curator.ask(hm.Count(), epsilon=1)
    finally:
        durable_postgres.start()
    assert curator.remaining == hm.Pure(2)
    curator.close()
