"""Histories of a growing table: at each closing of a series a table, of the rows there by then.

A row of a history says at which closings it is there, in a cell that no query can see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

from halfmask.audit.exact.cells import cell_of
from halfmask.audit.exact.tables import Pair, Row, Rows, Simulation
from halfmask.plan import Keys
from halfmask.privacy import Relation

__all__ = ["Histories"]

THERE = "there when these close"

Stages = tuple[str, ...]


@dataclass(frozen=True)
class Histories:
    """Neighbouring histories: all that one unit may add, late rows among them, to three others.

    stages: labels of the closings. starts: a time in the first period of each; none by arrival,
    where a row is there at one closing alone.
    """

    simulation: Simulation
    stages: Stages
    time: str
    starts: tuple[Any, ...]

    def pairs(self) -> Iterator[Pair]:
        """Enumerate neighbours among nobody, a crowd, and rows that are all alike."""
        everyone = self._people
        for base, step in zip(self._bases, (1, 3, 3), strict=True):
            people = everyone[::step]
            if self.simulation.unit.relation is Relation.ADD_REMOVE:
                yield from (Pair((*base, *person), base) for person in people)
                continue
            tables = [(*person, *base) for person in people]
            yield from (Pair(one, other) for one, other in combinations(tables, 2))

    def at(self, rows: Rows, stage: str) -> Rows:
        """Return the table at a closing."""
        return tuple(row for row in rows if stage in row[THERE])  # type: ignore[operator]

    @property
    def _onwards(self) -> list[Stages]:
        """When a row may be there if none is taken away."""
        if not self.starts:
            return [(stage,) for stage in self.stages]
        return [self.stages[i:] for i in range(len(self.stages))]

    @property
    def _anytime(self) -> list[Stages]:
        """When one row may be there that comes and goes."""
        if not self.starts:
            return self._onwards
        sizes = range(len(self.stages), 0, -1)
        return [some for size in sizes for some in combinations(self.stages, size)]

    @cached_property
    def _placed(self) -> list[tuple[int, Row]]:
        """Rows at both bounds, with the first keys, in each stage's first period."""
        return [row for bound in self._at_bounds for row in bound]

    @cached_property
    def _at_bounds(self) -> list[list[tuple[int, Row]]]:
        """The same for each bound, the larger first."""
        tally = self.simulation.tallies[0]
        grid = tally.value
        if grid is None:
            return [self._rows_with({})]
        bounds = sorted((grid.lower, grid.upper), key=abs, reverse=True)
        return [self._rows_with({grid.column: one * 2.0**grid.log2_step}) for one in bounds]

    def _rows_with(self, made: Row) -> list[tuple[int, Row]]:
        columns, rows = self.simulation.columns, [{**self.simulation.rows[0], **made}]
        for keys in self.simulation.tallies[0].groups:
            if isinstance(keys, Keys):
                rows = [{**row, keys.column: key} for key in keys.values[:2] for row in rows]
        if not self.starts:
            times = [(0, row) for row in rows]
        else:
            starts = list(enumerate(self.starts))
            times = [(i, {**row, self.time: start}) for row in rows for i, start in starts]
        return [(i, {n: cell_of(cell, columns[n]) for n, cell in row.items()}) for i, row in times]

    @cached_property
    def _people(self) -> list[Rows]:
        """Everything that one person may add: the first are the ones that move sums most."""
        if self.simulation.unit.column is None:
            people = [*self._single(), *self._changing()]
            return [person * self.simulation.suppose for person in people]
        return [self.simulation.named(shape, at) for at, shape in enumerate(self._shapes())]

    def _single(self) -> Iterator[Rows]:
        """One row: in each period whenever it likes, of each kind from some closing on."""
        yield from ((_put(row, self._onwards[i]),) for i, row in self._placed)
        for at, (_, row) in enumerate(self._placed):
            whenever = self._anytime if at < len(self.stages) else self._onwards
            yield from ((_put(row, when),) for when in whenever)
        yield from ((_put(row, w),) for row, w in product(self.simulation.rows, self._onwards))

    def _changing(self) -> Iterator[Rows]:
        """One row that holds something else at every other closing, and stays in its period."""
        even, odd = self.stages[::2], self.stages[1::2]
        for (i, one), (j, other) in product(self._placed, repeat=2) if self.starts else ():
            if i == j and one is not other:
                yield _put(one, even), _put(other, odd)

    def _shapes(self) -> Iterator[Rows]:
        """Rows of one unit: spread, too many and alike, pushed out by others, come late."""
        most, times = self.simulation.unit.rows, self._onwards
        placed = [_put(row, times[i]) for i, row in self._placed]
        ever = [_put(row, when) for (_, row), when in product(self._placed, times)]
        some = ever if not self.starts else placed
        for same in self._at_bounds:
            often = [[times[i]] for i, _ in same] if self.starts else [times] * len(same)
            pairs = zip(same, often, strict=True)
            yield tuple(_put(row, when) for (_, row), whens in pairs for when in whens) * most
        yield from ((row,) * (most + 1) for row in some)
        for one, other in permutations(some, 2):
            yield (one,) * most + (other,) * (2 * most)
        for one, (_, late) in product(placed, self._placed):
            yield (one,) * most + (_put(late, times[-1]),) * (2 * most)
        yield from ((row,) * (most + 1) for row in ever)
        rows = self.simulation.rows
        for at, row in enumerate(rows):
            yield (_put(row, times[at % len(times)]),) * (most + 1)
        yield tuple(_put(row, times[at % len(times)]) for at, row in enumerate(rows))

    @cached_property
    def _bases(self) -> list[Rows]:
        """The others, each there from some closing on."""
        times = self._onwards
        return [
            tuple(_put(row, times[at % len(times)]) for at, row in enumerate(base))
            for base in self.simulation.bases()
        ]


def _put(row: Row, when: Sequence[str]) -> Row:
    return {**row, THERE: tuple(when)}
