"""A measurement: one question to the rows, its price, its noise, and how to read what came out.

`Prepared` (sums with additive noise) is the most common one. Where an answer is chosen rather than
made noisy (a quantile, a key, a point), another class of the same shape stands in its place.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from halfmask.noise import Words
from halfmask.plan import Request
from halfmask.privacy import Cost
from halfmask.queries.estimate import Estimate

__all__ = ["Measurement", "Record", "Scalar"]

Scalar = int | str | bool | None
"""What a record is made of: so a ledger can keep it."""

Record = tuple[Scalar, ...]
"""What left the rows for one public group: all that is ever read of them."""

E = TypeVar("E", bound=Estimate, covariant=True)


class Measurement(Protocol[E]):
    """A question fixed to a price. Public as a whole: it holds no row and no noise."""

    @property
    def request(self) -> Request[Any]:
        """What is asked of the rows; its answer is exact integers."""
        ...

    @property
    def cost(self) -> Cost:
        """The price of the whole."""
        ...

    @property
    def is_public(self) -> bool:
        """Tell whether no unit can change the answer: then it costs nothing."""
        ...

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of the noise, in words."""
        ...

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Return one private record a public group; nothing raised may depend on `exact`."""
        ...

    def read(self, records: Sequence[Record]) -> tuple[E, ...]:
        """Read records as answers: post-processing, the same for new and for stored records."""
        ...
