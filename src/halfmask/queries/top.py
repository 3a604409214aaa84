"""The most common values of a column: which they are, and how often each occurs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import FoundKeys, Keys, Tally
from halfmask.privacy import GDP, ZCDP, Cost, Relation
from halfmask.queries.choosing import Chosen, selection_for
from halfmask.queries.count import fine
from halfmask.queries.found import CountedKeys, Exact, FoundCount, groups_of
from halfmask.queries.measurement import Measurement, Record, Scalar
from halfmask.queries.prepared import Expected, Number, Output, Prepared
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.scaled import Scaled, expected_noise
from halfmask.queries.setting import Setting

__all__ = ["MostCommon", "TopK"]

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
class RankedCounts:
    """All counts made noisy, of which the largest are shown; the order is post-processing."""

    prepared: Prepared[Scaled]
    query: "TopK"

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

    def release(self, exact: Sequence[Sequence[int]], words: Words | None) -> list[Record]:
        """Add the noise to every count."""
        return self.prepared.release(exact, words)

    def read(self, records: Sequence[Record]) -> tuple[Ranking, ...]:
        """Sort the noisy counts; ties fall in the order of the keys."""
        (output,) = self.prepared.outputs
        assert self.query.keys is not None  # noqa: S101
        rankings = []
        for record in records:
            counts = [output.read((int(n or 0),)) for n in record]
            pairs = zip(self.query.keys, counts, strict=True)
            rankings.append(self.query.ranking(list(pairs), len(counts)))
        return tuple(rankings)


@dataclass(frozen=True)
class RankedKeys:
    """The largest of the counts of unknown keys that passed the threshold."""

    counted: CountedKeys
    query: "TopK"

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

    def release(self, exact: Exact, words: Words | None) -> list[Record]:
        """Return (key, noisy count) of each key that passes."""
        return self.counted.release(exact, words)

    def read(self, records: Sequence[Record]) -> tuple[Ranking, ...]:
        """Sort the counts that passed; there may be fewer than were asked for."""
        found = self.counted.read(records)
        return (self.query.ranking([(one.key, one) for one in found], len(found)),)


@dataclass(frozen=True, repr=False)
class TopK:
    """The k most common values of a column, the most common first.

    keys: the public candidates; None finds them in the rows, for a price with a delta. With a
    unit column, a unit of more than `rows_per_unit` rows counts as so many.
    counts: whether the noisy counts are shown too.
    Privacy: the price. Where one value is sought without its count, permute-and-flip over the
    counts, and in zCDP the exponential mechanism for up to two; else all counts are made noisy at
    once, for which one unit pays as for a single row, and the order is post-processing: its noise
    does not grow with k, as that of k choices would. [McKenna & Sheldon 2020, Thm 1; McSherry
    2009, Thm 4; for unknown keys see `CountedKeys`]

    >>> TopK("city", 2, keys=["Bergen", "Oslo", "Lund"])
    TopK('city', 2, keys=['Bergen', 'Oslo', 'Lund'])
    """

    column: str
    k: int
    keys: tuple[Scalar, ...] | None = None
    counts: bool = False

    alone: ClassVar[bool] = False
    weight: ClassVar[float] = 1.0

    def __init__(self, column: str, k: int, keys: object = None, *, counts: bool = False) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InvalidQuery(f"k: {shown(k)} is no number of values; give 1 or more")
        values = None if keys is None else _public(column, keys)
        if values is not None and k > len(values):
            raise InvalidQuery(
                f"k: {k} of {len(values)} candidates are asked for; list more keys or ask for fewer"
            )
        for name, given in (("column", column), ("k", k), ("keys", values), ("counts", counts)):
            object.__setattr__(self, name, given)

    def __repr__(self) -> str:
        keys = "" if self.keys is None else f", keys={list(self.keys)!r}"
        return f"TopK({self.column!r}, {self.k}{keys}{', counts=True' if self.counts else ''})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"{self.k} most common values of {self.column}"

    def check(self, setting: Setting) -> None:
        """Refuse a column that makes no keys, and unknown keys inside public groups."""
        if self.keys is not None:
            Keys(self.column, self.keys).check(setting.schema)
            return
        if setting.by is not None:
            raise InvalidQuery("keys: unknown ones go with no by=; list public keys")
        setting.schema.column(self.column)
        groups_of(self.column, setting)

    def ranking(self, pairs: list[tuple[Scalar, Ranked]], among: int) -> Ranking:
        """Sort pairs of key and count."""
        ranked = sorted(pairs, key=lambda pair: -pair[1].value)[: self.k]
        return Ranking(tuple(ranked), among, self.counts, self.alone)

    def prepare(self, setting: Setting, price: Cost) -> RankedCounts | RankedKeys | Chosen:
        """Fix what is asked, and the noise or the choice; see `Query`."""
        if self.keys is None:
            counted = CountedKeys.of(self.column, setting, price, once=False)
            counted.request.check(setting.schema)
            return RankedKeys(counted, self)
        if not self.counts and self.k <= _choices(price):
            return self._choice(setting, price, self.keys)
        return RankedCounts(self._counts(setting, price, self.keys), self)

    def _tally(self, setting: Setting, keys: tuple[Scalar, ...], parts: int) -> Tally:
        return Tally(
            ((parts, 0, 0, 0),),
            groups=(*setting.groups, Keys(self.column, keys)),
            where=setting.where,
            unit=setting.spread_bound(parts),
        )

    def _counts(self, setting: Setting, price: Cost, keys: tuple[Scalar, ...]) -> Prepared[Scaled]:
        parts = fine(setting, cells=True)
        step = Fraction(1, parts)
        mechanism = mechanism_for(setting.reach(parts, spread=True), price)
        output = Output(mechanism, lambda noisy: Scaled(noisy[0], mechanism, step), step)
        return Prepared(self._tally(setting, keys, parts), (output,), cells=len(keys))

    def _choice(self, setting: Setting, price: Cost, keys: tuple[Scalar, ...]) -> Chosen:
        """One unit moves the counts up by at most its rows in all, and under `replace` down too."""
        parts = fine(setting, cells=True)
        one_way = setting.unit.relation is Relation.ADD_REMOVE
        selection = selection_for(setting.rows * parts, one_way, price, self.k)
        return Chosen(
            self._tally(setting, keys, parts),
            selection,
            price,
            keys,
            size=len(keys),
            times=self.k,
            alone=self.alone,
            step=Fraction(1, parts),
        )

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a count; of a choice, how far behind the best its count may be."""
        measurement = self.prepare(setting, price)
        if isinstance(measurement, Chosen):
            return measurement.expected()
        noise, step = measurement.noise
        return expected_noise(noise, step)


