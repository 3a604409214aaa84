"""Groups by public row filters, no two of which any row can pass."""

from dataclasses import dataclass
from itertools import combinations

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.overlap import overlap
from halfmask.plan.predicates import Predicate
from halfmask.plan.schema import Schema
from halfmask.plan.where import where

__all__ = ["Filters"]

MOST_FILTERS = 200


@dataclass(frozen=True, repr=False)
class Filters:
    """Groups by row filters that exclude each other, such as "age < 30" and "age >= 30".

    A row that passes none of them is in no group; a missing value passes no comparison. Filters
    that some row could pass together are refused, with such a row.
    Privacy: every row goes to the first filter that it passes, so groups are disjoint whatever the
    filters are, and their noise composes in parallel as that of `Keys`. [McSherry 2009, Thm 4]
    That the filters exclude each other makes "first" mean "only".

    Args:
        conditions: filters as text or built with `col`; each is the label of its group.
        named: more filters, by a label of your own.

    >>> Filters("age < 30", "age >= 30").labels
    ('age < 30', 'age >= 30')
    >>> Filters(young="age < 30", old="age >= 60").size
    2

    """

    labels: tuple[str, ...]
    conditions: tuple[Predicate, ...]

    column = "filter"
    other = False

    def __init__(self, /, *conditions: str | Predicate, **named: str | Predicate) -> None:
        plain = {str(condition): condition for condition in conditions}
        if len(plain) < len(conditions) or set(plain) & set(named):
            raise InvalidQuery("filters: a label is given twice; give each filter once")
        labelled = plain | named
        if not labelled:
            raise InvalidQuery('filters: none are given; write Filters("age < 30", "age >= 30")')
        if len(labelled) > MOST_FILTERS:
            raise InvalidQuery(
                f"filters: {len(labelled)} are given, above {MOST_FILTERS}; group by Keys"
            )
        object.__setattr__(self, "labels", tuple(labelled))
        object.__setattr__(self, "conditions", tuple(map(_condition, labelled.values())))

    def __repr__(self) -> str:
        listed = zip(self.labels, self.conditions, strict=True)
        named = ", ".join(f"{label!r}: {str(condition)!r}" for label, condition in listed)
        return f"Filters(**{{{named}}})"

    @property
    def values(self) -> tuple[str, ...]:
        """The labels of the groups, in order."""
        return self.labels

    @property
    def size(self) -> int:
        """The number of groups."""
        return len(self.labels)

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that the filters read, each once, in order."""
        names = (name for condition in self.conditions for name in condition.columns())
        return tuple(dict.fromkeys(names))

    def check(self, schema: Schema) -> None:
        """Raise InvalidQuery for filters that do not fit the columns, or that a row could share."""
        for condition in self.conditions:
            condition.check(schema)
        listed = zip(self.labels, self.conditions, strict=True)
        for (label, one), (twin, other) in combinations(listed, 2):
            row = overlap(one, other, schema)
            if row is not None:
                raise InvalidQuery(
                    f"filters: {label!r} and {twin!r} overlap, as in {row}; make them exclude "
                    "each other, or ask them one by one"
                )


def _condition(given: object) -> Predicate:
    if isinstance(given, Predicate):
        return given
    if not isinstance(given, str):
        raise InvalidQuery(f'filters: {shown(given)} is no row filter; write one like "age >= 18"')
    return where(given)
