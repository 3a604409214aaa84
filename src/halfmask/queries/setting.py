"""The public setting in which a query is asked: schema, privacy unit, row filter, group keys."""

from dataclasses import dataclass, field

from halfmask.plan import Everything, Filters, Groups, Keys, Predicate, Schema, UnitBound
from halfmask.privacy import PrivacyUnit, Relation

__all__ = ["Reach", "Setting"]


@dataclass(frozen=True)
class Reach:
    """How far one privacy unit can move the exact integers: L1 and squared L2 distance.

    alone: no unit moves more than one of the integers, those of all groups together.
    """

    l1: int
    l2_squared: int
    alone: bool = False


@dataclass(frozen=True)
class Setting:
    """Everything public that a query needs to know before any row is read.

    near: whether rows may be held in this process, by the public kind of their source.
    """

    schema: Schema
    unit: PrivacyUnit
    where: Predicate = field(default_factory=Everything)
    by: Keys | Filters | None = None
    near: bool = True

    @property
    def keys(self) -> tuple[object, ...]:
        """The public group keys; one unnamed group where there are none."""
        return self.by.labels if self.by is not None else (None,)

    @property
    def groups(self) -> Groups:
        """The grouping by public keys alone."""
        return (self.by,) if self.by is not None else ()

    @property
    def rows(self) -> int:
        """How many rows' worth one unit may add, in all of its groups together."""
        return self.unit.rows * (self.picked or 1)

    @property
    def picked(self) -> int | None:
        """How many groups a unit may enter, where that is declared and there are groups."""
        declared = self.unit.column is not None and self.by is not None
        return min(self.unit.groups, len(self.keys)) if declared and self.unit.groups else None

    def bound(self, row_norm: int) -> UnitBound | None:
        """Hold each unit to `unit.rows` rows of L1 norm `row_norm`, in each of its groups."""
        if self.unit.column is None:
            return None
        return UnitBound(self.unit.column, norm=self.unit.rows * row_norm, groups=self.picked)

    def spread_bound(self, row_norm: int) -> UnitBound | None:
        """Hold each unit to `rows` rows over all cells together, however it spreads them."""
        if self.unit.column is None:
            return None
        return UnitBound(self.unit.column, norm=self.rows * row_norm)

    def reach(self, row_norm: int, *, swing: int | None = None, spread: bool = False) -> Reach:
        """Bound how far one unit moves sums of row vectors whose L1 norm is at most `row_norm`.

        Privacy: a unit's vectors have L1 norm at most rows * row_norm in all; its removal moves
        the sums by that, its replacement by twice that (triangle inequality). Where one number is
        asked of each group, `swing` bounds its change by replacement within one group; a unit
        then moves that number `alone` if it lies in one group only, before and after: there are
        no groups, or it is added or removed and is one row or picks one group.
        Non-negative or scalar vectors only: then the squared L2 distance of two such vectors is
        at most the sum of their squared norms. `spread` is for `spread_bound`. Checked by brute
        force in tests/queries.
        """
        far, groups = self.rows * row_norm, self.picked or 1
        squared = far * far if spread else far * far // groups
        if self.unit.relation is Relation.ADD_REMOVE:
            once = self.by is None or self.unit.column is None or self.picked == 1
            return Reach(far, squared, alone=swing is not None and once and not spread)
        if swing is not None and self.by is None:
            return Reach(self.unit.rows * swing, (self.unit.rows * swing) ** 2, alone=True)
        return Reach(2 * far, 2 * squared)
