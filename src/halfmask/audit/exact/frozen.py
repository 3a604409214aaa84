"""Answers that a measurement might give, made up without any row."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, TypeVar

import numpy as np

from halfmask.noise import secure_words
from halfmask.plan import FoundKeys, GridCounts, Points, Schema, Tallies, Tally
from halfmask.queries import Estimate, Measurement, Output, Prepared

__all__ = ["COURSES", "Frozen"]

E = TypeVar("E", bound=Estimate)

COURSES: tuple[tuple[tuple[int, ...], tuple[Fraction, ...]], ...] = tuple(
    (rows, tuple(Fraction(p, 100) for p in places))
    for rows, places in (
        ((0,), (50,)),
        ((50,), (0, 50, 100)),
        ((10_000,), (40,)),
        ((10_000,), (50, 2)),
        ((10**8,), (50,)),
        ((10**8,), (65,)),
        ((10**8,), (50, 0)),
        ((10**8,), (50, 100)),
        ((10**8, 0, 10_000), (35, 50, 97)),
        ((-100,), (50,)),
    )
)
"""How many rows noisy answers speak of, and where in the bounds; groups and stages take turns."""

_MOST_POINTS = 200


@dataclass(frozen=True)
class Frozen:
    """Noisy answers that speak of so many rows, so placed; of any length, in any unit."""

    schema: Schema
    rows: Sequence[int]
    places: Sequence[Fraction]

    def answers(self, measurement: Measurement[E], stage: int) -> tuple[E, ...]:
        """Answer one group after the other."""
        if not isinstance(measurement, Prepared):  # any answer on any rows is possible on all
            exact = self._exact(measurement.request, stage)
            return measurement.read(measurement.release(exact, secure_words()))
        groups = measurement.tally.size // measurement.cells
        outputs = measurement.outputs * (groups if len(measurement.outputs) == 1 else 1)
        return tuple(
            output.read(self._vector(measurement, output, number, stage))
            for number, output in enumerate(outputs)
        )

    def _at(self, number: int, stage: int) -> tuple[int, Fraction]:
        rows = self.rows[number % len(self.rows)]
        return rows, self.places[(number + stage) % len(self.places)]

    def _vector(
        self, prepared: Prepared[Any], output: Output[Any], number: int, stage: int
    ) -> tuple[int, ...]:
        """Spread the rows as Bernstein's parts of a value at that place would."""
        rows, place = self._at(number, stage)
        length = prepared.cells * len(prepared.tally.features)
        last = (length if output.combine is None else len(output.combine)) - 1
        parts = (comb(last, i) * place**i * (1 - place) ** (last - i) for i in range(last + 1))
        return tuple(round(rows * part / output.step) for part in parts)

    def _exact(self, request: Any, stage: int) -> Any:
        """Make up exact integers of the request's shape."""
        rows, place = self._at(0, stage)
        rows = max(rows, 0)
        match request:
            case Tally():
                return ((rows,) * len(request.features),) * request.size
            case Tallies():
                return tuple(self._exact(tally, stage) for tally in request.tallies)
            case FoundKeys():
                keys = {"integer": 1, "boolean": True}
                key = keys.get(self.schema.column(request.column).kind, "other")
                return ((key, (rows,)),)
            case GridCounts(value=grid):
                cell = grid.lower + int(place * (grid.upper - grid.lower))
                found = np.full(1, cell), np.full(1, max(rows, 1) * request.weight)
                return (found,) * request.tally.size
            case Points():
                cells = [
                    grid.lower - grid.origin + int(place * (grid.upper - grid.lower))
                    for grid in request.values
                ]
                return np.tile(np.array(cells, dtype=np.int64), (min(rows, _MOST_POINTS), 1))
        raise TypeError(f"no answer is known for a request of type {type(request).__name__}")
