"""A procedure over one set of points, charged in (epsilon, delta), composed in zCDP and GDP."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from halfmask.noise import Words
from halfmask.plan import Cloud, Held, Near, Points, cloud_of
from halfmask.privacy import ZCDP, Approximate, Cost, EndingPurse, Purse
from halfmask.queries import Estimate, Measurement, Record

__all__ = ["Composite", "Stages"]

FEW = 2**20
"""Numbers that are held at once: 8 MB."""

E = TypeVar("E", bound=Estimate)
S = TypeVar("S", bound=Estimate, covariant=True)


class Stages(Protocol[S]):
    """Measurements of the same points, the later ones chosen by the answers of earlier ones."""

    def run(self, price: Cost, measure: Any) -> S:
        """Answer, spending at most the price; `measure` is that of a procedure."""
        ...


@dataclass(frozen=True)
class Composite(Generic[E]):
    """The stages as one measurement of price `cost`, composed within a budget of price `inside`.

    Privacy: the stages spend at most `inside`, whatever they choose (adaptive composition with a
    fixed total [Feldman & Zrnic 2021; Whitehouse et al. 2023]), and `inside` implies `cost`, by
    the conversion that gave it [see privacy.conversions]. An (epsilon, delta) whose stages are
    composed in zCDP may end with Gaussian noise of a larger mu [see privacy.ending].
    """

    points: Points
    stages: Stages[E]
    cost: Cost
    inside: Cost
    laws: tuple[str, ...] = ()

    @property
    def request(self) -> Points:
        """What is asked of the rows."""
        return self.points

    @property
    def is_public(self) -> bool:
        """Never: it is noisy."""
        return False

    @property
    def purse(self) -> Purse | EndingPurse:
        """A full purse, for one run of the stages."""
        if isinstance(self.cost, Approximate) and isinstance(self.inside, ZCDP):
            return EndingPurse(self.cost, self.inside)
        return Purse(self.inside)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Run the stages on the rows; the record of each stage is kept."""
        purse, tape, rows = self.purse, list[Record](), _at_hand(exact)

        def measure(measurement: Measurement[E]) -> tuple[E, ...]:
            if measurement.request != self.points:
                raise ValueError("the stages of a composite measure its own points alone")
            purse.spend(measurement.cost)
            records = measurement.release(rows, words)
            tape.extend(records)
            return measurement.read(records)

        self.stages.run(self.inside, measure)
        return tape

    def read(self, records: Sequence[Record]) -> tuple[E, ...]:
        """Run the stages on the records."""
        tape = list(records)

        def measure(measurement: Measurement[E]) -> tuple[E, ...]:
            return measurement.read([tape.pop(0)])

        return (self.stages.run(self.inside, measure),)


def _at_hand(exact: Any) -> Cloud:
    """Return points that are few as an array: they are put on the grid but once."""
    cloud = cloud_of(exact)
    few = isinstance(cloud, Near) and len(cloud) * cloud.size <= FEW
    return Held(cloud.array()) if few else cloud
