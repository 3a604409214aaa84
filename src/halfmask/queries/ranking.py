"""Noisy counts, read as a ranking: which keys are the most common, and how often each occurs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import FoundKeys, Tally
from halfmask.privacy import Cost
from halfmask.queries.distribution import Part
from halfmask.queries.found import CountedKeys, Exact, FoundCount
from halfmask.queries.measurement import Record, Scalar
from halfmask.queries.prepared import Number, Prepared
from halfmask.queries.scaled import Scaled

__all__ = ["Order", "RankedCounts", "RankedKeys", "Ranking"]

Ranked = Scaled | FoundCount


@dataclass(frozen=True)
class Ranking:
    """Keys by their noisy counts, the most common first."""

    ranked: tuple[tuple[Scalar, Ranked], ...]
    among: int
    counts: bool
    alone: bool

    post_processing: ClassVar[tuple[str, ...]] = ("the largest of noisy counts",)

    @property
    def value(self) -> object:
        """The keys, or pairs of key and noisy count; of `MostCommon`, the key alone."""
        if self.alone:
            return self.ranked[0][0] if self.ranked else None
        if not self.counts:
            return tuple(key for key, _ in self.ranked)
        return tuple((key, count.value) for key, count in self.ranked)

    def interval(self, confidence: float = 0.95) -> tuple[tuple[Number, Number], ...] | None:
        """Bracket each count; all together hold with this confidence, whichever were largest."""
        if not self.counts:
            return None
        each = 1 - (1 - confidence) / max(self.among, 1)
        return tuple(count.interval(each) for _, count in self.ranked)

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, object, object, object], ...]:
        """Return each key with its place, and its count where that was asked."""
        names = [f"{i}." for i in range(1, len(self.ranked) + 1)]
        bounds = self.interval(confidence)
        if bounds is None:
            keys = [key for key, _ in self.ranked]
            return tuple((name, key, None, None) for name, key in zip(names, keys, strict=True))
        return tuple(
            (f"{name} {key}", count.value, low, high)
            for name, (key, count), (low, high) in zip(names, self.ranked, bounds, strict=True)
        )


@dataclass(frozen=True)
class Order:
    """How many keys are shown, whether with counts, and whether the first stands alone."""

    k: int
    counts: bool
    alone: bool

    def of(self, pairs: Sequence[tuple[Scalar, Ranked]], among: int) -> Ranking:
        """Sort pairs of key and count; ties stay in the order of the keys."""
        ranked = sorted(pairs, key=lambda pair: -pair[1].value)[: self.k]
        return Ranking(tuple(ranked), among, self.counts, self.alone)


@dataclass(frozen=True)
class RankedCounts:
    """All counts made noisy, of which the largest are shown; the order is post-processing."""

    prepared: Prepared[Scaled]
    keys: tuple[Scalar, ...]
    order: Order

    @property
    def request(self) -> Tally:
        """What is asked of the rows."""
        return self.prepared.tally

    @property
    def cost(self) -> Cost:
        """The price of all counts."""
        return self.prepared.cost

    @property
    def is_public(self) -> bool:
        """Tell whether no unit can change the answer: then it costs nothing."""
        return self.prepared.is_public

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise, in words."""
        return self.prepared.laws

    @property
    def noise(self) -> tuple[Additive, Fraction]:
        """The law of the noise, and the size of its step."""
        (output,) = self.prepared.outputs
        return output.mechanism, output.step

    def distribution(self, exact: Sequence[Sequence[int]]) -> tuple[Part, ...]:
        """Return that of the counts; see `Distributed`."""
        return self.prepared.distribution(exact)

    def release(self, exact: Sequence[Sequence[int]], words: Words | None) -> list[Record]:
        """Add the noise to every count."""
        return self.prepared.release(exact, words)

    def read(self, records: Sequence[Record]) -> tuple[Ranking, ...]:
        """Sort the noisy counts; ties fall in the order of the keys."""
        (output,) = self.prepared.outputs
        rankings = []
        for record in records:
            counts = [output.read((int(n or 0),)) for n in record]
            pairs = zip(self.keys, counts, strict=True)
            rankings.append(self.order.of(list(pairs), len(counts)))
        return tuple(rankings)


@dataclass(frozen=True)
class RankedKeys:
    """The largest of the counts of unknown keys that passed the threshold."""

    counted: CountedKeys
    order: Order

    is_public: ClassVar[bool] = False

    @property
    def request(self) -> FoundKeys:
        """What is asked of the rows."""
        return self.counted.request

    @property
    def cost(self) -> Cost:
        """The price of all keys and counts."""
        return self.counted.cost

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise and the threshold, in words."""
        return self.counted.laws

    @property
    def noise(self) -> tuple[Additive, Fraction]:
        """The law of the noise, and the size of its step."""
        return self.counted.mechanism.noise, Fraction(1)

    def distribution(self, exact: Exact) -> tuple[Part, ...]:
        """Return that of the keys and counts; see `Distributed`."""
        return self.counted.distribution(exact)

    def release(self, exact: Exact, words: Words | None) -> list[Record]:
        """Return (key, noisy count) of each key that passes."""
        return self.counted.release(exact, words)

    def read(self, records: Sequence[Record]) -> tuple[Ranking, ...]:
        """Sort the counts that passed; there may be fewer than were asked for."""
        found = self.counted.read(records)
        return (self.order.of([(one.key, one) for one in found], len(found)),)
