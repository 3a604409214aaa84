"""Depth in the plane, and where a private centre fell."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth import spatial_depth
from halfmask.errors import InvalidQuery
from halfmask.plots.style import BLUE, GREY, INK, ORANGE, Axes, axes, finish, seed_warning
from halfmask.release import Release

__all__ = ["depth_contours"]

MESH = 120


def depth_contours(
    points: ArrayLike,
    centre: Release | None = None,
    *,
    depth: Callable[[Any, Any], NDArray[np.float64]] = spatial_depth,
    region: tuple[ArrayLike, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw points in the plane, contours of their depth, and a private centre among them.

    points: (n, 2), public or simulated: they and their depths are shown as they are.
    centre: a release of two numbers, such as of `BoxMedian`, with its intervals where they are
      narrower than half of the picture.
    depth: takes places (m, 2) and points, as those of `halfmask.depth` do.
    region: the public box in which the centre was sought, as (center, radius); drawn where it fits.
    """
    rows = np.asarray(points, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows):
        raise InvalidQuery("points: contours are of points in the plane; give shape (n, 2)")
    ax = axes(ax, height=5.0)
    low, high = (np.quantile(rows, q, axis=0) for q in (0.005, 0.995))
    low, high = low - 0.1 * (high - low), high + 0.1 * (high - low)
    x, y = (np.linspace(low[j], high[j], MESH) for j in (0, 1))
    mesh = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    deep = depth(mesh, rows).reshape(MESH, MESH)
    ax.scatter(rows[:, 0], rows[:, 1], s=4, color=GREY, alpha=0.5, linewidths=0, label="points")
    levels = np.linspace(0, float(deep.max()), 8)[1:-1]
    drawn = ax.contour(x, y, deep, levels=levels, colors=BLUE, linewidths=0.9)
    ax.clabel(drawn, fontsize=7, fmt="%.3g")
    deepest = mesh[int(np.argmax(deep))]
    ax.plot(*deepest, "+", ms=12, mew=2, color=INK, label="deepest, not private")
    if region is not None:
        _box(ax, *(np.broadcast_to(np.asarray(part, dtype=float), 2) for part in region))
    if centre is not None:
        _centre(ax, centre, high - low)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    return finish(ax, "Depth, and the private centre" if centre else "Depth", "", "")


def _box(ax: Axes, middle: NDArray[np.float64], radius: NDArray[np.float64]) -> None:
    corner = middle - radius
    x, y = ([corner[j], corner[j] + 2 * radius[j]] for j in (0, 1))
    ax.plot(
        [x[0], x[1], x[1], x[0], x[0]],
        [y[0], y[0], y[1], y[1], y[0]],
        ":",
        color=ORANGE,
        label="public region",
    )


def _centre(ax: Axes, centre: Release, window: NDArray[np.float64]) -> None:
    value = centre.value
    if not isinstance(value, tuple) or len(value) != 2:
        raise InvalidQuery("centre: it has not two coordinates; ask for a centre of two columns")
    ax.plot(*value, "D", ms=8, color=ORANGE, mec="white", label=f"private, {centre.cost}")
    sides = np.array(centre.interval(), dtype=float)
    if np.all(sides[:, 1] - sides[:, 0] < window / 2):
        reach = np.abs(sides - np.array(value)[:, None])
        ax.errorbar(*value, xerr=reach[:1].T, yerr=reach[1:].T, ecolor=ORANGE, capsize=4)
    seed_warning(ax, centre.seeded)
