"""The price of an error: the least epsilon at which a preview promises what is wanted."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from halfmask.asking import Question, setting_of, supposed, together
from halfmask.errors import InvalidQuery
from halfmask.imagined import foreseen
from halfmask.plan import Filters, Keys, Predicate, Schema
from halfmask.privacy import Cost, PrivacyUnit, Relation, exact
from halfmask.procedures import Filtered, Together, UnknownKeys
from halfmask.queries import Expected, Setting, price_of
from halfmask.rendering import figure

__all__ = ["epsilon_for", "least_price"]

_LOWEST, _PER_DECADE, _DECADES = -6, 90, 12
"""Prices of two digits, 0.000001 to 990 000: 1.0, 1.1, ..., 9.9 in each decade."""


def epsilon_for(  # noqa: PLR0913
    query: Question | Mapping[str, Question],
    *,
    error: Any,
    rows: int,
    by: Keys | Filters | str | None = None,
    where: str | Predicate | None = None,
    delta: Any = None,
    shares: Mapping[str, Any] | None = None,
    unit: str | None = None,
    rows_per_unit: int = 1,
    groups_per_unit: int | None = None,
    relation: str = "add_remove",
    schema: Any = None,
) -> Decimal:
    """Return the least epsilon, of two digits, at which the expected error is no more than `error`.

    Args:
        query: one query, or several by name, as for `Curator.ask`, and so by, where, shares, delta.
        error: the root-mean-square error to allow; for several queries, one for each name.
        rows: how many rows you suppose there are, in each group, as for `Curator.preview`.
        by: see query.
        where: see query.
        delta: see query.
        shares: see query.
        unit: as for `halfmask.open`, and so the rest.
        rows_per_unit: see unit.
        groups_per_unit: see unit.
        relation: see unit.
        schema: names and kinds of columns; None takes those that are named as numbers (the unit and
            found keys as text).

    Raises:
        InvalidQuery: no price is enough, and what is left that is not noise.

    >>> import halfmask as hm
    >>> hm.epsilon_for(hm.Mean("salary", 0, 100_000), error=500, rows=1000)
    Decimal('0.21')

    """
    protected = PrivacyUnit(unit, rows_per_unit, groups_per_unit, Relation.of(relation))
    kinds = schema if schema is not None else _supposed_schema(query, unit, by, where)
    public = kinds if isinstance(kinds, Schema) else Schema.of(kinds)
    setting = setting_of(public, protected, by, where)
    asked = together(query, shares, by)
    asked.check(setting)
    found = least_price(asked, setting, rows, error, lambda part: price_of(part, delta))
    amount = found.amounts[0]
    return Decimal(amount.numerator) / Decimal(amount.denominator)


def least_price(
    asked: Together | UnknownKeys,
    setting: Setting,
    rows: int,
    error: Any,
    priced: Callable[[Fraction], Cost],
) -> Cost:
    """Return the least price on the grid that meets every wanted error: from public facts alone.

    priced: makes a price of an amount of its currency.
    Expected errors fall as prices rise, so the grid is halved until one step is left. Where a
    formula is rough there, steps around it are tried on supposed rows, as a preview does: with the
    same noise at every price, so that errors fall there too, but for what chance is left.
    """
    supposed(rows)
    wanted = _wanted(asked, error)

    def met(found: Callable[[Cost], Mapping[str, Expected]], index: int) -> bool:
        price = priced(_amount(index))
        try:
            asked.rehearse(setting, price)
            return all(one.rmse <= wanted[name] for name, one in found(price).items())
        except InvalidQuery:  # too small a price for such a question
            return False

    def by_formula(price: Cost) -> Mapping[str, Expected]:
        return asked.expected(setting, price, rows)

    def by_trial(price: Cost) -> Mapping[str, Expected]:
        return {name: one for name, (one, _) in foreseen(asked, setting, price, rows).items()}

    most = _PER_DECADE * _DECADES - 1
    last = priced(_amount(most))
    asked.rehearse(setting, last)
    if any(one.rmse > wanted[name] for name, one in by_formula(last).items()):
        raise InvalidQuery(_no_price(asked, setting, rows, wanted, last))
    index = _least(partial(met, by_formula), -1, most)
    if any(one.rough for one in by_formula(priced(_amount(index))).values()):
        index = _near(partial(met, by_trial), index, most)
    return priced(_amount(index))


def _least(met: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least index that does, above one that does not, given one that does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def _near(met: Callable[[int], bool], guess: int, most: int) -> int:
    """Return the least index that does, from a guess on by steps that double."""
    step, enough = 4, met(guess)
    here = guess
    while 0 <= here <= most:
        beside = here - step if enough else here + step
        if beside < 0 or beside > most:
            break
        if met(beside) != enough:
            return _least(met, *sorted((here, beside)))
        here, step = beside, 2 * step
    return here


def _amount(index: int) -> Fraction:
    decade, digits = divmod(index, _PER_DECADE)
    return Fraction(10 + digits) * Fraction(10) ** (decade + _LOWEST - 1)


def _wanted(asked: Together | UnknownKeys, error: Any) -> dict[str, float]:
    names = set(asked.questions)
    given = error if isinstance(error, Mapping) else dict.fromkeys(names, error)
    if set(given) != names or (len(names) > 1 and given is not error):
        raise InvalidQuery(
            f"error: several queries are asked; give one error for each of {sorted(names)}"
        )
    largest = Fraction(10**30)
    smallest = 1 / largest
    return {
        name: float(exact(one, "error", smallest=smallest, largest=largest))
        for name, one in given.items()
    }


def _no_price(
    asked: Together | UnknownKeys,
    setting: Setting,
    rows: int,
    wanted: Mapping[str, float],
    price: Cost,
) -> str:
    parts = []
    for name, one in asked.expected(setting, price, rows).items():
        if one.rmse > wanted[name]:
            label = f"of {name!r} " if name else ""
            assuming = f" (assuming {one.assuming})" if one.assuming else ""
            left = figure(one.rmse, one.rmse)
            parts.append(f"{label}{left} is left at {price}{assuming}")
    return (
        f"error: no price meets it: {'; '.join(parts)}; that is no noise but rounding, sampling or "
        "too few rows; allow more error, or suppose more rows"
    )


def _supposed_schema(
    query: Question | Mapping[str, Question],
    unit: str | None,
    by: Keys | Filters | str | None,
    where: str | Predicate | None,
) -> dict[str, Any]:
    """Columns that the queries name are numbers; all that is compared is as its comparison says."""
    asked = list(query.values() if isinstance(query, Mapping) else (query,))
    filtered = any(isinstance(one, Filtered) and one.counted is None for one in asked)
    if where is not None or by is not None or filtered:
        raise InvalidQuery("schema: with `where` or `by`, name the columns and kinds, as for open")
    kinds: dict[str, Any] = {unit: "text"} if unit is not None else {}
    for one in asked:
        named = getattr(one, "columns", None) or ()
        column = one.counted if isinstance(one, Filtered) else getattr(one, "column", None)
        kinds |= dict.fromkeys([*named, *([column] if column is not None else [])], "real")
    return kinds
