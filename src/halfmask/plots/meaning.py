"""What epsilon means: the answers of two neighbouring tables look alike."""

import math

import numpy as np

from halfmask.mechanisms import Additive
from halfmask.plots.style import BLUE, GREY, INK, ORANGE, WASH, Axes, axes, finish
from halfmask.privacy import Pure

__all__ = ["neighbouring_outputs"]


def neighbouring_outputs(
    mechanism: Additive, *, distance: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the exact chances of each noisy answer, for two tables that differ by one unit.

    The band holds what the second table's chances may be at a pure epsilon: from e^-epsilon to
    e^epsilon times the first one's.
    mechanism: such as `mechanisms.DiscreteLaplace(1, 1)`.
    distance: between the two exact answers; None is the mechanism's sensitivity, or 1.

    >>> from halfmask import mechanisms, plots
    >>> plots.neighbouring_outputs(mechanisms.DiscreteLaplace(1, 1)).get_ylabel()
    'chance'
    """
    ax = axes(ax)
    apart = distance if distance is not None else int(getattr(mechanism, "sensitivity", 1) or 1)
    reach = max(4 * apart, math.ceil(4 * mechanism.standard_deviation))
    at = np.arange(-reach, reach + apart + 1)
    one, other = (np.exp(mechanism.log_mass(at - shift)) for shift in (0, apart))
    mark = "o" if len(at) < 80 else ""
    if isinstance(mechanism.cost, Pure):
        factor = math.exp(float(mechanism.cost.epsilon))
        label = f"within e^epsilon = {factor:.3g} of the solid line"
        ax.fill_between(at, one / factor, one * factor, color=WASH, label=label)
    ax.plot(at, one, "-", color=BLUE, label="with one unit less", marker=mark, markersize=3)
    ax.plot(at, other, "--", color=ORANGE, label="with it", marker=mark, markersize=3)
    for shift in (0, apart):
        ax.axvline(shift, color=GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(0, 1.35 * float(max(one.max(), other.max())))
    ax.tick_params(colors=INK)
    title = f"One answer hardly tells which table it came from: {mechanism.cost}"
    return finish(ax, title, "noisy answer, less the exact one", "chance")
