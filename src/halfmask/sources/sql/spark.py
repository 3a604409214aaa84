"""The spellings of Spark, under the few settings that `sources.spark` fixes; in any time zone.

Integers beyond 64 bits are DECIMAL(38, 0), which holds all below 10^38 > 2^126. Spark's rules keep
that type for sums, differences, products and remainders of it and of literals (scale 0, precision
cut to 38), and its arithmetic is exact where no digit beyond the 38th is needed: the emitter keeps
every product under 2^126. `div` gives a BIGINT, which wraps; so the remainder is taken off first,
and what is left divides exactly, into DECIMAL(38, 6).
"""

from halfmask.sources.sql.dialect import Dialect

__all__ = ["SPARK"]

_DAY = 24 * 60 * 60 * 10**6

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def _bits(digits: str) -> str:
    return f"CAST(CONV({digits}, 16, 10) AS BIGINT)"


_SHORT = "OCTET_LENGTH({0}) BETWEEN 1 AND 15"
_DIGITS = "LPAD(HEX({0}), 30, '0')"
# Letters stand for the digits of seven bytes: they are put there in the opposite order.
_MIXED = "TRANSLATE('mnklijghefcdab', 'abcdefghijklmn', SUBSTR(MD5({0}), 1, 14))"

SPARK = Dialect(
    name="spark",
    double="DOUBLE",
    integer="BIGINT",
    wide="DECIMAL(38, 0)",
    text="STRING",
    instant="TIMESTAMP_NTZ",
    boolean="BOOLEAN",
    quotes=("`", "``"),
    escapes=(),
    is_nan="isnan({0})",
    # \z, and not $, which stands before a last end of line too.
    full_match="({0} RLIKE CONCAT('^(', {1}, CAST(X'295C7A' AS STRING)))",
    attempt="TRY_CAST({0} AS {1})",
    high=f"CASE WHEN {_SHORT} THEN {_bits(f'SUBSTR({_DIGITS}, 1, 15)')} ELSE 0 END",
    low=f"CASE WHEN {_SHORT} THEN {_bits(f'SUBSTR({_DIGITS}, 16)')} ELSE {_bits(_MIXED)} END",
    total="SUM(CAST({0} AS DECIMAL(38, 0)))",
    divide="CAST(({0} - {0} % {1}) / {1} AS DECIMAL(38, 0))",
    remainder="({0} % {1})",
    # No cast between instants and local times: it would ask the session for its time zone.
    utc=(
        f"({_EPOCH} + make_dt_interval(CAST(unix_micros({{0}}) div {_DAY} AS INT), 0, 0, "
        f"CAST(CAST(unix_micros({{0}}) % {_DAY} AS DECIMAL(18, 0)) / 1000000 AS DECIMAL(18, 6))))"
    ),
    micros=(
        f"CAST(CAST(CAST({{0}} - {_EPOCH} AS INTERVAL SECOND) AS DECIMAL(24, 6)) * 1000000 "
        "AS DOUBLE)"
    ),
    small="INT",
    array="ARRAY({0})",
    item="TRY_ELEMENT_AT({0}, {1})",
    # FLOOR gives a BIGINT, and fails beyond it.
    floor="(RINT({0}) - CAST(RINT({0}) > {0} AS DOUBLE))",
    hexed="CAST(X'{0}' AS STRING)",
    most=10**38 - 1,
    # As a bare literal, Spark finds every BIGINT below it, and nulls too.
    far="CAST({0} AS DECIMAL(38, 0))",
    # High and low halves as BIGINTs: 2^36 rows fit, and beyond them Spark raises.
    short=("(CAST(SUM(SHIFTRIGHT({0}, 27)) AS DECIMAL(38, 0)) * 134217728 + SUM({0} & 134217727))"),
    windowed=True,
)
