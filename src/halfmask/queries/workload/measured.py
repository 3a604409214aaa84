"""A workload fixed to a price: one histogram of exact counts, a strategy, noise, least squares."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery
from halfmask.noise import Words
from halfmask.plan import Groups, Tally
from halfmask.privacy import Cost
from halfmask.queries.count import fine
from halfmask.queries.distribution import Noisy
from halfmask.queries.measurement import Record
from halfmask.queries.prepared import Expected
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Setting
from halfmask.queries.workload.answers import WorkloadAnswers, half_widths
from halfmask.queries.workload.choice import LARGEST, Choice, choose, reach_of
from halfmask.queries.workload.load import Load, Merged
from halfmask.queries.workload.strategies import strategy

__all__ = ["OfCells", "Workload", "combined"]

LIMB = 16
"""Bits of a limb of an exact count: sums of products of limbs and coefficients fit 64 bits."""


@dataclass(frozen=True)
class Workload:
    """A measurement whose records are the strategy's text and its noisy answers.

    Privacy: the noise of the mechanism is that for the strategy's reach (`reach_of`); the least
    squares that follow are post-processing. [Li, Miklau, Hay, McGregor & Rastogi 2015, Prop. 5]
    """

    tally: Tally
    merged: Merged = field(repr=False)
    choice: Choice = field(repr=False)
    parts: int
    setting: Setting = field(repr=False)
    price: Cost

    @property
    def request(self) -> Tally:
        """What is asked of the rows: the counts of all cells."""
        return self.tally

    @property
    def cost(self) -> Cost:
        """The price of the whole."""
        return self.choice.mechanism.cost

    @property
    def is_public(self) -> bool:
        """Counts of cells are never public."""
        return False

    @property
    def laws(self) -> tuple[str, ...]:
        """The strategy and the law of its noise, in words."""
        chosen = self.choice.strategy
        law = self.choice.mechanism.law_in(Fraction(1, chosen.norms.l1 * self.parts))
        return (f"{law} of what a row adds to {len(chosen.matrix)} sums: {chosen.name}",)

    def vectors(self, exact: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """Return the strategy's exact answers of each group."""
        flat = [number for cell in exact for number in cell]
        size = len(self.merged.index)
        groups = [flat[at : at + size] for at in range(0, len(flat), size)]
        return [combined(self.choice.strategy.matrix, self.merged.index, one) for one in groups]

    def distribution(self, exact: Sequence[Sequence[int]]) -> tuple[Noisy, ...]:
        """Return the strategy's answers with their noise; see `Distributed`."""
        step = Fraction(1, self.choice.strategy.norms.l1 * self.parts)
        return tuple(Noisy(self.choice.mechanism, vector, step) for vector in self.vectors(exact))

    def release(self, exact: Sequence[Sequence[int]], words: Words | None) -> list[Record]:
        """Add the noise to the strategy's answers of each group."""
        text, mechanism = self.choice.strategy.text, self.choice.mechanism
        return [(text, *mechanism.release(vector, words)) for vector in self.vectors(exact)]

    def read(self, records: Sequence[Record]) -> tuple[WorkloadAnswers, ...]:
        """Read the queries off the noisy answers, by the strategy that the record names."""
        return tuple(self._answers(record) for record in records)

    def _answers(self, record: Record) -> WorkloadAnswers:
        text, *noisy = record
        known, load = strategy(str(text), self.merged.load), self.merged.load
        numbers = tuple(int(number or 0) for number in noisy)
        mechanism = mechanism_for(reach_of(known.norms, self.setting, self.parts), self.price)
        return WorkloadAnswers(numbers, known, load, mechanism, self.parts)


def combined(
    matrix: NDArray[np.int64], index: NDArray[np.int64], counts: Sequence[int]
) -> tuple[int, ...]:
    """Return A times the merged counts, exactly, whatever their size.

    Counts are cut into limbs of 16 bits: with coefficients below 2^23 and 2^20 cells at most, the
    products of one limb sum to less than 2^60; limbs are put together in unbounded integers.
    """
    left = np.array([int(count) for count in counts], dtype=object)
    total = np.zeros(len(matrix), dtype=object)
    seen, shift = index >= 0, 0
    while left.any():
        limb = np.zeros(matrix.shape[1], dtype=np.int64)
        np.add.at(limb, index[seen], (left & (2**LIMB - 1)).astype(np.int64)[seen])
        total += (matrix @ limb).astype(object) << shift
        left, shift = left >> LIMB, shift + LIMB
    return tuple(total.tolist())


class OfCells(ABC):
    """A question that is a workload over public cells: what all of them share."""

    @property
    @abstractmethod
    def load(self) -> Load:
        """The queries over the cells."""

    @property
    @abstractmethod
    def groups(self) -> Groups:
        """The cells: bins or keys of one column, or products of several columns'."""

    @cached_property
    def merged(self) -> Merged:
        """The workload over merged cells; refuses one that is too fine for a strategy."""
        merged = self.load.merged()
        if not 1 <= merged.load.cells <= LARGEST:
            raise InvalidQuery(
                f"workload: its queries tell {merged.load.cells} cells apart, above {LARGEST}; use "
                "fewer edges, keys or queries"
            )
        return merged

    @property
    def weight(self) -> float:
        """The noise of a noisy histogram, relative to the answers over evenly spread rows."""
        noise = math.sqrt(float(np.trace(self.merged.load.gram())) / self.load.queries)
        return noise / max(float(np.mean(self.load.shares())), 1e-9)

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or that the cells do not fit."""
        for group in self.groups:
            group.check(setting.schema)

    def prepare(self, setting: Setting, price: Cost) -> Workload:
        """Fix the cells, the strategy and the noise; see `Query`."""
        parts = fine(setting, cells=True)
        tally = Tally(
            ((parts, 0, 0, 0),),
            groups=(*setting.groups, *self.groups),
            where=setting.where,
            unit=setting.spread_bound(parts),
        )
        choice = choose(self.merged.load, setting, parts, price)
        return Workload(tally, self.merged, choice, parts, setting, price)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error over all queries: the root of their mean square; the mean width."""
        parts = fine(setting, cells=True)
        choice = choose(self.merged.load, setting, parts, price)
        blank = (0,) * len(choice.strategy.matrix)
        answers = WorkloadAnswers(blank, choice.strategy, self.merged.load, choice.mechanism, parts)
        rmse = float(np.sqrt(np.mean(np.square(answers.deviations))))
        return Expected(rmse, 0.0, float(2 * np.mean(half_widths(answers, 0.05))))
