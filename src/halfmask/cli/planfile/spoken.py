"""SQL in a plan: what [table.schema] says of columns, and a SELECT that is read with it."""

from collections.abc import Mapping
from typing import Any

from halfmask.cli.planfile.kinds import Question
from halfmask.cli.planfile.section import BOUND, LIST, TEXT, Form, Section
from halfmask.plan import Filters, Keys, Public, Schema
from halfmask.sql import Arrangement, names_in, read_sql

__all__ = ["declared", "spoken"]


def declared(schema: Section, name: str) -> Public | str:
    """Return a kind in quotes, or what a table of a kind, bounds and keys says."""
    if not isinstance(schema.values[name], dict):
        return schema.need(name, TEXT)
    column = schema.inside(name)
    forms: dict[str, Form[Any]] = {"kind": TEXT, "lower": BOUND, "upper": BOUND, "keys": LIST}
    column.only(*forms)
    given = {key: column.need(key, form) for key, form in forms.items() if key in column.values}
    with column.document.naming(column.place, column.values):
        return Public(**given)


def spoken(
    release: Section, table: Mapping[str, Any]
) -> tuple[Mapping[str, Question], Keys | Filters | str | None, str | None, Arrangement | None]:
    """Read a SELECT: columns as they are written, and what the plan's own schema says of them.

    table: the arguments of `hm.open`.
    """
    text = release.need("sql", TEXT)
    known = {name: one for name, one in table.get("schema", {}).items() if isinstance(one, Public)}
    with release.document.naming(release.place, release.values):
        named = Schema.of(dict.fromkeys({*names_in(text), *known}, "unread")).knowing(known)
        asked = read_sql(text, named, unit=table.get("unit"))
    questions = asked.query if isinstance(asked.query, dict) else {"": asked.query}
    condition = None if asked.where is None else str(asked.where)
    return questions, asked.by, condition, asked.arrangement
