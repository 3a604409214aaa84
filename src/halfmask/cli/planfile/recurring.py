"""[[series]]: running totals of a growing table, released further at each run of the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from halfmask.cli.planfile.document import Place
from halfmask.cli.planfile.groups import grouping
from halfmask.cli.planfile.kinds import question
from halfmask.cli.planfile.section import BOUND, TEXT, WHOLE, Form, Section, is_filled, is_number
from halfmask.plan import Arrivals, Filters, Keys, Periods
from halfmask.privacy import Cost
from halfmask.queries import Count, CountDistinct, Sum

__all__ = ["Recurring", "recurring"]

_STEP: Form[Any] = Form(
    "a period in quotes, or a number", '"month"', lambda v: is_number(v) or is_filled(v)
)
_PERIOD: Form[Any] = Form(
    "a period in quotes, a date, or a number",
    '"2026-01"',
    lambda v: is_number(v) or is_filled(v) or isinstance(v, date),
)
_FORMS: Mapping[str, Form[Any]] = {
    "time": TEXT,
    "start": BOUND,
    "every": _STEP,
    "periods": WHOLE,
}


@dataclass(frozen=True)
class Recurring:
    """One [[series]]: the arguments of `Curator.series`.

    through: the last period to release; None: all that are over, or have arrived.
    values: the keys as written, to name the one that is refused.
    """

    name: str
    place: Place
    query: Count | CountDistinct | Sum
    price: Cost
    periods: Mapping[str, Any]
    where: str | None
    by: Keys | Filters | None
    through: Any
    values: Mapping[str, Any] = field(repr=False)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `Curator.series`, but its name and query."""
        return {**self.periods, **vars(self.price), "where": self.where, "by": self.by}


def recurring(series: Section, price: Cost, where: str | None, *beside: str) -> Recurring:
    """Read one [[series]]; `beside` are the keys of its price."""
    name = series.need("name", TEXT)
    asked = question(series, "name", "where", "by", "through", *_FORMS, *beside)
    if not isinstance(asked, Count | CountDistinct | Sum):
        raise series.refusal("query", "has no running total; ask count, count_distinct or sum")
    series.need("periods", WHOLE)
    by = grouping(series) if "by" in series.values else None
    if isinstance(by, str):
        raise series.refusal(
            "by", "keys of a series are public; list them, as { column = ..., keys = [...] }"
        )
    given = {key: series.need(key, form) for key, form in _FORMS.items() if key in series.values}
    _check(series, given)
    through = series.get("through", _PERIOD)
    return Recurring(name, series.place, asked, price, given, where, by, through, series.values)


def _check(series: Section, given: Mapping[str, Any]) -> None:
    """Refuse periods that are none, as far as the plan alone tells."""
    for key in ("time", "start", "every") if set(given) - {"periods"} else ():
        series.need(key, _FORMS[key])
    with series.document.naming(series.place, series.values):
        if "time" in given:
            Periods(given["start"], given["every"], given["periods"])
        else:
            Arrivals(given["periods"])
