"""Bars: drawn on a terminal alone, only where wanted, only of what takes long."""

import io
import time

import pytest
from rich.console import Console

import halfmask as hm
from halfmask import progress


@pytest.fixture
def terminal(monkeypatch):
    """A standard error that takes itself for a terminal; the patience is a tenth of a second."""
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    monkeypatch.setattr(progress, "PACE", 0.01)
    return drawn


def work(percent=lambda: 50.0, seconds=0.4):
    with progress.watched(percent, "counting"):
        time.sleep(seconds)


def test_a_long_job_draws_how_far_the_engine_is(terminal):
    with progress.showing():
        work()
    assert "counting" in terminal.getvalue()
    assert "50%" in terminal.getvalue()


def test_a_short_job_draws_nothing(terminal):
    with progress.showing():
        work(seconds=0)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("wanted", [False, None])
def test_nothing_is_drawn_unless_wanted(terminal, wanted):
    with progress.showing(wanted):
        work(seconds=0.2)
    work(seconds=0.2)
    assert terminal.getvalue() == ""


def test_nothing_is_drawn_where_no_terminal_is(terminal, monkeypatch, capfd):
    monkeypatch.setattr(progress, "Console", lambda stderr: Console(file=terminal))
    with progress.showing():
        work(seconds=0.2)
    assert terminal.getvalue() == ""
    assert capfd.readouterr() == ("", "")


def test_an_engine_that_does_not_know_yet_stands_at_zero(terminal):
    with progress.showing():
        work(lambda: -1.0)
    assert "0%" in terminal.getvalue()


def test_a_job_that_fails_fails_as_without_a_bar(terminal):
    def failing():
        with progress.showing(), progress.watched(lambda: 1.0):
            raise ValueError("as ever")

    with pytest.raises(ValueError, match="as ever"):
        failing()
    assert progress._shown.get() is None


def test_steps_are_counted_and_named(terminal):
    with progress.showing():
        seen = [time.sleep(0.06) or item for item in progress.counted("abcd", "at {}".format)]
    assert seen == list("abcd")
    assert "at d" in terminal.getvalue()


@pytest.mark.parametrize("wanted", [True, False])
def test_asks_and_trials_answer_alike_with_a_bar(terminal, wanted):
    table = {"x": [1.0, 2.0, 3.0]}
    curator = hm.open(table, budget=100, progress=wanted)
    assert abs(curator.ask(hm.Count(), epsilon=50).value - 3) < 2
    tried = hm.trials(hm.Count(), table, epsilon=50, repeats=50, progress=wanted)
    assert tried.truth == 3
    swept = hm.sweep(hm.Count(), table, epsilon=[1, 50], repeats=50, progress=wanted)
    assert swept.trials[1].estimates.shape == (50,)


def test_the_engine_tells_how_far_it_is_while_it_reads(terminal, tmp_path, monkeypatch):
    """What the bar shows comes from the engine, from another thread, while a query runs."""
    table = {"x": [float(i % 7) for i in range(200_000)], "u": list(range(200_000))}
    curator = hm.open(table, unit="u", budget=1, progress=True)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PACE", 0.001)
    curator.ask(hm.Mean("x", 0, 7), epsilon=1)
    assert "reading rows" in terminal.getvalue()
