"""The spellings of one SQL engine: everything that differs between engines, and all quoting."""

from dataclasses import dataclass
from datetime import datetime
from re import fullmatch

from halfmask.plan import Reading

__all__ = ["DUCKDB", "Dialect"]


@dataclass(frozen=True)
class Dialect:
    """How an engine writes types, literals, names and the few functions that the emitter needs.

    Templates take their arguments as ``{0}``, ``{1}``; another engine is another such table.

    quoted: a literal of text that is already escaped.
    nul: whether text may hold the character NUL.
    reads: how text that matches the grammar becomes a value; `attempt` where nothing is said. The
      template's text is null where it does not match.
    common: a query {1} that is run once, under the name {0}, before what uses it.
    bits: how many bits the widest integers have.
    high, low: the halves, BIGINTs below 2^60, of the number that stands for a text. It is that of
      its UTF-8, the first byte the highest, where these are 1 to 15 bytes; and else that of the
      first seven bytes of its MD5, the first byte the lowest.
    once: ends a query whose columns are used more than once, where they would be computed as often.
    fewest: the {1} smallest of a group's BIGINTs, each on a row; empty where there is no such.
    guesses: whether quotients are guessed in doubles, which costs less than dividing wide integers.
    floor: the largest whole double that is at most a double, as a double.
    hexed: a text literal by the hexadecimal of its UTF-8, where an engine's settings change what a
      literal means that is not plain ASCII letters; empty where there is no need.
    most: the largest integer that can be written; above all cells of kind integer.
    far: an integer literal of 64 bits or more.
    short: the sum of BIGINTs of at most 2^54, where `total` can be beaten.
    windowed: whether a total beside each row is a window's, so that rows are read once.
    """

    name: str
    double: str
    integer: str
    wide: str
    text: str
    instant: str
    boolean: str
    quotes: tuple[str, str]
    escapes: tuple[tuple[str, str], ...]
    is_nan: str
    full_match: str
    attempt: str
    high: str
    low: str
    total: str
    divide: str
    remainder: str
    utc: str
    micros: str
    small: str
    array: str
    item: str
    quoted: str = "'{0}'"
    nul: bool = True
    reads: tuple[tuple[Reading, str], ...] = ()
    common: str = "WITH {0} AS MATERIALIZED ({1})"
    bits: int = 127
    guesses: bool = True
    floor: str = "FLOOR({0})"
    hexed: str = ""
    most: int = 2**128
    far: str = "{0}"
    short: str = ""
    windowed: bool = False
    once: str = ""
    fewest: str = ""

    def type_of(self, reading: Reading) -> str:
        """Name the engine's type of a reading."""
        return {
            "real": self.double,
            "integer": self.integer,
            "text": self.text,
            "time": self.instant,
            "boolean": self.boolean,
        }[reading]

    def identifier(self, name: str) -> str:
        """Quote a name."""
        mark, doubled = self.quotes
        return mark + name.replace(mark, doubled) + mark

    def string(self, value: str) -> str:
        """Write a text literal."""
        if self.hexed and not fullmatch("[A-Za-z0-9 ]*", value):
            return self.hexed.format(value.encode().hex())
        for old, new in self.escapes:
            value = value.replace(old, new)
        return self.quoted.format(value)

    def holds(self, value: object) -> bool:
        """Whether a cell can be this value at all."""
        return self.nul or not isinstance(value, str) or "\0" not in value

    def number(self, value: float) -> str:
        """Write a double exactly: repr reads back as the same double."""
        word = {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
        return f"CAST('{word}' AS {self.double})"

    def whole(self, value: int) -> str:
        """Write an integer of any size."""
        value = max(min(value, self.most), -self.most)
        written = f"({value})" if value < 0 else str(value)
        return written if abs(value) < 2**63 else self.far.format(written)

    def moment(self, value: datetime) -> str:
        """Write a time, to the microsecond."""
        return f"CAST('{value.isoformat(sep=' ')}' AS {self.instant})"

    def cast(self, expression: str, target: str) -> str:
        """Convert where no value can fail."""
        return f"CAST({expression} AS {target})"

    def try_cast(self, expression: str, target: str) -> str:
        """Convert, or null."""
        return self.attempt.format(expression, target)

    def read(self, reading: Reading, text: str) -> str:
        """Convert text that matches the grammar of a reading, or is null."""
        known = dict(self.reads).get(reading)
        return known.format(text) if known else self.try_cast(text, self.type_of(reading))


# Bits of its bytes cost a third of a text's MD5, which as a number costs two thirds of one as text.
_NUMBER = (
    "CASE WHEN strlen({0}) BETWEEN 1 AND 15 "
    "THEN CAST(CAST(encode(CASE WHEN strlen({0}) BETWEEN 1 AND 15 THEN {0} ELSE '0' END) AS BIT) "
    "AS HUGEINT) ELSE CAST(md5_number({0}) & 72057594037927935 AS HUGEINT) END"
)

DUCKDB = Dialect(
    name="duckdb",
    double="DOUBLE",
    integer="BIGINT",
    wide="HUGEINT",
    text="VARCHAR",
    instant="TIMESTAMP",
    boolean="BOOLEAN",
    quotes=('"', '""'),
    escapes=(("'", "''"),),
    is_nan="isnan({0})",
    full_match="regexp_full_match({0}, {1})",
    attempt="TRY_CAST({0} AS {1})",
    high=f"CAST(({_NUMBER}) >> 60 AS BIGINT)",
    low=f"CAST(({_NUMBER}) & 1152921504606846975 AS BIGINT)",
    total="SUM({0})",
    divide="({0} // {1})",
    remainder="({0} % {1})",
    utc="COALESCE(make_timestamp(epoch_us({0})), CASE "
    "WHEN {0} = CAST('infinity' AS TIMESTAMPTZ) THEN CAST('infinity' AS TIMESTAMP) "
    "WHEN {0} = CAST('-infinity' AS TIMESTAMPTZ) THEN CAST('-infinity' AS TIMESTAMP) END)",
    micros="CAST(CASE WHEN isfinite({0}) THEN epoch_us({0}) END AS DOUBLE)",
    small="INTEGER",
    array="[{0}]",
    item="{0}[{1}]",
    fewest="UNNEST(MIN({0}, {1}))",
    reads=(
        ("boolean", "TRY_CAST(TRIM({0}, ' \t') AS BOOLEAN)"),
        ("time", "TRY_CAST(TRIM({0}, ' \t') AS TIMESTAMP)"),
    ),
)