class _Top1(TopK):
    """The one most common value, which is no tuple."""

    alone = True


@dataclass(frozen=True, repr=False, init=False)
class MostCommon:
    """The most common value of a column.

    keys: the public candidates; None finds them in the rows, for a price with a delta (the answer
    is None where no key passes).
    Privacy: the price; see `TopK` of one.

    >>> MostCommon("city", keys=["Bergen", "Oslo", "Lund"])
    MostCommon('city', keys=['Bergen', 'Oslo', 'Lund'])
    """

    column: str
    keys: tuple[Scalar, ...] | None = None

    weight: ClassVar[float] = 1.0

    def __init__(self, column: str, keys: object = None) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "keys", TopK(column, 1, keys).keys)

    def __repr__(self) -> str:
        keys = "" if self.keys is None else f", keys={list(self.keys)!r}"
        return f"MostCommon({self.column!r}{keys})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        return f"most common value of {self.column}"

    def _top(self) -> TopK:
        return _Top1(self.column, 1, self.keys)

    def check(self, setting: Setting) -> None:
        """Refuse what `TopK` refuses."""
        self._top().check(setting)

    def prepare(self, setting: Setting, price: Cost) -> Measurement[Any]:
        """Fix what is asked, and the noise or the choice; see `Query`."""
        return self._top().prepare(setting, price)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict how far the count of the choice may be behind that of the best."""
        return self._top().expected(setting, price, rows)


def _choices(price: Cost) -> int:
    """Up to how many choices are better than noisy counts.

    The noise of a choice has deviation s/epsilon, of a count √2 s/epsilon; in zCDP 0.45 s/√rho for
    one choice of k=1 (grown by √k), and 0.71 s/√rho for a count.
    """
    return 2 if isinstance(price, ZCDP) else 0 if isinstance(price, GDP) else 1


def _public(column: str, keys: object) -> tuple[Scalar, ...]:
    if isinstance(keys, Keys):
        if keys.column != column:
            raise InvalidQuery(
                f"keys: they are of column {keys.column!r}, and {column!r} is asked; name one"
            )
        return keys.values  # type: ignore[return-value]
    return Keys(column, keys).values  # type: ignore[return-value]
