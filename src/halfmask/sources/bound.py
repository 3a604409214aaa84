"""The bound of one privacy unit, in exact integers: unit sums scaled down to an L1 norm.

Privacy: after it, one unit's vector has L1 norm at most `norm` in each group it keeps (or over
all groups), whatever its rows hold, and depends on its own rows alone. [Law 5 of the design]

The groups that a unit keeps are those with the smallest md5 of (salt, unit, group). The salt is
public: the guarantee holds for every salt, because a unit's choice depends on nothing but the
unit's own content; a salt only makes the choice even.
"""

from halfmask.plan import Tally, UnitBound
from halfmask.sources.dialect import Dialect

__all__ = ["bounded"]

_ROWS_PER_UNIT = 48
"""log2 of the rows that one unit can have: more than any disk holds."""

_QUOTIENT = 48
"""log2 of the largest quotient for which a double is off by less than one (six roundings)."""


def bounded(
    sums: str, features: int, tally: Tally, bound: UnitBound, dialect: Dialect, salt: str
) -> str:
    """Write the query (g, f0, f1, ...) of bounded sums, given the unbounded (u, g, f0, ...)."""
    names = [f"f{i}" for i in range(features)]
    if bound.groups is not None and bound.groups < tally.size:
        sums = _picked(sums, names, bound.groups, salt, dialect)
    shared = bound.groups is None and tally.size > 1
    if features == 1 and not shared:
        scaled = f"SELECT g, {_clamped('f0', bound.norm, dialect)} AS f0 FROM ({sums}) b"
    else:
        scaled = _scaled(sums, names, bound.norm, tally.reach, shared, dialect)
    listed = ", ".join(f"{dialect.total.format(name)} AS {name}" for name in names)
    return f"SELECT g, {listed} FROM ({scaled}) e GROUP BY g"


def _picked(sums: str, names: list[str], most: int, salt: str, dialect: Dialect) -> str:
    text = dialect.text
    parts = [dialect.string(salt), dialect.cast("u", text), dialect.cast("g", text)]
    digest = dialect.digest.format(" || '|' || ".join(parts))
    rank = f"ROW_NUMBER() OVER (PARTITION BY u ORDER BY {digest}, g)"
    listed = ", ".join(["u", "g", *names])
    ranked = f"SELECT {listed}, {rank} AS m FROM ({sums}) a"
    return f"SELECT {listed} FROM ({ranked}) b WHERE m <= {most}"


def _clamped(name: str, norm: int, dialect: Dialect) -> str:
    low, high = dialect.whole(-norm), dialect.whole(norm)
    return f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"


def _scaled(
    sums: str, names: list[str], norm: int, reach: int, shared: bool, dialect: Dialect
) -> str:
    """|f| * norm // t, where t is the unit's norm: long division, one digit of the norm a time.

    A digit of the quotient is first taken in doubles, which are off by less than one (at most
    2^49, six roundings), and then corrected by the exact remainder. The digits are so short that
    no product passes 2^126, for up to 2^48 rows of one unit.
    """
    width = min(_QUOTIENT, 125 - _ROWS_PER_UNIT - reach.bit_length())
    digits = _digits(norm, width)
    total = " + ".join(f"ABS({name})" for name in names)
    if shared:
        total = f"SUM({total}) OVER (PARTITION BY u)"
    query = f"SELECT g, {', '.join(names)}, {total} AS t FROM ({sums}) b"
    for place, digit in enumerate(digits):
        query = _divided(query, names, digit, 2**width if place else 0, dialect)
    listed = ", ".join(
        f"CASE WHEN t <= {norm} THEN {f} WHEN {f} < 0 THEN -q{f} ELSE q{f} END AS {f}"
        for f in names
    )
    return f"SELECT g, {listed} FROM ({query}) d"


def _digits(norm: int, width: int) -> list[int]:
    digits: list[int] = []
    while norm:
        norm, digit = divmod(norm, 2**width)
        digits.insert(0, digit)
    return digits


def _divided(query: str, names: list[str], digit: int, base: int, dialect: Dialect) -> str:
    """One step: (quotient q, remainder r) become (q * base + h, rest) for h = (r|f) // t."""
    kept = ", ".join(["g", "t", *names])
    if base:
        kept_q = "".join(f", q{f}" for f in names)
        product = {f: f"r{f} * {base} + ABS({f}) * {digit}" for f in names}
    else:
        kept_q = ""
        product = {f: f"ABS({f}) * {digit}" for f in names}
    m = ", ".join(f"{product[f]} AS m{f}" for f in names)
    query = f"SELECT {kept}{kept_q}, {m} FROM ({query}) x"
    h = ", ".join(f"m{f}, {_guess(f'm{f}', dialect)} AS h{f}" for f in names)
    query = f"SELECT {kept}{kept_q}, {h} FROM ({query}) x"
    e = ", ".join(f"h{f}, m{f} - h{f} * t AS e{f}" for f in names)
    query = f"SELECT {kept}{kept_q}, {e} FROM ({query}) x"
    step = []
    for f in names:
        start = f"q{f} * {base} + " if base else ""
        step.append(
            f"{start}h{f} + CASE WHEN e{f} < 0 THEN -1 WHEN e{f} >= t AND t > 0 THEN 1 ELSE 0 END "
            f"AS q{f}, CASE WHEN e{f} < 0 THEN e{f} + t WHEN e{f} >= t THEN e{f} - t ELSE e{f} END "
            f"AS r{f}"
        )
    return f"SELECT {kept}, {', '.join(step)} FROM ({query}) x"


def _guess(product: str, dialect: Dialect) -> str:
    one = dialect.number(1.0)
    divisor = f"CASE WHEN t > 0 THEN {dialect.cast('t', dialect.double)} ELSE {one} END"
    ratio = f"FLOOR({dialect.cast(product, dialect.double)} / ({divisor}))"
    return dialect.cast(dialect.cast(ratio, dialect.integer), dialect.wide)
