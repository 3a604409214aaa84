"""What every mechanism tells about itself, before any data.

A mechanism meets exact integers and noise, never rows. Its two shapes are `Additive`, noise added
to the integers of a vector, and `Selection`, the choice of one candidate among scores.
"""

from fractions import Fraction
from typing import Protocol

from halfmask.privacy import Cost


class Mechanism(Protocol):
    """What every mechanism tells about itself without any data."""

    @property
    def cost(self) -> Cost:
        """The price of one release."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in grid steps; 0 where no unit can change the statistic."""

    @property
    def law(self) -> str:
        """The law of the noise in words."""
