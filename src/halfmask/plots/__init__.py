"""Plots: errors before anything is spent, answers afterwards, and what a price means.

Every function returns a Matplotlib Axes, and draws on the one that is given as `ax`. Colours are
told apart by the colour-blind, and lines by their dashes in print. Needs `halfmask[plots]`.

errors      `error_against_price`, `error_against_bound`, `error_against_rows`
scatter     `sampling_histogram`
releases    `release_intervals`, `group_bars`
meaning     `neighbouring_outputs`
spending    `budget_timeline`
contours    `depth_contours`
"""

from halfmask.plots.contours import depth_contours
from halfmask.plots.errors import error_against_bound, error_against_price, error_against_rows
from halfmask.plots.meaning import neighbouring_outputs
from halfmask.plots.releases import group_bars, release_intervals
from halfmask.plots.scatter import sampling_histogram
from halfmask.plots.spending import budget_timeline

__all__ = [
    "budget_timeline",
    "depth_contours",
    "error_against_bound",
    "error_against_price",
    "error_against_rows",
    "group_bars",
    "neighbouring_outputs",
    "release_intervals",
    "sampling_histogram",
]
