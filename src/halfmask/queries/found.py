"""Keys that are found in the rows: counted above a threshold, or kept without a count."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import ClassVar

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import KeySelection, Thresholded, ThresholdGaussian, ThresholdLaplace
from halfmask.noise import Words
from halfmask.plan import FoundKeys, Tally, UnitBound
from halfmask.privacy import Cost, Relation
from halfmask.queries.distribution import Drawn, Part
from halfmask.queries.measurement import Record, Scalar
from halfmask.queries.setting import Setting

__all__ = ["CountedKeys", "Exact", "FoundCount", "KeptKey", "KeptKeys", "groups_of"]

Exact = Sequence[tuple[Scalar, Sequence[int]]]
"""What a source answers: each key of the rows, in order, with its features."""


@dataclass(frozen=True)
class FoundCount:
    """The noisy count of a key that passed the threshold."""

    key: Scalar
    noisy: int
    mechanism: Thresholded

    post_processing: ClassVar[tuple[str, ...]] = ("only counts above the threshold are shown",)

    @property
    def value(self) -> int:
        """The noisy count."""
        return self.noisy

    def interval(self, confidence: float = 0.95) -> tuple[int, int]:
        """Bracket the exact count; of the keys that are shown, so many are bracketed."""
        return self.mechanism.interval(self.noisy, confidence)


@dataclass(frozen=True)
class KeptKey:
    """A key that may be named; nothing else is said of it."""

    key: Scalar

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> Scalar:
        """The key."""
        return self.key

    def interval(self, confidence: float = 0.95) -> None:
        """Say nothing: a key has no interval."""


@dataclass(frozen=True)
class CountedKeys:
    """Count rows (or units, with `once`) by the keys that a column holds; show what passes.

    Privacy: (epsilon, delta)-DP, see `ThresholdLaplace` and `ThresholdGaussian`; a unit adds at
    most `reach` to each of at most `groups` keys, as the request bounds it.
    """

    request: FoundKeys
    mechanism: Thresholded

    is_public: ClassVar[bool] = False

    @classmethod
    def of(cls, column: str, setting: Setting, price: Cost, *, once: bool) -> "CountedKeys":
        """Take the noise with the lower threshold; InvalidQuery for a price without a delta."""
        reach, groups = 1 if once else setting.unit.rows, groups_of(column, setting)
        replaced = setting.unit.relation is Relation.REPLACE
        laws: list[Thresholded] = [ThresholdLaplace(reach, groups, price, replaced)]
        if groups > 1 or replaced:  # one key alone: Laplace noise is always the lesser
            laws.append(ThresholdGaussian(reach, groups, price, replaced))
        return cls(_request(column, setting, reach, once), min(laws, key=lambda law: law.threshold))

    @property
    def cost(self) -> Cost:
        """The price of all keys and counts."""
        return self.mechanism.cost

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise and the threshold, in words."""
        return (self.mechanism.law,)

    def release(self, exact: Exact, words: Words | None) -> list[Record]:
        """Return (key, noisy count) of each key that passes, in the order of the keys."""
        noisy = self.mechanism.release([features[0] for _, features in exact], words)
        return [(key, n) for (key, _), n in zip(exact, noisy, strict=True) if n is not None]

    def read(self, records: Sequence[Record]) -> tuple[FoundCount, ...]:
        """Read the counts of the keys that passed."""
        return tuple(FoundCount(key, int(n or 0), self.mechanism) for key, n in records)

    def distribution(self, exact: Exact) -> tuple[Part, ...]:
        """Return the law of each key, up to where the mass is below a double's; see `Distributed`.

        The last value listed is public, so that neighbours are compared on the same values.
        """
        law = self.mechanism
        laws = self.log_masses(exact, law.threshold + 2 * law.far + 100 * law.reach)
        return tuple(Drawn(key, masses) for key, masses in laws.items())

    def log_masses(self, exact: Exact, most: int) -> dict[Scalar, dict[int | None, float]]:
        """Return the exact law of each key, which are independent: None stands for hidden.

        The log mass of each noisy count up to `most` is given; every key that is not in `exact` is
        hidden for certain.
        """
        return {key: self.mechanism.log_masses(features[0], most) for key, features in exact}


@dataclass(frozen=True)
class KeptKeys:
    """Find the keys of a column that may be named.

    Privacy: (epsilon, delta)-DP, see `KeySelection`; a unit counts once in each of at most `groups`
    keys, as the request bounds it.
    """

    request: FoundKeys
    mechanism: KeySelection | ThresholdGaussian

    is_public: ClassVar[bool] = False

    @classmethod
    def of(cls, column: str, setting: Setting, price: Cost) -> "KeptKeys":
        """Take the selection that keeps smaller keys; InvalidQuery for a price without a delta."""
        groups, replaced = groups_of(column, setting), setting.unit.relation is Relation.REPLACE
        laws: list[KeySelection | ThresholdGaussian] = [KeySelection(groups, price, replaced)]
        if groups > 1 or replaced:
            laws.append(ThresholdGaussian(1, groups, price, replaced))
        return cls(_request(column, setting, 1, True), min(laws, key=lambda law: law.likely))

    @property
    def cost(self) -> Cost:
        """The price of the selection."""
        return self.mechanism.cost

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the selection, in words."""
        return (self.mechanism.law,)

    def release(self, exact: Exact, words: Words | None) -> list[Record]:
        """Return the keys that are kept, in order; noisy counts behind them are thrown away."""
        kept = self.mechanism.release([features[0] for _, features in exact], words)
        return [(key,) for (key, _), keep in zip(exact, kept, strict=True) if keep]

    def read(self, records: Sequence[Record]) -> tuple[KeptKey, ...]:
        """Read the keys."""
        return tuple(KeptKey(key) for (key,) in records)

    def distribution(self, exact: Exact) -> tuple[Part, ...]:
        """Return the law of each key, named or None; see `Distributed`."""
        chances = ((key, self.mechanism.chance(features[0])) for key, features in exact)
        return tuple(
            Drawn(key, {True: _log(chance), None: _log(1 - chance)}) for key, chance in chances
        )

    def log_masses(self, exact: Exact) -> dict[Scalar, float]:
        """Return the log probability that each key is kept; keys are independent."""
        return {key: self.mechanism.log_chance(features[0]) for key, features in exact}


def _log(chance: float) -> float:
    return log(chance) if chance > 0 else -inf


def groups_of(column: str, setting: Setting) -> int:
    """In how many keys one unit may count: it must be declared, as no list of keys bounds it."""
    if setting.unit.column is None:
        return 1
    if setting.unit.groups is None:
        raise InvalidQuery(
            f"groups_per_unit: none is declared, and one {setting.unit.column} could stand in any "
            f"number of the keys of {column!r}; open the table with groups_per_unit=1 (or as many "
            "as matter: a unit keeps so many of its keys), or list public keys"
        )
    return setting.unit.groups


def _request(column: str, setting: Setting, reach: int, once: bool) -> FoundKeys:
    unit = None
    if setting.unit.column is not None:
        unit = UnitBound(setting.unit.column, norm=reach, groups=setting.unit.groups, once=once)
    return FoundKeys(column, Tally(((1, 0, 0, 0),), where=setting.where, unit=unit))
