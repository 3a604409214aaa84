r"""PostgreSQL's spellings. It has no TRY_CAST: what is read from text is made safe before a cast.

Its NaN equals itself and is above all numbers, a product that underflows or overflows raises, and
so does a text or a decimal that no double is near to. Text is compared by its bytes, whatever the
collation of its column.
"""

from decimal import Decimal, localcontext

from halfmask.sources.sql.dialect import Dialect

__all__ = ["POSTGRES", "nearest"]


def _exact(power: int) -> str:
    with localcontext(prec=2000):
        return format(Decimal(2) ** power, "f")


_LONGEST = 2**24
"""Bytes of a text that is read as anything but text: a regular expression needs four a letter, and
the server fails beyond a gigabyte."""

_HUGE = str(2**1024 - 2**970)  # halfway from the largest double to the next one there would be
_TINY = f"CAST('{_exact(-1075)}' AS NUMERIC)"  # halfway from zero to the smallest double


def nearest(decimal: str) -> str:
    """Write the double nearest to a NUMERIC, infinities included; null for NaN.

    Ties at both ends are to even: to infinity, and to zero. What is cast is inside both.
    """
    outer = (
        f"WHEN n = CAST('NaN' AS NUMERIC) THEN NULL WHEN n >= {_HUGE} THEN {_INFINITY} "
        f"WHEN n <= -{_HUGE} THEN -{_INFINITY} WHEN ABS(n) <= {_TINY} THEN {_ZERO}"
    )
    inside = f"CASE WHEN ABS(n) > {_TINY} AND ABS(n) < {_HUGE} THEN n END"
    whole = f"CASE {outer} ELSE CAST({inside} AS DOUBLE PRECISION) END"
    return f"(SELECT {whole} FROM (SELECT {decimal} AS n OFFSET 0) a)"


_INFINITY = "CAST('Infinity' AS DOUBLE PRECISION)"
_ZERO = "CAST('0.0' AS DOUBLE PRECISION)"


def _let(result: str, *steps: str) -> str:
    """Write a query of one row as an expression: each step adds columns to those of the last."""
    query = "SELECT"  # of no columns: a name of ours could be that of a column of the table
    for depth, step in enumerate(steps):
        kept = f"s{depth}.*, " if depth else ""
        query = f"SELECT {kept}{step} FROM ({query}) s{depth} OFFSET 0"  # once, not at each mention
    return f"(SELECT {result} FROM ({query}) s)"


def _real() -> str:
    """Read a number of any length: short ones at once, long ones by their first digits.

    It is 0.d * 10^e, where d starts with no zero. 800 digits, and whether any later one is not
    zero, decide which double is nearest: no point halfway between two has more than 767. Exponents
    are held within what the length of a text (2^30 at most) can make up for.
    """
    number = nearest(
        "CAST('0.' || CASE WHEN e BETWEEN -400 AND 400 THEN LEFT(d, 800) "
        "|| CASE WHEN RTRIM(SUBSTR(d, 801), '0') = '' THEN '' ELSE '1' END "
        "|| 'e' || CAST(e AS TEXT) END AS NUMERIC)"
    )
    long = (
        f"CASE WHEN c ~ '[iI]' THEN {_INFINITY} WHEN d = '' OR e < -400 THEN {_ZERO} "
        f"WHEN e > 400 THEN {_INFINITY} ELSE {number} END"
    )
    size = "LTRIM(x, '+-0')"
    near = f"CASE WHEN LENGTH({size}) <= 10 THEN '0' || {size} END"
    exponent = f"COALESCE(CAST({near} AS BIGINT), 100000000000)"
    slow = _let(
        "CASE WHEN LEFT(c, 1) = '-' THEN -v ELSE v END",
        "q.c AS c, SUBSTRING(q.c, '^[+-]?([0-9]*)') AS w, "
        "SUBSTRING(q.c, '^[^.]*[.]([0-9]*)') AS f, "
        "COALESCE(SUBSTRING(q.c, '[eE](.*)$'), '0') AS x",
        "LTRIM(w || COALESCE(f, ''), '0') AS d",
        f"LENGTH(w) - LENGTH(w || COALESCE(f, '')) + LENGTH(d) "
        f"+ CASE WHEN LEFT(x, 1) = '-' THEN -1 ELSE 1 END * {exponent} AS e",
        f"{long} AS v",
    )
    short = "CASE WHEN c ~ '^[^eEiI]{{1,150}}([eE][+-]?[0-9]{{1,2}})?$' THEN c END"
    return (
        f"(SELECT CASE WHEN k IS NOT NULL THEN CAST(k AS DOUBLE PRECISION) "
        f"WHEN c IS NOT NULL THEN {slow} END "
        f"FROM (SELECT c, {short} AS k FROM (SELECT {_TRIMMED} AS c OFFSET 0) p OFFSET 0) q)"
    )


