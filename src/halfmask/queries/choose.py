"""The choice of one candidate by the user's own score."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Everything, Predicate, Tallies, scalar
from halfmask.plan import where as parse_where
from halfmask.privacy import Cost, Pure, Relation
from halfmask.queries.choosing import Chosen, selection_for
from halfmask.queries.count import Count, CountDistinct
from halfmask.queries.measurement import Scalar
from halfmask.queries.prepared import Expected, Prepared
from halfmask.queries.scaled import Scaled
from halfmask.queries.setting import Setting
from halfmask.queries.sum import Sum

__all__ = ["Choose"]

Rows = str | Predicate


@dataclass(frozen=True, repr=False, init=False)
class Choose:
    """The candidate of the highest score, where a score counts or sums the rows of a candidate.

    candidates: a public filter of rows for each candidate, by name; or names, with `rows`.
    of: what is scored over the candidate's rows: `Count()`, `CountDistinct()` or a `Sum`.
    rows: a public function from a name to its filter. A row may serve several candidates.

    How far one unit can move a score follows from `of` and the unit; it is not asked, since a wrong
    answer would void the promise. For integer scores that you have, and whose sensitivity you can
    prove, `halfmask.mechanisms.PermuteAndFlip` is the choice itself.
    Privacy: the price; permute-and-flip (in zCDP the exponential mechanism) on exact scores, which
    one unit moves by what it may add. [McKenna & Sheldon 2020, Thm 1; Cesar & Rogers 2021]

    >>> Choose({"young": "age < 30", "old": "age >= 65"}, of=Sum("spend", 0, 100))
    Choose({'young': 'age < 30', 'old': 'age >= 65'}, of=Sum('spend', 0, 100))
    >>> Choose(["a", "b"], rows=lambda name: f"product == '{name}'").candidates["b"]
    "product == 'b'"
    """

    candidates: Mapping[Any, str]
    of: Count | CountDistinct | Sum = field(default_factory=Count)

    weight: ClassVar[float] = 1.0

    def __init__(
        self,
        candidates: Mapping[Any, Rows] | Iterable[Any],
        of: Count | CountDistinct | Sum | None = None,
        *,
        rows: Callable[[Any], Rows] | None = None,
    ) -> None:
        score = Count() if of is None else of
        if not isinstance(score, Count | CountDistinct | Sum):
            raise InvalidQuery(
                f"of: {shown(of)} is no score; give Count(), CountDistinct() or a Sum(...)"
            )
        listed = _listed(candidates, rows)
        filters = {_name(name): str(_filter(name, rule)) for name, rule in listed}
        if not filters:
            raise InvalidQuery("candidates: none are given; name at least one")
        object.__setattr__(self, "candidates", filters)
        object.__setattr__(self, "of", score)

    def __repr__(self) -> str:
        of = "" if self.of == Count() else f", of={self.of!r}"
        return f"Choose({dict(self.candidates)!r}{of})"

    def __hash__(self) -> int:
        return hash((tuple(self.candidates.items()), self.of))

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        names = ", ".join(str(name) for name in self.candidates)
        return f"the one with the highest {self.of.title} of {names}"

    def check(self, setting: Setting) -> None:
        """Refuse a filter or a score that the schema cannot serve, and groups of units.

        A unit is bounded in each candidate's rows on its own, so it could count for one candidate
        in one group and for another in the next: more than the price of one choice.
        """
        if setting.by is not None and setting.unit.column is not None:
            raise InvalidQuery(
                "by: a choice among filters goes with groups only where a row is the unit; ask for "
                "one group at a time with where=, each at a share of the price"
            )
        self.of.check(setting)
        for rule in self.candidates.values():
            parse_where(rule).check(setting.schema)

    def _scores(self, setting: Setting) -> list[Prepared[Scaled]]:
        """The score of each candidate as a query of its own, on the grid of epsilon = 1.

        Only the tally of each is asked, and its reach d: scores rise and fall by at most 2 d
        together, see `Chosen`. A unit of a column moves each score by what it may on its own: d is
        the reach under the relation. Where a row is the unit, all scores that it takes part in
        move by its one value: d is that of a row added or removed, since rows of values a and b
        that replace each other raise scores by at most max(b, 0) + max(-a, 0), and lower them by
        at most max(-b, 0) + max(a, 0): |a| + |b| together.
        """
        unit = setting.unit
        if unit.column is None:
            unit = replace(unit, relation=Relation.ADD_REMOVE)
        filters = [_both(setting.where, parse_where(rule)) for rule in self.candidates.values()]
        return [
            self.of.prepare(replace(setting, unit=unit, where=rule), Pure(1)) for rule in filters
        ]

    def _one_way(self, setting: Setting) -> bool:
        """Whether one unit moves all scores the same way."""
        of = self.of
        one_sign = not isinstance(of, Sum) or of.lower >= 0 or of.upper <= 0
        return one_sign and setting.unit.relation is Relation.ADD_REMOVE

    def prepare(self, setting: Setting, price: Cost) -> Chosen:
        """Fix the scores and the choice; see `Query`."""
        scores = self._scores(setting)
        # Pure noise for epsilon = 1 has the sensitivity as its scale.
        sensitivity = max(int(score.outputs[0].mechanism.scale) for score in scores)
        mechanism = selection_for(sensitivity, self._one_way(setting), price)
        asked = Tallies(tuple(score.tally for score in scores))
        step = scores[0].outputs[0].step
        return Chosen(asked, mechanism, price, tuple(self.candidates), step=step)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict how far the score of the choice may be behind the best."""
        return self.prepare(setting, price).expected()


def _listed(candidates: object, rows: Callable[[Any], Rows] | None) -> list[tuple[Any, Any]]:
    if isinstance(candidates, Mapping):
        if rows is not None:
            raise InvalidQuery("rows: the candidates have their filters; leave it out")
        return list(candidates.items())
    if isinstance(candidates, str) or not isinstance(candidates, Iterable) or rows is None:
        raise InvalidQuery(
            f"candidates: {shown(candidates)} has no filters; give {{'young': 'age < 30', ...}}, "
            "or a list of names and rows=, a function from a name to its filter"
        )
    if not callable(rows):
        raise InvalidQuery(
            f"rows: {shown(rows)} is no function from a name to its filter; write "
            "lambda name: f'city == {name!r}'"
        )
    names = [_name(name) for name in candidates]
    if len(set(names)) < len(names):
        raise InvalidQuery("candidates: one is listed twice; remove one")
    return [(name, _ruled(rows, name)) for name in names]


def _ruled(rows: Callable[[Any], Rows], name: Scalar) -> Rows:
    try:
        return rows(name)
    except Exception as failed:
        raise InvalidQuery(
            f"rows: raised {type(failed).__name__} for the name {shown(name)}: {failed}"
        ) from failed


def _both(where: Predicate, rule: Predicate) -> Predicate:
    return rule if isinstance(where, Everything) else where & rule


def _name(name: object) -> Scalar:
    if not isinstance(name, str | int) or name == "":
        raise InvalidQuery(f"candidates: {shown(name)} is no name; give a text or an integer")
    return scalar(name, "candidates")  # type: ignore[return-value]


def _filter(name: object, rule: object) -> Predicate:
    if isinstance(rule, str):
        return parse_where(rule)
    if isinstance(rule, Predicate):
        return rule
    raise InvalidQuery(
        f"candidates: {shown(rule)} of {shown(name)} is no row filter; write one like 'age >= 18'"
    )
