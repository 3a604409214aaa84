"""A price of privacy: what all currencies share."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, Self

from halfmask.errors import InvalidQuery, shown
from halfmask.privacy.exact import Number, exact, plain

__all__ = ["Cost", "Measure"]


class Measure(StrEnum):
    """A currency of privacy."""

    PURE = "pure"
    APPROXIMATE = "approximate"
    ZCDP = "zcdp"
    GDP = "gdp"

    @classmethod
    def _missing_(cls, value: object) -> "Measure":
        names = ", ".join(f"'{name}'" for name in cls)
        raise InvalidQuery(f"measure: unknown value {shown(value)}; choose one of {names}")


class Cost(ABC):
    """A price in one currency. Costs are frozen, exact, hashable and equal by value."""

    measure: ClassVar[Measure]
    _kinds: ClassVar[dict[Measure, type["Cost"]]] = {}

    def __init_subclass__(cls) -> None:
        Cost._kinds[cls.measure] = cls

    @property
    @abstractmethod
    def amounts(self) -> tuple[Fraction, Fraction]:
        """The two numbers that add up exactly under composition; the second is delta."""

    @classmethod
    @abstractmethod
    def from_amounts(cls, main: Fraction, delta: Fraction, *, up: bool) -> Self:
        """Build a cost, which may be zero, from amounts; `up` says where a root is rounded."""

    @abstractmethod
    def at_delta(self, delta: Number) -> "Cost":
        """Return the (epsilon, delta) that this price is worth at one delta."""

    @abstractmethod
    def _converted(self, measure: Measure) -> "Cost | None":
        """Return the price in another currency, or None without a proved conversion."""

    @abstractmethod
    def _fields(self) -> dict[str, Fraction]: ...

    def share(self, part: Number) -> Self:
        """Return a part of this price; shares that sum to 1 together cost no more than it.

        >>> from halfmask.privacy import Pure
        >>> Pure(1).share("1/3")
        Pure(epsilon=Fraction(1, 3))
        """
        fraction = exact(part, "share", largest=Fraction(1))
        main, delta = self.amounts
        return self.from_amounts(main * fraction, delta * fraction, up=False)

    def in_measure(self, measure: str) -> "Cost":
        """Return this price in another currency: the least that is proved, rounded up.

        Raises InvalidQuery where no conversion is proved.

        >>> from halfmask.privacy import GDP
        >>> print(GDP(1).in_measure("zcdp"))
        rho 0.5
        """
        wanted = Measure(measure)
        converted = self if wanted is self.measure else self._converted(wanted)
        if converted is None:
            raise InvalidQuery(
                f"cost: {self} ({self.measure}) has no proved price in the currency '{wanted}'; "
                f"ask at a price in that currency, or open a ledger in '{self.measure}'"
            )
        return converted

    def to_dict(self) -> dict[str, str]:
        """Return the price as exact texts, such as {"measure": "pure", "epsilon": "0.5"}."""
        return {"measure": str(self.measure)} | {k: plain(v) for k, v in self._fields().items()}

    @staticmethod
    def from_dict(fields: Mapping[str, str]) -> "Cost":
        """Read what `to_dict` wrote."""
        try:
            kind = Cost._kinds[Measure(fields["measure"])]
            cost = kind._restored({k: Fraction(v) for k, v in fields.items() if k != "measure"})
        except (KeyError, AttributeError, ValueError, ZeroDivisionError, TypeError):
            raise InvalidQuery(
                f"cost: cannot read {shown(fields)}; expected a form such as "
                "{'measure': 'pure', 'epsilon': '0.5'}"
            ) from None
        if any(amount < 0 for amount in cost.amounts):
            raise InvalidQuery(f"cost: {cost} is negative; a price is positive")
        return cost

    @classmethod
    def _restored(cls, fields: Mapping[str, Fraction]) -> Self:
        cost = cls.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(cost, name, value)
        if cost._fields() != dict(fields):
            raise KeyError
        return cost

    def __str__(self) -> str:
        return ", ".join(f"{name} {plain(value)}" for name, value in self._fields().items())
