"""From an engine's column types to public kinds, and each column in the one type of its kind."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from halfmask.errors import InvalidQuery, SourceError, shown
from halfmask.plan import Column, Keys, Kind, Public, Reading, Schema
from halfmask.sources.sql import Dialect, read_text

__all__ = [
    "NULL",
    "canonical",
    "declared",
    "facts",
    "fitting",
    "kind_of",
    "kinds_of",
    "refusal",
    "rounded",
    "stated",
    "told_apart",
]

_KINDS: tuple[tuple[str, Kind], ...] = (
    ("BOOLEAN", "boolean"),
    ("U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UINTEGER", "integer"),
    (r"DECIMAL\(\d+, ?0\)", "integer"),
    ("FLOAT|DOUBLE|DECIMAL.*", "real"),
    ("VARCHAR|ENUM.*|UUID|JSON", "text"),
    ("DATE|TIMESTAMP.*", "time"),
    ('"NULL"', "unread"),
)

_FINER = {
    "TIMESTAMP_NS": ("TIMESTAMP", "TIMESTAMP_NS"),
    "TIMESTAMPTZ_NS": ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"),
}
"""Types of nanoseconds: those of their microseconds, and how they are named in a cast."""

_NEAR = "TRY_CAST({0} AS {1})"
_FLOORED = f"make_timestamp(epoch_us({_NEAR}) - CAST(TRY_CAST({_NEAR} AS {{2}}) > {{0}} AS BIGINT))"
"""A cast goes to the nearest microsecond, and here the one before is meant, as arrays have it. None
is made between an instant and a local time, which would ask the machine for its time zone."""

NULL = '"NULL"'
"""The type of a column of nulls alone, which some writers note instead of its own type."""


def kind_of(engine_type: str) -> Kind | None:
    """Return the kind of a DuckDB type; None where halfmask has no use for it (lists, blobs).

    >>> kind_of("DECIMAL(18,3)"), kind_of("DECIMAL(18,0)"), kind_of("INTEGER[]")
    ('real', 'integer', None)
    """
    for pattern, kind in _KINDS:
        if re.fullmatch(pattern, engine_type) and not engine_type.endswith("]"):
            return kind
    return None


def kinds_of(name: str, types: Sequence[tuple[str, str]]) -> dict[str, Kind]:
    """Return the kinds of a table's columns, without those that halfmask has no use for."""
    kinds: dict[str, Kind] = {}
    for column, engine_type in types:
        kind = kind_of(engine_type)
        if kind is not None and column in kinds:
            raise SourceError(f"source: two columns of {name} are named {column!r}; rename one")
        if kind is not None:
            kinds[column] = kind
    if not kinds:
        raise SourceError(f"source: no column of {name} holds numbers, text, truth values or times")
    return kinds


def declared(found: Mapping[str, Kind], schema: Schema | Mapping[str, Kind] | None) -> Schema:
    """Return the schema of a table: what its types say, and over it what is declared."""
    kinds = stated(schema)
    base = Schema.of(dict(found))
    for name in kinds:
        base.column(name)
    return Schema(tuple(Column(c.name, kinds.get(c.name, c.kind)) for c in base))


def facts(
    schema: Schema | Mapping[str, Kind | Public] | None,
) -> tuple[dict[str, Kind] | None, dict[str, Public]]:
    """Tell declared kinds from what else is declared of columns; InvalidQuery for bad keys."""
    if schema is None or not isinstance(schema, Schema | Mapping):
        return schema, {}
    if isinstance(schema, Schema):
        given: list[Any] = [(c.name, c.kind, c.public) for c in schema]
    else:
        given = [
            (name, one.kind, one) if isinstance(one, Public) else (name, one, Public())
            for name, one in schema.items()
        ]
    public = {name: one for name, _, one in given if one != Public()}
    for name, one in public.items():
        if one.keys is not None:
            Keys(name, one.keys)
    return {name: kind for name, kind, _ in given if kind is not None}, public


def fitting(schema: Schema, public: Mapping[str, Public]) -> Schema:
    """Add what is declared to a schema; InvalidQuery where it does not fit a column's kind."""
    known = schema.knowing(public)
    for column in known:
        if column.public.keys is not None:
            Keys(column.name, column.public.keys).check(known)
        if column.public.lower is not None and column.kind != "time":
            known.numeric(column.name)
    return known


