"""What an audit found."""

from dataclasses import dataclass, field
from typing import Any

from halfmask.audit.events import Event
from halfmask.audit.neighbours import Pair

__all__ = ["Audit"]


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit; `str` tells it in words.

    epsilon_lower_bound: the mechanism is not (epsilon', delta)-DP for any smaller epsilon', except
        with probability alpha. 0 when nothing is certified.
    delta_lower_bound: likewise at the claimed epsilon. 0 when nothing is certified.
    violated: whether the claim is refuted.
    event: the set of outputs that tells the pair apart best; None before any was found.
    claimed, delta, alpha: as given.
    samples: outputs drawn in all, from both neighbours of every pair.
    pair: the neighbours; the event is likelier on `pair.data`.
    frequencies: how often the event held on each, among `trials` fresh outputs.
    """

    epsilon_lower_bound: float
    delta_lower_bound: float
    violated: bool
    event: Event | None
    claimed: float
    delta: float
    alpha: float
    samples: int
    pair: Pair
    frequencies: tuple[float, float]
    trials: int = field(repr=False)

    @property
    def wasteful(self) -> bool:
        """Whether less than half of the claim could be certified: the noise may be too large.

        Two-sided rule: too little noise is a violation, too much is waste; at a depth that would
        certify most of a tight claim, look at the sensitivity again.
        """
        return self.epsilon_lower_bound < self.claimed / 2

    def __str__(self) -> str:
        claim = f"epsilon {self.claimed:g}" + (f", delta {self.delta:g}" if self.delta else "")
        sure = f"certified with false-alarm rate {self.alpha:g} from {self.samples:,} outputs"
        if self.violated:
            first = f"VIOLATED: {claim} is claimed, but epsilon >= {self.epsilon_lower_bound:.4g}"
        elif self.wasteful:
            first = (
                f"no violation of {claim} found, and only epsilon >= "
                f"{self.epsilon_lower_bound:.4g}: the noise may be larger than it need be"
            )
        else:
            first = f"no violation of {claim} found; epsilon >= {self.epsilon_lower_bound:.4g}"
        lines = [f"{first}, {sure}"]
        if self.event is not None:
            one, two = self.frequencies
            lines.append(f"event: {self.event}; held in {one:.4%} against {two:.4%}")
            lines.append(f"pair: {self.pair.name}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text, ready for JSON."""
        return {
            "epsilon_lower_bound": self.epsilon_lower_bound,
            "delta_lower_bound": self.delta_lower_bound,
            "violated": self.violated,
            "wasteful": self.wasteful,
            "event": None if self.event is None else str(self.event),
            "claimed": self.claimed,
            "delta": self.delta,
            "alpha": self.alpha,
            "samples": self.samples,
            "pair": self.pair.name,
            "frequencies": list(self.frequencies),
            "trials": self.trials,
        }
