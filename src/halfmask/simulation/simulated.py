"""A public table, asked over and over: rows are read once, and only the noise is drawn again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from os import PathLike
from typing import Any, Self, cast

from halfmask.asking import Question, setting_of, together
from halfmask.curator import Curator
from halfmask.errors import HalfmaskError, InvalidQuery
from halfmask.noise import secure_words
from halfmask.plan import Filters, Keys, Predicate, col
from halfmask.privacy import Cost, PrivacyUnit, Purse, Relation
from halfmask.procedures import Filtered, Together, UnknownKeys
from halfmask.queries import Count, Estimate, Setting
from halfmask.room import Room
from halfmask.sources import Join, Source, open_source

__all__ = ["Simulated"]

DOUBLINGS = 40
"""How often a bound is moved outwards to hold all values."""

LARGEST = Fraction(10**6)
"""The largest price there is: noise of a millionth, so that the answer is the exact one."""


@dataclass(frozen=True)
class Simulated:
    """A table that whoever gives it declares public, and the exact integers read of it so far."""

    source: Source
    unit: PrivacyUnit
    known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: object,
        *,
        unit: str | None = None,
        rows_per_unit: int = 1,
        groups_per_unit: int | None = None,
        relation: str = "add_remove",
        schema: Any = None,
    ) -> Self:
        """Open a table in memory; a curator and a file are refused, as their rows may be private.

        The arguments are those of `halfmask.open`.
        """
        if isinstance(table, Curator):
            raise InvalidQuery(
                "table: a curator holds private rows, and trials show answers without a price; "
                "give a simulated or public table, or preview the query"
            )
        if isinstance(table, str | PathLike):
            raise InvalidQuery(
                "table: a file may hold private rows; if these are public, load them and give "
                "the table itself"
            )
        if isinstance(table, Join):
            raise InvalidQuery(
                "table: a join may be of private rows; if these are public, join them yourself "
                "and give the table"
            )
        protected = PrivacyUnit(unit, rows_per_unit, groups_per_unit, Relation.of(relation))
        source = open_source(table, schema)
        if unit is not None:
            source.schema.column(unit)
        return cls(source, protected)

    def setting(self, by: Keys | Filters | None, where: str | Predicate | None) -> Setting:
        """The public facts of an ask, without groups whose keys would have to be found."""
        if isinstance(by, str):
            raise InvalidQuery(
                f"by: keys of {by!r} found in the rows differ from trial to trial; list them, as "
                f"in Keys({by!r}, [...])"
            )
        return setting_of(self.source.schema, self.unit, by, where)

    def asked(
        self,
        query: Question | Mapping[str, Question],
        shares: Mapping[str, Any] | None,
        setting: Setting,
        price: Cost,
    ) -> Together:
        """The queries, checked as an ask would check them."""
        asked = together(query, shares)
        assert not isinstance(asked, UnknownKeys)  # noqa: S101
        asked.check(setting)
        asked.rehearse(setting, price)
        return asked

    def answer(
        self, asked: Together, setting: Setting, price: Cost
    ) -> Mapping[str, tuple[Estimate, ...]]:
        """Answer once, with noise of its own and from a purse of its own."""
        room = Room(self.source, secure_words(), Purse(price), known=self.known)
        return asked.run(setting, price, room.measure)

    def exact(
        self, asked: Together, setting: Setting, price: Cost
    ) -> Mapping[str, tuple[Estimate, ...]]:
        """Answer at the largest price there is."""
        return self.answer(asked, setting, _largest(price))

    def unclipped(self, asked: Together, setting: Setting, price: Cost) -> Together:
        """The same queries with bounds that hold every value, where they have bounds of numbers."""
        questions = {name: self._wide(q, setting, price) for name, q in asked.questions.items()}
        wide = Together(questions, asked.shares)
        try:
            wide.check(setting)
            wide.rehearse(setting, _largest(price))
        except HalfmaskError:  # no grid is so wide: the bounds stay
            return asked
        return wide

    def _wide(self, question: Question, setting: Setting, price: Cost) -> Question:
        if isinstance(question, Filtered):
            return replace(
                question, question=self._wide(question.question, question.within(setting), price)
            )
        named = {one.name for one in fields(question)}  # type: ignore[arg-type]
        if not {"column", "lower", "upper"} <= named:
            return question
        given: Any = question
        if not all(isinstance(bound, int | float) for bound in (given.lower, given.upper)):
            return question
        width, x = given.upper - given.lower, col(given.column)
        lower = self._beyond(setting, price, x.__lt__, given.lower, -width)
        upper = self._beyond(setting, price, x.__gt__, given.upper, width)
        wide: Question = replace(given, lower=lower, upper=upper)
        return wide

    def _beyond(
        self,
        setting: Setting,
        price: Cost,
        past: Callable[[float], Predicate],
        bound: float,
        width: float,
    ) -> float:
        """Move a bound outwards, twice as far each time, until no row lies beyond it."""
        for doubling in range(DOUBLINGS):
            moved = bound + width * (2**doubling - 1)
            outside = replace(setting, by=None, where=setting.where & past(moved))
            asked = self.asked(Count(), None, outside, price)
            if round(cast("float", self.exact(asked, outside, price)[""][0].value)) <= 0:
                return float(moved)
        return float(bound)  # an infinite value is held to any bound


def _largest(price: Cost) -> Cost:
    return price.from_amounts(LARGEST, price.amounts[1], up=False)
