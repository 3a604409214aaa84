"""An ask's measurements with the noisy answers frozen: what is compared on two neighbours.

A procedure chooses later measurements by earlier noisy answers, and any integers can be such an
answer. So its loss is the largest over frozen answers of the sum of its measurements' losses, and
for given answers the measurements are the same on both neighbours, since a procedure meets no rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TypeVar

from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.plan import Tally
from halfmask.privacy import Cost, Purse
from halfmask.procedures import Together
from halfmask.queries import Estimate, Measurement, Output, Prepared, Setting

__all__ = ["Script", "scripts"]

E = TypeVar("E", bound=Estimate)

_ANSWERS: tuple[tuple[tuple[int, ...], tuple[Fraction, ...]], ...] = tuple(
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


@dataclass(frozen=True)
class Script:
    """The measurements of one ask, in order.

    overspent: whether their prices came to more than the ask's, or have none in its currency.
    """

    measurements: tuple[Prepared[Estimate], ...]
    overspent: bool

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What is asked of the rows, each once."""
        return tuple(dict.fromkeys(one.tally for one in self.measurements))

    @property
    def width(self) -> int:
        """How many noisy integers there are in all."""
        return sum(
            _length(one, output) * (_groups(one) if len(one.outputs) == 1 else 1)
            for one in self.measurements
            for output in one.outputs
        )

    @property
    def signature(self) -> object:
        """All that a loss depends on."""
        return self.overspent, tuple(
            (one.tally, one.cells, tuple((o.mechanism, o.combine) for o in one.outputs))
            for one in self.measurements
        )


def scripts(asked: Together, setting: Setting, price: Cost) -> tuple[Script, ...]:
    """Run the ask on frozen answers of many kinds; no row is there to be read.

    Scripts that no loss could tell apart are kept once.
    """
    found: dict[object, Script] = {}
    for rows, places in _ANSWERS:
        script = _script(asked, setting, price, _Frozen(rows, places))
        found.setdefault(script.signature, script)
    return tuple(found.values())


@dataclass(frozen=True)
class _Frozen:
    """Noisy answers that speak of so many rows, so placed; of any length, in any unit."""

    rows: Sequence[int]
    places: Sequence[Fraction]

    def answers(self, prepared: Prepared[E], stage: int) -> Iterator[E]:
        """Answer one group after the other."""
        outputs = prepared.outputs * (_groups(prepared) if len(prepared.outputs) == 1 else 1)
        for number, output in enumerate(outputs):
            yield output.read(self._vector(prepared, output, number, stage))

    def _vector(
        self, prepared: Prepared[E], output: Output[E], number: int, stage: int
    ) -> tuple[int, ...]:
        """Spread the rows as Bernstein's parts of a value at that place would."""
        rows = self.rows[number % len(self.rows)]
        place = self.places[(number + stage) % len(self.places)]
        last = _length(prepared, output) - 1
        parts = (comb(last, i) * place**i * (1 - place) ** (last - i) for i in range(last + 1))
        return tuple(round(rows * part / output.step) for part in parts)


def _groups(prepared: Prepared[E]) -> int:
    return prepared.tally.size // prepared.cells


def _length(prepared: Prepared[E], output: Output[E]) -> int:
    """How many integers one group's answer has."""
    if output.combine is not None:
        return len(output.combine)
    return prepared.cells * len(prepared.tally.features)


def _script(asked: Together, setting: Setting, price: Cost, frozen: _Frozen) -> Script:
    measurements: list[Prepared[Estimate]] = []
    purse, overspent = Purse(price), False

    def measure(prepared: Measurement[E]) -> tuple[E, ...]:
        nonlocal overspent
        if not isinstance(prepared, Prepared):
            raise InvalidQuery(
                "verify: an answer that is chosen, not summed, cannot be enumerated here; attack "
                "it by samples with halfmask.audit.audit"
            )
        measurements.append(prepared)
        try:
            if not prepared.is_public:
                purse.spend(prepared.cost)
        except (BudgetExhausted, InvalidQuery):  # too much, or of no proved price in this currency
            overspent = True
        return tuple(frozen.answers(prepared, len(measurements) - 1))

    asked.run(setting, price, measure)
    return Script(tuple(measurements), overspent)
