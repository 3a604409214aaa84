"""Quantiles fixed to a price: chosen on exact grid counts, read as numbers or times."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Line
from halfmask.noise import Words
from halfmask.plan import GridCounts
from halfmask.privacy import Cost, exact
from halfmask.queries.distribution import Drawn
from halfmask.queries.measurement import Record
from halfmask.queries.quantile_grid import Answer, QuantileGrid
from halfmask.queries.quantile_plan import Node, QuantilePlan

__all__ = ["Quantiles", "RankedCells"]

Cells = tuple[NDArray[np.int64], NDArray[np.int64]]

_MOST_ROWS = 10**6
"""The rank guarantee of several quantiles is for tables of up to so many rows."""


_MOST_LISTED, _MOST_WALKED = 512, 20_000
"""Records whose probabilities are listed, and ways to them that are walked."""


@dataclass(frozen=True)
class Quantiles:
    """Choose the quantiles of each public group, in the order of the plan's levels.

    quantiles: as asked; parts: the weight of a row.
    """

    request: GridCounts
    cost: Cost
    grid: QuantileGrid
    plan: QuantilePlan
    quantiles: tuple[Fraction, ...]
    alone: bool

    is_public: ClassVar[bool] = False

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the choices, in words."""
        rates = sorted(
            {node.rate * self.request.weight for level in self.plan.levels for node in level}
        )
        ranks = " and ".join(f"{1 / float(rate):.6g}" for rate in reversed(rates))
        return (f"exponential mechanism on ranks, scale {ranks} rows",)

    def line(self, cells: Cells) -> Line:
        """Put the found cells of a group on the line of all cells."""
        return Line.whole(*cells, self.grid.measure(cut=self.plan.cut))

    def release(self, exact: Sequence[Cells], words: Words | None) -> list[Record]:
        """Return the chosen cells of each public key, in the order of rising quantiles."""
        return [self._chosen(self.line(cells), words) for cells in exact]

    def _chosen(self, line: Line, words: Words | None) -> Record:
        ends = {-1: line.start, self.plan.size: line.stop}
        for level in self.plan.levels:
            for node in level:
                part = _part(line, ends[node.low], ends[node.high])
                ends[node.index] = ends[node.low] if part is None else _choose(part, node, words)
        return tuple(ends[i] // line.measure.places for i in range(self.plan.size))

    def read(self, records: Sequence[Record]) -> tuple["RankedCells", ...]:
        """Read the cells of each key, in the order in which the quantiles were asked."""
        return tuple(RankedCells(self, tuple(int(c or 0) for c in record)) for record in records)

    def coarse(self) -> "Quantiles":
        """Return the same choices on a grid of few cells; see `Coarse`."""
        fewest = 4 if self.plan.cut else 2
        most = max(fewest, int(_MOST_LISTED ** (1 / self.plan.size)) // (2 if self.plan.cut else 1))
        grid = self.grid.coarse(most)
        return replace(self, grid=grid, request=replace(self.request, value=grid.grid))

    def distribution(self, exact: Sequence[Cells]) -> tuple[Drawn, ...] | None:
        """Return the law of each public key's quantiles; see `Distributed`."""
        measure = self.grid.measure(cut=self.plan.cut)
        if (measure.stop - measure.start) ** self.plan.size > _MOST_WALKED:
            return None
        return tuple(Drawn(i, law) for i, law in enumerate(self.log_masses(exact)))

    def log_masses(self, exact: Sequence[Cells]) -> list[dict[Record, float]]:
        """Return, for each public key, the exact log probability of every possible record.

        For small grids alone: all places are walked.
        """
        laws = []
        for cells in exact:
            line, masses = self.line(cells), dict[Record, list[float]]()
            for record, log in self._walk(line, {-1: line.start, self.plan.size: line.stop}):
                masses.setdefault(record, []).append(log)
            laws.append({record: _total(logs) for record, logs in masses.items()})
        return laws

    def _walk(self, line: Line, ends: Mapping[int, int]) -> Iterator[tuple[Record, float]]:
        left = [n for level in self.plan.levels for n in level if n.index not in ends]
        if not left:
            places = line.measure.places
            yield tuple(ends[i] // places for i in range(self.plan.size)), 0.0
            return
        node = left[0]
        part = _part(line, ends[node.low], ends[node.high])
        law = {ends[node.low]: 0.0} if part is None else self._law(part, node)
        for place, log in law.items():
            for record, rest in self._walk(line, {**ends, node.index: place}):
                yield record, log + rest

    @staticmethod
    def _law(part: Line, node: Node) -> Mapping[int, float]:
        return part.log_masses(node.q, node.rate, even=node.alone, offset=node.offset)

    def rank_error(self, confidence: float) -> tuple[int, ...]:
        """Bound the error in rank, in rows, of each quantile, with this confidence for all of them.

        From the law alone: P(d >= x) <= (measure of all)/(measure of the best) exp(-rate x) for
        each choice; the error of ranks between two ends is at most that of the worse end, and its
        own. [McSherry & Talwar 2007, Lemma 7]
        """
        risk = (1 - float(exact(confidence, "confidence", largest=Fraction(1)))) / self.plan.size
        if not 0 < risk < 1:
            raise InvalidQuery(f"confidence: must be below 1, given {confidence}; give 0.95")
        measure = self.grid.measure(cut=self.plan.cut)
        found = {-1: 0.0, self.plan.size: 0.0}
        for level in self.plan.levels:
            for node in level:
                rate = float(node.rate) * self.request.weight
                odds, spare = math.log(measure.odds / risk), 0.0
                if not node.alone:
                    odds += math.log(max(2.0, 2 * rate * _MOST_ROWS))
                    spare = _MOST_ROWS / measure.places / 2
                ends = max(found[node.low], found[node.high])
                found[node.index] = ends + odds / rate + spare
        return tuple(math.ceil(found[i]) for i in range(self.plan.size))


def _part(line: Line, start: int, stop: int) -> Line | None:
    return line.after(start).before(stop) if start < stop else None


def _choose(part: Line, node: Node, words: Words | None) -> int:
    return part.choose(node.q, node.rate, even=node.alone, words=words, offset=node.offset)


def _total(logs: Sequence[float]) -> float:
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs))


@dataclass(frozen=True)
class RankedCells:
    """Chosen cells, rising, read as the quantiles that were asked."""

    asked: Quantiles
    cells_chosen: tuple[int, ...]

    @property
    def post_processing(self) -> tuple[str, ...]:
        """Quantiles that were chosen apart are put in order."""
        apart = self.asked.plan.size > 1 and not self.asked.plan.cut
        return ("sorted",) if apart else ()

    def _ordered(self, rising: Sequence[Any]) -> tuple[Any, ...]:
        asked = self.asked.quantiles
        places = sorted(range(len(asked)), key=lambda i: asked[i])
        found = dict(zip(places, rising, strict=True))
        return tuple(found[i] for i in range(len(asked)))

    def _answers(self) -> tuple[Answer, ...]:
        return self._ordered([self.asked.grid.read(cell) for cell in sorted(self.cells_chosen)])

    @property
    def value(self) -> Answer | tuple[Answer, ...]:
        """The quantile, or a tuple of them: numbers, whole numbers, or times in ISO text."""
        answers = self._answers()
        return answers[0] if self.asked.alone else answers

    @property
    def pair(self) -> tuple[float, float]:
        """Two quantiles of numbers, as numbers."""
        low, high = map(float, self._answers())
        return low, high

    def interval(self, confidence: float = 0.95) -> Any:
        """Return the public bounds: no narrower interval of values is known without a price.

        What is known is `rank_error`. Quantiles a little below and above, asked along, bracket it.
        """
        grid = self.asked.grid
        bounds = grid.read(grid.grid.lower), grid.read(grid.grid.upper)
        return bounds if self.asked.alone else (bounds,) * len(self.asked.quantiles)

    def rank_error(self, confidence: float = 0.95) -> Any:
        """By how many rows at most each value lies beside its exact rank, with this confidence.

        Of several quantiles: with this confidence for all, in tables of up to a million rows.
        """
        errors = self._ordered(self.asked.rank_error(confidence))
        return errors[0] if self.asked.alone else errors

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, Answer, None, None], ...]:
        """Return each value with its rank and how far, in rows, it may be beside it."""
        errors = self._ordered(self.asked.rank_error(confidence))
        return tuple(
            (
                f"{_percent(q)} below (within {error} rows, {100 * confidence:.4g} %)",
                value,
                None,
                None,
            )
            for q, error, value in zip(self.asked.quantiles, errors, self._answers(), strict=True)
        )


def _percent(q: Fraction) -> str:
    return f"{float(100 * q):.6g} %"
