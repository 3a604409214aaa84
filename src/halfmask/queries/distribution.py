"""The exact law of what a measurement lets out, in independent parts: what an auditor compares."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self, runtime_checkable

from halfmask.mechanisms import Additive
from halfmask.queries.measurement import Scalar

__all__ = ["Coarse", "Distributed", "Drawn", "Noisy", "Part"]


@dataclass(frozen=True)
class Noisy:
    """Noise on a vector of exact integers.

    step: what one of the integers is worth.
    """

    mechanism: Additive
    exact: tuple[int, ...]
    step: Fraction


@dataclass(frozen=True)
class Drawn:
    """An answer from a finite law: the log mass of each.

    label: tells the parts of one measurement apart, where the rows decide which there are; a part
      that is not there is certain to answer None.
    """

    label: Scalar
    masses: Mapping[Any, float]


Part = Noisy | Drawn


@runtime_checkable
class Distributed(Protocol):
    """A measurement whose law is known in closed form."""

    def distribution(self, exact: Any) -> tuple[Part, ...] | None:
        """Return the law of `release(exact)`; None where it has too many answers to list."""
        ...


@runtime_checkable
class Coarse(Protocol):
    """A measurement on so fine a grid that its law can only be listed on a coarser one."""

    def coarse(self) -> Self:
        """Return the same measurement on a grid of few cells."""
        ...
