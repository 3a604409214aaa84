"""How the price of a clustering is spent, from public facts alone."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from halfmask.privacy import GDP
from halfmask.procedures.cluster.axes import MOST, Spread
from halfmask.procedures.cluster.cells import Cells

__all__ = ["Shares"]

STEPS = 6
"""Steps of many cells."""

_WIDE = (Fraction(2, 100), Fraction(28, 100), Fraction(40, 100), Fraction(10, 100))
"""Shares of mu^2 where there are axes to find: middle, axes, many cells, few cells; the rest."""

_NARROW = (Fraction(4, 100), Fraction(0), Fraction(56, 100), Fraction(14, 100))


@dataclass(frozen=True)
class Shares:
    """The parts of a price, each for its stage.

    Privacy: stages that are mu_i-GDP, each chosen after the answers of the earlier ones, are
    together sqrt(sum of mu_i^2)-GDP. [Dong, Roth & Su 2019, Cor. 3.3]

    columns: of the rows.
    replaced: whether a row is replaced, rather than added or removed.
    price: of all stages.
    rows: how many of them a unit may have.

    >>> shares = Shares(784, False, GDP(1))
    >>> float(sum(part.squared for part in shares.spent)) > 1 - 1e-9
    True
    """

    columns: int
    replaced: bool
    price: GDP
    rows: int = 1

    @property
    def turned(self) -> bool:
        """Whether rows are turned to fewer coordinates first."""
        return self.columns > MOST

    @property
    def _parts(self) -> tuple[Fraction, ...]:
        return _WIDE if self.turned else _NARROW

    @cached_property
    def middle(self) -> Cells:
        """Number and mean of the rows, and how far they lie from 0."""
        return Cells(self.columns, self.replaced, self.price.share(self._parts[0]), self.rows)

    @cached_property
    def spread(self) -> Spread | None:
        """The axes, where they are looked for."""
        if not self.turned:
            return None
        return Spread(self.columns, self.replaced, self.price.share(self._parts[1]), self.rows)

    def many(self, dimensions: int) -> Cells:
        """One of `STEPS` steps of many cells."""
        return Cells(dimensions, self.replaced, self.price.share(self._parts[2] / STEPS), self.rows)

    def few(self, dimensions: int) -> Cells:
        """The step of the clusters that were found."""
        return Cells(dimensions, self.replaced, self.price.share(self._parts[3]), self.rows)

    @cached_property
    def last(self) -> Cells:
        """The last step, in all columns."""
        return Cells(self.columns, self.replaced, self.price.share(1 - sum(self._parts)), self.rows)

    @property
    def spent(self) -> list[GDP]:
        """What all stages spend."""
        found = [self.middle.price, *[self.many(1).price] * STEPS, self.few(1).price]
        return [*found, self.last.price, *([self.spread.price] if self.spread else [])]

    def rehearse(self) -> None:
        """Refuse a price too small to draw noise for, before it is charged."""
        for part in (self.middle, self.spread, self.many(1), self.few(1), self.last):
            _ = part and part.mechanism
