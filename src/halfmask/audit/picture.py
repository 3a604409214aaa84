"""A histogram as inline SVG: two outlines, told apart by dashes as well as by colour."""

import html

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.histograms import Histogram

__all__ = ["drawn"]

_WIDTH, _HEIGHT, _FOOT, _TOP = 400, 210, 36, 22


def drawn(histogram: Histogram) -> str:
    """Draw both neighbours' histograms on one axis."""
    top = float(max(histogram.one.max(), histogram.other.max())) or 1.0
    one, other = (_outline(histogram, bars, top) for bars in (histogram.one, histogram.other))
    what = "exact probabilities" if histogram.exact else "frequencies"
    low, high = histogram.edges[0], histogram.edges[-1]
    label = html.escape(f"{histogram.label} ({what})")
    return f"""<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">
<line class="axis" x1="0" y1="{_HEIGHT - _FOOT}" x2="{_WIDTH}" y2="{_HEIGHT - _FOOT}"/>
<path class="one" d="{one}"/><path class="other" d="{other}"/>
<line class="one" x1="4" y1="10" x2="28" y2="10"/><text x="33" y="14">one neighbour</text>
<line class="other" x1="150" y1="10" x2="174" y2="10"/><text x="179" y="14">the other</text>
<text x="0" y="{_HEIGHT - _FOOT + 15}">{_figure(low)}</text>
<text x="{_WIDTH}" y="{_HEIGHT - _FOOT + 15}" text-anchor="end">{_figure(high)}</text>
</svg>
<p class="label">{label}</p>"""


def _outline(histogram: Histogram, bars: NDArray[np.float64], top: float) -> str:
    """A path of steps over the bins, closed along the axis."""
    edges, floor = histogram.edges, _HEIGHT - _FOOT
    x = (edges - edges[0]) / (edges[-1] - edges[0]) * _WIDTH
    y = floor - bars / top * (floor - _TOP)
    steps = [f"M{x[0]:.1f} {floor}"]
    steps += [f"V{height:.1f}H{right:.1f}" for height, right in zip(y, x[1:], strict=True)]
    return "".join([*steps, f"V{floor}"])


def _figure(number: float) -> str:
    return f"{number:,.6g}".replace(",", " ") if abs(number) < 1e9 else f"{number:.4g}"
