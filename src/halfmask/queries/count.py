"""How many rows, and how many privacy units."""

from dataclasses import dataclass
from fractions import Fraction

from halfmask.plan import Everything, Features, Tally, UnitBound
from halfmask.privacy import Cost, Relation
from halfmask.queries.prepared import Expected, Output, Prepared
from halfmask.queries.pricing import mechanism_for
from halfmask.queries.scaled import Scaled, expected_noise
from halfmask.queries.setting import Reach, Setting

__all__ = ["Count", "CountDistinct", "fine"]

FINE = 2**20
"""Parts of a row: where a unit's row is spread over several cells, each gets its share."""

ONE: Features = ((1, 0, 0, 0),)


def fine(setting: Setting, *, cells: bool) -> int:
    """Into how many parts a row is cut: more than one only where a unit is spread over cells."""
    return FINE if setting.unit.column is not None and cells else 1


@dataclass(frozen=True)
class Count:
    """The number of rows; with a unit column, each unit counts at most `rows_per_unit` rows.

    Privacy: epsilon-DP; one unit moves the count by at most rows_per_unit (add/remove), so discrete
    Laplace noise of scale rows_per_unit / epsilon. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1]
    Under `replace`, with a row as the unit and no filter, the number of rows is public by the
    relation itself, and the exact number is returned.

    >>> Count()
    Count()
    """

    weight = 1.0
    title = "number of rows"

    def check(self, setting: Setting) -> None:
        """Any table has rows to count."""

    def prepare(self, setting: Setting, price: Cost) -> Prepared[Scaled]:
        """Fix the tally and the noise; see `Query`."""
        parts = fine(setting, cells=setting.by is not None and setting.picked is None)
        mechanism = mechanism_for(self._reach(setting, parts), price)
        tally = Tally(
            ((parts, 0, 0, 0),),
            groups=setting.groups,
            where=setting.where,
            unit=setting.bound(parts),
        )
        step = Fraction(1, parts)
        output = Output(mechanism, lambda noisy: Scaled(noisy[0], mechanism, step), step)
        return Prepared(tally, (output,))

    def _reach(self, setting: Setting, parts: int) -> Reach:
        public = setting.unit.column is None and CountDistinct.is_public(setting)
        return Reach(0, 0) if public else setting.reach(parts, swing=parts)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error: that of the noise alone."""
        parts = fine(setting, cells=setting.by is not None and setting.picked is None)
        mechanism = mechanism_for(self._reach(setting, parts), price)
        return expected_noise(mechanism, Fraction(1, parts))


@dataclass(frozen=True)
class CountDistinct:
    """The number of different privacy units that have a row.

    With groups, a unit counts in at most `groups_per_unit` of them (or in as many as it may have
    rows, where that is not declared), picked by lot.
    Privacy: epsilon-DP; one unit moves each of its groups by 1, so the whole by at most their
    number. [Dwork, McSherry, Nissim & Smith 2006, Prop. 1]
    Under `replace`, without filter and keys, the number of units is public by the relation itself,
    and the exact number is returned.

    >>> CountDistinct()
    CountDistinct()
    """

    weight = 1.0
    title = "number of different units"

    def check(self, setting: Setting) -> None:
        """Any table has units to count."""

    def _groups(self, setting: Setting) -> int:
        if setting.by is None or setting.unit.column is None:
            return 1
        return min(setting.unit.groups or setting.unit.rows, len(setting.keys))

    @staticmethod
    def is_public(setting: Setting) -> bool:
        """Tell whether the relation itself makes the number of units public: no filter, no keys."""
        replaced = setting.unit.relation is Relation.REPLACE
        return replaced and setting.by is None and isinstance(setting.where, Everything)

    def _reach(self, setting: Setting) -> Reach:
        if self.is_public(setting):
            return Reach(0, 0)
        groups = self._groups(setting)
        replaced = setting.unit.relation is Relation.REPLACE
        moved = groups if not replaced or setting.by is None else 2 * groups
        return Reach(moved, moved)

    def prepare(self, setting: Setting, price: Cost) -> Prepared[Scaled]:
        """Fix the tally and the noise; see `Query`."""
        mechanism = mechanism_for(self._reach(setting), price)
        column, groups = setting.unit.column, self._groups(setting)
        unit = column and UnitBound(column, norm=1, groups=groups, once=True)
        tally = Tally(ONE, groups=setting.groups, where=setting.where, unit=unit or None)
        output = Output(
            mechanism, lambda noisy: Scaled(noisy[0], mechanism, Fraction(1)), Fraction(1)
        )
        return Prepared(tally, (output,))

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error: that of the noise alone."""
        return expected_noise(mechanism_for(self._reach(setting), price), Fraction(1))
