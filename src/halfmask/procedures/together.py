"""Several queries in one ask: what shares a body shares its price, the rest splits the budget."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from halfmask.errors import InvalidQuery
from halfmask.privacy import Approximate, Cost, Relation, exact, plain
from halfmask.procedures.filtered import Filtered
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.queries import (
    Count,
    Counts,
    Estimate,
    Expected,
    Linear,
    Measurement,
    Moments,
    MomentSums,
    PartCounts,
    Query,
    Range,
    Ratio,
    Setting,
    Spread,
    Sum,
    SumOfCounts,
)

__all__ = ["Family", "Together"]

ROWS = 10**6
"""With so many rows noise decides between two prices, and not the ends of the bounds."""

Question = Query | Procedure


@runtime_checkable
class ReadOffMoments(Protocol):
    """A query whose answer can be read off the two-sided sums of its column."""

    def body(self) -> Moments:
        """The sums that it needs."""
        ...

    def read(self, sums: MomentSums) -> Linear | Ratio | Spread:
        """Read the answer off the noisy sums."""
        ...


@dataclass(frozen=True)
class Family:
    """Named queries that are answered by one measurement, or one query on its own."""

    members: Mapping[str, Question]
    body: Moments | Counts | None = None

    @property
    def weight(self) -> float:
        """The largest of the members' weights."""
        return max(getattr(member, "weight", 1.0) for member in self.members.values())

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare every measurement that may come."""
        for question in [self.body] if self.body else self.members.values():
            if isinstance(question, Procedure):
                question.rehearse(setting, price)
            else:
                question.prepare(setting, price)

    def expected(self, setting: Setting, price: Cost, rows: int) -> dict[str, Expected]:
        """Predict the error of every member."""
        if self.body is None:
            ((name, question),) = self.members.items()
            return {name: question.expected(setting, price, rows)}
        sums = self.body.as_if(setting, price, rows)
        return {name: self._read(name, sums).expected() for name in self.members}

    def run(
        self, setting: Setting, price: Cost, measure: Measure
    ) -> dict[str, tuple[Estimate, ...]]:
        """Answer every member for every key."""
        if self.body is None:
            ((name, question),) = self.members.items()
            if isinstance(question, Procedure):
                return {name: question.run(setting, price, measure)}
            return {name: measure(question.prepare(setting, price))}
        sums: tuple[Any, ...] = measure(self._measured(setting, price))
        return {name: tuple(self._read(name, one) for one in sums) for name in self.members}

    def fixed(
        self, setting: Setting, price: Cost
    ) -> tuple[Measurement[Any], Callable[[str, Any], Any]] | None:
        """Return the one measurement behind all members, and how each reads it; None if many."""
        if self.body is not None:
            return self._measured(setting, price), self._read
        (question,) = self.members.values()
        if isinstance(question, Procedure):
            return None
        return question.prepare(setting, price), lambda name, answer: answer

    def _measured(self, setting: Setting, price: Cost) -> Measurement[Any]:
        assert self.body is not None, "a question of its own"  # noqa: S101
        return self.body.prepare(setting, price)

    def _read(self, name: str, sums: Any) -> Any:
        question = self.members[name]
        if isinstance(self.body, Counts):
            return _counted(question, self.body, sums)
        return _read(question, sums)


def _has_body(question: Question) -> bool:
    """Whether the question's sums are known before it is asked: not where it buys its bounds."""
    return isinstance(question, ReadOffMoments) and getattr(question, "bounds", None) is None


def _read(question: Question, sums: MomentSums) -> Linear | Ratio | Spread:
    if isinstance(question, ReadOffMoments):
        return question.read(sums)
    return sums.present() if isinstance(question, Filtered) else sums.count()


def _counted(question: Question, body: Counts, sums: PartCounts) -> SumOfCounts:
    if isinstance(question, Filtered):
        return sums.part(body.rules.index(question.where))
    return sums.count()


