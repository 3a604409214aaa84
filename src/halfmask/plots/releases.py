"""Answers with their intervals."""

from typing import Any

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.plots.style import BLUE, INK, WASH, Axes, axes, finish, plain_numbers, seed_warning
from halfmask.release import Cell, GroupedRelease, Release

__all__ = ["group_bars", "release_intervals"]


def release_intervals(
    release: Release, *, confidence: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw each number of a release as a point with its interval, one a line.

    >>> import halfmask as hm
    >>> from halfmask import plots
    >>> staff = hm.open({"age": [31, 45, 52]}, budget=1)
    >>> ages = staff.ask(hm.Histogram("age", [0, 40, 100]), epsilon=1)
    >>> [label.get_text() for label in plots.release_intervals(ages).get_yticklabels()]
    ['0 to 40', '40 to 100']
    """
    cells = _numbers(release.cells(confidence))
    ax = axes(ax, height=1.3 + 0.32 * len(cells))
    at = np.arange(len(cells))
    ax.errorbar(
        [cell.value for cell in cells],
        at,
        xerr=_reach(cells),
        fmt="o",
        color=BLUE,
        ecolor=INK,
        capsize=3,
    )
    ax.set_yticks(at, [cell.bin for cell in cells])
    if not cells[0].bin:
        ax.set_yticks([])
    ax.set_ylim(len(cells) - 0.5, -0.5)
    ax.grid(axis="x", color="#e6e6e6", linewidth=0.8)
    plain_numbers(ax.xaxis)
    seed_warning(ax, release.seeded)
    title = str(getattr(release.query, "title", ""))
    return finish(ax, _interval(confidence, release), title, "", legend=False)


def group_bars(
    release: GroupedRelease, *, confidence: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Draw one bar a group, with the interval of its number."""
    pairs = [(one.key, _numbers(one.cells(confidence))) for one in release.releases]
    if any(len(cells) != 1 for _, cells in pairs):
        raise InvalidQuery("release: each group has several numbers; draw one group at a time")
    if not pairs:
        raise InvalidQuery("release: no key was shown, so there is nothing to draw")
    ax = axes(ax)
    cells = [cell for _, (cell,) in pairs]
    at = np.arange(len(cells))
    ax.bar(at, [cell.value for cell in cells], color=WASH, edgecolor=BLUE, width=0.7)
    ax.errorbar(
        at, [cell.value for cell in cells], yerr=_reach(cells), fmt="none", ecolor=INK, capsize=4
    )
    names = ["(missing)" if key is None else str(key) for key, _ in pairs]
    crowded = sum(map(len, names)) > 60
    ax.set_xticks(at, names, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    ax.axhline(0, color=INK, linewidth=0.8)
    plain_numbers(ax.yaxis)
    seed_warning(ax, release.seeded)
    title = str(getattr(release.query, "title", ""))
    return finish(ax, _interval(confidence, release), release.by, title, legend=False)


def _numbers(cells: tuple[Cell, ...]) -> list[Cell]:
    if not cells or any(cell.low is None or isinstance(cell.value, str) for cell in cells):
        raise InvalidQuery("release: its answers are names or have no interval; print it instead")
    return list(cells)


def _reach(cells: list[Cell]) -> Any:
    """How far the intervals reach below and above, shape (2, n)."""
    low = [max(0.0, float(cell.value - cell.low)) for cell in cells]
    high = [max(0.0, float(cell.high - cell.value)) for cell in cells]
    return np.array([low, high])


def _interval(confidence: float, release: Release | GroupedRelease) -> str:
    return f"With {100 * confidence:g} % intervals of the noise, at {release.cost}"