_TRIMMED = r"BTRIM({0}, E' \t')"
_INTEGER = _let(
    "CAST(CASE WHEN n BETWEEN -9223372036854775808 AND 9223372036854775807 THEN n END AS BIGINT)",
    f"{_TRIMMED} AS c",
    "LTRIM(c, '+-0') AS d",
    "CASE WHEN LEFT(c, 1) = '-' THEN -1 ELSE 1 END "
    "* CAST(CASE WHEN LENGTH(d) <= 19 THEN '0' || d END AS NUMERIC) AS n",
)


def _bits(digits: str, width: int) -> str:
    return f"CAST(CAST('x' || {digits} AS BIT({width})) AS BIGINT)"


_SHORT = "OCTET_LENGTH({0}) BETWEEN 1 AND 15"
_DIGITS = "LPAD(ENCODE(CONVERT_TO({0}, 'UTF8'), 'hex'), 30, '0')"
# Letters stand for the digits of seven bytes: they are put there in the opposite order.
_MIXED = "TRANSLATE('mnklijghefcdab', 'abcdefghijklmn', SUBSTR(MD5({0}), 1, 14))"

POSTGRES = Dialect(
    name="postgres",
    double="DOUBLE PRECISION",
    integer="BIGINT",
    wide="NUMERIC",
    text="TEXT",
    instant="TIMESTAMP",
    boolean="BOOLEAN",
    quotes=('"', '""'),
    escapes=(("\\", "\\\\"), ("'", "''")),
    quoted="E'{0}'",
    is_nan="({0} = CAST('NaN' AS DOUBLE PRECISION))",
    full_match=f"(CASE WHEN OCTET_LENGTH({{0}}) <= {_LONGEST} THEN {{0}} END "
    "~ ('^(' || {1} || ')$'))",
    attempt="CAST({0} AS {1})",
    high=f"CASE WHEN {_SHORT} THEN {_bits(f'SUBSTR({_DIGITS}, 1, 15)', 60)} ELSE 0 END",
    low=f"CASE WHEN {_SHORT} THEN {_bits(f'SUBSTR({_DIGITS}, 16)', 60)} "
    f"ELSE {_bits(_MIXED, 56)} END",
    total="SUM({0})",
    divide="DIV({0}, {1})",
    remainder="MOD({0}, {1})",
    utc="({0} AT TIME ZONE 'UTC')",
    micros="CAST(EXTRACT(EPOCH FROM CASE WHEN isfinite({0}) THEN {0} END) * 1000000 "
    "AS DOUBLE PRECISION)",
    small="INTEGER",
    array="ARRAY[{0}]",
    item="({0})[{1}]",
    nul=False,
    reads=(
        ("real", _real()),
        ("integer", _INTEGER),
        ("boolean", f"(LOWER({_TRIMMED}) = 'true')"),
        ("time", f"CAST(REPLACE({_TRIMMED}, 'T', ' ') AS TIMESTAMP)"),
    ),
    bits=2**16,
    guesses=False,
    once=" OFFSET 0",
)