def rounded(types: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the columns whose times are cut to microseconds, given all names and engine types."""
    return frozenset(name for name, engine_type in types if engine_type in _FINER)


def told_apart(
    schema: Schema, unit: str | None, kinds: Mapping[str, Kind], cut: Collection[str] = ()
) -> None:
    """Refuse a unit that is read as real numbers, or of `cut` times, unless it is declared so.

    Two identifiers whose nearest doubles are one would be one unit, and removing one of the two
    could move a bounded sum by twice its bound, as from one end to the other.
    """
    if unit not in schema.names or unit in kinds:
        return
    if unit in cut:
        raise InvalidQuery(
            f"unit: column {unit!r} holds times that are cut to microseconds: two people could "
            f"count as one; declare it, schema={{{unit!r}: 'time'}}, if no two share one"
        )
    if schema.column(unit).kind != "real":
        return
    raise InvalidQuery(
        f"unit: column {unit!r} holds real numbers, which round: two people could count as one; "
        f"declare it, schema={{{unit!r}: 'integer'}}, or 'real' if no two of them round alike"
    )


def stated(schema: Schema | Mapping[str, Kind] | None) -> dict[str, Kind]:
    """Return the declared kinds by name; SourceError names a kind that is none."""
    if schema is None:
        return {}
    if isinstance(schema, Schema):
        return {column.name: column.kind for column in schema}
    if not isinstance(schema, Mapping):
        raise SourceError(
            f"schema: {shown(schema)} is no mapping; "
            "write names and kinds like {'salary': 'real'}"
        )
    return {column.name: column.kind for column in Schema.of(schema)}


def canonical(name: str, kind: Kind, engine_type: str, cell: str, dialect: Dialect) -> str:
    """Write a column in the type of its kind; SourceError if its type cannot be read so.

    Integers keep their width; those of 2^127 and more are missing, and those of decimals beyond 64
    bits. A decimal with a fraction becomes the nearest double, through text where its digits may be
    more than a double holds. Times are kept to the microsecond, cut off, in UTC.
    """
    found = kind_of(engine_type)
    if engine_type == NULL:
        absent = dialect.type_of("text" if kind == "unread" else kind)
        return dialect.cast("NULL", absent)
    if found == "text":
        text = cell if engine_type == "VARCHAR" else dialect.cast(cell, dialect.text)
        return text if kind in ("text", "unread") else read_text(_reading(kind), text, dialect)
    if kind == found or (kind == "real" and found in ("integer", "boolean")):
        return _typed(kind, found, engine_type, cell, dialect)
    if kind == "integer" and found == "real":
        return _whole(engine_type, cell, dialect)
    if kind == "boolean" and found == "integer":
        return f"CASE {cell} WHEN 1 THEN TRUE WHEN 0 THEN FALSE END"
    raise refusal(name, found or engine_type, kind)


def refusal(name: str, found: str, kind: Kind) -> SourceError:
    """Make the error of a column that is declared as what its type cannot be read as."""
    return SourceError(
        f"schema: column {name!r} holds {found} and cannot be read as {kind}; "
        "leave it undeclared, or convert it in the table"
    )


def _reading(kind: Kind) -> Reading:
    assert kind != "unread"  # noqa: S101
    return kind


def _typed(kind: Kind, found: Kind, engine_type: str, cell: str, dialect: Dialect) -> str:
    if kind == "real" and found == "boolean":
        one, zero = dialect.number(1.0), dialect.number(0.0)
        return f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END"
    if kind == "real":
        exact = not _is_wide(engine_type)
        return dialect.cast(cell if exact else dialect.cast(cell, dialect.text), dialect.double)
    if kind == "time" and engine_type in _FINER:
        return _FLOORED.format(cell, *_FINER[engine_type])
    if kind == "time" and engine_type == "TIMESTAMP WITH TIME ZONE":
        return dialect.utc.format(cell)
    if kind == "time" and engine_type != "TIMESTAMP":
        return dialect.try_cast(cell, dialect.instant)
    if engine_type == "UHUGEINT":
        return dialect.try_cast(cell, dialect.wide)
    return _whole(engine_type, cell, dialect) if engine_type.startswith("DECIMAL") else cell


def _is_wide(engine_type: str) -> bool:
    """Whether a direct cast to double may round twice."""
    digits = re.match(r"DECIMAL\((\d+)", engine_type)
    return "HUGEINT" in engine_type or (digits is not None and int(digits[1]) > 15)


def _whole(engine_type: str, cell: str, dialect: Dialect) -> str:
    """Write the whole numbers of a real column; those of decimals to the last digit."""
    if engine_type.startswith("DECIMAL"):
        whole = dialect.try_cast(cell, dialect.integer)
        return f"CASE WHEN {dialect.try_cast(whole, engine_type)} = {cell} THEN {whole} END"
    double = dialect.cast(cell, dialect.double)
    low, high = dialect.number(-(2.0**63)), dialect.number(2.0**63)
    fits = f"{double} >= {low} AND {double} < {high} AND {double} = {dialect.floor.format(double)}"
    return dialect.try_cast(f"CASE WHEN {fits} THEN {double} END", dialect.integer)
