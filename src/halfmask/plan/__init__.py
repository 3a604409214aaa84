"""The plan: inert data that says what exact integers are wanted of a table.

- `Schema`, `Column`, `Kind`: the public names and kinds of columns
- `col`, `where`, `Predicate`: public row filters, built or parsed
- `Tally`: what is summed: `OnGrid` values, `Features`, `Keys` and `Bins`, `UnitBound`
- `GridCounts`, `FoundKeys`, `Points`: what is asked by what the rows themselves hold
- `reading`, `Reading`, `instant`: how a cell is read beside a literal
"""

from halfmask.plan.naming import col
from halfmask.plan.predicates import (
    Among,
    And,
    Comparison,
    Everything,
    Missing,
    Not,
    Or,
    Predicate,
)
from halfmask.plan.reading import Reading, Scalar, instant, reading, scalar
from halfmask.plan.requests import FoundKeys, GridCounts, Points, Request
from halfmask.plan.schema import Column, Kind, Schema
from halfmask.plan.tally import Bins, Features, Groups, Keys, OnGrid, Tally, UnitBound
from halfmask.plan.where import where

__all__ = [
    "Among",
    "And",
    "Bins",
    "Column",
    "Comparison",
    "Everything",
    "Features",
    "FoundKeys",
    "GridCounts",
    "Groups",
    "Keys",
    "Kind",
    "Missing",
    "Not",
    "OnGrid",
    "Or",
    "Points",
    "Predicate",
    "Reading",
    "Request",
    "Scalar",
    "Schema",
    "Tally",
    "UnitBound",
    "col",
    "instant",
    "reading",
    "scalar",
    "where",
]
