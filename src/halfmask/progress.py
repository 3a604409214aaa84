"""Bars for jobs that take long: on standard error, on a terminal, and only where they are wanted.

How far an engine has come depends on the rows, as the time of a job does. So a bar is for whoever
holds the rows: it is drawn on their own terminal, never written to a file or a pipe, and off unless
it is asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from threading import Event, Lock, Thread
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress, TaskID

__all__ = ["counted", "showing", "stepped", "watched"]

A = TypeVar("A")

PATIENCE = 2.0
"""Seconds that a job may take without a bar."""

PACE = 0.1
"""Seconds between two looks at an engine."""


class _Bars:
    """The bars of one terminal, drawn together; nothing is drawn before there is one."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(console=console, transient=True)
        self._lock = Lock()

    def add(self, words: str, total: float | None) -> TaskID:
        """Draw one more."""
        with self._lock:
            self._progress.start()
            return self._progress.add_task(words, total=total)

    def move(self, bar: TaskID, words: str, done: float) -> None:
        """Say how far it is."""
        self._progress.update(bar, description=words, completed=done)

    def remove(self, bar: TaskID) -> None:
        """Take one away, and the drawing with the last."""
        with self._lock:
            self._progress.remove_task(bar)
            if not self._progress.task_ids:
                self._progress.stop()


_shown: ContextVar[_Bars | None] = ContextVar("shown", default=None)


@contextmanager
def showing(wanted: bool | None = True) -> Iterator[None]:
    """Let jobs inside draw bars, if wanted and if standard error is a terminal."""
    console = Console(stderr=True)
    if not wanted or _shown.get() is not None or not console.is_terminal:
        yield
        return
    token = _shown.set(_Bars(console))
    try:
        yield
    finally:
        _shown.reset(token)


@contextmanager
def watched(percent: Callable[[], float], words: str = "reading rows") -> Iterator[None]:
    """Draw a bar of a job that tells its progress, in percent, to another thread."""
    bars = _shown.get()
    if bars is None:
        yield
        return
    done = Event()
    looking = Thread(target=_look, args=(bars, percent, words, done), daemon=True)
    looking.start()
    try:
        yield
    finally:
        done.set()
        looking.join()


def _look(bars: _Bars, percent: Callable[[], float], words: str, done: Event) -> None:
    if done.wait(PATIENCE):
        return
    bar = bars.add(words, 100)
    while not done.wait(PACE):
        bars.move(bar, words, max(0.0, percent()))
    bars.remove(bar)


@contextmanager
def stepped(total: int, patience: float | None = None) -> Iterator[Callable[[str], None]]:
    """Give a function that names the next of so many steps, and draws how many are done."""
    bars, start, wait = _shown.get(), monotonic(), PATIENCE if patience is None else patience
    done, drawn = count(), list[TaskID]()

    def step(words: str) -> None:
        at = next(done)
        if bars is not None and not drawn and monotonic() - start >= wait:
            drawn.append(bars.add(words, total))
        if bars is not None and drawn:
            bars.move(drawn[0], words, at)

    try:
        yield step
    finally:
        if bars is not None and drawn:
            bars.remove(drawn[0])


def counted(items: Sequence[A], words: Callable[[A], str] = lambda item: "") -> Iterator[A]:
    """Give items one by one, and draw how many are done; `words` names the one at work."""
    with stepped(len(items)) as step:
        for item in items:
            step("" if _shown.get() is None else words(item))
            yield item
