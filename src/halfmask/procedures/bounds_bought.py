"""A procedure that buys its own clip bounds with a share of its price."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from halfmask.privacy import Cost, exact
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.queries import Estimate, Expected, Setting, Tails, apart, written

__all__ = ["BoundsBought", "Within"]


@dataclass(frozen=True)
class Within:
    """An answer on values that were held to bounds which were bought along with it."""

    inner: Estimate
    lower: float
    upper: float

    @property
    def post_processing(self) -> tuple[str, ...]:
        """The bounds, and what was done to the answer itself."""
        held = f"values held to privately chosen bounds, {written(self.lower)} to "
        return (held + written(self.upper), *self.inner.post_processing)

    @property
    def doubt(self) -> str:
        """A warning where the noisy answer lies at the edge of the bounds that were found."""
        value, edge = self.value, (self.upper - self.lower) / 50
        if not isinstance(value, int | float) or self.lower + edge < value < self.upper - edge:
            return ""
        return (
            "nearly all values seem to lie at or beyond a bound, so the bounds were not found, or "
            "the values hardly differ; ask with a larger price or share, or give bounds"
        )

    @property
    def value(self) -> Any:
        """The answer."""
        return self.inner.value

    def interval(self, confidence: float = 0.95) -> Any:
        """Bracket the exact answer on the values held to these bounds."""
        return self.inner.interval(confidence)


@dataclass(frozen=True)
class BoundsBought:
    """Buy bounds of all groups together at `share` of the price, then ask within them.

    Privacy: the price, by adaptive sequential composition. [Dwork, Rothblum & Vadhan 2010]
    """

    column: str
    share: object
    within: Callable[[float, float], Procedure]

    def _split(self, price: Cost) -> tuple[Cost, Cost]:
        part = exact(self.share, "share", largest=Fraction(99, 100))
        return price.share(part), price.share(1 - part)

    def _tails(self, setting: Setting, price: Cost) -> Tails:
        return Tails.least(self.column, replace(setting, by=None), *self._split(price))

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare the bounds, and the rest within a range near zero and one far from it."""
        first, rest = self._split(price)
        self._tails(setting, price).prepare(replace(setting, by=None), first)
        for lower, upper in ((-1.0, 2.0**30), (2.0**30, 2.0**30 + 1024)):
            self.within(lower, upper).rehearse(setting, rest)

    def run(self, setting: Setting, price: Cost, measure: Measure) -> tuple[Within, ...]:
        """Buy the bounds, and spend the rest within them."""
        first, rest = self._split(price)
        whole = replace(setting, by=None)
        bought = self._tails(setting, price).prepare(whole, first)
        (found,) = measure(bought)
        lower, upper = apart(found.pair, bought.request.value)
        answers = self.within(lower, upper).run(setting, rest, measure)
        return tuple(Within(answer, lower, upper) for answer in answers)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of the rest, in widths of the bounds that will be bought."""
        first, rest = self._split(price)
        plain = self.within(0.0, 1024.0).expected(setting, rest, rows)
        tails = self._tails(setting, price)
        held = f"errors counted in widths of the bounds, with about {tails.rows} rows beyond each"
        if not tails.finds(replace(setting, by=None), first, rows):
            held += "; and that so few rows show where the values lie: give a larger share"
        return Expected(plain.rmse / 1024, 0.0, plain.interval_width / 1024, held)
