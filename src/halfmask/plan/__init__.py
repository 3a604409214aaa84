"""The plan: inert data that says what exact integers are wanted of a table.

- `Schema`, `Column`, `Kind`, `Public`: names and kinds of columns, what is publicly known of them
- `Sides`: from which of two joined tables a column is
- `col`, `where`, `Predicate`: public row filters, built or parsed; `overlap` of two
- `Tally`: what is summed: `OnGrid` values, `Features`, `Keys`, `Bins`, `Filters`, `UnitBound`
- `GridCounts`, `FoundKeys`, `Points`: what is asked by what the rows themselves hold; `Tallies`
- `Cloud`, `Held`, `Near`, `Statistic`: the answer to `Points`, of which exact sums are asked
- `Periods`, `Arrivals`: public months, days or steps of a number; or what came since
- `reading`, `Reading`, `instant`: how a cell is read beside a literal
"""

from halfmask.plan.arrivals import Arrivals, periods_of
from halfmask.plan.cloud import Cloud, Held, Near, Statistic, added, cloud_of, counted
from halfmask.plan.filters import Filters
from halfmask.plan.naming import col
from halfmask.plan.overlap import overlap
from halfmask.plan.periods import Periods
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
from halfmask.plan.reading import Reading, Scalar, instant, microseconds, reading, scalar
from halfmask.plan.requests import FoundKeys, GridCounts, Points, Request, Tallies
from halfmask.plan.schema import Column, Kind, Public, Schema, Sides
from halfmask.plan.tally import OTHER, Bins, Features, Groups, Keys, OnGrid, Other, Tally, UnitBound
from halfmask.plan.where import where

__all__ = [
    "OTHER",
    "Among",
    "And",
    "Arrivals",
    "Bins",
    "Cloud",
    "Column",
    "Comparison",
    "Everything",
    "Features",
    "Filters",
    "FoundKeys",
    "GridCounts",
    "Groups",
    "Held",
    "Keys",
    "Kind",
    "Missing",
    "Near",
    "Not",
    "OnGrid",
    "Or",
    "Other",
    "Periods",
    "Points",
    "Predicate",
    "Public",
    "Reading",
    "Request",
    "Scalar",
    "Schema",
    "Sides",
    "Statistic",
    "Tallies",
    "Tally",
    "UnitBound",
    "added",
    "cloud_of",
    "col",
    "counted",
    "instant",
    "microseconds",
    "overlap",
    "periods_of",
    "reading",
    "scalar",
    "where",
]
