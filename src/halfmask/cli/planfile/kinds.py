"""The queries that a plan can name: each public query class, under its own name and fields.

A later query joins by one line in `QUERIES`.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any, Literal

from halfmask.cli.planfile.section import (
    BOUND,
    FLAG,
    LIST,
    NUMBER,
    NUMBERS,
    ONE_OR_MORE,
    PLACE,
    TABLE,
    TEXT,
    TEXTS,
    WHOLE,
    Form,
    Section,
)
from halfmask.plan import Bins, Keys
from halfmask.procedures import (
    BoxMedian,
    CoordinateMedian,
    DepthCheck,
    DepthMedian,
    KMeans,
    Location,
    Mean,
    Procedure,
    RobustLocation,
    SignCovariance,
    SpatialMedian,
    TylerScatter,
)
from halfmask.queries import (
    AboveThreshold,
    Bound,
    Bounds,
    Choose,
    Correlation,
    Count,
    CountDistinct,
    Covariance,
    Histogram,
    LinearQueries,
    Marginals,
    Median,
    MostCommon,
    Prefixes,
    Quantile,
    Query,
    Ranges,
    Scalar,
    StandardDeviation,
    SuggestBounds,
    Sum,
    TopK,
    Variance,
)

__all__ = ["QUERIES", "Question", "fields_of", "question"]

Question = Query | Procedure
Score = Count | CountDistinct | Sum


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


QUERIES: Mapping[str, type[Any]] = {
    _snake(kind.__name__): kind
    for kind in (
        Count,
        CountDistinct,
        Sum,
        Mean,
        Variance,
        StandardDeviation,
        Histogram,
        Median,
        Quantile,
        Bounds,
        SuggestBounds,
        TopK,
        MostCommon,
        Choose,
        AboveThreshold,
        LinearQueries,
        Ranges,
        Prefixes,
        Marginals,
        Covariance,
        Correlation,
        BoxMedian,
        CoordinateMedian,
        RobustLocation,
        SpatialMedian,
        Location,
        SignCovariance,
        TylerScatter,
        DepthMedian,
        DepthCheck,
        KMeans,
    )
}

_FORMS: Mapping[Any, Form[Any]] = {
    str: TEXT,
    float: NUMBER,
    int: WHOLE,
    tuple[float, ...]: NUMBERS,
    tuple[float | str, ...]: LIST,
    float | None: NUMBER,
    str | None: TEXT,
    float | tuple[float, ...]: ONE_OR_MORE,
    Bound: BOUND,
    Bins | Keys: NUMBERS,
    Mapping[str, tuple[float, float]]: TABLE,
    Mapping[str, Bins | Keys]: TABLE,
    tuple[tuple[float, ...], ...]: LIST,
    tuple[tuple[float, float], ...] | Literal["all"]: LIST,
    bool: FLAG,
    float | tuple[float, ...]: PLACE,
    float | tuple[float, ...] | None: PLACE,
    tuple[str, ...] | None: LIST,
    tuple[float, ...] | None: NUMBERS,
    tuple[tuple[float, ...], ...] | None: LIST,
    tuple[float, float, float] | None: NUMBERS,
    float | None: NUMBER,
    int | None: WHOLE,
    tuple[Scalar, ...] | None: LIST,
    Mapping[Any, str]: TEXTS,
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
        field.name: _value(section, field)
        for field in parameters
        if _required(field) or field.name in section.values
    }
    with section.document.naming(section.place, section.values):
        built: Question = QUERIES[name](**given)
    return built


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(section: Section, field: Field[Any]) -> object:
    if field.type == Score:  # a query inside a query
        return question(section.inside(field.name))
    return section.need(field.name, _FORMS[field.type])
