"""Which of many counts or sums reach a threshold, for a price that their number does not raise."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms import AboveThreshold as SparseVector
from halfmask.noise import Words
from halfmask.plan import Predicate, Tallies
from halfmask.privacy import GDP, ZCDP, Approximate, Cost, Pure
from halfmask.queries.choose import Choose
from halfmask.queries.choosing import Chosen
from halfmask.queries.count import Count, CountDistinct
from halfmask.queries.grid import native, written
from halfmask.queries.measurement import Record, Scalar
from halfmask.queries.prepared import Expected
from halfmask.queries.setting import Setting
from halfmask.queries.sum import Sum

__all__ = ["AboveThreshold"]


@dataclass(frozen=True)
class Above:
    """The names that reached the threshold, among the first `looked` ones."""

    names: tuple[Scalar, ...]
    looked: int
    alone: bool

    post_processing: ClassVar[tuple[str, ...]] = ()

    @property
    def value(self) -> Scalar | tuple[Scalar, ...]:
        """The first name, or None; or the tuple of all where several were allowed."""
        return self.names if not self.alone else self.names[0] if self.names else None

    def interval(self, confidence: float = 0.95) -> None:
        """Say nothing: comparisons have no interval."""

    def cells(self, confidence: float = 0.95) -> tuple[tuple[str, object, None, None], ...]:
        """Return each name; "none" where none reached the threshold."""
        return tuple(("", name, None, None) for name in self.names or ("none",))


@dataclass(frozen=True)
class Compared:
    """Exact scores of all candidates, compared with a threshold in turn; see the mechanism."""

    scored: Chosen  # with all scores of a candidate, and the step of them
    mechanism: SparseVector
    threshold: int

    @property
    def request(self) -> Any:
        """What is asked of the rows: a tally a candidate."""
        return self.scored.request

    @property
    def cost(self) -> Cost:
        """The price of all comparisons together."""
        return self.mechanism.cost

    @property
    def is_public(self) -> bool:
        """Tell whether no unit can change the answer: then it costs nothing."""
        return self.mechanism.sensitivity == 0

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise, in words."""
        return (self.mechanism.law_in(self.scored.step),)

    def release(self, exact: Any, words: Words | None) -> list[Record]:
        """Return the comparisons up to the last one looked at."""
        (scores,) = self.scored.scores(exact)
        return [self.mechanism.release(scores, self.threshold, words)]

    def read(self, records: Sequence[Record]) -> tuple[Above, ...]:
        """Read the names."""
        candidates, alone = self.scored.candidates, self.mechanism.limit == 1
        return tuple(
            Above(
                tuple(name for name, is_above in zip(candidates, record) if is_above),  # noqa: B905
                len(record),
                alone,
            )
            for record in records
        )


@dataclass(frozen=True, repr=False, init=False)
class AboveThreshold:
    """The first of many counts (or sums) that reach a threshold, in the order that you list.

    filters: a public filter of rows for each candidate, by name, or filters that are their own
      names; a row may pass several.
    threshold: public; a score that equals it has reached it.
    limit: so many names at most are found, and the answer is a tuple if that is above 1.
    of: what is compared: `Count()`, `CountDistinct()` or a `Sum` over the candidate's rows.

    The price is for `limit` names found, however many are asked about. Where filters exclude each
    other, ask `Count()` by `Filters`: all counts together then cost as much, and have less noise.
    Privacy: the price; sparse vector, with the smaller noise where one unit moves all scores the
    same way: counts, and sums of one sign, under `add_remove`. [Lyu, Su & Li 2017, Alg. 7]

    >>> AboveThreshold({"by May": "month <= 5", "by June": "month <= 6"}, 1000)
    AboveThreshold({'by May': 'month <= 5', 'by June': 'month <= 6'}, 1000)
    """

    filters: Mapping[Any, str]
    threshold: float
    limit: int = 1
    of: Count | CountDistinct | Sum = field(default_factory=Count)

    weight: ClassVar[float] = 1.0

    def __init__(
        self,
        filters: Mapping[Any, str | Predicate] | Iterable[str | Predicate],
        threshold: float,
        limit: int = 1,
        of: Count | CountDistinct | Sum | None = None,
    ) -> None:
        if not isinstance(filters, Mapping):
            if isinstance(filters, str) or not isinstance(filters, Iterable):
                raise InvalidQuery(
                    f"filters: {shown(filters)} is no list of them; give ['month <= 1', ...]"
                )
            listed = list(filters)
            filters = {str(rule): rule for rule in listed}
            if len(filters) < len(listed):
                raise InvalidQuery("filters: one is listed twice; remove it, or name each")
        scored, threshold, limit = Choose(filters, of), native(threshold), native(limit)
        SparseVector(1, 1, limit)
        if limit > len(scored.candidates):
            raise InvalidQuery(
                f"limit: {limit} names of {len(scored.candidates)} filters; ask for fewer"
            )
        number = isinstance(threshold, int | float | Fraction) and not isinstance(threshold, bool)
        if not number or not math.isfinite(threshold):
            raise InvalidQuery(f"threshold: {shown(threshold)} is no finite number; give one")
        object.__setattr__(self, "filters", scored.candidates)
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "limit", limit)
        object.__setattr__(self, "of", scored.of)

    def __repr__(self) -> str:
        limit = "" if self.limit == 1 else f", limit={self.limit}"
        of = "" if self.of == Count() else f", of={self.of!r}"
        return f"AboveThreshold({dict(self.filters)!r}, {self.threshold!r}{limit}{of})"

    def __hash__(self) -> int:
        return hash((tuple(self.filters.items()), self.threshold, self.limit, self.of))

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        which = "first" if self.limit == 1 else f"first {self.limit}"
        return (
            f"{which} of {len(self.filters)} whose {self.of.title} reaches "
            f"{written(float(self.threshold))}"
        )

    @property
    def _scored(self) -> Choose:
        return Choose(self.filters, self.of)

    def check(self, setting: Setting) -> None:
        """Refuse a filter or a score that the schema cannot serve, and groups."""
        if setting.by is not None:
            raise InvalidQuery("by: goes with no AboveThreshold; put each group into its filters")
        self._scored.check(setting)

    def prepare(self, setting: Setting, price: Cost) -> Compared:
        """Fix the scores and the noise; see `Query`."""
        scored = self._scored.prepare(setting, Pure(1))
        epsilon, one_way = _pure(price).epsilon, scored.mechanism.monotonic
        assert isinstance(scored.request, Tallies)  # noqa: S101
        filters = [tally.where for tally in scored.request.tallies]
        sensitivity = max(self._moved(replace(setting, where=rule)) for rule in filters)
        mechanism = SparseVector(sensitivity, epsilon, self.limit, one_way, price)
        return Compared(scored, mechanism, math.ceil(Fraction(self.threshold) / scored.step))

    def _moved(self, setting: Setting) -> int:
        """How far a unit moves a score: pure noise for epsilon = 1 has that as its scale."""
        return int(self.of.prepare(setting, Pure(1)).outputs[0].mechanism.scale)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict how far from the threshold a score is when its answer is a coin's."""
        prepared = self.prepare(setting, price)
        off = math.sqrt(prepared.mechanism.variance) * float(prepared.scored.step)
        return Expected(off, 0.0, 0.0, "how far from the threshold a score may be misjudged")


def _pure(price: Cost) -> Pure:
    match price:
        case Pure() | Approximate():
            return Pure(price.epsilon)
        case ZCDP() | GDP():
            return price.largest_pure()
    raise TypeError(f"no comparison is known for a price of type {type(price).__name__}")
