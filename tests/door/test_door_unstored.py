"""An answer that cannot be stored is not shown, and what is said of it is true."""

import traceback

import numpy as np
import pytest

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.sources.direct import InMemory


class Meanwhile:
    """Random words, and what somebody does while they are drawn."""

    def __init__(self, deed):
        self._words, self._deed = seeded_words(1), deed

    def words(self, count):
        self._deed()
        return self._words.words(count)


@pytest.mark.filterwarnings("ignore::halfmask.errors.PrivacyWarning")
def test_an_answer_that_cannot_be_stored_is_said_to_be_charged(tmp_path):
    """The reasons of a refused charge say that no row was read and that nothing was charged."""
    path = tmp_path / "pay.ledger"

    def lost():
        if path.exists():
            path.rename(tmp_path / "elsewhere")

    table = hm.open({"x": [1.0, 2.0]}, budget=1, ledger=path, words=Meanwhile(lost))
    with pytest.raises(hm.LedgerError) as caught:
        table.ask(hm.Count(), epsilon=1)
    told = str(caught.value)
    assert "charge of row 1 stays" in told
    assert "nothing was charged" not in told.lower()
    assert "no row was read" not in told.lower()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_memory_that_runs_out_under_a_cloud_tells_no_number_of_rows(monkeypatch):
    """A cloud is asked as late as by a mechanism; NumPy says how many rows it had no room for."""

    def full(cloud, j):
        raise MemoryError("Unable to allocate an array with shape (4711,)")

    monkeypatch.setattr(InMemory, "cells", full)
    table = hm.open(np.zeros((5, 2)), budget=1)
    with pytest.raises(hm.ReleaseFailed) as caught:
        table.ask(hm.CoordinateMedian(center=0, radius=1), epsilon=1)
    assert "4711" not in "".join(traceback.format_exception(caught.value))
    assert table.remaining.epsilon == 0


def test_what_numpy_was_told_to_raise_depends_on_no_row(monkeypatch):
    """Under `np.seterr(all="raise")` a cell that underflows would decide whether one answers."""
    cells = InMemory.cells

    def squared(cloud, j):
        np.float64(1e-200) * np.float64(1e-200)
        return cells(cloud, j)

    monkeypatch.setattr(InMemory, "cells", squared)
    table = hm.open(np.zeros((5, 2)), budget=1)
    with np.errstate(all="raise"):
        release = table.ask(hm.CoordinateMedian(center=0, radius=1), epsilon=1)
    assert len(release.value) == 2
