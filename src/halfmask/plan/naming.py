"""A column's name that waits for a comparison: ``col("age") >= 18``."""

from collections.abc import Iterable

from halfmask.errors import InvalidQuery, shown
from halfmask.plan.predicates import Among, Comparison, Missing, Predicate
from halfmask.plan.reading import Scalar

__all__ = ["col"]


class _Ref:
    """A column's name, waiting for a comparison."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise InvalidQuery(f"where: a column is named by text, not by {shown(name)}")
        self.name = name

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return Comparison(self.name, "==", value)  # type: ignore[arg-type]

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return Comparison(self.name, "!=", value)  # type: ignore[arg-type]

    def __lt__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, "<", value)

    def __le__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, "<=", value)

    def __gt__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, ">", value)

    def __ge__(self, value: Scalar) -> Predicate:
        return Comparison(self.name, ">=", value)

    def is_in(self, values: Iterable[Scalar]) -> Predicate:
        """Match the rows whose value is in a public list."""
        return Among(self.name, values)  # type: ignore[arg-type]

    def is_missing(self) -> Predicate:
        """Match the rows whose value is null or NaN."""
        return Missing(self.name)


def col(name: str) -> _Ref:
    """Name a column in a condition.

    >>> str((col("age") >= 18) & ~col("dept").is_in(["ops", "r&d"]))
    "(age >= 18) and (not (dept in ['ops', 'r&d']))"
    """
    return _Ref(name)
