"""Whether released numbers pass a condition: a filter of rows, read in Python."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from halfmask.plan import Among, And, Comparison, Everything, Missing, Not, Or, Predicate
from halfmask.plan.overlap import TESTS

__all__ = ["holds"]

Values = Mapping[str, Any]


@singledispatch
def holds(rule: Predicate, values: Values) -> bool:
    """Whether the rule is true of these numbers; a number that is not there passes no comparison.

    >>> holds(Comparison("n", ">", 3), {"n": 4})
    True
    """
    raise TypeError(type(rule).__name__)


@holds.register
def _everything(rule: Everything, values: Values) -> bool:
    return True


@holds.register
def _not(rule: Not, values: Values) -> bool:
    return not holds(rule.inner, values)


@holds.register
def _and(rule: And, values: Values) -> bool:
    return holds(rule.left, values) and holds(rule.right, values)


@holds.register
def _or(rule: Or, values: Values) -> bool:
    return holds(rule.left, values) or holds(rule.right, values)


@holds.register
def _missing(rule: Missing, values: Values) -> bool:
    return values.get(rule.column) is None


@holds.register
def _among(rule: Among, values: Values) -> bool:
    return values.get(rule.column) in rule.values


@holds.register
def _comparison(rule: Comparison, values: Values) -> bool:
    number = values.get(rule.column)
    return number is not None and TESTS[rule.operator](number, rule.value)
