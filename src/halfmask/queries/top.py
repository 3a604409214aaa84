"""The most common values of a column: which they are, and how often each occurs."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Keys, Tally
from halfmask.privacy import GDP, ZCDP, Cost, Relation
from halfmask.queries.choosing import Chosen, selection_for
from halfmask.queries.count import fine
from halfmask.queries.found import CountedKeys, groups_of
from halfmask.queries.grid import native
from halfmask.queries.measurement import Measurement, Scalar
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.ranking import Order, RankedCounts, RankedKeys
from halfmask.queries.scaled import Scaled, expected_noise
from halfmask.queries.setting import Setting

__all__ = ["MostCommon", "TopK"]


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
        k = native(k)
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

    @property
    def _order(self) -> Order:
        return Order(self.k, self.counts, self.alone)

    def prepare(self, setting: Setting, price: Cost) -> RankedCounts | RankedKeys | Chosen:
        """Fix what is asked, and the noise or the choice; see `Query`."""
        if self.keys is None:
            counted = CountedKeys.of(self.column, setting, price, once=False)
            counted.request.check(setting.schema)
            return RankedKeys(counted, self._order)
        if not self.counts and self.k <= _choices(price):
            return self._choice(setting, price, self.keys)
        return RankedCounts(self._counts(setting, price, self.keys), self.keys, self._order)

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
