"""The lots that a unit's contributions draw: it keeps those of the smallest, on every engine alike.

A lot is computed from a public salt, the unit and the contribution, in integers modulo a prime p:

    h = (unit + salt)²,  then h = (h + entry)² for each entry,  then h = (h + constant)² twice.

An entry is a whole number of the contribution: a coordinate on its grid, or a group. Equal lots are
told apart by what drew them, so only equal contributions can tie.

Privacy: which of its contributions a unit keeps depends on nothing but these and public constants,
for every salt; nobody else's rows matter. [Law 5 of the design]

No engine's arithmetic can overflow: what is added is below 2^31 - p in size and lots are in [0, p),
so sums are below 2^31 in size, and squares below 2^62.

How even the choice is. In h = (unit + salt)² the lots of contributions of different entries are
different polynomials of one degree and leading coefficient 1 (of two such, f² - g² is constant for
f = g alone), and no sum of multiples of two of them is constant; so over all units any two lots
fill the square evenly, up to an error of order log(p)² / sqrt(p) [Weil 1948]. In a linear lot,
a * v + b, the middle one of three equidistant values would never be the smallest but by wrapping
around; here such relations need nine values with weights up to 70, as a last entry enters with
degree 8, and are not felt.

A unit of text is a number too, of all its bytes or, if it is long, of its MD5; modulo a prime of
30 bits, so units of names that are alike draw as differently as others. (Tested, not proved.)
"""

from collections.abc import Sequence
from hashlib import md5

from halfmask.sources.sql.dialect import Dialect

__all__ = ["BITS", "NOBODY", "digest", "entries", "residue", "with_lots"]

BITS = 30
"""A lot has so many bits: it is in [0, p)."""

_PRIME, _SECOND = 2**30 - 35, 2**30 - 41

_THIRD = 10**9 + 7
"""Of texts: far from a power of two, so that no few bytes make up for others."""

NOBODY = 2**29
"""Stands for a missing key."""


def digest(text: str, dialect: Dialect) -> str:
    """Write what stands for a text: its number (see `Dialect`) modulo a prime, a BIGINT.

    Where two texts have one digest, their lots are one too, and nothing else: they stay apart.
    """
    upper = _modulo(dialect.high.format(text), _THIRD, dialect)
    lower = dialect.low.format(text)
    return _modulo(f"({upper} * {2**60 % _THIRD} + {lower})", _THIRD, dialect)


def residue(number: str, dialect: Dialect) -> str:
    """Write an integer of any width as a BIGINT of less than 2^30 in size, of its sign."""
    return _modulo(number, _PRIME, dialect)


def entries(number: str, reach: int | None, dialect: Dialect) -> list[str]:
    """Write the entries of an integer of at most `reach` in size; None: of any.

    Two residues tell integers up to 2^59 apart.
    """
    if reach is not None and reach < _PRIME // 2:
        return [dialect.cast(number, dialect.integer)]
    return [_modulo(number, prime, dialect) for prime in (_PRIME, _SECOND)]


def with_lots(
    query: str,
    kept: Sequence[str],
    unit: str,
    entries: Sequence[str],
    salt: str,
    dialect: Dialect,
) -> str:
    """Write the query of the columns that are kept, and of the lot h beside them.

    unit, entries: expressions of BIGINTs, of at most 3 * 2^29 and 2^30 in size.
    """
    digits = md5(salt.encode(), usedforsecurity=False).hexdigest()
    start, *last = (int(digits[i : i + 7], 16) for i in (0, 7, 14))
    listed = ", ".join(kept)
    query = f"SELECT {listed}, {unit} + {start} AS h FROM ({query}) x{dialect.once}"
    for added in (*entries, *last):
        query = f"SELECT {listed}, h * h % {_PRIME} + {added} AS h FROM ({query}) x{dialect.once}"
    return f"SELECT {listed}, h * h % {_PRIME} AS h FROM ({query}) x{dialect.once}"


def _modulo(number: str, prime: int, dialect: Dialect) -> str:
    return dialect.cast(dialect.remainder.format(number, prime), dialect.integer)