@dataclass(frozen=True)
class Together:
    """Queries of one ask. Count, Mean, Variance and (of single rows) Sum share one price.

    So does the count of the values of their column (`Filtered`), of single rows; and so do counts
    of single rows that pass filters which exclude each other, with the count of all rows.
    The others split the price so that their relative errors are alike, or by `shares`.
    Privacy: the price of the whole, by sequential composition. [Dwork, McSherry, Nissim & Smith
    2006, Thm 3; for zCDP Bun & Steinke 2016, Lemma 1.7; for GDP Dong, Roth & Su 2022, Cor. 2]
    """

    questions: Mapping[str, Question]
    shares: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not self.questions:
            raise InvalidQuery("ask: no query was given; ask one at least")

    def check(self, setting: Setting) -> None:
        """Refuse what any of the queries refuses."""
        for question in self.questions.values():
            question.check(setting)

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare every measurement that may come."""
        self._rehearse(setting, self.currency(setting, price))

    def _rehearse(self, setting: Setting, price: Cost) -> None:
        families = self.families(setting)
        for family, share in zip(families, self._split(families), strict=True):
            family.rehearse(setting, price if share == 1 else price.share(share))

    def currency(self, setting: Setting, price: Cost) -> Cost:
        """Return the price to split: the mu of an (epsilon, delta) where that means less error.

        Errors of k parts rise as k for shares of an (epsilon, delta), as the root of k for shares
        of mu². Decided from public facts, by the mean logarithm of the errors to expect.
        Privacy: `Purse` changes the whole price into that mu before any part is spent.
        """
        if not isinstance(price, Approximate) or not price.delta or len(self.families(setting)) < 2:
            return price
        try:
            gaussian = price.largest_gdp()
            self._rehearse(setting, gaussian)
            better = self._error(setting, gaussian) < self._error(setting, price)
        except InvalidQuery:  # a part that takes no mu
            return price
        return gaussian if better else price

    def _error(self, setting: Setting, price: Cost) -> float:
        errors = (one.rmse for one in self._expected(setting, price, ROWS).values())
        return sum(math.log(max(error, 1e-300)) for error in errors)

    def families(self, setting: Setting) -> list[Family]:
        """Group the queries by the column and bounds whose sums they can share.

        A sum stays alone where there is a unit column: it clips each unit's total, while shared
        sums scale each unit's rows, and what is asked must not depend on its companions. So does a
        count of values: beside one of rows, a unit's share of them hangs on its other rows.
        """
        if self.shares is not None:
            return [Family({name: question}) for name, question in self.questions.items()]
        by_unit = setting.unit.column is not None
        readers = {
            name: question
            for name, question in self.questions.items()
            if _has_body(question) and not (by_unit and isinstance(question, Sum))
        }
        columns: dict[tuple[str, Range], dict[str, Question]] = {}
        for name, reader in readers.items():
            assert isinstance(reader, ReadOffMoments)  # noqa: S101
            body = reader.body()
            columns.setdefault((body.column, body.bounds), {})[name] = reader
        alone = {n: q for n, q in self.questions.items() if n not in readers}
        if columns:
            first = next(iter(columns.values()))
            counts = [name for name, question in alone.items() if isinstance(question, Count)]
            first.update({name: alone.pop(name) for name in counts})
        for (column, _), members in columns.items():
            values = [] if by_unit else _counting(column, alone, setting)
            members.update({name: alone.pop(name) for name in values})
        shared = [_family(members) for members in columns.values()]
        parted = _counts(alone, setting)
        if parted is not None:
            shared.append(parted)
            alone = {n: q for n, q in alone.items() if n not in parted.members}
        return shared + [Family({name: question}) for name, question in alone.items()]

    def run(
        self, setting: Setting, price: Cost, measure: Measure
    ) -> dict[str, tuple[Estimate, ...]]:
        """Answer every query for every key, in the order in which they were asked."""
        answers: dict[str, tuple[Estimate, ...]] = {}
        for family, part in self.parts(setting, price):
            answers |= family.run(setting, part, measure)
        return {name: answers[name] for name in self.questions}

    def expected(self, setting: Setting, price: Cost, rows: int) -> dict[str, Expected]:
        """Predict the error of every answer."""
        return self._expected(setting, self.currency(setting, price), rows)

    def _expected(self, setting: Setting, price: Cost, rows: int) -> dict[str, Expected]:
        families = self.families(setting)
        expected: dict[str, Expected] = {}
        for family, share in zip(families, self._split(families), strict=True):
            part = price if share == 1 else price.share(share)
            expected |= family.expected(setting, part, rows)
        return {name: expected[name] for name in self.questions}

    def parts(self, setting: Setting, price: Cost) -> list[tuple[Family, Cost]]:
        """Return what is measured together, each with its part of the price."""
        price, families = self.currency(setting, price), self.families(setting)
        shares = self._split(families)
        return [
            (family, price if share == 1 else price.share(share))
            for family, share in zip(families, shares, strict=True)
        ]

    def split(self, setting: Setting) -> dict[str, Fraction]:
        """The share of the price behind each answer; shared sums show the same one."""
        families = self.families(setting)
        return {
            name: share
            for family, share in zip(families, self._split(families), strict=True)
            for name in family.members
        }

    def _split(self, families: list[Family]) -> list[Fraction]:
        if self.shares is None:
            return _fractions([family.weight for family in families])
        if "" in self.questions:
            raise InvalidQuery("shares: go with several named queries, and one was asked")
        if set(self.shares) != set(self.questions):
            raise InvalidQuery(
                f"shares: names {sorted(self.shares)} are not those asked, "
                f"{sorted(self.questions)}; give one share for each"
            )
        parts = [exact(self.shares[name], f"shares[{name!r}]") for name in self.questions]
        if sum(parts) != 1:
            raise InvalidQuery(
                f"shares: they sum to {plain(sum(parts, Fraction(0)))}; make them sum to 1, with "
                f'texts such as "1/3" where decimals do not end'
            )
        return parts


def _counting(column: str, questions: Mapping[str, Question], setting: Setting) -> list[str]:
    """Name the counts of a column's values: an unread one may hold values that are no numbers."""
    return [
        name
        for name, question in questions.items()
        if isinstance(question, Filtered)
        and question.counted == column
        and setting.schema.numeric(column).kind != "unread"
    ]


