"""What all plots share: axes, colours that the colour-blind tell apart, numbers that read well."""

from typing import Any

from halfmask.errors import HalfmaskError
from halfmask.rendering import figure

try:
    from matplotlib import pyplot
    from matplotlib.axes import Axes
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
except ImportError:
    raise HalfmaskError(
        "plots: need Matplotlib, which is not installed; pip install 'halfmask[plots]'"
    ) from None

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "WASH",
    "Axes",
    "axes",
    "finish",
    "logarithmic",
    "plain_numbers",
    "seed_warning",
]

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"  # of Okabe & Ito
GREY, INK, WASH = "#8a8a8a", "#222222", "#cfe3f1"


def axes(ax: Axes | None, *, height: float = 3.6) -> Axes:
    """Return the axes given, or new ones, without a frame on the right and on top."""
    if ax is None:
        _, ax = pyplot.subplots(figsize=(6.0, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelsize=9)
    ax.set_axisbelow(True)
    return ax


def finish(ax: Axes, title: str, x: str, y: str, *, legend: bool = True) -> Axes:
    """Name what is shown."""
    ax.set_title(title, loc="left", fontsize=11, color=INK, wrap=True)
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    if legend:
        ax.legend(fontsize=9, framealpha=0.9, edgecolor="none", facecolor="white")
    return ax


def plain_numbers(axis: Any, ticks: Any = None) -> None:
    """Write numbers in full, thousands apart, also on a logarithmic axis."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: _written(value)))
    axis.set_minor_formatter(NullFormatter())
    if ticks is not None:
        axis.set_ticks(list(ticks), minor=False)


def logarithmic(axis: Any) -> None:
    """Mark ones and threes of each decade of a logarithmic axis, in full."""
    axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    plain_numbers(axis)


def _written(value: float) -> str:
    if value and abs(value) < 1e-3:
        return f"{value:.0e}"
    return figure(value, abs(value)) if abs(value) >= 100 else f"{value:g}"


def seed_warning(ax: Axes, seeded: bool) -> None:
    """Say over the plot that what it shows is not private, where the noise came from a seed."""
    if seeded:
        ax.text(
            0.5,
            0.5,
            "NOT PRIVATE: seeded noise",
            transform=ax.transAxes,
            ha="center",
            va="center",
            color=ORANGE,
            fontsize=18,
            alpha=0.6,
            rotation=15,
        )
