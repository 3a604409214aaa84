"""A tally: the one shape in which exact integers leave a table.

Each row adds an integer vector (`features`) to its public group; the rows of one privacy unit are
summed first and scaled down to a bound; then all units are summed. Every part is public.
"""

from dataclasses import dataclass, field

from halfmask.errors import InvalidQuery
from halfmask.plan.predicates import Everything, Predicate

__all__ = ["Bins", "Features", "Groups", "Keys", "OnGrid", "Tally", "UnitBound"]

Features = tuple[tuple[int, int, int, int], ...]
"""Each feature of a row as integer coefficients over (1, p, v, v²).

p is 1 where the row has a value (not null, NaN or unreadable) and 0 where not; v is the value on
its grid less the origin, and 0 where p is 0.
"""


@dataclass(frozen=True)
class OnGrid:
    """A numeric column as integers: v = floor(clip(x, lower, upper) / step) - origin.

    step is 2**log2_step; lower, upper and origin are integers in steps.
    """

    column: str
    lower: int
    upper: int
    log2_step: int
    origin: int = 0

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise InvalidQuery(f"bounds: lower {self.lower} is not below upper {self.upper}")
        if max(abs(self.lower), abs(self.upper)) > 2**53:
            raise InvalidQuery("bounds: a grid of more than 2^53 steps; use a coarser one")


@dataclass(frozen=True)
class Keys:
    """Groups by public values of one column; None stands for a missing key."""

    column: str
    values: tuple[object, ...] = field(default_factory=tuple)

    def __init__(self, column: str, values: object) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "values", tuple(values))  # type: ignore[call-overload]


@dataclass(frozen=True)
class Bins:
    """Groups by public edges: [e0, e1), [e1, e2), ..., and the last bin closed on the right.

    The first edge may be -inf and the last inf. Values outside, and missing ones, fall in no bin.
    """

    column: str
    edges: tuple[float, ...]


Groups = tuple[Keys | Bins, ...]


@dataclass(frozen=True)
class UnitBound:
    """What one privacy unit may add.

    column: the unit's column; rows whose unit is missing are dropped.
    norm: the L1 norm, over all features of one group (or over all groups, where groups is None),
      to which the unit's summed vector is scaled down, each entry rounded towards zero.
    groups: where given, the unit keeps at most so many of its groups, picked by a salted hash of
      the unit and the group; each is then scaled to the norm on its own.
    once: the rows of a unit in a group count as a single row with the coefficient of 1 alone.
    """

    column: str
    norm: int
    groups: int | None = None
    once: bool = False


@dataclass(frozen=True)
class Tally:
    """Exact integer sums of row vectors, by public group, each unit bounded.

    Without `unit` each row is a unit of its own and needs no bounding.
    """

    features: Features
    value: OnGrid | None = None
    groups: Groups = ()
    where: Predicate = field(default_factory=Everything)
    unit: UnitBound | None = None
