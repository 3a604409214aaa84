"""What a pair of neighbours moves, part by part, and what each part costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import inf, isfinite
from typing import Any

from halfmask.audit.exact.listed import Listed
from halfmask.audit.exact.loss import exact_loss
from halfmask.audit.exact.spending import EVERYTHING, NOTHING, Spending
from halfmask.mechanisms import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    RoundedGaussian,
    Staircase,
)
from halfmask.privacy import GDP, ZCDP, Approximate, Cost
from halfmask.queries import Drawn, Noisy, Part

__all__ = ["Moved", "Redrawn", "moved_between"]


@dataclass(frozen=True)
class Moved:
    """One noisy vector, and the exact integers behind it on both neighbours.

    step: what one of the integers is worth.
    """

    mechanism: Additive
    one: tuple[int, ...]
    other: tuple[int, ...]
    step: Fraction

    @property
    def law(self) -> str:
        """The noise, in words."""
        return self.mechanism.law

    @property
    def shift(self) -> tuple[int, ...]:
        """How far the neighbour moves each integer."""
        return tuple(b - a for a, b in zip(self.one, self.other, strict=True))

    @property
    def spent(self) -> Spending:
        """What it costs."""
        shift, scale = self.shift, self.mechanism.scale
        if not any(shift):
            return NOTHING
        if scale == 0:
            return EVERYTHING
        squared = sum(s * s for s in shift) / scale**2
        match self.mechanism:
            case DiscreteLaplace():
                return Spending(epsilon=sum(map(abs, shift)) / scale)
            case Staircase() as stairs:  # every integer that moves, moves up a step at least
                steps = sum(-(-abs(s) // stairs.sensitivity) for s in shift)
                return Spending(epsilon=steps * stairs.epsilon)
            case DiscreteGaussian():
                return Spending(rho=squared / 2)
            case RoundedGaussian():
                return Spending(mu_squared=squared)
        return _finite(exact_loss(self.mechanism, shift).epsilon, _pure)  # a law from elsewhere

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return {"law": self.law, "one": list(self.one), "other": list(self.other)}


@dataclass(frozen=True)
class Redrawn:
    """One answer from a finite law (or independent ones), and both neighbours' log masses.

    parts: of each that differs, the two laws. cost: the price of the measurement that it is of.
    """

    law: str
    parts: tuple[tuple[Mapping[Any, float], Mapping[Any, float]], ...]
    cost: Cost

    @cached_property
    def listed(self) -> Listed:
        """Both joint laws, by what an answer tells."""
        return reduce(Listed.joint, (Listed.of(*laws).lumped() for laws in self.parts))

    @property
    def spent(self) -> Spending:
        """What it costs, in the currency of its own price; for (epsilon, delta), at that delta."""
        match self.cost:
            case ZCDP():
                return _finite(self.listed.rho, lambda rho: Spending(rho=rho))
            case GDP():
                return _finite(self.listed.mu**2, lambda square: Spending(mu_squared=square))
            case Approximate() if self.cost.delta:
                epsilon = self.listed.epsilon_at(float(self.cost.delta))
                return _finite(epsilon, _pure) + Spending(delta=self.cost.delta)
        return _finite(self.listed.epsilon, _pure)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is likely, as plain values for JSON."""
        laws = [[_plain(law) for law in pair] for pair in self.parts]
        return {"law": self.law, "one": [a for a, _ in laws], "other": [b for _, b in laws]}


def _finite(loss: float, spending: Callable[[Fraction], Spending]) -> Spending:
    return spending(Fraction(loss)) if isfinite(loss) else EVERYTHING


def _pure(epsilon: Fraction) -> Spending:
    return Spending(epsilon=epsilon)


def _plain(law: Mapping[Any, float]) -> dict[str, float]:
    likely = sorted(law, key=lambda answer: -law[answer])[:20]
    return {str(answer): law[answer] for answer in likely if law[answer] > -inf}


def moved_between(
    one: Sequence[Part], other: Sequence[Part], law: str, cost: Cost
) -> list[Moved | Redrawn]:
    """Compare a measurement's parts on two neighbours: noise in order, drawn answers by label."""
    pairs = zip(one, other, strict=False)  # there may be more keys in one
    found: list[Moved | Redrawn] = [
        Moved(a.mechanism, a.exact, b.exact, a.step)
        for a, b in pairs
        if isinstance(a, Noisy) and isinstance(b, Noisy) and a.exact != b.exact
    ]
    laws = [{p.label: p.masses for p in side if isinstance(p, Drawn)} for side in (one, other)]
    certain = {None: 0.0}
    both = [
        (laws[0].get(label, certain), laws[1].get(label, certain))
        for label in dict.fromkeys([*laws[0], *laws[1]])
    ]
    differing = tuple((a, b) for a, b in both if a != b)
    return [*found, Redrawn(law, differing, cost)] if differing else found
