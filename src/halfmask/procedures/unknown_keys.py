"""Groups by keys that nobody listed: first find those that may be named, then ask about them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import KeySelection, Thresholded, ThresholdGaussian
from halfmask.plan import FoundKeys, Keys, Schema, Tally
from halfmask.privacy import Approximate, Cost, Pure, exact, plain
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.procedures.together import Together
from halfmask.queries import (
    Count,
    CountDistinct,
    CountedKeys,
    Estimate,
    Expected,
    KeptKeys,
    Query,
    Scalar,
    Setting,
    groups_of,
)

__all__ = ["Keyed", "UnknownKeys"]

Question = Query | Procedure

MOST = 2**16
"""So many keys are asked about beside their counts: those of the largest counts."""

SELECTION = 0.5
"""The weight of finding the keys alone, beside the weights of the queries."""


@dataclass(frozen=True)
class Keyed:
    """An estimate, and the key that was found for it."""

    key: Scalar
    estimate: Estimate


@dataclass(frozen=True)
class UnknownKeys:
    """Named queries in groups by the keys that a column holds.

    The keys are those whose noisy counts pass a threshold: of the first `CountDistinct` or `Count`
    that is asked, which costs nothing more, or else the largest selection for its own share.
    The other queries take these as public keys, with what is left of epsilon.
    Privacy: the price of the whole, by sequential composition of `CountedKeys` or `KeptKeys`, which
    use all of delta, and of the queries, which need none. [Dwork, McSherry, Nissim & Smith 2006,
    Thm 3; with delta Dwork, Kenthapadi et al. 2006, Thm 2]

    shares: each query's part of epsilon; where no count is asked, "by" names that of the selection.
    """

    column: str
    questions: Mapping[str, Question]
    shares: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        Together(self.questions)

    @property
    def finder(self) -> str | None:
        """The name of the count whose noisy values find the keys; None where none is asked."""
        for kind in (CountDistinct, Count):
            for name, question in self.questions.items():
                if isinstance(question, kind):
                    return name
        return None

    @property
    def rest(self) -> dict[str, Question]:
        """The queries that are asked about the keys once they are found."""
        return {name: one for name, one in self.questions.items() if name != self.finder}

    def check(self, setting: Setting) -> None:
        """Refuse what any query refuses, and a unit that may stand in any number of keys."""
        FoundKeys(self.column, Tally(((1, 0, 0, 0),))).check(setting.schema)
        for question in self.questions.values():
            question.check(replace(setting, by=self._sample(setting.schema, 1)))
        groups_of(self.column, setting)

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare every measurement that may come, for as many keys as there may be."""
        self._found(setting, price)
        others = self._others(setting, price)
        if others:
            asked, left = others
            asked.rehearse(replace(setting, by=self._sample(setting.schema, MOST)), left)

    def mechanism(
        self, setting: Setting, price: Cost
    ) -> Thresholded | KeySelection | ThresholdGaussian:
        """Return how keys are found: public, and what a reader needs to know of those missed."""
        return self._found(setting, price).mechanism

    def run(self, setting: Setting, price: Cost, measure: Measure) -> dict[str, tuple[Keyed, ...]]:
        """Find the keys, then answer every query for every key."""
        found = self._found(setting, price)
        if isinstance(found, CountedKeys):
            counts = measure(found)
            answers = {str(self.finder): tuple(Keyed(one.key, one) for one in counts)}
            largest = sorted(counts, key=lambda one: -one.noisy)[:MOST]
            chosen = {one.key for one in largest}
            keys = [one.key for one in counts if one.key in chosen]
        else:
            answers, keys = {}, [one.key for one in measure(found)][:MOST]
        others = self._others(setting, price)
        if others:
            asked, left = others
            about = replace(setting, by=Keys(self.column, keys)) if keys else None
            estimates = asked.run(about, left, measure) if about else dict.fromkeys(self.rest, ())
            answers |= {
                name: tuple(Keyed(key, one) for key, one in zip(keys, each, strict=True))
                for name, each in estimates.items()
            }
        return {name: answers[name] for name in self.questions}

    def expected(self, setting: Setting, price: Cost, rows: int) -> dict[str, Expected]:
        """Predict the error of every answer for a key of so many rows."""
        found = self._found(setting, price)
        chance = found.mechanism.chance(rows)
        assuming = f"a key of {rows} rows, which is shown with probability {chance:.3g}"
        answers: dict[str, Expected] = {}
        if isinstance(found, CountedKeys):
            noise = found.mechanism.noise
            low, high = noise.interval(0)
            answers[str(self.finder)] = Expected(noise.standard_deviation, 0.0, float(high - low))
        others = self._others(setting, price)
        if others:
            asked, left = others
            answers |= asked.expected(
                replace(setting, by=self._sample(setting.schema, MOST)), left, rows
            )
        return {
            name: replace(
                answers[name], assuming="; ".join(filter(None, (assuming, answers[name].assuming)))
            )
            for name in self.questions
        }

    def _found(self, setting: Setting, price: Cost) -> CountedKeys | KeptKeys:
        part = self._split(setting)[0]
        if part < 1 and isinstance(price, Approximate) and price.delta:
            price = Approximate(price.epsilon * part, price.delta)
        if self.finder is None:
            found: CountedKeys | KeptKeys = KeptKeys.of(self.column, setting, price)
        else:
            once = isinstance(self.questions[self.finder], CountDistinct)
            found = CountedKeys.of(self.column, setting, price, once=once)
        found.request.check(setting.schema)
        return found

    def _others(self, setting: Setting, price: Cost) -> tuple[Together, Cost] | None:
        """The other queries and their price: what the search for the keys leaves of epsilon."""
        part, shares = self._split(setting)
        if not self.rest:
            return None
        return Together(self.rest, shares), Pure(price.amounts[0] * (1 - part))

    def _split(self, setting: Setting) -> tuple[Fraction, dict[str, Fraction] | None]:
        """The share of epsilon that finds the keys, and those of the queries in what is left."""
        if self.shares is None:
            weights = [1.0 if self.finder is not None else SELECTION]
            if self.rest:
                about = replace(setting, by=self._sample(setting.schema, 1))
                weights += [family.weight for family in Together(self.rest).families(about)]
            whole = [Fraction(weight) for weight in weights]
            return whole[0] / sum(whole), None
        first = "by" if self.finder is None else self.finder
        wanted = {first, *self.rest}
        if set(self.shares) != wanted or "" in wanted or len(wanted) <= len(self.rest):
            raise InvalidQuery(
                f"shares: names {sorted(self.shares)} are not those asked, {sorted(wanted)}; give "
                "one share for each, and one named 'by' for the keys where no count is asked"
            )
        parts = {name: exact(self.shares[name], f"shares[{name!r}]") for name in wanted}
        if sum(parts.values()) != 1:
            total = plain(sum(parts.values(), Fraction(0)))
            raise InvalidQuery(f"shares: they sum to {total}; make them sum to 1")
        own = parts.pop(first)
        return own, {name: parts[name] / (1 - own) for name in self.rest} or None

    def _sample(self, schema: Schema, size: int) -> Keys:
        """Public keys of the column's kind, to prepare what may come."""
        kind = schema.column(self.column).kind
        if kind == "boolean":
            return Keys(self.column, [False, True][:size])
        return Keys(self.column, range(size) if kind == "integer" else map(str, range(size)))
