"""What a procedure is: it asks queries with parts of its price, and never meets rows or noise."""

from typing import Protocol, TypeVar, runtime_checkable

from halfmask.privacy import Cost
from halfmask.queries import Estimate, Expected, Measurement, Setting

__all__ = ["Measure", "Procedure"]

E = TypeVar("E", bound=Estimate)


class Measure(Protocol):
    """Spends a part of the procedure's purse, then answers: one estimate a public key."""

    def __call__(self, measurement: Measurement[E], /) -> tuple[E, ...]:
        """Charge `measurement.cost` to the purse and answer; BudgetExhausted if it is not there."""
        ...


@runtime_checkable
class Procedure(Protocol):
    """Several queries, the later ones chosen by the answers of the earlier ones.

    Privacy: the price of the whole, by sequential composition of adaptively chosen parts.
    [Dwork, Rothblum & Vadhan 2010; for fixed total price: Rogers et al. 2016]
    """

    def check(self, setting: Setting) -> None:
        """Refuse what the schema or the unit already shows to be wrong."""
        ...

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare every measurement that may come, so that no refusal comes after the charge."""
        ...

    def run(self, setting: Setting, price: Cost, measure: Measure) -> tuple[Estimate, ...]:
        """Answer for each public key, spending at most the price."""
        ...

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a value for so many rows in the group."""
        ...

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        ...
