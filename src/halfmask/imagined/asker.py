"""One question, ready to be asked of supposed rows with any noise: how far its answer is off."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.imagined.table import NormalPoints, even_table
from halfmask.noise import Words
from halfmask.privacy import Cost, Purse
from halfmask.procedures import Family
from halfmask.queries import Setting, Supposed
from halfmask.room import Room
from halfmask.sources import Source

__all__ = ["Asker"]

Vector = NDArray[np.float64]

_LARGEST = Fraction(10**6)
"""The largest price there is: noise of a millionth."""


@dataclass(frozen=True)
class Asker:
    """A named question of a family at its part of the price, and rows that it may be asked of."""

    family: Family
    name: str
    price: Cost
    rows: int
    supposed: Supposed
    setting: Setting
    known: dict[Any, Any] = field(default_factory=dict)

    def ready(self, words: Words) -> Callable[[Words], Vector]:
        """Return what tells the error of one answer, with its noise made of given words.

        words: for the order of rows; normal points are drawn with the noise.
        """
        table = None if self.supposed.normal else self._table(words)
        truth = self._truth(table, words)
        ask = self._fixed(table) or (lambda drawn: self._run(self.price, table, drawn))
        return lambda drawn: self._counted(_flat(ask(drawn)) - truth)

    def _table(self, words: Words) -> Source:
        return even_table(self.supposed, self.setting, self.rows, words)

    def _truth(self, table: Any, words: Words) -> Vector:
        if self.supposed.truth is not None:
            return np.array(self.supposed.truth)
        exact = self.price.from_amounts(_LARGEST, self.price.amounts[1], up=False)
        return _flat(self._run(exact, table, words))

    def _fixed(self, table: Any) -> Callable[[Words], Any] | None:
        """Return a way to answer by one measurement alone, prepared once."""
        fixed = self.family.fixed(self.setting, self.price)
        if fixed is None:
            return None
        measurement, read = fixed
        request = measurement.request
        once = None if table is None else request.answered_by(table)

        def answer(words: Words) -> Any:
            drawn = NormalPoints(self.supposed, self.rows, words)
            exact = request.answered_by(drawn) if once is None else once
            (found,) = measurement.read(measurement.release(exact, words))
            return read(self.name, found).value

        return answer

    def _run(self, price: Cost, table: Any, words: Words) -> Any:
        room = Room(table, words, Purse(price), known=self.known)
        (answer,) = self.family.run(self.setting, price, room.measure)[self.name]
        return answer.value

    def _counted(self, errors: Vector) -> Vector:
        if not self.supposed.paired:
            return errors
        d = round(len(errors) ** 0.5)
        return errors.reshape(d, d)[np.triu_indices(d, 1)]


def _flat(value: Any) -> Vector:
    return np.asarray(value, dtype=np.float64).ravel()
