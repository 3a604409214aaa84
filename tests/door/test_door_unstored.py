"""An answer that cannot be stored is not shown, and what is said of it is true."""

import pytest

import halfmask as hm
from halfmask.noise import seeded_words


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