def _counts(questions: Mapping[str, Question], setting: Setting) -> Family | None:
    """Those counts that one measurement answers: of rows that pass filters, and of all rows.

    Where a row is replaced it may leave one part for another, and nothing is won.
    """
    if setting.unit.column is not None or setting.unit.relation is Relation.REPLACE:
        return None
    whole = {name: one for name, one in questions.items() if isinstance(one, Count)}
    members, body = dict[str, Question](), Counts((), bool(whole))
    for name, one in questions.items():
        if isinstance(one, Filtered) and isinstance(one.question, Count):
            more = body.joined_by(one.where, setting)
            if more is not None:
                members[name], body = one, more
    members |= whole if members else {}
    return Family(members, body) if len(members) > 1 else None


def _family(members: dict[str, Question]) -> Family:
    if len(members) == 1:
        return Family(members)
    bodies = [member.body() for member in members.values() if isinstance(member, ReadOffMoments)]
    body = Moments(
        bodies[0].column,
        bodies[0].bounds,
        degree=max(body.degree for body in bodies),
        missing=any(isinstance(member, Count) for member in members.values()),
    )
    return Family(members, body)


def _fractions(weights: list[float]) -> list[Fraction]:
    """Split 1 by weights, exactly."""
    exact_weights = [Fraction(weight) for weight in weights]
    return [weight / sum(exact_weights) for weight in exact_weights]
