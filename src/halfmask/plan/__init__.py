"""The plan: inert data that says what exact integers are wanted of a table (being built)."""

from halfmask.plan.predicates import Everything, Predicate
from halfmask.plan.schema import Column, Kind, Schema
from halfmask.plan.tally import Bins, Features, Groups, Keys, OnGrid, Tally, UnitBound

__all__ = [
    "Bins",
    "Column",
    "Everything",
    "Features",
    "Groups",
    "Keys",
    "Kind",
    "OnGrid",
    "Predicate",
    "Schema",
    "Tally",
    "UnitBound",
]
