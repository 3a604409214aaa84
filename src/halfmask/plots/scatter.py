"""How repeated answers scatter about the truth."""

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.plots.style import BLUE, GREEN, INK, ORANGE, WASH, Axes, axes, finish, plain_numbers
from halfmask.simulation import Trials

__all__ = ["sampling_histogram"]


def sampling_histogram(trials: Trials, *, bins: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the answers of trials, with lines at the truth and at their mean.

    Where clipping moves the exact answer by a tenth of the spread or more, it has a line too.

    >>> import halfmask as hm
    >>> from halfmask import plots
    >>> tried = hm.trials(hm.Count(), {"x": [1.0] * 50}, epsilon=1, repeats=100)
    >>> [line.get_label().split(" ")[0] for line in plots.sampling_histogram(tried).lines]
    ['truth', 'mean']
    """
    if np.ndim(trials.truth) or trials.estimates.dtype == object:
        raise InvalidQuery("trials: a vector or a choice; draw the histogram of a single number")
    ax = axes(ax)
    edges = np.histogram_bin_edges(trials.estimates, bins)
    if np.all(trials.estimates == np.round(trials.estimates)):  # whole numbers, one or more a bar
        step = max(1, round(float(edges[1] - edges[0])))
        edges = np.arange(edges[0] - 0.5, edges[-1] + 0.5 + step, step)
    ax.hist(trials.estimates, edges.tolist(), color=WASH, edgecolor=BLUE, linewidth=0.6)
    lines = [("truth", float(trials.truth), INK, "-"), ("mean", trials.mean, ORANGE, "--")]
    if abs(trials.clipping) > trials.spread / 10:
        lines.append(("exact, clipped", float(trials.exact), GREEN, ":"))
    for name, at, colour, dashes in lines:
        shown = f"{at:,.{0 if trials.spread >= 10 else 2}f}".replace(",", " ")
        ax.axvline(at, color=colour, linestyle=dashes, linewidth=2, label=f"{name} {shown}")
    plain_numbers(ax.xaxis)
    title = f"{trials.repeats} answers at {trials.price}, each with noise of its own"
    return finish(ax, title, trials.title, "answers")
