"""An ask's measurements with the noisy answers frozen: what is compared on two neighbours.

A procedure chooses later measurements by earlier noisy answers, and any answer that is possible at
all can be such an answer. So its loss is the largest over frozen answers of the sum of its
measurements' losses, and for given answers the measurements are the same on both neighbours, since
a procedure meets no rows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from halfmask.audit.exact.frozen import COURSES, Frozen
from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.plan import Points, Request
from halfmask.privacy import Cost, EndingPurse, Purse
from halfmask.procedures import Together, UnknownKeys
from halfmask.procedures.location import Composite
from halfmask.queries import Coarse, Estimate, Measurement, Prepared, Setting
from halfmask.queries.location import OfPoints

__all__ = ["Script", "scripts"]

E = TypeVar("E", bound=Estimate)

Landmark = dict[str, float]

_MOST_LANDMARKS = 8
"""Places tried of one measurement."""


@dataclass(frozen=True)
class Script:
    """The measurements of one ask, in order.

    overspent: whether their prices came to more than the ask's, or have none in its currency.
    """

    measurements: tuple[Measurement[Estimate], ...]
    overspent: bool

    @cached_property
    def coarse(self) -> tuple[Measurement[Estimate], ...]:
        """The same on a coarse grid where a grid is too fine for its law to be listed."""
        return tuple(one.coarse() if isinstance(one, Coarse) else one for one in self.measurements)

    @property
    def requests(self) -> tuple[Request[Any], ...]:
        """What is asked of the rows, each once."""
        both = (*self.coarse, *self.measurements)
        return tuple(dict.fromkeys(one.request for one in both))

    @property
    def landmarks(self) -> tuple[Landmark, ...]:
        """Public places at which rows tell most: the value of each column there."""
        return tuple(
            {
                grid.column: float(cell + grid.origin) * 2.0**grid.log2_step
                for grid, cell in zip(one.request.values, place, strict=True)
            }
            for one in self.measurements
            if isinstance(one.request, Points)
            for place in getattr(one, "landmarks", ())[:_MOST_LANDMARKS]
        )

    @property
    def signature(self) -> object:
        """All that a loss depends on."""
        return self.overspent, tuple(map(_signature, self.measurements))


def scripts(asked: Together | UnknownKeys, setting: Setting, price: Cost) -> tuple[Script, ...]:
    """Run the ask on frozen answers of many kinds; no row is there to be read.

    Scripts that no loss could tell apart are kept once.
    """
    found: dict[object, Script] = {}
    for rows, places in COURSES:
        script = _Run(Frozen(setting.schema, rows, places), price).script(asked, setting)
        found.setdefault(script.signature, script)
    return tuple(found.values())


def _signature(measurement: Measurement[Any]) -> object:
    if isinstance(measurement, Prepared):
        laws = tuple((o.mechanism, o.combine) for o in measurement.outputs)
        return measurement.tally, measurement.cells, laws
    if isinstance(measurement, OfPoints):
        return measurement
    return measurement.request, measurement.cost, measurement.laws


class _Run:
    """One course of frozen answers: keeps what is measured, and what it comes to."""

    def __init__(self, frozen: Frozen, price: Cost) -> None:
        self.frozen, self.price = frozen, price
        self.measurements: list[Measurement[Any]] = []
        self.overspent = False

    def script(self, asked: Together | UnknownKeys, setting: Setting) -> Script:
        """Run the ask."""
        purse = Purse(self.price)
        asked.run(setting, self.price, lambda measurement: self._measure(measurement, purse))
        return Script(tuple(self.measurements), self.overspent)

    def _measure(self, measurement: Measurement[E], purse: Purse | EndingPurse) -> tuple[E, ...]:
        try:
            if not measurement.is_public:
                purse.spend(measurement.cost)
        except (BudgetExhausted, InvalidQuery):  # too much, or of no proved price in this currency
            self.overspent = True
        if isinstance(measurement, Composite):  # its stages are the measurements
            inside = measurement.purse
            last = measurement.stages.run(
                measurement.inside, lambda one: self._measure(one, inside)
            )
            return (last,)
        self.measurements.append(measurement)
        return self.frozen.answers(measurement, len(self.measurements) - 1)
