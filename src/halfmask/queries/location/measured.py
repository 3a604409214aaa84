"""What every measurement of points shares, and the plainest one: how many there are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import Points, cloud_of
from halfmask.privacy import Cost
from halfmask.queries.distribution import Noisy
from halfmask.queries.measurement import Record
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.setting import Reach

__all__ = ["Counted", "OfPoints", "Total"]


class _Law(Protocol):
    @property
    def law(self) -> str: ...


@dataclass(frozen=True)
class OfPoints(ABC):
    """A question to points.

    moved: how many rows differ between neighbours.
    price: of the whole.
    """

    points: Points
    moved: int
    price: Cost

    is_public: ClassVar[bool] = False

    @property
    def request(self) -> Points:
        """What is asked of the rows."""
        return self.points

    @property
    def cost(self) -> Cost:
        """The price of the whole."""
        return self.price

    @property
    def landmarks(self) -> tuple[tuple[int, ...], ...]:
        """Public places, in cells, at which rows tell most: for an auditor."""
        return ()

    @property
    @abstractmethod
    def mechanism(self) -> _Law:
        """The noise, or one choice."""

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise or the choices, in words."""
        return (self.mechanism.law,)


@dataclass(frozen=True)
class Counted:
    """A noisy number of points."""

    value: int

    post_processing: ClassVar[tuple[str, ...]] = ()

    def interval(self, confidence: float = 0.95) -> None:
        """No interval: a count serves to plan what is measured next."""


@dataclass(frozen=True)
class Total(OfPoints):
    """The number of points: of rows that have every coordinate.

    Privacy: noise for a reach of one a row. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1; for
    Gaussian noise Canonne, Kamath & Steinke 2020, Thm 14]
    """

    @property
    def mechanism(self) -> Additive:
        """The noise."""
        return mechanism_for(Reach(self.moved, self.moved**2, alone=True), self.price)

    def distribution(self, exact: Any) -> tuple[Noisy, ...]:
        """Return the number with its noise; see `Distributed`."""
        return (Noisy(self.mechanism, (len(cloud_of(exact)),), Fraction(1)),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Add the noise."""
        return [self.mechanism.release([len(cloud_of(exact))], words)]

    def read(self, records: Sequence[Record]) -> tuple[Counted, ...]:
        """Read the count."""
        return tuple(Counted(int(record[0] or 0)) for record in records)
