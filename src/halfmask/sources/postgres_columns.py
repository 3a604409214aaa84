"""From PostgreSQL's column types to public kinds, and each column in the one type of its kind."""

from dataclasses import dataclass

from halfmask.plan import Kind
from halfmask.sources.columns import refusal
from halfmask.sources.sql import POSTGRES, nearest, read_text

__all__ = ["PostgresColumn"]

_KINDS: dict[str, Kind] = {
    "bool": "boolean",
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "float4": "real",
    "float8": "real",
    "date": "time",
    "timestamp": "time",
    "timestamptz": "time",
}
_TEXTS = ("text", "varchar", "bpchar", "char", "name", "citext", "uuid", "json", "jsonb")
_LONG = 2**63


@dataclass(frozen=True)
class PostgresColumn:
    """One column, as the catalogue has it.

    base: the name of its type; of a domain, of the type that it is over.
    category: "e" for an enumeration, "b" for a type of its own.
    modifier: what is declared of the type, such as digits; -1 where nothing is.
    """

    name: str
    base: str
    category: str
    modifier: int = -1

    @property
    def kind(self) -> Kind | None:
        """The kind of its type; None where halfmask has no use for it (arrays, ranges, blobs)."""
        if self.category == "e" or (self.category == "b" and self.base in _TEXTS):
            return "text"
        if self.base == "numeric":
            return "integer" if self.modifier >= 0 and _scale(self.modifier) <= 0 else "real"
        return _KINDS.get(self.base) if self.category == "b" else None

    def canonical(self, kind: Kind) -> str:
        """Write it in the type of a kind; SourceError if its type cannot be read so.

        Text is compared by its bytes. A decimal that may have a fraction becomes the nearest
        double. Times are in UTC. What its own type holds and the kind's type does not is missing,
        or an infinity.
        """
        cell = POSTGRES.identifier(self.name)
        if self.kind == "text":
            text = f'(CAST({cell} AS TEXT) COLLATE "C")'
            return text if kind == "unread" else read_text(kind, text, POSTGRES)
        if self.base == "numeric" and kind in ("integer", "real"):
            return _whole(self.base, cell) if kind == "integer" else nearest(cell)
        if kind == self.kind:
            return _own(self.base, cell)
        if (self.kind, kind) == ("integer", "real"):
            return POSTGRES.cast(cell, POSTGRES.double)
        if (self.kind, kind) == ("boolean", "real"):
            one, zero = POSTGRES.number(1.0), POSTGRES.number(0.0)
            return f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END"
        if (self.kind, kind) == ("integer", "boolean"):
            return f"CASE {cell} WHEN 1 THEN TRUE WHEN 0 THEN FALSE END"
        if (self.kind, kind) == ("real", "integer"):
            return _whole(self.base, cell)
        raise refusal(self.name, self.kind or self.base, kind)


def _scale(modifier: int) -> int:
    """The declared number of digits behind the point: eleven bits of a sign and ten, after four."""
    return ((modifier - 4 & 0x7FF) ^ 0x400) - 0x400


def _own(base: str, cell: str) -> str:
    """Write a column in the canonical type of its own kind."""
    match base:
        case "float4":
            return POSTGRES.cast(cell, POSTGRES.double)
        case "timestamptz":
            return POSTGRES.utc.format(cell)
        case "date":
            return _instant(cell)
    return cell


def _instant(cell: str) -> str:
    """Write a date as its midnight; there are dates after the last time."""
    near = f"{cell} <= DATE '294276-12-31' OR NOT isfinite({cell})"
    return f"CAST(CASE WHEN {near} THEN {cell} END AS TIMESTAMP)"


def _whole(base: str, cell: str) -> str:
    """Write the whole numbers of a real column; NaN and infinities are outside."""
    end = POSTGRES.number(float(_LONG)) if base != "numeric" else str(_LONG)
    start = POSTGRES.number(-float(_LONG)) if base != "numeric" else f"(-{_LONG})"
    fits = f"{cell} >= {start} AND {cell} < {end} AND {cell} = FLOOR({cell})"
    return POSTGRES.cast(f"CASE WHEN {fits} THEN {cell} END", POSTGRES.integer)
