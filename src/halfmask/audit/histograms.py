"""Two histograms over each other: what an answer looks like on either of two neighbours."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.exact import Listed, Moved, Redrawn, Witness
from halfmask.audit.samples import Matrix

__all__ = ["Histogram", "of_samples", "of_witness"]

_BINS = 48


@dataclass(frozen=True)
class Histogram:
    """Probabilities of bins under both neighbours.

    edges: shape (bins + 1,); one, other: shape (bins,).
    exact: whether they come from a mass function, not from samples.
    """

    label: str
    edges: NDArray[np.float64]
    one: NDArray[np.float64]
    other: NDArray[np.float64]
    exact: bool


def of_witness(witness: Witness) -> Histogram | None:
    """The exact law of the answer that moves most, about both exact integers; None if none does."""
    noisy = [m for m in witness.moved if isinstance(m, Moved) and m.mechanism.scale > 0]
    drawn = [moved for moved in witness.moved if isinstance(moved, Redrawn)]
    if not noisy:
        return _of_drawn(drawn[0]) if drawn else None
    moved = max(noisy, key=lambda m: max(map(abs, m.shift)) / m.mechanism.scale)
    i = max(range(len(moved.shift)), key=lambda j: abs(moved.shift[j]))
    a, b = moved.one[i], moved.other[i]
    spread = int(5 * moved.mechanism.standard_deviation) + 1
    low, high = min(a, b) - spread, max(a, b) + spread
    width = max(1, -(-(high - low) // _BINS))
    cuts = list(range(low, high + width, width))  # a bin holds (cut, next cut]
    edges = np.array([float(Fraction(cut) * moved.step) for cut in cuts])
    one, other = (np.diff([_up_to(moved, cut - centre) for cut in cuts]) for centre in (a, b))
    name = f"answer {i + 1} of {len(moved.shift)}" if len(moved.shift) > 1 else "answer"
    return Histogram(f"{name}: {moved.mechanism.law_in(moved.step)}", edges, one, other, True)


def _of_drawn(drawn: Redrawn) -> Histogram:
    """The probabilities of the answers that are told apart best, or are the likeliest."""
    one, other = max(drawn.parts, key=lambda laws: Listed.of(*laws).epsilon)
    listed = Listed.of(one, other)
    p, q = np.exp(listed.one), np.exp(listed.other)
    kept = np.sort(np.argsort(-np.maximum(p, q))[:_BINS])
    edges = np.arange(len(kept) + 1, dtype=np.float64)
    return Histogram(f"answers in order: {drawn.law}", edges, p[kept], q[kept], True)


def _up_to(moved: Moved, k: int) -> float:
    beyond = moved.mechanism.tail(-k - 1 if k < 0 else k)
    return beyond / 2 if k < 0 else 1 - beyond / 2


def of_samples(first: Matrix, second: Matrix) -> Histogram:
    """Sampled outputs, shape (size, k): the column that differs most, without its outer tails."""
    columns = [
        _binned(first[:, j], second[:, j], f"column {j + 1}" if first.shape[1] > 1 else "output")
        for j in range(min(first.shape[1], second.shape[1]))
    ]
    return max(columns, key=lambda found: float(np.abs(found.one - found.other).sum()))


def _binned(first: NDArray[np.float64], second: NDArray[np.float64], label: str) -> Histogram:
    both = np.concatenate([first, second])
    finite = both[np.isfinite(both)]
    low, high = np.quantile(finite, [0.001, 0.999]) if len(finite) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if (finite == np.rint(finite)).all():  # bins of equally many integers
        width = max(1.0, np.ceil((high - low) / _BINS))
        edges = np.arange(low - 0.5, high + width, width)
    else:
        edges = np.linspace(low, high, _BINS + 1)
    one, other = (np.histogram(x[np.isfinite(x)], edges)[0] / len(x) for x in (first, second))
    return Histogram(label, edges, one, other, False)
