"""An ask under audit: everything that `Curator.ask` would know before it meets rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from halfmask.asking import setting_of, together
from halfmask.plan import Filters, Keys, Kind, Predicate, Schema
from halfmask.privacy import Cost, PrivacyUnit, Pure, Relation
from halfmask.procedures import Procedure, Together, UnknownKeys
from halfmask.queries import Query, Setting

__all__ = ["Ask", "Question"]

Question = Query | Procedure


@dataclass(frozen=True)
class Ask:
    """Queries, their public setting and their price; checked as the door checks them."""

    title: str
    asked: Together | UnknownKeys
    setting: Setting
    price: Cost

    def __post_init__(self) -> None:
        setting = self.setting
        setting.where.check(setting.schema)
        if setting.by is not None:
            setting.by.check(setting.schema)
        if setting.unit.column is not None:
            setting.schema.column(setting.unit.column)
        self.asked.check(setting)
        self.asked.rehearse(setting, self.price)

    @classmethod
    def of(
        cls,
        query: Question | Mapping[str, Question],
        *,
        schema: Schema | Mapping[str, Kind],
        unit: str | PrivacyUnit | None = None,
        relation: str = "add_remove",
        by: Keys | Filters | str | None = None,
        where: str | Predicate | None = None,
        price: Cost | float | str = 1,
        shares: Mapping[str, Any] | None = None,
    ) -> Self:
        """Build from arguments as `hm.open` and `Curator.ask` take them; see `verify`."""
        public = schema if isinstance(schema, Schema) else Schema.of(dict(schema))
        if not isinstance(unit, PrivacyUnit):
            unit = PrivacyUnit(unit, 1, None, Relation(relation))
        cost = price if isinstance(price, Cost) else Pure(price)
        setting = setting_of(public, unit, by, where)
        return cls(_title(query), together(query, shares, by), setting, cost)


def _title(query: Question | Mapping[str, Question]) -> str:
    if isinstance(query, Mapping):
        return ", ".join(f"{name} = {one!r}" for name, one in query.items())
    return repr(query)
