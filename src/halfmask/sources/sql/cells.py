"""The cells of a table as the emitter sees them: one alias for each column and reading it needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from halfmask.plan import Kind, Reading, Schema
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.grammar import read_text
from halfmask.sources.sql.lots import digest

__all__ = ["Cells", "settled"]

_FAR = 2.0**62
"""Beyond it, real numbers are one where lots are drawn."""


def settled(cell: str, kind: Kind, dialect: Dialect) -> str:
    """Write a cell such that equal values are one: NaN as null, and negative zero as zero."""
    if kind != "real":
        return cell
    zero = dialect.number(0.0)
    return (
        f"CASE WHEN {dialect.is_nan.format(cell)} THEN NULL "
        f"WHEN {cell} = {zero} THEN {zero} ELSE {cell} END"
    )


@dataclass
class Cells:
    """Collects what one plan reads, so that each cell is read once and unused columns never.

    physical: an expression of the canonical type for each column name.
    """

    schema: Schema
    physical: Mapping[str, str]
    dialect: Dialect
    _aliases: dict[str, str] = field(default_factory=dict)

    def plain(self, name: str) -> str:
        """Return the alias of a column in its own type."""
        return self._alias(self.physical[name])

    def read(self, name: str, reading: Reading) -> str:
        """Return the alias of a column read in one way; a null where it does not read so."""
        kind = self.schema.column(name).kind
        cell = self.physical[name]
        if kind == "unread":
            return self._alias(read_text(reading, cell, self.dialect))
        if reading == "real" and kind == "time":
            return self._alias(self.dialect.micros.format(cell))
        if reading == "real" and kind == "integer":
            return self._alias(self.dialect.cast(cell, self.dialect.double))
        if reading == "real" and kind == "boolean":
            one, zero = self.dialect.number(1.0), self.dialect.number(0.0)
            return self._alias(f"CASE WHEN {cell} THEN {one} WHEN NOT {cell} THEN {zero} END")
        return self._alias(cell)

    def micros(self, name: str) -> str:
        """Return the alias of a column of times as microseconds since 1970, in doubles."""
        if self.schema.column(name).kind != "unread":
            return self.read(name, "real")
        read = read_text("time", self.physical[name], self.dialect)
        return self._alias(self.dialect.micros.format(read))

    def computed(self, alias: str, template: str) -> str:
        """Return the alias of an expression of what an alias stands for: {0} in the template."""
        cell = next(cell for cell, known in self._aliases.items() if known == alias)
        return self._alias(template.format(cell))

    def is_missing(self, name: str, reading: Reading | None = None) -> str:
        """Write the condition that a cell is missing, as it is or as read; never null itself."""
        alias = self.plain(name) if reading is None else self.read(name, reading)
        if self.schema.column(name).kind == "real":
            return f"({alias} IS NULL OR {self.dialect.is_nan.format(alias)})"
        return f"({alias} IS NULL)"

    def without_nan(self, name: str, reading: Reading | None = None) -> str:
        """Return a column, as it is or as read, with NaN as null and negative zero as zero."""
        alias = self.plain(name) if reading is None else self.read(name, reading)
        return settled(alias, self.schema.column(name).kind, self.dialect)

    def number(self, name: str, alias: str) -> str:
        """Write the whole number that stands for a column where lots are drawn (`lots`).

        Texts by their `digest`; times by their microseconds; and of a real number that is not
        whole, its whole part and 29 bits of the rest: doubles that agree in all engines.
        """
        kind, dialect = self.schema.column(name).kind, self.dialect
        if kind == "integer":
            return alias
        if kind == "boolean":
            return f"CASE WHEN {alias} THEN 1 WHEN NOT {alias} THEN 0 END"
        if kind in ("text", "unread"):
            return digest(alias, dialect)
        x = dialect.micros.format(alias) if kind == "time" else alias
        low, high = dialect.number(-_FAR), dialect.number(_FAR)
        held = f"CASE WHEN {x} > {high} THEN {high} WHEN {x} < {low} THEN {low} ELSE {x} END"
        whole = dialect.floor.format(f"({held})")
        rest = f"FLOOR((({held}) - {whole}) * {dialect.number(2.0**29)})"
        number = " + ".join(dialect.cast(part, dialect.integer) for part in (whole, rest))
        return f"COALESCE({number}, 0)"  # of a time at infinity

    def select(self, table: str) -> str:
        """Write the query of all cells asked for so far."""
        listed = ", ".join(f"{cell} AS {alias}" for cell, alias in self._aliases.items())
        return f"SELECT {listed or '1 AS r'} FROM {table}"

    def _alias(self, cell: str) -> str:
        return self._aliases.setdefault(cell, f"r{len(self._aliases)}")
