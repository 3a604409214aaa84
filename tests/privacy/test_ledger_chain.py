"""The chain of a ledger: what was edited, cut off, swapped or put back is told, and where."""

import pytest

from halfmask.errors import LedgerError
from halfmask.privacy import Ledger, Pure

TAMPERING = {
    "edited actor": ("row 2 was changed", "UPDATE spend SET actor = 'eve' WHERE seq = 2"),
    "edited query": ("row 1 was changed", "UPDATE spend SET query = 'x' WHERE seq = 1"),
    "edited price": ("row 3 was changed", "UPDATE spend SET price = '{}' WHERE seq = 3"),
    "edited amount": ("row 2 was changed", "UPDATE spend SET amount = 1 WHERE seq = 2"),
    "edited time": ("row 1 was changed", "UPDATE spend SET time = '' WHERE seq = 1"),
    "edited request": ("row 1 was changed", "UPDATE spend SET request_id = NULL WHERE seq = 1"),
    "edited hash": ("row 3 was changed", "UPDATE spend SET hash = 'ab' WHERE seq = 3"),
    "deleted first": ("row 1 is missing", "DELETE FROM spend WHERE seq = 1"),
    "deleted middle": ("row 2 is missing", "DELETE FROM spend WHERE seq = 2"),
    "deleted tail": ("rows after 2 are missing", "DELETE FROM spend WHERE seq = 3"),
    "deleted all": ("rows after 0 are missing", "DELETE FROM spend"),
    "swapped rows": (
        "row 1 was changed",
        "UPDATE spend SET seq = 99 WHERE seq = 1",
        "UPDATE spend SET seq = 1 WHERE seq = 2",
        "UPDATE spend SET seq = 2 WHERE seq = 99",
    ),
    "refund": ("sum was changed", "UPDATE account SET spent = 0"),
    "raised budget": ("row 1 does not follow", "UPDATE account SET budget = budget * 2"),
    "raised budget text": (
        "row 1 does not follow",
        """UPDATE account SET budget_text = '{"measure": "pure", "epsilon": "1e3"}'""",
    ),
    "reopened": ("row 1 does not follow", "UPDATE account SET opened = 'today'"),
    "moved head": ("last row or digest", "UPDATE account SET head_hash = 'ab'"),
    "edited answer": ("answer of row 2", "UPDATE release SET answer = 'x' WHERE seq = 2"),
    "moved answer": ("answer of row 9", "UPDATE release SET seq = 9 WHERE seq = 2"),
}


@pytest.mark.parametrize(
    ("reason", "statements"), [(v[0], v[1:]) for v in TAMPERING.values()], ids=TAMPERING
)
def test_verify_says_which_row_broke_and_how(filled, reason, statements):
    Ledger(filled.place).verify()
    filled.edit(*statements)
    with pytest.raises(LedgerError, match=reason):
        Ledger(filled.place).verify()


@pytest.mark.parametrize("value", ["'x'", "1e30", "x'00'"])
@pytest.mark.parametrize("column", ["account.budget", "spend.amount", "spend.query", "spend.price"])
def test_values_of_a_wrong_type_are_damage_and_not_a_crash(filled, column, value):
    table, name = column.split(".")
    try:
        filled.edit(f"UPDATE {table} SET {name} = {value}")
    except filled.refusals:  # the engine itself holds to the types of its columns
        return
    with pytest.raises(LedgerError):
        Ledger(filled.place).verify()


def test_an_unreadable_price_or_budget_is_damage(filled):
    filled.edit("UPDATE spend SET price = '[1'")
    with pytest.raises(LedgerError, match="cannot be read"):
        Ledger(filled.place).entries()
    filled.edit("UPDATE account SET budget_text = '{}'")
    with pytest.raises(LedgerError, match="cannot be read"):
        Ledger(filled.place)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM spend WHERE seq = 3",
        "DELETE FROM spend",
        "UPDATE account SET spent = 0, head_seq = 0",
        "UPDATE account SET budget = budget * 2",
        "UPDATE account SET head_hash = 'ab'",
    ],
)
def test_a_cut_tail_a_raised_budget_or_a_refund_stops_the_next_charge(filled, statement):
    filled.edit(statement)
    with pytest.raises(LedgerError, match="verify"):
        Ledger(filled.place).charge(Pure(0.1), query="q")


def test_a_head_carried_by_a_release_convicts_an_older_copy(filled):
    filled.keep()
    ledger = Ledger(filled.place)
    early = ledger.entries()[0].hash
    head = ledger.charge(Pure(0.1), query="q").hash
    ledger.verify(head)
    ledger.verify(early)
    ledger.close()
    filled.put_back()
    with pytest.raises(LedgerError, match=r"put back|given head"):  # this object saw a later one
        ledger.verify()
    old = Ledger(filled.place)
    old.verify()
    old.verify(early)
    with pytest.raises(LedgerError, match="does not contain the given head"):
        old.verify(head)


def test_a_ledger_put_back_while_in_use_is_noticed_by_who_saw_a_later_head(filled):
    filled.keep()
    writer, reader = Ledger(filled.place), Ledger(filled.place)
    writer.charge(Pure(0.1), query="q")
    assert reader.spent == Pure(0.4)
    for one in (writer, reader):
        one.close()
    filled.put_back()
    for attempt in (
        lambda: writer.charge(Pure(0.1), query="q"),
        lambda: reader.spent,
        reader.entries,
        lambda: reader.stored("one"),
    ):
        with pytest.raises(LedgerError, match="put back to an older copy"):
            attempt()
    Ledger(filled.place).charge(Pure(0.7), query="by one who trusts it")
