"""Whom the promise protects, and against which change of the table."""

from dataclasses import dataclass
from enum import StrEnum

from halfmask.errors import InvalidQuery, shown

__all__ = ["PrivacyUnit", "Relation"]


class Relation(StrEnum):
    """Which two tables are neighbours: the promise is that they cannot be told apart."""

    ADD_REMOVE = "add_remove"
    """One unit is added to the table or removed from it; the number of units is private."""
    REPLACE = "replace"
    """One unit's rows are replaced by others; the number of units is public."""

    @classmethod
    def of(cls, name: object) -> "Relation":
        """Return the relation of this name; InvalidQuery for anything else, a table included."""
        return cls(name) if isinstance(name, str) else cls._missing_(name)

    @classmethod
    def _missing_(cls, value: object) -> "Relation":
        raise InvalidQuery(
            f"relation: unknown value {shown(value)}; choose 'add_remove' (one unit more or fewer) "
            "or 'replace' (one unit changed, number of units public)"
        )


@dataclass(frozen=True)
class PrivacyUnit:
    """One unit of privacy: a row, or all rows that share a value of `column`.

    `rows` is how many rows' worth a unit may contribute, `groups` in how many groups of a grouped
    question (None: in `rows` groups at most). Without a column a row is the unit and both are 1.

    >>> PrivacyUnit("employee_id", rows=3).describe()
    'one employee_id with up to 3 rows, added or removed'
    """

    column: str | None = None
    rows: int = 1
    groups: int | None = None
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.of(self.relation))
        if self.column is not None and not isinstance(self.column, str):
            raise InvalidQuery(
                f"unit: must be the name of a column, given a {type(self.column).__name__}; "
                "name a column, or leave it out to protect single rows"
            )
        _check_count(self.rows, "rows_per_unit")
        if self.groups is not None:
            _check_count(self.groups, "groups_per_unit")
        if self.column is None and (self.rows, self.groups) not in {(1, None), (1, 1)}:
            raise InvalidQuery(
                f"unit: a row counts once, given rows_per_unit={self.rows} and "
                f"groups_per_unit={self.groups}; name the column that tells units apart (unit=...)"
            )

    def describe(self) -> str:
        """Say in words which change of the table the promise covers."""
        change = "replaced" if self.relation is Relation.REPLACE else "added or removed"
        if self.column is None:
            return f"one row, {change}"
        limits = [_plural(self.rows, "row")]
        if self.groups is not None:
            limits.append(_plural(self.groups, "group"))
        return f"one {self.column} with up to {' in '.join(limits)}, {change}"


def _check_count(value: object, name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**9:
        raise InvalidQuery(
            f"{name}: must be a whole number from 1 to 10^9, given {shown(value)}; "
            "1 means one row for each unit"
        )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
