"""One of Newton's steps, and what is believed of the slope by which it is measured."""

from dataclasses import dataclass

import numpy as np

from halfmask.procedures.location.turned import Turned
from halfmask.queries.location import Pull

__all__ = ["NORMAL", "Belief", "Step"]

SURE = 3.0
"""Deviations of noise."""

STILL = 0.5
"""Scales by which the last step may move a coordinate, and more by its noise."""

LEAST = 0.25
"""The least sum of slopes, in parts of that of as many normal points, that is believed."""


@dataclass(frozen=True)
class Belief:
    """How the slope compares with that of as many normal points, and how unsure that is.

    seen: whether what was last measured is a slope of points that were found.
    """

    slope: float
    variance: float
    seen: bool = True

    def told(self, pull: Pull, normal: float) -> "Belief":
        """Take in a noisy sum of slopes; normal: that of as many normal points."""
        noise = (pull.unsure / normal) ** 2
        variance = 1 / (1 / self.variance + 1 / noise)
        slope = variance * (self.slope / self.variance + pull.slope / normal / noise)
        seen = pull.slope + SURE * pull.unsure > LEAST * normal
        return Belief(max(slope, LEAST), variance, seen)


NORMAL = Belief(1.0, 0.3**2)
"""Before any answer: slopes of data of all kinds lie within a third or so of normal ones."""


@dataclass(frozen=True, eq=False)
class Step:
    """Coordinates after a step.

    deviation: of its noise in each of them. variance: of the whole, what curves and what is unsure
    of the slope counted. held: whether the step stayed near, so that there was no need of it.
    """

    turned: Turned
    belief: Belief
    deviation: float
    variance: float
    held: bool

    @classmethod
    def by(cls, turned: Turned, pull: Pull, unit: float, belief: Belief, length: float) -> "Step":
        """Step by `unit` times a pull; length: a median length, by which directions curve."""
        away = unit * np.array(pull.total)
        noise, squared = unit * pull.deviation, float(away @ away)
        off = belief.variance / belief.slope**2 + (squared / length**2) ** 2
        held = belief.seen and bool((np.abs(away) <= STILL + SURE * noise).all())
        variance = len(away) * noise**2 + squared * off
        return cls(turned.moved(away), belief, noise, variance, held)
