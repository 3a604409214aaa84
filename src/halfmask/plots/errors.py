"""Errors against what may be chosen: the price, the bound, the number of rows."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Axes,
    axes,
    finish,
    logarithmic,
    plain_numbers,
)
from halfmask.release import Preview
from halfmask.simulation import Sweep

__all__ = ["error_against_bound", "error_against_price", "error_against_rows"]


def error_against_price(
    errors: Sweep | Mapping[float, Preview],
    *,
    predicted: Mapping[float, Preview] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error against epsilon (or rho, mu): measured by a sweep, or predicted by previews.

    predicted: previews to draw beside a sweep.

    >>> import halfmask as hm
    >>> from halfmask import plots
    >>> staff = hm.open({"x": [1.0]}, budget=1)
    >>> errors = {e: staff.preview(hm.Count(), epsilon=e, rows=100) for e in (0.1, 1, 10)}
    >>> plots.error_against_price(errors).get_xlabel()
    'epsilon'
    """
    ax = axes(ax)
    varied, title = "epsilon", "Error falls as the price rises"
    if isinstance(errors, Sweep):
        if errors.varied not in ("epsilon", "rho", "mu"):
            raise InvalidQuery(f"sweep: {errors.varied} was varied; vary epsilon, rho or mu")
        varied = errors.varied
        points = [float(value) for value in errors.values]
        label = f"measured in {errors.trials[0].repeats} trials"
        ax.plot(points, _whole(errors.rmse), "o-", color=BLUE, label=label)
        title = errors.trials[0].title
    else:
        predicted = errors
    if predicted:
        points = sorted(map(float, predicted))
        rmse = [one.rmse for _, one in sorted(predicted.items(), key=lambda item: float(item[0]))]
        ax.plot(points, rmse, "--", marker="x", color=ORANGE, label="predicted")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.grid(color="#e6e6e6", linewidth=0.8)
    plain_numbers(ax.xaxis, points)
    logarithmic(ax.yaxis)
    return finish(ax, title, varied, "root-mean-square error")


def error_against_bound(
    sweep: Sweep, *, label: str = "upper bound", ax: Axes | None = None
) -> Axes:
    """Draw a sweep over clip bounds: what clipping takes, what noise adds, and both together.

    label: what the values of `over` are.
    """
    if sweep.varied != "over":
        raise InvalidQuery(f"sweep: {sweep.varied} was varied; vary a bound, with `over`")
    ax = axes(ax)
    points = np.asarray(sweep.values, dtype=float)
    total = _whole(sweep.rmse)
    ax.plot(points, _whole(sweep.clipping), "--", color=ORANGE, label="bias: clipped away")
    ax.plot(points, _whole(sweep.spread), ":", linewidth=2, color=GREEN, label="noise: spread")
    ax.plot(points, total, "o-", color=BLUE, label="error: both together")
    best = int(np.argmin(total))
    ax.plot(points[best], total[best], "o", ms=12, mfc="none", color=BLUE, label="least")
    ax.set_ylim(bottom=0)
    plain_numbers(ax.xaxis)
    plain_numbers(ax.yaxis)
    return finish(ax, "A low bound distorts, a high one costs noise", label, "error")


def error_against_rows(
    previews: Mapping[int, Preview], *, deviation: float, ax: Axes | None = None
) -> Axes:
    """Draw the private and the non-private error of a mean against the number of rows.

    previews: by number of rows, all at one price.
    deviation: the standard deviation of the values that you suppose: a sample of n rows errs by
      deviation / sqrt(n) about its population, noise or not.
    """
    ax = axes(ax)
    rows = np.array(sorted(previews), dtype=float)
    noise = np.array([previews[n].rmse for n in sorted(previews)])
    sampling = deviation / np.sqrt(rows)
    ax.plot(rows, sampling, "--", color=GREY, label="sampling: without privacy too")
    ax.plot(rows, noise, ":", linewidth=2, color=GREEN, label="noise: of privacy")
    ax.plot(rows, np.hypot(noise, sampling), "o-", color=BLUE, label="both together")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.grid(color="#e6e6e6", linewidth=0.8)
    logarithmic(ax.xaxis)
    logarithmic(ax.yaxis)
    price = next(iter(previews.values())).price
    return finish(ax, f"What privacy adds, at {price}", "rows", "root-mean-square error")


def _whole(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """One error a value: of vectors, the root mean square."""
    flat = errors.reshape(len(errors), -1)
    whole: NDArray[np.float64] = np.sqrt(np.mean(flat**2, axis=1))
    return whole
