"""A query fixed to a price: what to tally, which noise, how to read the noisy integers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar, runtime_checkable

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import Tally
from halfmask.privacy import Cost
from halfmask.queries.distribution import Noisy
from halfmask.queries.estimate import Estimate
from halfmask.queries.measurement import Measurement, Record
from halfmask.queries.setting import Setting

__all__ = ["Expected", "Number", "Output", "Prepared", "Query"]

Number = int | float


@dataclass(frozen=True)
class Expected:
    """The error to expect, from public facts alone; `assuming` says which were assumed.

    rough: whether the formula may be off by more than a few per cent; see `Supposes`.
    """

    rmse: float
    bias: float
    interval_width: float
    assuming: str = ""
    rough: bool = False


E = TypeVar("E", bound=Estimate, covariant=True)


@dataclass(frozen=True)
class Output(Generic[E]):
    """What happens to the exact vector of one group: combined, made noisy, read.

    step: what one of the integers is worth, in rows or in units of the column.
    combine: integer coefficients, one row an answer, over the features of the tally, applied before
      noise (the mechanism's reach counts it in). None is the identity.
    """

    mechanism: Additive
    read: Callable[[tuple[int, ...]], E]
    step: Fraction
    combine: tuple[tuple[int, ...], ...] | None = None

    def combined(self, exact: Sequence[int]) -> tuple[int, ...]:
        """Apply the public coefficients to the exact vector."""
        if self.combine is None:
            return tuple(exact)
        return tuple(sum(c * x for c, x in zip(row, exact, strict=True)) for row in self.combine)


@dataclass(frozen=True)
class Prepared(Generic[E]):
    """The tally to ask of the rows, and what happens to it.

    outputs: one for all groups, or one a group; groups are disjoint, so their noise composes in
      parallel and the price is that of one. [McSherry 2009, Thm 4]
    cells: how many cells of the tally make up one group's vector (bins).
    """

    tally: Tally
    outputs: tuple[Output[E], ...]
    cells: int = 1

    @property
    def cost(self) -> Cost:
        """The price of the whole: each output's own, equal for all."""
        first, *others = (output.mechanism.cost for output in self.outputs)
        if any(other != first for other in others):
            raise ValueError("the outputs of one tally must have one price")
        return first

    @property
    def request(self) -> Tally:
        """What is asked of the rows."""
        return self.tally

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of the noise, in words, each once."""
        return tuple(dict.fromkeys(o.mechanism.law_in(o.step) for o in self.outputs))

    @property
    def is_public(self) -> bool:
        """Tell whether no unit can change the answer: then it costs nothing."""
        return all(output.mechanism.scale == 0 for output in self.outputs)

    def vectors(self, exact: Sequence[Sequence[int]]) -> list[tuple[Output[E], tuple[int, ...]]]:
        """Cut the tally into one exact vector a public key, each with its output."""
        flat = [number for cell in exact for number in cell]
        size = self.cells * len(self.tally.features)
        groups = [flat[at : at + size] for at in range(0, len(flat), size)]
        outputs = self._outputs(len(groups))
        return [(o, o.combined(group)) for o, group in zip(outputs, groups, strict=True)]

    def distribution(self, exact: Sequence[Sequence[int]]) -> tuple[Noisy, ...]:
        """Return the exact vectors with their noise; see `Distributed`."""
        return tuple(Noisy(o.mechanism, v, o.step) for o, v in self.vectors(exact))

    def release(self, exact: Sequence[Sequence[int]], words: Words | None) -> list[Record]:
        """Add the noise: one vector of noisy integers a public key."""
        return [output.mechanism.release(v, words) for output, v in self.vectors(exact)]

    def read(self, records: Sequence[Record]) -> tuple[E, ...]:
        """Read the noisy integers of each key."""
        numbers = (tuple(int(n or 0) for n in record) for record in records)
        outputs = self._outputs(len(records))
        return tuple(o.read(vector) for o, vector in zip(outputs, numbers, strict=True))

    def _outputs(self, groups: int) -> tuple[Output[E], ...]:
        return self.outputs * (groups if len(self.outputs) == 1 else 1)


@runtime_checkable
class Query(Protocol):
    """A question of one table: it meets rows once, as a tally of exact integers."""

    def check(self, setting: Setting) -> None:
        """Refuse what the schema or the unit already shows to be wrong."""
        ...

    def prepare(self, setting: Setting, price: Cost) -> Measurement[Estimate]:
        """Fix the tally and the noise from public facts: no row is read."""
        ...

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a value for so many rows in the group."""
        ...

    @property
    def weight(self) -> float:
        """The noise, relative to the answer, at equal price: for splitting one among several."""
        ...

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        ...
