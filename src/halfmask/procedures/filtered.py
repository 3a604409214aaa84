"""A question about the rows that pass a filter of its own, beside others that are about more."""

from dataclasses import dataclass, replace
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Missing, Not, Predicate
from halfmask.plan import where as parse_where
from halfmask.privacy import Cost
from halfmask.procedures.procedure import Measure, Procedure
from halfmask.queries import Count, Estimate, Expected, Query, Setting

__all__ = ["Filtered"]

Question = Query | Procedure


@dataclass(frozen=True, repr=False)
class Filtered:
    """A question about the rows that pass a public filter, and that of the ask if it has one.

    Of a question that is asked alone, give the filter to `ask` itself. Asked beside an average of
    the same numbers, where a row is the unit, `Filtered(Count(), "pay is not None")` is read off
    the same sums, and costs no more; so do counts whose filters exclude each other, and `Count()`.
    Privacy: that of the question, which holds for any filter that is public; here it is one.

    >>> Filtered(Count(), "age >= 18")
    Filtered(Count(), 'age >= 18')
    """

    question: Question
    where: Predicate

    def __init__(self, question: Question, where: str | Predicate) -> None:
        if isinstance(question, type) or not isinstance(question, Query | Procedure):
            raise InvalidQuery(f"query: {shown(question)} is not one; filter one such as Count()")
        rule: object = parse_where(where) if isinstance(where, str) else where
        if not isinstance(rule, Predicate):
            raise InvalidQuery(
                f'where: {shown(where)} is no row filter; write one like "age >= 18"'
            )
        object.__setattr__(self, "question", question)
        object.__setattr__(self, "where", rule)

    def __repr__(self) -> str:
        return f"Filtered({self.question!r}, {str(self.where)!r})"

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        rule = f"where {self.where}" if self.counted is None else f"with a value of {self.counted}"
        return f"{self.question.title} {rule}"

    @property
    def weight(self) -> float:
        """That of the question."""
        return float(getattr(self.question, "weight", 1.0))

    @property
    def bins(self) -> Any:
        """The names of the numbers of an answer, where the question names them."""
        return getattr(self.question, "bins", None)

    @property
    def counted(self) -> str | None:
        """The column whose values are counted, where this is such a count."""
        match self.question, self.where:
            case Count(), Not(inner=Missing(column=column)):
                return column
        return None

    def within(self, setting: Setting) -> Setting:
        """The setting of the rows that pass."""
        return replace(setting, where=setting.where & self.where)

    def check(self, setting: Setting) -> None:
        """Refuse what the question refuses, and a filter that does not fit the columns."""
        self.where.check(setting.schema)
        self.question.check(self.within(setting))

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare every measurement that may come."""
        if isinstance(self.question, Procedure):
            self.question.rehearse(self.within(setting), price)
        else:
            self.question.prepare(self.within(setting), price)

    def run(self, setting: Setting, price: Cost, measure: Measure) -> tuple[Estimate, ...]:
        """Answer for each public key."""
        if isinstance(self.question, Procedure):
            return self.question.run(self.within(setting), price, measure)
        return measure(self.question.prepare(self.within(setting), price))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of a value for so many rows that pass."""
        return self.question.expected(self.within(setting), price, rows)
