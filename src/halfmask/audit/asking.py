"""A whole ask as a mechanism of the auditor: simulated rows in, all that leaves them out."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.audit import DEPTH, audit_pairs
from halfmask.audit.exact import Ask, Script, Simulation, Witness, scripts
from halfmask.audit.neighbours import Pair
from halfmask.audit.samples import draw, filled
from halfmask.audit.verdict import Audit
from halfmask.noise import secure_words
from halfmask.plan import Request
from halfmask.privacy import Approximate, Pure, Purse
from halfmask.queries import Prepared, Record, Scalar
from halfmask.room import Room
from halfmask.sources import Source

__all__ = ["Asking", "attack"]

Rows = tuple[dict[str, object], ...]
Exact = Mapping[Request[Any], Any]

_DELTA = "1e-6"
_FEWEST = 256
_ENOUGH = 50_000
"""Samples that show something: with fewer, the noisy answers in between are frozen."""


@dataclass(frozen=True)
class Asking:
    """`Asking(ask)(rows, size)`: so many independent answers, as the records behind them.

    Everything that an analyst may see is read off these records, here as numbers. The rows pass
    through the real source once; noise, composition and procedures are those of `Curator.ask`, from
    secure words.

    frozen: take the measurements that follow on one course of noisy answers (the longest known),
      whatever the answers are: then all are drawn at once, hundreds of times as fast. What is drawn
      so keeps the same promise, by composition.
    """

    ask: Ask
    frozen: bool = False
    scripts: tuple[Script, ...] = field(init=False, repr=False)
    simulation: Simulation = field(init=False, repr=False)
    known: dict[int, tuple[Rows, Exact]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        found = scripts(self.ask.asked, self.ask.setting, self.ask.price)
        requests = tuple(dict.fromkeys(r for script in found for r in script.requests))
        simulation = Simulation(requests, self.ask.setting.schema, self.ask.setting.unit)
        object.__setattr__(self, "scripts", found)
        object.__setattr__(self, "simulation", simulation)

    def __call__(self, rows: Rows, size: int) -> NDArray[np.float64]:
        """Return shape (size, k), shorter answers filled up with NaN."""
        exact = self._exact(rows)
        if self.frozen or len(self.scripts) == 1:  # no answer changes what is measured next
            return _at_once(max(self.scripts, key=lambda s: len(s.measurements)), exact, size)
        with closing(self.simulation.opened(rows)) as source:
            return filled([self._once(source, exact) for _ in range(size)])

    def _exact(self, rows: Rows) -> Exact:
        if id(rows) not in self.known:
            found = self.simulation.exact(rows)
            sure = {request: exact for request, exact in found.items() if exact is not None}
            self.known[id(rows)] = rows, sure
        return self.known[id(rows)][1]

    def _once(self, source: Source, exact: Exact) -> list[float]:
        room = Room(source, secure_words(), Purse(self.ask.price), known=dict(exact))
        self.ask.asked.run(self.ask.setting, self.ask.price, room.measure)
        return [number for records in room.tape for number in _numbers(records)]


def attack(
    ask: Ask, witness: Witness, *, seconds: float = 2.0, alpha: float = 1e-6
) -> Audit | None:
    """Audit an ask from its noisy answers, on two neighbours, for about so many seconds.

    A price in rho or mu is attacked as the (epsilon, delta) that it is worth at delta 1e-6. None
    where a price is too large to be attacked by samples: epsilon above 300.
    """
    price = ask.price if isinstance(ask.price, Pure | Approximate) else ask.price.at_delta(_DELTA)
    epsilon, delta = (float(amount) for amount in price.amounts)
    if epsilon > 300:
        return None
    mechanism, name = Asking(ask), "the worst pair of the exact verification"
    rate = _rate(mechanism, witness.one)
    if rate * seconds < _ENOUGH and len(mechanism.scripts) > 1:
        mechanism, name = Asking(ask, frozen=True), f"{name}, noisy answers in between frozen"
        rate = _rate(mechanism, witness.one)
    samples = min(DEPTH, max(_FEWEST, int(rate * seconds / 2)))
    pair = Pair(name, witness.one, witness.other)
    return audit_pairs(
        mechanism, [pair], epsilon=epsilon, delta=delta, alpha=alpha, samples=samples
    )


def _rate(mechanism: Asking, rows: Rows) -> float:
    """Return about how many outputs come in a second, once the rows are tallied."""
    draw(mechanism, rows, 1)
    size, spent = 64, 0.0
    while spent < 0.02:
        size *= 4
        start = time.process_time()
        draw(mechanism, rows, size)
        spent = time.process_time() - start
    return size / spent


def _at_once(script: Script, exact: Exact, size: int) -> NDArray[np.float64]:
    columns = []
    for measurement in script.measurements:
        integers, words = exact[measurement.request], secure_words()
        parts = measurement.distribution(integers) if isinstance(measurement, Prepared) else None
        if parts is None:
            answers = (measurement.release(integers, words) for _ in range(size))
            columns.append(filled([_numbers(records) for records in answers]))
            continue
        for part in parts:
            noisy = part.mechanism.release(part.exact * size, words)
            columns.append(np.array(noisy, dtype=np.float64).reshape(size, -1))
    return np.concatenate(columns, axis=1)


def _numbers(records: Sequence[Record]) -> list[float]:
    return [_number(item) for record in records for item in record]


def _number(item: Scalar) -> float:
    """Write an item as a number: text by a checksum, which hardly ever takes two for one."""
    if item is None:
        return np.nan
    return float(crc32(item.encode()) if isinstance(item, str) else item)
