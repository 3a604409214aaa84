"""One round: from the last aggregate, noisy clipped steps towards the clients' spatial median."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery, shown
from halfmask.federated.steps import FINE, Pulls
from halfmask.mechanisms import RoundedGaussian
from halfmask.noise import Words
from halfmask.privacy import GDP, exact

__all__ = ["Walk"]

Vector = NDArray[np.float64]

_MOST_STEPS = 1000


@dataclass(frozen=True)
class Walk:
    """How a round walks.

    Privacy: a step's sums are moved by at most `moved` * FINE in L2 by one client (`Pulls`), so
    each is the Gaussian mechanism, and the steps of a round together are as dear as the round: mu^2
    adds up. [Dong, Roth & Su 2019, Thm 2.7 and Cor. 3.3]

    radius: to which length a difference is cut.
    inner_steps: how many steps.
    warm_start: the part of the last aggregate from which the walk starts.
    step: the gain of each step.
    moved: 1 where a client may be added or removed, 2 where it may be replaced.
    clients: by how many the sum is divided: a public number.
    """

    radius: float
    inner_steps: int
    warm_start: float
    step: float
    moved: int
    clients: Fraction

    def __post_init__(self) -> None:
        for name, value, largest in (
            ("radius", self.radius, Fraction(10**30)),
            ("step", self.step, Fraction(1000)),
        ):
            given = exact(value, name, smallest=Fraction(1, 10**30), largest=largest)
            object.__setattr__(self, name, float(given))
        if self.warm_start != 0:
            exact(self.warm_start, "warm_start", largest=Fraction(1))
        object.__setattr__(self, "warm_start", float(self.warm_start))
        whole = isinstance(self.inner_steps, int) and not isinstance(self.inner_steps, bool)
        if not whole or not 1 <= self.inner_steps <= _MOST_STEPS:
            raise InvalidQuery(
                f"inner_steps: must be a whole number from 1 to {_MOST_STEPS}, given "
                f"{shown(self.inner_steps)}; steps of a round share its price"
            )

    def mechanism(self, price: GDP) -> RoundedGaussian:
        """Return the noise of each sum of each step, in a round of this price."""
        each = price.share(Fraction(1, self.inner_steps))
        return RoundedGaussian((self.moved * FINE) ** 2, each.mu)

    def round(self, updates: NDArray[Any], last: Vector, price: GDP, words: Words | None) -> Vector:
        """Return the next aggregate."""
        noise, pulls = self.mechanism(price), Pulls(self.radius)
        gain = self.step * self.radius / (FINE * float(self.clients))
        centre = self.warm_start * last
        for _ in range(self.inner_steps):
            sums = noise.release(pulls.sums(updates, centre).tolist(), words)
            centre = centre + gain * np.array(sums, dtype=np.float64)
        return centre
