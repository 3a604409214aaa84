"""A ledger exported as JSON is believed only where every row, sum and link of it is whole."""

import json
from dataclasses import asdict, replace

import pytest

from halfmask.errors import LedgerError
from halfmask.privacy import ExportedLedger, Ledger, Pure
from halfmask.privacy import rows as stored
from halfmask.privacy.chain import Spend


@pytest.fixture
def content():
    ledger = Ledger(budget=2)
    for epsilon in ("1/3", "0.5"):
        ledger.charge(Pure(epsilon), query='Mean("pay")', actor="ana")
    with ledger._store.reading() as connection:
        account = asdict(stored.read_account(connection))
        spends = [asdict(row) for row in stored.read_spends(connection)]
    return {"format": "halfmask ledger 1", "account": account, "spend": spends}


@pytest.fixture
def write(tmp_path):
    def written(content):
        path = tmp_path / "export.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return written


def test_a_whole_export_is_read(content, write):
    read = ExportedLedger.read(write(content))
    assert str(read.budget) == "epsilon 2"
    assert str(read.spent) == "epsilon 0.833333333334"
    assert str(read.remaining) == "epsilon 1.166666666666"
    assert [str(entry.price) for entry in read.entries] == ["epsilon 1/3", "epsilon 0.5"]
    assert ExportedLedger.read(write(content), head=content["spend"][0]["hash"]) == read
    with pytest.raises(LedgerError, match="does not contain the given head"):
        ExportedLedger.read(write(content), head="0" * 64)


def fields_of(content):
    yield from (("account", None, name) for name in content["account"])
    yield from (("spend", i, name) for i in (0, 1) for name in content["spend"][i])


def test_every_changed_field_is_refused(content, write):
    for table, i, name in fields_of(content):
        changed = json.loads(json.dumps(content))
        row = changed[table] if i is None else changed[table][i]
        row[name] = row[name] + 1 if isinstance(row[name], int) else "other"
        with pytest.raises(LedgerError):
            ExportedLedger.read(write(changed))
        del row[name]
        with pytest.raises(LedgerError):
            ExportedLedger.read(write(changed))


def test_a_row_taken_out_is_refused(content, write):
    for i in (0, 1):
        changed = content | {"spend": content["spend"][:i] + content["spend"][i + 1 :]}
        with pytest.raises(LedgerError):
            ExportedLedger.read(write(changed))


def test_a_negative_charge_is_refused_though_its_chain_is_whole(content, write):
    """Whoever forges a whole chain still cannot earn money back."""
    last = Spend(**content["spend"][1])
    forged = replace(last, amount=-(10**11), total=last.total - last.amount - 10**11).sealed()
    content["spend"][1] = asdict(forged)
    content["account"] |= {"spent": forged.total, "head_hash": forged.hash}
    with pytest.raises(LedgerError):
        ExportedLedger.read(write(content))


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": "other"}', "{"])
def test_other_files_are_refused(text, write):
    with pytest.raises(LedgerError, match="no exported ledger"):
        ExportedLedger.read(write(text))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(LedgerError, match="cannot be read"):
        ExportedLedger.read(tmp_path / "none.json")
