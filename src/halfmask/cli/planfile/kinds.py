"""The queries that a plan can name: each public query class, under its own name and fields.

A later query joins by one line in `QUERIES`.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any

from halfmask.cli.planfile.section import NUMBER, NUMBERS, TEXT, WHOLE, Form, Section
from halfmask.procedures import Mean, Procedure
from halfmask.queries import (
    Count,
    CountDistinct,
    Histogram,
    Query,
    StandardDeviation,
    Sum,
    Variance,
)

__all__ = ["QUERIES", "Question", "fields_of", "question"]

Question = Query | Procedure


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


QUERIES: Mapping[str, type[Any]] = {
    _snake(kind.__name__): kind
    for kind in (Count, CountDistinct, Sum, Mean, Variance, StandardDeviation, Histogram)
}

_FORMS: Mapping[Any, Form[Any]] = {
    str: TEXT,
    float: NUMBER,
    int: WHOLE,
    tuple[float, ...]: NUMBERS,
}


def fields_of(name: str) -> tuple[Field[Any], ...]:
    """Return the parameters of a query: the fields of its dataclass."""
    return fields(QUERIES[name])


def question(section: Section, *beside: str) -> Question:
    """Build the query that a table of the plan names; `beside` are keys that are not its own."""
    name = section.need("query", TEXT)
    if name not in QUERIES:
        near = get_close_matches(name, QUERIES, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(QUERIES)}"
        raise section.refusal("query", f"there is no query {name!r}; {advice}")
    parameters = fields_of(name)
    section.only("query", *(field.name for field in parameters), *beside)
    given = {
        field.name: section.need(field.name, _FORMS[field.type])
        for field in parameters
        if field.default is MISSING or field.name in section.values
    }
    with section.document.naming(section.place, section.values):
        built: Question = QUERIES[name](**given)
    return built
