"""Which bounds to take: candidates with their bias and noise, from one paid histogram."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from halfmask.privacy import Cost, exact
from halfmask.queries.histogram import Histogram
from halfmask.queries.measurement import Record
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.scaled import ScaledVector
from halfmask.queries.setting import Setting

__all__ = ["SuggestBounds", "SuggestedBounds", "Suggestion"]

_LEAST, _MOST = -10, 40
"""Bins end at 0 and at powers of two between these, on both sides."""

_CLEAR = 0.99999
"""A bin counts where its noisy number is above all of the noise but a part of 10^-5."""


@dataclass(frozen=True)
class Suggestion:
    """Bounds, the share of values outside, and the error of a mean within them, to first order.

    bias: what clipping takes away on both sides, which does not make up for each other.
    """

    lower: float
    upper: float
    outside: float
    bias: float
    noise: float

    @property
    def error(self) -> float:
        """The root mean square of bias and noise together."""
        return math.hypot(self.bias, self.noise)


@dataclass(frozen=True)
class SuggestedBounds:
    """A noisy histogram by powers of two, read as candidates for clip bounds."""

    counts: ScaledVector
    edges: tuple[float, ...]
    reach: int = 1

    post_processing: ClassVar[tuple[str, ...]] = (
        "bins of counts within their noise are taken as empty; values lie at the middle of a bin",
    )

    def _held(self) -> list[tuple[float, float]]:
        """Return (value, rows) for each bin that clearly holds rows."""
        _, noise = self.counts.mechanism.interval(0, _CLEAR)
        clear = noise * self.counts.step
        listed = zip(pairwise(self.edges), self.counts.value, strict=True)
        return [(_middle(*bin_), float(rows)) for bin_, rows in listed if rows > clear]

    def table(self, epsilon: float = 1.0) -> tuple[Suggestion, ...]:
        """Return all candidates for a mean at this epsilon, the best first. Free for any epsilon.

        noise: (upper - lower) reach/(rows epsilon), that of two-sided sums for a mean amid the
        bounds, with `reach` the rows that a unit may have.
        """
        noise = self.reach / float(exact(epsilon, "epsilon"))
        held = self._held()
        rows = max(math.fsum(count for _, count in held), 1.0)
        ends = [edge for edge in self.edges if math.isfinite(edge)]
        lows, highs = _around(held, ends, lower=True), _around(held, ends, lower=False)
        found = [
            _suggestion(low, high, held, rows, noise)
            for low in lows
            for high in highs
            if low < high
        ]
        return tuple(sorted(found, key=lambda one: one.error))

    @property
    def value(self) -> tuple[float, float]:
        """The bounds of least error for a mean at epsilon 1."""
        best = self.table()[0]
        return best.lower, best.upper

    def interval(self, confidence: float = 0.95) -> None:
        """Say nothing: a suggestion has no interval."""

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, object, None, None], ...]:
        """Return the five best candidates for a mean at epsilon 1."""
        return tuple(
            (
                f"{one.lower:g} to {one.upper:g}",
                f"{100 * one.outside:.2g} % outside, bias {one.bias:.3g}, noise {one.noise:.3g}",
                None,
                None,
            )
            for one in self.table()[:5]
        )


def _middle(low: float, high: float) -> float:
    if math.isinf(low):
        return 2 * high
    return 2 * low if math.isinf(high) else (low + high) / 2


def _around(held: list[tuple[float, float]], ends: list[float], *, lower: bool) -> list[float]:
    """Return the ends from just outside the values inwards."""
    if not held:
        return [0.0] if lower else [1.0]
    least, most = held[0][0], held[-1][0]
    inside = [end for end in ends if least < end < most]
    outside = [end for end in ends if end <= least][-1:] if lower else []
    if not lower:
        outside = [end for end in ends if end >= most][:1]
    return [*inside, *outside] or [least if lower else most]


def _suggestion(
    low: float, high: float, held: list[tuple[float, float]], rows: float, noise: float
) -> Suggestion:
    """noise: that of two-sided sums, in widths of the bounds."""
    beyond = [(max(low - value, 0.0, value - high), count) for value, count in held]
    outside = math.fsum(count for far, count in beyond if far)
    bias = math.fsum(far * count for far, count in beyond) / rows
    return Suggestion(low, high, outside / rows, bias, (high - low) * noise / rows)


@dataclass(frozen=True, repr=False)
class SuggestBounds:
    """A table of clip bounds with their expected bias and noise, paid once, free for any epsilon.

    `release.estimate.table(epsilon)` lists all candidates for a mean at that epsilon.
    Privacy: the price; a `Histogram` by powers of two, the rest is post-processing.

    >>> SuggestBounds("salary")
    SuggestBounds('salary')
    """

    column: str

    weight: ClassVar[float] = 1.0

    def __repr__(self) -> str:
        return f"SuggestBounds({self.column!r})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"bounds to hold {self.column} to, for a mean at epsilon 1"

    @property
    def histogram(self) -> Histogram:
        """What is paid for."""
        powers = [2.0**power for power in range(_LEAST, _MOST + 1)]
        edges = [-math.inf, *(-power for power in reversed(powers)), 0.0, *powers, math.inf]
        return Histogram(self.column, edges)

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or holds no numbers."""
        setting.schema.numeric(self.column)

    def prepare(self, setting: Setting, price: Cost) -> Prepared[SuggestedBounds]:
        """Fix the bins and the noise; see `Query`."""
        histogram = self.histogram
        prepared = histogram.prepare(setting, price)
        (output,) = prepared.outputs

        def read(noisy: Record) -> SuggestedBounds:
            counts = output.read(tuple(int(n or 0) for n in noisy))
            return SuggestedBounds(counts, histogram.edges, setting.rows)

        reading = Output(output.mechanism, read, output.step)
        return Prepared(prepared.tally, (reading,), prepared.cells)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of the counts behind the table."""
        counts = self.histogram.expected(setting, price, rows)
        return Expected(counts.rmse, 0.0, counts.interval_width, "errors of the rows in each bin")
